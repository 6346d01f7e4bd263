package engine

// VolatileNeed begins the need for a volatile document: one that is read and shown, but
// never journaled and no reason to commit (see layout.Volatile). "volatile:<path>", the
// path being relative to the workspace, puts what the file holds now into the snapshot, as
// a document of that name. It is [ErrAbsent] where there is no file, and never
// [ErrUnsettled]: what may be half of a write does not count, and what stood there before
// does.
const VolatileNeed = "volatile:"

// Progress is how far a part of a run has got.
type Progress struct {
	// Value goes from 0 to 1.
	Value float64 `json:"value"`
	// Task is what is being done, "" where nobody says.
	Task string `json:"task"`
	// Used is how many tokens were used, and Of how many there are, 0 for no bound.
	Used int `json:"used"`
	Of   int `json:"of"`
}

// Threshold has a run looked at when the tokens used, as a volatile document says, reach a
// number. Path is relative to the workspace.
type Threshold struct {
	Path    string
	AtLeast int
}

// Progressing is a machine whose runs have volatile documents that say how far a part has
// got. ReadProgress is pure, like all methods of a machine. The error says why the content
// cannot be used; the run is looked at when that begins and when it ends.
type Progressing interface {
	Machine
	ReadProgress(path string, body []byte) (Progress, error)
}
