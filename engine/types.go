package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"time"
)

// Digest is the SHA-256 of some bytes, written "sha256:" and 64 hex digits.
// The empty Digest stands for "no such file".
type Digest string

// Sum returns the digest of b.
func Sum(b []byte) Digest {
	sum := sha256.Sum256(b)
	return Digest("sha256:" + hex.EncodeToString(sum[:]))
}

// Hex returns the 64 hex digits alone, "" for the empty digest.
func (d Digest) Hex() string { return strings.TrimPrefix(string(d), "sha256:") }

// Key names one run: the family and the id that its dialect gives it.
type Key struct{ Family, ID string }

// String returns "family/id", the form used on the command line.
func (k Key) String() string { return k.Family + "/" + k.ID }

// What a document's Err may be besides the reason why it is unusable.
var (
	// ErrAbsent says that there is no such file.
	ErrAbsent = errors.New("absent")
	// ErrUnsettled says that the file is there but may still be being
	// written. It must never be read as absent: no default and no deadline
	// passes over it.
	ErrUnsettled = errors.New("still being written")
)

// KindState is the kind of every family's state document, the commit point of
// a run. A plan's commit writes it last and by compare-and-swap.
const KindState = "state"

// Document is one file, as it was read or as it is to be written.
type Document struct {
	// Path is relative to the workspace, with slashes. A path that begins
	// with "git:" is a fact from local git, not a file.
	Path string
	// Kind is layout's word for what the file is.
	Kind string
	// Body is the content, nil where Err is set.
	Body []byte
	// Sum is the digest of Body, empty where the file is absent.
	Sum Digest
	// Over is set in plans only: the digest of the content that this write
	// replaces. Empty means that the file must not exist yet.
	Over Digest
	// Changed is when the file last changed, by the file system's word.
	Changed time.Time
	// Err is nil, ErrAbsent, ErrUnsettled, or why the file is unusable.
	Err error
	// Known says who wrote an answer and how we know it, each "how:who":
	// claimed, owner, committed, signed, api, slack.
	Known []string
}

// Present reports whether the document was read and can be used.
func (d Document) Present() bool { return d.Err == nil && d.Path != "" }

// Absent reports whether the file is known not to exist.
func (d Document) Absent() bool { return errors.Is(d.Err, ErrAbsent) }

// Unsettled reports whether the file may still be being written.
func (d Document) Unsettled() bool { return errors.Is(d.Err, ErrUnsettled) }

// Facts are what the kernel knows besides the documents.
type Facts struct {
	// Config holds the settings, merged in the order of precedence.
	Config Config
	// Trusted holds the digests of commands and policy settings that the
	// owner of the workspace has agreed to.
	Trusted map[Digest]bool
	// Alive holds the IDs of the actions that run at this moment.
	Alive map[string]bool
}

// Config is the part of the settings that a machine reads.
type Config struct {
	// Language is the language of texts for people: en, ko or ja.
	Language string
	// Gates maps "family/type", "family" or "*" to what an answer must be worth.
	Gates map[string]Gate
	// Family holds the family's own settings, of the type that it documents.
	Family any
}

// Gate says what an answer must be worth to count.
type Gate struct {
	// Level is "file": any well-formed answer counts.
	Level string
	// Approvers lists who may answer; empty means anyone.
	Approvers []string
}

// GateFor returns the gate for a request type of a family: the most specific
// of "family/type", "family" and "*" wins.
func (c Config) GateFor(family, typ string) Gate {
	for _, name := range []string{family + "/" + typ, family, "*"} {
		if g, ok := c.Gates[name]; ok {
			return g
		}
	}
	return Gate{Level: "file"}
}

// Status is the word for where a run, or a part of it, stands.
type Status string

// Edge is a row of a machine's transition table.
type Edge struct {
	Of    string // what moves: run, step, phase, checkpoint, …
	From  Status // "" where it begins
	Event string
	To    Status
}

// Transition is an edge taken, with its cause.
type Transition struct {
	Edge
	Subject string            // which of them: "build:implement"; empty for the run itself
	Cause   map[string]Digest // the files that caused it, paths as the family writes them
	Actor   string
	Reason  string
}

// Line is one line of an append-only journal.
type Line struct {
	Path     string // of the journal, relative to the workspace
	Revision int    // of the state that the line belongs to
	Body     []byte // one line, with its newline
}

// Field is one member of a JSON object in a fixed order.
type Field struct {
	Name  string
	Value any
}

// Action is something to do outside the run's documents. Its attempt must be
// recorded by a document of the same plan or an earlier one, and it begins at
// most once per process.
type Action struct {
	// ID is unique in the workspace and a function of the state.
	ID      string
	Command Command
	// Outcome is where the end of the command is recorded; Fields come first
	// in that document.
	Outcome string
	Fields  []Field
	// Kind is layout's word for the outcome document.
	Kind string
	// Recorded says that an earlier commit recorded the attempt: where this
	// process did not begin it, nobody can tell how it ended, and its outcome
	// is "lost". Without it the attempt is recorded by this very plan.
	Recorded bool
	// Judge has the outcome say whether the output passes, and where the
	// command ran; Expected is the text sought in it (see engine/check).
	Judge    bool
	Expected string
	// Tail has the outcome hold no more of both outputs together than their
	// last so many bytes; zero keeps head and tail of each.
	Tail int
}

// Command is a program to run. It is an argument vector, never a shell line.
type Command struct {
	Argv  []string
	Env   []string // "NAME=value", added to the scrubbed environment
	Paths []string // "NAME=path": the same, each path made absolute
	Dir   string   // relative to the workspace
	// Prefer is a folder that is taken instead of Dir where it exists.
	Prefer string
	Stdin  []byte
	// Timeout is how long it may run; zero means for ever.
	Timeout time.Duration
	// Agent commands outlive placet; the others end with it.
	Agent bool
}

// Plan is what a machine wants done, as data. The zero Plan wants nothing.
type Plan struct {
	// Needs names paths and globs outside the run's folder, and "git:…"
	// facts. A plan that needs what the snapshot lacks is not carried out.
	Needs       []string
	Transitions []Transition
	Writes      []Document
	Removes     []string
	Lines       []Line
	Actions     []Action
	// Ends are the IDs of actions under way that nobody wants any more.
	Ends []string
	// Follow names folders of the run, besides its own and those of its open
	// requests, in which a change must be seen at once.
	Follow []string
	// Wake is when time alone may change the plan; zero means never.
	Wake time.Time
}

// Empty reports whether there is nothing to commit and nothing to begin.
func (p Plan) Empty() bool {
	return len(p.Transitions) == 0 && len(p.Writes) == 0 && len(p.Removes) == 0 &&
		len(p.Lines) == 0 && len(p.Actions) == 0
}

// WakeAt makes the plan wake no later than t. The zero time changes nothing.
func (p *Plan) WakeAt(t time.Time) {
	if t.IsZero() || !p.Wake.IsZero() && !t.Before(p.Wake) {
		return
	}
	p.Wake = t
}

// Machine is one family. All methods are pure; the table never changes.
type Machine interface {
	// Family returns the family's name, the first part of its runs' keys.
	Family() string
	// Edges returns the transition table.
	Edges() []Edge
	// Step says what is to be done next for one run.
	Step(Snapshot) (Plan, error)
	// Account says how one run stands, in words for people.
	Account(Snapshot) Account
	// Peek reads only as much of a state document as it takes to tell
	// whether the run can move.
	Peek(state []byte) Peek
}

// Peek is what a state document says at a glance.
type Peek struct {
	Status  Status
	Final   bool // nothing but a new state document can move the run
	Waiting bool // a person is asked
	// Open is the number of open requests, and Asked when the oldest of them was
	// made, in UTC; zero where the document does not tell.
	Open  int
	Asked time.Time
	// Touched says that placet moved the run at some time: a crash may have
	// left something owed, which a closer look finds.
	Touched bool
}
