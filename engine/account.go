package engine

import (
	"slices"
	"time"

	"placet/templates"
)

// RunView is one run as people see it: what status, inbox, show, explain, graph and
// check print.
type RunView struct {
	Key   Key
	Class string // what placet does with the run: served, driven, foreign
	// ShortID is the shortest name that the family accepts for the run.
	ShortID string
	Status  Status
	Final   bool
	// Absent is true if the folder at the place of a run is not a run. Such a folder is
	// not listed.
	Absent bool
	// Blocked is true while the run cannot move because of bad input.
	Blocked bool
	// Unaccounted is the digest of a state document that is valid but that the journal
	// beside it does not explain. The run stays as it is until a person restores or
	// adopts the document. Empty where the journal explains it.
	Unaccounted Digest
	Facts       []Fact
	// Open are the requests that a person can answer now, oldest first.
	Open []OpenRequest
	// Required are the things besides answers that a person must do before the run goes on.
	Required []RequiredAction
	// Why says which rule holds the run, one sentence a line.
	Why []string
	// WaitsFor lists what the run waits for besides open requests, each in a few words
	// with who provides it: "inputs/assets.json (agent)". Paths are relative to the
	// run's folder. It is empty for a run that has ended, and it must follow from the
	// documents alone, since it is cached.
	WaitsFor []string
	// Unblock lists the files that would unblock the run, with the content that they must
	// have.
	Unblock []UnblockingFile
	// Pending lists the files that may still be being written, sorted by path. They do
	// not count yet, and no deadline passes while there are any.
	Pending []PendingFile
	Graph   []Node
	// Parts lists the parts of the run that show can print alone.
	Parts []Part
	// Findings lists the problems that check reports.
	Findings []Finding
	// Untrusted are commands that wait for trust.
	Untrusted []Untrusted
	// Log are the run's recorded events, oldest first.
	Log []Entry
}

// StatusAbsent is the status of a folder that is no run; see [RunView.Absent].
const StatusAbsent Status = "absent"

// SeenArtifact is a file and the digest of the content that somebody saw: 64 hex digits,
// "" if the file does not exist.
type SeenArtifact struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

// ChangedArtifact is a file that differs from the one that a request asks about. Shown
// and Now are digests of 64 hex digits each; Now is "" if the file does not exist.
type ChangedArtifact struct {
	Path  string    `json:"path"`
	Shown string    `json:"shown"`
	Now   string    `json:"now"`
	Since time.Time `json:"-"` // time of the change, zero if Now is ""
}

// PendingFile is a file whose writer may not have finished.
type PendingFile struct {
	Path string `json:"path"` // relative to the workspace
	// Until is when the file counts as complete if nobody changes it before; it is then
	// read again, and an error in it is reported. Zero means: as soon as it stops
	// changing.
	Until time.Time `json:"until"`
	// Counts is true for a valid file that counts unless it changes: it is one of several
	// that belong together, and the others may follow.
	Counts bool `json:"-"`
}

// Words returns a sentence for people, in the language lang: the file, called name, is
// not read yet, and when it will be.
func (h PendingFile) Words(lang, name string, now time.Time) string {
	if h.Until.IsZero() {
		return templates.Phrase(lang, "run.pending", "file", name)
	}
	left := max(0, (h.Until.Sub(now)+time.Second-1)/time.Second)
	if h.Counts {
		return templates.Phrase(lang, "run.pending.counts", "file", name, "seconds", int(left))
	}
	return templates.Phrase(lang, "run.pending.torn", "file", name, "seconds", int(left))
}

// mostWaits bounds WaitsFor: nobody reads more, and each new entry is compared with all
// before it.
const mostWaits = 1000

// Await adds an entry to WaitsFor unless it is already listed, up to mostWaits.
func (a *RunView) Await(what string) {
	if len(a.WaitsFor) == mostWaits {
		return
	}
	if !slices.Contains(a.WaitsFor, what) {
		a.WaitsFor = append(a.WaitsFor, what)
	}
}

// Fact is one labelled line.
type Fact struct {
	// Name is the label in English, by which programs recognize the line; "" means Label.
	Name  string `json:"-"`
	Label string `json:"label"`
	Value string `json:"value"`
}

// UnblockingFile is a file that would unblock the run, with the content that it must
// have.
type UnblockingFile struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

// Part is one part of a run that show can print alone: a checkpoint, a port.
type Part struct {
	ID       string    `json:"part"`
	Status   Status    `json:"status"`
	Facts    []Fact    `json:"facts"`
	Sections []Section `json:"sections"`
	// Progress says how far the part has got, nil if unknown.
	Progress *Progress `json:"progress"`
}

// Section is a text under a heading. Its lines are kept.
type Section struct {
	Title string `json:"title"`
	Text  string `json:"text"`
}

// OpenRequest is an open request as the inbox shows it. The caller that shows it fills in
// Reference, Family, Level, Approvers, GatesWait and Answer.
type OpenRequest struct {
	Request   string `json:"request_id"`
	Reference string `json:"reference"` // <id>@<reference of the digest>, as the answering verbs accept it
	Run       Key    `json:"run"`
	Family    string `json:"family"`
	Type      string `json:"type"`
	Where     string `json:"where"` // phase and step, checkpoint, …
	// WorkID and Branch are the work item and the branch of the run, if it names them.
	WorkID   string          `json:"work_id,omitempty"`
	Branch   string          `json:"branch,omitempty"`
	Prompt   string          `json:"prompt"`
	Summary  string          `json:"summary"`
	Options  []RequestOption `json:"options"`
	FreeText bool            `json:"free_text"`
	Multiple bool            `json:"multiple"`
	// CommentRequired lists the options that ask for a comment.
	CommentRequired []string `json:"comment_required"`
	// Several lists the options that may be chosen together, in any number; every other
	// option must be chosen alone.
	Several []string `json:"several"`
	// Items lists the things that an answer may pick: at most ItemsMax of them, any
	// number if that is 0. If ItemsWith is not empty, an answer may pick them only
	// together with one of these options.
	Items     []RequestItem `json:"items"`
	ItemsMax  int           `json:"items_max"`
	ItemsWith []string      `json:"items_with"`
	// Default is the option of an answer that picks an item or comments and names no
	// option. The verb approve also chooses it if no option is called approve. It is ""
	// if an answer must name an option.
	Default   string   `json:"default_option"`
	Level     string   `json:"level"`
	Approvers []string `json:"approvers"`
	GatesWait bool     `json:"gates_wait"`
	Artifacts []string `json:"artifacts"`
	// Binding lists the files that an answer is bound to, with the digests that are
	// shown.
	Binding []SeenArtifact `json:"binding"`
	// Editable are the files whose texts an answer may change.
	Editable []EditableFile `json:"editable,omitempty"`
	// Changed lists the binding artifacts that differ from what the request asks about.
	Changed []ChangedArtifact `json:"changed"`
	// Voids counts the void answers, and Void says why the last ones are void, "" if none
	// is.
	Voids       int       `json:"voids"`
	Void        string    `json:"void"`
	Form        string    `json:"form"`     // path of the present form, relative to the workspace
	Response    string    `json:"response"` // path of response.json, relative to the workspace
	Digest      Digest    `json:"digest"`   // of what is shown now
	RequestedAt time.Time `json:"requested_at"`
	Deadline    time.Time `json:"deadline"` // zero: none
	Overdue     bool      `json:"overdue"`
	// AtDeadline says in a few words what happens if nobody has answered by the deadline,
	// "" without a deadline.
	AtDeadline string         `json:"at_deadline"`
	Problem    string         `json:"problem"` // problem with the answer file in place
	Answer     *PendingAnswer `json:"answer"`
	// Counts says that an answer is in place that the next pass accepts, whatever Problem
	// says about others.
	Counts bool `json:"-"`
	// Details lists what the request shows besides its prompt, its options and its items:
	// the members of its context, and the texts of the files that an answer is bound to.
	Details []Fact `json:"-"`
	// Unread lists the files that an answer is bound to and whose text no surface shows.
	Unread []string `json:"-"`
	// NobodyWaits is when the last process on this machine that waited for the answer was seen,
	// the zero time if one waits, or none ever did. Waited says that one waits.
	NobodyWaits time.Time `json:"nobody_waits_since,omitzero"`
	Waited      bool      `json:"-"`
	// Unannounced says that nobody is notified of the request.
	Unannounced bool `json:"-"`
	// AtCommandLine lists the options that let a command run. They count only if a person
	// chooses them at the command line of this machine.
	AtCommandLine []string `json:"at_command_line,omitempty"`
	// Command is the command that these options let run, nil if there are none.
	Command *Untrusted `json:"-"`
	// Foreign says that request.json is not what this machine wrote there.
	Foreign bool `json:"-"`
	// Irreversible says that the request is about something that cannot be undone.
	Irreversible bool `json:"-"`
	// Members are the names of further members of response.json that the family reads.
	Members []string `json:"-"`
	// NoReject replaces the general hint about what to do if no option means no.
	NoReject string `json:"-"`
	// Lang is the language of the run's texts for people.
	Lang string `json:"-"`
}

// EditableFile is a file whose text a reviewer may change: the N-th artifact of the
// request, with its text as shown.
type EditableFile struct {
	N    int    `json:"n"`
	Path string `json:"path"`
	Text string `json:"-"`
}

// PendingAnswer is an answer that is on disk and not carried out yet.
type PendingAnswer struct {
	Response string `json:"response"`
	User     string `json:"user"`
	Source   string `json:"source"`
	Claimed  bool   `json:"claimed"` // only the answer itself says who gave it
	Text     string `json:"-"`       // the whole answer as a sentence
}

// RequestOption is one choice of a request.
type RequestOption struct {
	ID          string `json:"id"`
	Description string `json:"description"`
	// Effect says what choosing the option does, "" if the request does not say.
	Effect string `json:"effect"`
	// Words are further names of the option.
	Words []string `json:"-"`
}

// Says returns the text that a person sees for the option besides its id.
func (o RequestOption) Says() string { return Says(o.Description, o.Effect) }

// Says joins an option's description and its effect.
func Says(description, effect string) string {
	if description == "" || effect == "" {
		return description + effect
	}
	return description + " → " + effect
}

// RequestItem is one thing that an answer may pick.
type RequestItem struct {
	ID    string `json:"id"`
	Label string `json:"label"`
	// Words are further names of the item.
	Words []string `json:"-"`
}

// Node is one part of a run's plan, in order.
type Node struct {
	ID      string `json:"id"`
	Group   string `json:"group"`
	Label   string `json:"label"`
	Status  Status `json:"status"`
	Current bool   `json:"current"`
	Gate    bool   `json:"gate"`
	// Critical is true on the longest path through the plan.
	Critical bool     `json:"critical"`
	After    []string `json:"after"`
}

// Finding is one thing that check reports.
type Finding struct {
	Severity string // "error", "warning" or "info"
	Path     string
	Text     string
	// Urgent findings are printed by status and inbox, too: the run may not be in the
	// status that it shows, and no problem note says so.
	Urgent bool
	// Code names the kind of the finding for programs, "" if the kind has no name.
	Code string `json:",omitempty"`
	// Pointer is the place in the document at Path, "" for the whole document.
	Pointer string `json:",omitempty"`
	// Request is the request that a fabrication passed over, "" if it claims something
	// else.
	Request string `json:",omitempty"`
	// Adoption is the digest that a person agrees to by adopting a fabrication. An
	// adopted one is not reported any more.
	Adoption Digest `json:",omitempty"`
}

// CodeFabrication is the code of a finding that another program's claim contradicts the
// record beside it, for example a claim that a run is completed while the run asks a
// person.
const CodeFabrication = "fabrication"

// RequiredAction is something that a person must do before a run goes on, and that is not the
// answer to a request: to look whether a command has run whose end is unknown, to begin one again
// that failed, to agree to one. It counts as waiting for a person wherever requests do.
type RequiredAction struct {
	// ID names the action in its run. It stays the same while the same thing must be done:
	// people are notified of it once.
	ID string `json:"id"`
	// Text says what has happened, in the language of the run's texts.
	Text string `json:"text"`
	// Command is what to type, without the name of the program; "" if there is nothing to type.
	Command string `json:"command"`
	// Since is when it became necessary, zero if unknown.
	Since time.Time `json:"since"`
}

// Contradict adds findings about documents of the run that contradict each other. A run
// that has not ended then waits until a person repairs them, and wait is the entry of
// WaitsFor that says so.
func (a *RunView) Contradict(list []Finding, wait string) {
	a.Findings = append(a.Findings, list...)
	if len(list) > 0 && !a.Final {
		a.Await(wait)
	}
}

// TrustChanges is the option of a request about changed files that also agrees to their later
// changes in the run.
const TrustChanges = "run_and_trust"

// Untrusted is a command or a setting that waits for placet trust.
type Untrusted struct {
	// Name is "" for the command of a setting, which its digest identifies.
	Name   string
	Digest Digest
	Text   string
	// Argv is the argument vector of a command, nil for a setting. Prefer is the folder
	// in which the command runs instead of the workspace's root, if it exists. Trust in
	// the command covers the files that Argv names there.
	Argv   []string
	Prefer string
	// Stops says that the run could go on if a person agreed now, and that no open request
	// asks for that.
	Stops bool
}

// Entry is one recorded event.
type Entry struct {
	At      time.Time `json:"at"`
	Number  int       `json:"number"`
	Event   string    `json:"event"`
	Where   string    `json:"where"`
	Who     string    `json:"who"`
	Message string    `json:"message"`
}
