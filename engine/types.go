package engine

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path"
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

// In returns the name under which trust records the command of this digest for the
// folder that the command prefers.
func (d Digest) In(folder string) Digest { return d + Digest(" in "+folder) }

// For returns the name under which trust records the command of this digest for one run,
// in which files that the command names may change.
func (d Digest) For(run Key) Digest { return d + Digest(" for "+run.String()) }

// Hex returns the 64 hex digits alone, "" for the empty digest.
func (d Digest) Hex() string { return strings.TrimPrefix(string(d), "sha256:") }

// Key identifies one run by its family and by its id, spelled as in the dialect.
type Key struct{ Family, ID string }

// String returns "family/id", the form used on the command line.
func (k Key) String() string { return k.Family + "/" + k.ID }

// The values of a document's Err, besides an error that says why it is unusable.
var (
	// ErrAbsent says that there is no such file.
	ErrAbsent = templates.Errorf("engine.absent")
	// ErrUnsettled says that the file is there but may still be being
	// written. Nothing may treat it as absent: no default is taken and no deadline
	// passes while a file is unsettled.
	ErrUnsettled = templates.Errorf("engine.unsettled")
)

// KindState is the kind of every family's state document, the commit point of
// a run. A plan's commit writes it last and by compare-and-swap.
const KindState = "state"

// Document is one file that was read or is to be written.
type Document struct {
	// Path is relative to the workspace, with slashes. A path that begins
	// with "git:" is a fact from local git, not a file; one that begins with
	// [VolatileNeed] is a volatile document.
	Path string
	// Kind is layout's word for what the file is.
	Kind string
	// Body is the content, nil if Err is set.
	Body []byte
	// Sum is the digest of Body, empty if the file is absent.
	Sum Digest
	// Over is set in plans only: the digest of the content that this write
	// replaces. Empty: the file must not exist yet.
	Over Digest
	// Changed is when the file last changed, as the file system says.
	Changed time.Time
	// Modified is when the content was last written, as the file says; its owner may
	// have set that time. Moving the file does not change it. Zero if nobody has
	// looked.
	Modified time.Time
	// Err is nil, ErrAbsent, ErrUnsettled, or why the file is unusable.
	Err error
	// Known lists who wrote an answer and how placet knows it, each "how:who":
	// claimed, owner, committed, signed, api, slack.
	Known []string
	// Source is the surface of placet through which this machine wrote the content on
	// somebody's behalf, "" if no surface did. A plan that sets it writes an answer of a
	// person, the first of Known, into another run.
	Source string
	// Issued lists the digests of what this machine wrote at this path, the newest
	// last, from its record outside the workspace; nil if the record has none. [Issued]
	// says what an empty digest and a repeated one mean. The record covers requests,
	// forms, receipts, and the state documents that only placet writes.
	Issued []Digest
	// Parsed caches what [Parse] returns for the content; nil: no cache.
	Parsed *Parsed
}

// Issued records what this machine wrote in a run: by path, the digests of the
// contents, the newest last. An empty digest ends those before it. A digest is recorded
// before its content is written, and once more when the content has its name: if a
// crash comes between the two, the path has never held anything newer than the content
// before it.
type Issued map[string][]Digest

// Add records that a content is written at a path. A receipt belongs to the
// request.json that was written before it, so another request.json beside it ends it:
// the answer to one question says nothing about another with the same id.
func (i Issued) Add(name string, sum Digest) {
	if !i.isNewest(name, sum) {
		i[name] = append(slices.Clip(i[name]), sum)
		if dir, base := path.Split(name); base == "request.json" && len(i[dir+"receipt.json"]) > 0 {
			i[dir+"receipt.json"] = append(slices.Clip(i[dir+"receipt.json"]), "")
		}
	}
}

// Confirm records that the newest content at a path has its name.
func (i Issued) Confirm(name string, sum Digest) {
	if all := i[name]; i.isNewest(name, sum) && (len(all) < 2 || all[len(all)-2] != sum) {
		i[name] = append(slices.Clip(all), sum)
	}
}

func (i Issued) isNewest(name string, sum Digest) bool {
	all := i[name]
	return len(all) > 0 && all[len(all)-1] == sum
}

// Missing returns the documents whose content is not recorded as the newest at its
// path, in their order, and records them.
func (i Issued) Missing(docs []Document) (missing []Document) {
	for _, d := range docs {
		if d.Sum = Sum(d.Body); !i.isNewest(d.Path, d.Sum) {
			i.Add(d.Path, d.Sum)
			missing = append(missing, d)
		}
	}
	return missing
}

// Present reports whether the document was read and can be used.
func (d Document) Present() bool { return d.Err == nil && d.Path != "" }

// IssuedHere reports whether the file holds what this machine wrote there last, unless
// that has ended since. An older content that somebody put back does not count, because
// it was written for something else.
func (d Document) IssuedHere() bool {
	return d.Sum != "" && len(d.Issued) > 0 && d.Issued[len(d.Issued)-1] == d.Sum
}

// IsOlder reports whether somebody put back an older content: one that this machine
// wrote there before another content that was certainly in place since.
func (d Document) IsOlder() bool {
	for i := len(d.Issued) - 1; i > 0 && d.Issued[i] != d.Sum; i-- {
		if d.Issued[i] != "" && d.Issued[i] == d.Issued[i-1] {
			return slices.Contains(d.Issued[:i], d.Sum)
		}
	}
	return false
}

// Absent reports whether the file is known not to exist.
func (d Document) Absent() bool { return errors.Is(d.Err, ErrAbsent) }

// Unsettled reports whether the file may still be being written.
func (d Document) Unsettled() bool { return errors.Is(d.Err, ErrUnsettled) }

// Environment holds what a machine gets besides the documents.
type Environment struct {
	// Config holds the settings, merged in the order of precedence.
	Config Config
	// Trusted holds the digests of the policy settings and the commands that the owner
	// of the workspace has agreed to. The digest of a command is missing once a file
	// that it names differs from the one that was agreed to. If the folder that a
	// command prefers differs from the one that it names, the map also says whether the
	// command is trusted there: see [Environment.Trusts].
	Trusted map[Digest]bool
	// Changed lists, for commands that are not trusted only because files that they name
	// differ from those that were agreed to, these files. The names are those of Trusted.
	Changed map[Digest][]ChangedFile
	// Alive holds the IDs of the actions that are running.
	Alive map[string]bool
	// Ended holds, by ID, how actions without an outcome document ended in this
	// process, until a plan lists the ID in Ends. A restart forgets them, except for
	// commands that an orderly shutdown ended: the next process finds them "stopped",
	// until they begin again.
	Ended map[string]Ended
}

// Trusts reports whether a command may begin. prefer is the folder that it prefers, ""
// if none.
func (f Environment) Trusts(command Digest, prefer string) bool {
	if there, differs := f.Trusted[command.In(prefer)]; differs {
		return there
	}
	return f.Trusted[command]
}

// TrustsFor is [Environment.Trusts] for a command of a run, in which files that the
// command names may change without another question if the owner said so.
func (f Environment) TrustsFor(run Key, command Digest, prefer string) bool {
	return f.Trusts(command, prefer) || f.Trusts(command.For(run), prefer)
}

// ChangedFiles returns the entry of Changed for a command. prefer is the folder that it
// prefers, "" if none.
func (f Environment) ChangedFiles(command Digest, prefer string) []ChangedFile {
	if there, differs := f.Changed[command.In(prefer)]; differs {
		return there
	}
	return f.Changed[command]
}

// ChangedFile is a file that a command names and that differs from the one that the owner
// of the workspace has agreed to.
type ChangedFile struct {
	Path string // relative to the workspace
	// Was and Now are the digests of its content, "" while it does not exist.
	Was, Now Digest
	// Then is the content that was agreed to, nil if it is not known any more.
	Then *string
}

// The values of [Ended].Result for a command, and those that its outcome document has; see
// package exec.
const (
	CommandFinished   = "finished"
	CommandTimedOut   = "timed_out"
	CommandStopped    = "stopped"
	CommandLost       = "lost"
	CommandRevoked    = "revoked" // of an action without an outcome document
	CommandNotStarted = "not_started"
)

// Ended says how an action without an outcome document ended. Only this process knows
// it; the machine records it in the state. After a crash the machine finds the action
// neither alive nor ended.
type Ended struct {
	Began, At time.Time
	// Result is one of the words above for a command. For an insert into a database it
	// is done, present (the row is already there), refused (another row has its id, or
	// a constraint forbids it) or failed (it may be tried again). For a query it is
	// done, absent (there is no such file) or failed.
	Result string
	// Exit is a command's exit code, nil if it is unknown.
	Exit *int
	// Reason says, for people, why the action ended so, and what to do. For a database
	// it is the error, or which columns of an inserted row the table lacks.
	Reason string
	// Stdout and Stderr are the last bytes of a command's outputs: as many of each as
	// the action's Tail says, 4 KiB if Tail is zero.
	Stdout, Stderr string
	// Output is what a command wrote into the file that [Action].Output names, nil if
	// it wrote nothing. For a query it is the rows as JSON, {"<name of the query>":
	// [{"<column>": value, …}, …], …}.
	Output []byte
}

// Config is the part of the settings that a machine reads.
type Config struct {
	// Language is the language of texts for people: en, ko or ja.
	Language string
	// Gates maps "family/type", "family" or "*" to the gate that says which answers
	// count.
	Gates map[string]Gate
	// GatesSince is when a person last decided about the gates, zero if never. An
	// answer from before that moment does not count until it is saved again.
	GatesSince time.Time
	// Family holds the family's own settings, of the type that it documents.
	Family any
	// Slack says how requests are posted.
	Slack Slack
}

// Slack says where requests are posted, and how. The zero value posts nothing.
type Slack struct {
	// Families lists the families whose requests are posted; "*" stands for all.
	Families []string
	// API is the address of Slack's methods, without a slash at its end.
	API, Channel string
	// Token posts into the channel. Webhook is the address of an incoming webhook,
	// which accepts the question alone. Without both, placet posts nothing.
	Token, Webhook       Secret
	HasToken, HasWebhook bool
	// Buttons says that placet can distinguish presses of buttons from forged ones.
	Buttons bool
}

// Posts reports whether the requests of a family are posted.
func (s Slack) Posts(family string) bool {
	return (s.HasToken && s.Channel != "" || s.HasWebhook) && (slices.Contains(s.Families, family) || slices.Contains(s.Families, "*"))
}

// Gate says which answers count.
type Gate struct {
	// Level is "file": any well-formed answer counts.
	Level string
	// Approvers lists who may answer; empty means anyone.
	Approvers []string
	// Waits is true while changed gates wait for trust; this gate is then the stricter
	// of the old and the new one.
	Waits bool
	// Since is [Config.GatesSince].
	Since time.Time
	// Links says whether a press of a button in a message may answer; nil: unless the request
	// is about something that cannot be undone.
	Links *bool
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

// Status is the status of a run, or of a part of it, as its state document spells it.
type Status string

// Edge is a row of a machine's transition table.
type Edge struct {
	Of    string `json:"of"`   // what moves: run, step, phase, checkpoint, …
	From  Status `json:"from"` // "" at the beginning
	Event string `json:"event"`
	To    Status `json:"to"`
}

// Transition is one move along an edge, with its cause.
type Transition struct {
	Edge
	Subject string            `json:"subject"` // which part moved: "build:implement"; empty for the run itself
	Cause   map[string]Digest `json:"cause"`   // the files that caused it, paths as the family writes them
	Actor   string            `json:"actor"`
	Reason  string            `json:"reason"`
}

// LongestReason bounds how many bytes of a text from outside a transition repeats.
const LongestReason = 500

// Person returns the actor of a transition that a person caused.
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

// Action is a command, a database access or a send. A document of the same plan or of an
// earlier one must record the attempt; the action begins at most once per process.
type Action struct {
	// ID is unique in the workspace and a function of the state.
	ID      string
	Command Command
	// Database is set in place of a command. It runs in this process, needs no
	// trust and has no Outcome.
	Database *Database
	// Send is set in place of a command. It is carried out in this process, needs no
	// trust, and always has an Outcome.
	Send *Send
	// Output names an environment variable that gives the command the absolute path of
	// a file to create; its content comes back in [Ended].Output. Only for commands
	// without Outcome.
	Output string
	// Outcome is where the end of the action is recorded; Fields come first
	// in that document. Empty: the end comes back in [Environment].Ended.
	Outcome string
	Fields  []Field
	// Kind is layout's word for the outcome document.
	Kind string
	// Recorded is true if an earlier commit recorded the attempt: if this process did
	// not begin it, its end is unknown and its outcome is "lost". Otherwise this plan
	// records the attempt.
	Recorded bool
	// Judge makes the outcome say whether the output passes, and where the command
	// ran. Expected is the text that the output must contain (see engine/testoutput).
	Judge    bool
	Expected string
	// Tail bounds how many bytes of both outputs together the outcome holds, counted
	// from the end. Zero keeps the head and the tail of each.
	Tail int
}

// IsCommand reports whether the action is a command. Only commands need trust.
func (a Action) IsCommand() bool { return a.Database == nil && a.Send == nil }

// Outlives reports whether the action continues when placet ends. An action without an
// Outcome never does, nor does a send.
func (a Action) Outlives() bool { return a.Command.Agent && a.Outcome != "" }

// Command is a program to run. It is an argument vector, never a shell line.
type Command struct {
	Argv []string
	// Words is the argument vector that the owner agreed to, if placet put values in the
	// place of some of its words; nil: Argv.
	Words []string
	Env   []string // "NAME=value", added to the scrubbed environment
	Paths []string // "NAME=path": the same, each path made absolute
	Dir   string   // relative to the workspace
	// Prefer is a folder that replaces Dir if it exists.
	Prefer string
	Stdin  []byte
	// Timeout is how long the command may run; zero means for ever.
	Timeout time.Duration
	// Agent marks a command that outlives placet if its action has an Outcome. Other
	// commands end with placet.
	Agent bool
	// Grace is how long `placet watch --once` waits for the end of an agent that it began: what fails
	// at once is then reported at once.
	Grace time.Duration
}

// Agreed returns the argument vector that the owner agreed to.
func (c Command) Agreed() []string {
	if c.Words != nil {
		return c.Words
	}
	return c.Argv
}

// Database is one query of a SQLite database, or one insert into it.
type Database struct {
	// Path is relative to the workspace, with slashes.
	Path string
	// Schema names the embedded SQL with which an insert creates a missing database. It
	// also says what the database may contain.
	Schema string
	// Columns lists, by table, the columns that must exist. Optional lists those that
	// an older table may lack: a row is inserted without them, and the Reason of its
	// end says so. Hint says what to do if a column is missing.
	Columns, Optional map[string][]string
	Hint              string
	// Insert is one row, in a transaction of its own.
	Insert *Row
	// First is a row that Insert refers to, nil if none. It is inserted before Insert
	// if the database has lost it.
	First *Row
	// Select lists queries that run in one transaction.
	Select []Query
}

// Row is a row to insert. It never replaces another.
type Row struct {
	Table string
	// ID is the row's key, the first of Values.
	ID string
	// Values are strings, ints, float64s and nils, by column.
	Values []Field
}

// Query is one query of a database. Name is the member of the result that holds its rows.
type Query struct {
	Name, SQL string
	Args      []any
}

// Plan says what a machine wants done, as data. The zero Plan wants nothing.
type Plan struct {
	// Needs lists paths and globs outside the run's folder, "git:…" facts, and volatile
	// documents (see [VolatileNeed]). A plan that needs something that the snapshot
	// lacks is not carried out: the loop loads it and steps again.
	Needs []string
	// NextNeeds lists what the step after the commit of this plan will need as well.
	// The loop loads it together with the run.
	NextNeeds   []string
	Transitions []Transition
	Writes      []Document
	Removes     []string
	Lines       []Line
	Actions     []Action
	// Ends lists the IDs of running actions to cancel, and of ended ones whose end is
	// recorded or does not matter any more: the loop forgets them.
	Ends []string
	// Follow lists folders to watch besides the run's own and those of its open
	// requests.
	Follow []string
	// Wake is when the next step may differ even if no file has changed; zero: never.
	Wake time.Time
	// Thresholds say when the next step may differ because of a volatile document. The
	// loop looks at the run once for each.
	Thresholds []Threshold
	// Pending lists files that were read and may be incomplete.
	Pending []PendingFile
}

// Empty reports whether there is nothing to commit and nothing to begin.
func (p Plan) Empty() bool {
	return len(p.Transitions) == 0 && len(p.Writes) == 0 && len(p.Removes) == 0 &&
		len(p.Lines) == 0 && len(p.Actions) == 0
}

// WakeAt sets Wake to t if t is earlier. The zero time changes nothing.
func (p *Plan) WakeAt(t time.Time) {
	if t.IsZero() || !p.Wake.IsZero() && !t.Before(p.Wake) {
		return
	}
	p.Wake = t
}
