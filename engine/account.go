package engine

import "time"

// Account is how one run stands, in words for people: what status, inbox,
// show, explain, graph and check print.
type Account struct {
	Key   Key
	Class string // what placet does with the run: served, driven, foreign
	// Short is the shortest name that the family accepts for the run.
	Short  string
	Status Status
	Final  bool
	// Absent is true for a folder that lies where runs lie and is none: it is
	// not listed.
	Absent bool
	// Stands is true while the run cannot move because of bad input.
	Stands bool
	Facts  []Fact
	// Open are the requests that a person can answer now, oldest first.
	Open []Asked
	// Why says which rule holds the run, one sentence a line.
	Why []string
	// Moves are the files that would move the run, with what they must hold.
	Moves []Move
	Graph []Node
	// Parts are what the run consists of and can be shown on its own.
	Parts []Part
	// Findings are what check reports.
	Findings []Finding
	// Untrusted are commands that wait for trust.
	Untrusted []Untrusted
	// Log are the run's recorded events, oldest first.
	Log []Entry
}

// Fact is one labelled line.
type Fact struct{ Label, Value string }

// Move is a file that would move the run.
type Move struct{ Path, Content string }

// Part is one part of a run, as show prints it alone: a checkpoint, a port.
type Part struct {
	ID       string
	Status   Status
	Facts    []Fact
	Sections []Section
}

// Section is a text under a heading. Its lines are kept.
type Section struct{ Title, Text string }

// Asked is an open request as the inbox shows it.
type Asked struct {
	Request     string // request id
	Run         Key
	Type        string
	Where       string // phase and step, checkpoint, …
	Prompt      string
	Options     []AskedOption
	FreeText    bool
	Multiple    bool
	Summary     string
	Artifacts   []string
	Form        string // path of the present form, relative to the workspace
	Response    string // path of response.json, relative to the workspace
	Digest      Digest // of what is shown now
	RequestedAt time.Time
	Deadline    time.Time // zero: none
	Overdue     bool
	Problem     string // what is wrong with the answer now in place
	// CommentRequired lists the options that ask for a comment.
	CommentRequired []string
	// Several lists the options of which any number may be chosen together;
	// every other stands alone.
	Several []string
}

// AskedOption is one choice of a request.
type AskedOption struct{ ID, Description string }

// Node is one part of a run's plan, in order.
type Node struct {
	ID, Group, Label string
	Status           Status
	Current, Gate    bool
	After            []string
}

// Finding is one thing that check reports.
type Finding struct {
	Severity string // "error", "warning" or "info"
	Path     string
	Text     string
}

// Untrusted is a command or a setting that waits for placet trust.
type Untrusted struct {
	Name   string
	Digest Digest
	Text   string
}

// Entry is one recorded event.
type Entry struct {
	At      time.Time
	Number  int
	Event   string
	Where   string
	Who     string
	Message string
}
