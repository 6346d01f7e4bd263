package engine

// NeedRuns is the need that is answered with what [Related.Relate] says of the
// run: a document of this path. Its Body is empty where the run must know
// nothing, and its Err is [ErrUnsettled] while a file of which an entry is made
// is still being written.
//
// A plan that was made over it and writes one of the run's shared files is carried
// out over a fresh answer, and one at a time in the family: what one run takes up, no
// other does.
const NeedRuns = "runs:"

// Related is a machine whose runs must know of one another. Its methods are
// pure, as those of every machine are.
//
// A run that needs [NeedRuns] names those of its own shared files that lie
// outside its folder among its needs too: a change of them is seen then.
type Related interface {
	Machine
	// Shares are the files, relative to a run's folder ("../" is allowed), of
	// which a run's entry is made. They are no patterns.
	Shares() []string
	// Entry is what others must know of a run, nil for nothing. The snapshot
	// holds the shared files alone, neither facts nor the time; those that are
	// not there are there with ErrAbsent. None of them is unsettled.
	Entry(Snapshot) []byte
	// Refused is the entry of a run of which the system refuses to read a shared
	// file: nobody can tell what it says, and it may be for a moment. nil: then
	// nobody is answered meanwhile. The snapshot holds no documents.
	Refused(Snapshot) []byte
	// Relate says what each run must know of the others, by the ids of runs. A
	// run that must know nothing is left out. The entries must not be changed.
	Relate(entries map[string][]byte) map[string][]byte
}
