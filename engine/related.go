package engine

// NeedPeers is the need for what [PeerMachine.Relate] returns for the run: a document
// with this path. Its Body is empty if the run must know nothing, and its Err is
// [ErrUnsettled] while a file behind an entry is still being written.
//
// A plan that needed it and writes one of the run's shared files is stepped again with
// fresh entries, and committed while no other run of the family is, so that two runs never
// claim the same thing.
const NeedPeers = "runs:"

// PeerMachine is a machine whose runs must know of each other. Its methods are pure, like
// those of every machine.
//
// A run that needs [NeedPeers] also needs those of its own shared files that are outside
// its folder, so that a change of them is noticed.
type PeerMachine interface {
	Machine
	// Shares returns the files that a run's entry is made of, relative to the run's
	// folder ("../" is allowed). They are paths, not patterns.
	Shares() []string
	// Entry returns what other runs must know about a run, nil for nothing. The snapshot
	// holds only the shared files, without facts and time; a missing file is included
	// with ErrAbsent, and no file is unsettled.
	Entry(Snapshot) []byte
	// Refused returns the entry of a run with a shared file that cannot be read at
	// the moment. nil: the need stays unanswered for all runs until it can be read.
	// The snapshot holds no documents.
	Refused(Snapshot) []byte
	// Relate returns what each run must know about the others, by the ids of the
	// runs. It leaves out a run that must know nothing. It must not change entries.
	Relate(entries map[string][]byte) map[string][]byte
}
