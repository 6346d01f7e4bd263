package engine

// VolatileNeed is the prefix of the need for a volatile document: one that is read and
// shown, but never journaled and never a reason to commit (see layout.Volatile).
// "volatile:<path>", with the path relative to the workspace, adds the present content of
// the file to the snapshot, as a document of that name. The document is [ErrAbsent] if
// there is no file, and never [ErrUnsettled]: a content that may be half written does not
// count, and the content before it does.
const VolatileNeed = "volatile:"

// Progress says how far a part of a run has got.
type Progress struct {
	// Value goes from 0 to 1.
	Value float64 `json:"value"`
	// Task says what is being done, "" if nobody says.
	Task string `json:"task"`
	// Used is how many tokens were used, and Of how many there are, 0 for no bound.
	Used int `json:"used"`
	Of   int `json:"of"`
}

// Threshold makes the loop look at a run when the number of tokens used, which a volatile
// document gives, reaches AtLeast. Path is relative to the workspace.
type Threshold struct {
	Path    string
	AtLeast int
}

// Progressing is a machine whose runs have volatile documents that say how far a part has
// got. ReadProgress is pure, like all methods of a machine. Its error says why the content
// cannot be used; the loop looks at the run when such an error appears and when it is
// gone.
type Progressing interface {
	Machine
	ReadProgress(path string, body []byte) (Progress, error)
}
