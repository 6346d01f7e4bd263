package engine

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"

	"placet/templates"
)

// Digest is the SHA-256 of some bytes, written "sha256:" and 64 hex digits.
// The empty Digest stands for "no such file".
type Digest string

// Sum returns the digest of b.
func Sum(b []byte) Digest {
	sum := sha256.Sum256(b)
	return Digest("sha256:" + hex.EncodeToString(sum[:]))
}

// In names the command of this digest where it runs in a folder that it prefers.
func (d Digest) In(folder string) Digest { return d + Digest(" in "+folder) }

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
	// Issued are the digests of the contents that this machine wrote under this
	// path, the newest last, as it remembers outside the workspace; nil where it
	// remembers none. Only requests, forms, receipts and the state documents of
	// which placet is the only writer are remembered.
	Issued []Digest
	// Parsed keeps what [Parse] returned for the content; nil where nothing is kept.
	Parsed *Parsed
}

// Present reports whether the document was read and can be used.
func (d Document) Present() bool { return d.Err == nil && d.Path != "" }

// IssuedHere reports whether the file holds what this machine wrote there.
func (d Document) IssuedHere() bool { return d.Sum != "" && slices.Contains(d.Issued, d.Sum) }

// Absent reports whether the file is known not to exist.
func (d Document) Absent() bool { return errors.Is(d.Err, ErrAbsent) }

// Unsettled reports whether the file may still be being written.
func (d Document) Unsettled() bool { return errors.Is(d.Err, ErrUnsettled) }

// Facts are what the kernel knows besides the documents.
type Facts struct {
	// Config holds the settings, merged in the order of precedence.
	Config Config
	// Trusted holds the digests of policy settings that the owner of the workspace
	// has agreed to, and of commands, while the files that they name are those that
	// were agreed to. Where a folder that commands prefer differs from the one that
	// they name, it also holds the commands in that folder, true or false: see
	// [Facts.Trusts].
	Trusted map[Digest]bool
	// Alive holds the IDs of the actions that run at this moment.
	Alive map[string]bool
	// Ended holds how actions without an outcome document ended in this
	// process, by ID, until a plan lists the ID in Ends. A restart forgets them, but
	// for commands that an orderly stop ended: they are "stopped" for the next
	// process, until they begin again.
	Ended map[string]Ended
}

// Trusts reports whether a command may begin that prefers a folder, "" for none.
func (f Facts) Trusts(command Digest, prefer string) bool {
	if there, differs := f.Trusted[command.In(prefer)]; differs {
		return there
	}
	return f.Trusted[command]
}

// Ended is how an action ended that has no outcome document: a fact of this
// process, which its machine writes down itself. Where a crash comes first the
// machine finds the action neither alive nor ended.
type Ended struct {
	Began, At time.Time
	// Result is of a command finished, timed_out, stopped, revoked, not_started or
	// lost (see package exec). Of a row for a database it is done, present (the
	// row is there as we gave it), refused (another row has its id, or the
	// database's rules forbid it) or failed (it may be tried again); of a look
	// into one done, absent (there is no such file) or failed.
	Result string
	// Exit is a command's exit code, nil where nobody saw it.
	Exit *int
	// Reason is what no output says; of a database its error, or what its table lacks
	// of a row that is there, in words for people, with what to do.
	Reason string
	// Stdout and Stderr are the last bytes of a command's outputs: as many of
	// each as the action's Tail says, 4 KiB where it says nothing.
	Stdout, Stderr string
	// Output is what a command wrote into the file that [Action].Output names,
	// nil where it wrote none; of a look into a database the rows as JSON,
	// {"<name of the query>": [{"<column>": value, …}, …], …}.
	Output []byte
}

// Config is the part of the settings that a machine reads.
type Config struct {
	// Language is the language of texts for people: en, ko or ja.
	Language string
	// Gates maps "family/type", "family" or "*" to what an answer must be worth.
	Gates map[string]Gate
	// GatesSince is when somebody last decided which gates hold, the zero time where
	// nobody did: an answer from before counts once it is saved again.
	GatesSince time.Time
	// Family holds the family's own settings, of the type that it documents.
	Family any
}

// Gate says what an answer must be worth to count.
type Gate struct {
	// Level is "file": any well-formed answer counts.
	Level string
	// Approvers lists who may answer; empty means anyone.
	Approvers []string
	// Waits says that other gates wait for trust, and that this one is the tighter of
	// both.
	Waits bool
	// Since is [Config.GatesSince].
	Since time.Time
}

// GateFor returns the gate for a request type of a family: the most specific
// of "family/type", "family" and "*" wins.
func (c Config) GateFor(family, typ string) Gate {
	g := Gate{Level: "file"}
	for _, name := range []string{family + "/" + typ, family, "*"} {
		if found, ok := c.Gates[name]; ok {
			g = found
			break
		}
	}
	g.Since = c.GatesSince
	return g
}

// Status is the word for where a run, or a part of it, stands.
type Status string

// Edge is a row of a machine's transition table.
type Edge struct {
	Of    string `json:"of"`   // what moves: run, step, phase, checkpoint, …
	From  Status `json:"from"` // "" where it begins
	Event string `json:"event"`
	To    Status `json:"to"`
}

// Transition is an edge taken, with its cause.
type Transition struct {
	Edge
	Subject string            // which of them: "build:implement"; empty for the run itself
	Cause   map[string]Digest // the files that caused it, paths as the family writes them
	Actor   string
	Reason  string
}

// LongestReason is how much of others' words a transition repeats, in bytes.
const LongestReason = 500

// Person is the actor's name for whoever gave an answer or a wish.
func Person(name string) string {
	return "person:" + templates.Cut(cmp.Or(name, "unknown"), LongestReason)
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
	// Database is what is to be done instead of a command, nil for a command.
	// It is done in this process, needs nobody's trust and has no Outcome.
	Database *Database
	// Output names an environment variable: it gives the command the absolute
	// path of a file of its own, not there yet, whose bytes come back in
	// [Ended].Output. Only of a command without Outcome.
	Output string
	// Outcome is where the end of the command is recorded; Fields come first
	// in that document. Empty: the end comes back in [Facts].Ended.
	Outcome string
	Fields  []Field
	// Kind is layout's word for the outcome document.
	Kind string
	// Recorded says that an earlier commit recorded the attempt: where this
	// process did not begin it, nobody can tell how it ended, and its outcome
	// is "lost". Without it the attempt is recorded by this very plan.
	Recorded bool
	// Judge has the outcome say whether the output passes, and where the
	// command ran; Expected is the text sought in it (see engine/testoutput).
	Judge    bool
	Expected string
	// Tail has the outcome hold no more of both outputs together than their
	// last so many bytes; zero keeps head and tail of each.
	Tail int
}

// Outlives reports whether the action goes on when placet ends. One whose end is
// recorded by nobody but its machine never does.
func (a Action) Outlives() bool { return a.Command.Agent && a.Outcome != "" }

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
	// Agent commands outlive placet, where their action has an Outcome; the
	// others end with it.
	Agent bool
}

// Database is one look into a SQLite database, or one row for it.
type Database struct {
	// Path is relative to the workspace, with slashes.
	Path string
	// Schema names the embedded SQL that makes the database where it does not
	// exist, and says what may stand in it: for a row and for a look, which makes
	// nothing.
	Schema string
	// Columns are, by table, the columns that must be there. Optional are those that
	// an older table may lack: a row goes in without them, and the Reason of its end
	// says so. Hint says what to do where a column is missing.
	Columns, Optional map[string][]string
	Hint              string
	// Insert is one row, in a transaction of its own.
	Insert *Row
	// First is a row that Insert names, nil for none: where the database has lost
	// it, it goes in before.
	First *Row
	// Select is a look: several queries of one moment.
	Select []Query
}

// Row is a row for a table. It is inserted and never replaces another.
type Row struct {
	Table string
	// ID is the value of the first of Values, the row's key.
	ID string
	// Values are strings, ints, float64s and nils, by column.
	Values []Field
}

// Query is one question to a database. Name is the member of its answer.
type Query struct {
	Name, SQL string
	Args      []any
}

// Plan is what a machine wants done, as data. The zero Plan wants nothing.
type Plan struct {
	// Needs names paths and globs outside the run's folder, and "git:…"
	// facts. A plan that needs what the snapshot lacks is not carried out.
	Needs []string
	// NextNeeds are those that the step after the commit of this plan adds, as far
	// as the plan tells. They are loaded with the run then.
	NextNeeds   []string
	Transitions []Transition
	Writes      []Document
	Removes     []string
	Lines       []Line
	Actions     []Action
	// Ends are the IDs of actions under way that nobody wants any more, and of
	// ended ones whose end is written down or means nothing any more: it is
	// forgotten then.
	Ends []string
	// Follow names folders of the run, besides its own and those of its open
	// requests, in which a change must be seen at once.
	Follow []string
	// Wake is when time alone may change the plan; zero means never.
	Wake time.Time
	// Holding are the files that were read and may be half of a write.
	Holding []Holding
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

// Classed is a machine some of whose runs are told apart by their class: the same
// state document says something else of a run that nobody drives.
type Classed interface {
	Machine
	// PeekClass is Peek for a run of a class; state is nil where there is no state
	// document that can be used. ok is false where Peek says all.
	PeekClass(class string, state []byte) (p Peek, ok bool)
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

// Ask counts an open request, made at a moment or the zero time.
func (p *Peek) Ask(at time.Time) {
	p.Waiting, p.Open = true, p.Open+1
	if at = at.UTC(); !at.IsZero() && (p.Asked.IsZero() || at.Before(p.Asked)) {
		p.Asked = at
	}
}
