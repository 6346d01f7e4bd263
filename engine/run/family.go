package run

import (
	"time"

	"placet/engine"
	"placet/engine/gate"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// Family describes a family of runs. S is the type of its state document, V the family's view
// of a run: its own type around the *[Run] that Read gets.
type Family[S, V any] struct {
	// Layout says where the family's runs are and what their files are. Its name begins the
	// keys of the runs; the sentence of that name + ".noun" is the word for one of them.
	Layout layout.Family
	// Format says how the state document is read and written.
	Format Format[S]
	// Stamp formats a time as the family's documents do.
	Stamp func(time.Time) Text
	// Folder is the prefix of the paths of the run's files in the family's documents, "" for
	// none.
	Folder string
	// Parts are the kinds of things in a run that move on their own; none if there are none.
	// With parts, transitions name what moved, and the journal names it in place of the
	// statuses.
	Parts []Parts[S, V]
	// Anew says what to do if the state document cannot be used.
	Anew templates.Key
	// Read makes the view. The state has been read before; see [Run.Begun].
	Read func(*Run[S, V]) V
	// Rules are the transition table, in groups of equal rank: the order of the groups is
	// their precedence. Within a group, the first request to which any rule applies comes
	// first, and then the first part.
	Rules [][]Rule[S, V]
	// Final reports whether no transition leaves a status.
	Final func(engine.Status) bool
	// Shared is set if the state document also belongs to another program.
	Shared *Shared[V]
	// Questions are the questions to persons, by the type of the request.
	Questions map[string]Question[V]
	// Raised returns an open request that documents open, not a transition; nil for none. The
	// transition that closes the request keeps it in the state. nil: never.
	Raised func(V) *Request
	// Foreign reports whether somebody else wrote a document at a path that is placet's. nil:
	// never; the schema identifies most of them.
	Foreign func(V, engine.Document) bool
	// Outputs adds what the state calls for besides requests. It is also called for the state
	// after a transition, and for a run that has not begun.
	Outputs func(V, *Outputs)
	// Posts adds the messages about requests, after all other outputs.
	Posts func(V, *Outputs)
	// BadSettings reports whether settings of others that the run reads cannot be used, and
	// which notes are about them. Then nothing moves, and other notes stay unchanged. nil:
	// there are none.
	BadSettings func(V) (notes []string, bad bool)
	// Always makes the changes that every transition makes, after the status is set. nil:
	// nothing.
	Always func(*Change[S, V])
	// Actions returns the commands that the state names, and those of them whose end is
	// awaited and not known. nil: the outputs plan all actions.
	Actions func(V) (named, due []engine.Action)
	// Notes judges everything else that notes are about, whichever rule came first. It is
	// called while nothing moves.
	Notes func(V)
	// Needs returns what the run reads outside its folder.
	Needs func(V) []string
	// Watch returns folders of the run in which others may write files that move it. nil: the
	// run's own folder, until the run has ended.
	Watch func(V) []string
	// Thresholds returns which volatile documents move the run, and when; Progress reads one
	// of them: see [engine.Progressing]. nil: there are none.
	Thresholds func(V) []engine.Threshold
	Progress   func(path string, body []byte) (engine.Progress, error)
	// Keeps reports whether to keep an action under way, or its end, although the state does
	// not name it. Keeps is called for the run's own actions only. nil: never.
	Keeps func(v V, id string) bool
	// Late returns a sentence for the note about an answer that came after its request was
	// closed. nil: none.
	Late func(v V, q *Request) string
	// Entry converts a journal line of the family's own for people; see [Change.Event]. It
	// returns false for other lines. nil: there are none.
	Entry func(line []byte) (engine.Entry, bool)
	// Summary is [engine.Machine]'s Summarize. nil: the kernel's, for a state that stores
	// requests in the kernel's format.
	Summary func(body []byte) engine.Summary
	// New is the status that people see for a run that has not begun.
	New engine.Status
	// Absent reports whether a folder in which nothing has begun is not a run, and says what
	// would begin one.
	Absent func(V, *engine.RunView) bool
	// Fabrications returns false claims of other programs in documents of the family's own. It
	// is also called for a state that cannot be used. nil: there are none.
	Fabrications func(V) []Fabrication
	// Explain adds the reasons why a run waits that no rule gives, whatever its status.
	Explain func(V, *Waiting)
	// Tell adds the family's own parts to the view for people.
	Tell func(V, *engine.RunView)
}

// Shared is for a family whose state document belongs to another program: that program writes
// it at any time, and no journal accounts for it. The documents around such a state describe
// its requests, so the family reads, keeps and reports them itself.
type Shared[V any] struct {
	// Document returns the state document.
	Document func(engine.Snapshot) engine.Document
	// MayNote reports whether placet writes and removes notes at a path.
	MayNote func(v V, note string) bool
	// Asks reports whether the request with an id is open.
	Asks func(v V, id string) bool
	// Contradictions returns where the state and the receipts disagree.
	Contradictions func(V) []engine.Finding
}

// Format says how the state document of a family is read and written.
type Format[S any] struct {
	// Decode reads a state document. The error is a *schemas.Error.
	Decode func(path string, body []byte) (S, error)
	// DecodeOwn reads a state document that this machine wrote, as its digest shows: a
	// document that placet encoded need not be checked. nil: Decode does.
	DecodeOwn func(body []byte) (S, error)
	Encode    func(S) ([]byte, error)
	// Head returns the members of a state that the kernel reads and writes.
	Head func(*S) Head
	// Unfit returns why a readable state does not belong to the run, or nil.
	Unfit func(*Input, S) error
}

// Head points at the members of a state that every family has.
type Head struct {
	// Version is the version of the format. nil: only [JSONState] needs it.
	Version  *int
	Status   *engine.Status
	Revision *int
	Last     **Last
	Requests *[]*Request
	// Language is the language of the run's texts for people, nil if the state does not record
	// it.
	Language *string
	// Extra are the members of a later version, kept as they are; see [JSONState].
	Extra *schemas.Object
	// History holds the transitions before the last, for a family whose state keeps them. nil:
	// a journal beside the state keeps them.
	History *[]Past
}

// Last is the transition that made the present revision.
type Last struct {
	Event   string                   `json:"edge"`
	Of      string                   `json:"of,omitzero"`
	Subject *string                  `json:"subject,omitzero"`
	From    engine.Status            `json:"from"`
	To      engine.Status            `json:"to"`
	At      Text                     `json:"at"`
	Actor   string                   `json:"actor"`
	Reason  string                   `json:"reason"`
	Cause   map[string]engine.Digest `json:"cause"`
	// Row is the name of the rule, if rules have names.
	Row string `json:"row,omitzero"`
	// Also are the other transitions of the commit.
	Also []Moved `json:"also,omitzero"`
	// Events are the lines of the family's own in the journal; see [Change.Event].
	Events []schemas.Object `json:"events,omitzero"`
}

// Moved is a transition that another one made in its commit.
type Moved struct {
	Event   string        `json:"edge"`
	Row     string        `json:"row,omitzero"`
	Of      string        `json:"of"`
	Subject string        `json:"subject"`
	From    engine.Status `json:"from"`
	To      engine.Status `json:"to"`
}

// Past is an earlier transition.
type Past struct {
	Edge   string `json:"edge"`
	At     Text   `json:"at"`
	Actor  string `json:"actor"`
	Reason string `json:"reason"`
}

// Question describes one kind of question to persons.
type Question[V any] struct {
	// Fill adds prompt, options, items and artifacts, and returns the context. The other
	// members of the request are already set.
	Fill func(v V, q *Request, req *gate.Request) schemas.Object
	// Remakes reports whether request.json may be made again although it differs from what was
	// issued: of what it shows, only who may answer can have changed. nil: never.
	Remakes func(v V, q *Request) bool
	// Check returns why an answer with valid options cannot be used, or "". nil: every such
	// answer can be used.
	Check func(v V, a *Answer) string
	// Title is the heading of the form.
	Title func(v V, q *Request) gate.Texts
	// Brief leaves null and empty members of the context out of the form; request.json has
	// every member.
	Brief bool
	// Default is the option that counts if none is chosen, Hint says what an answer needs, and
	// Members are further members of a response that are read.
	Default string
	Hint    templates.Key
	Members []string
	// AtCommandLine are the options that let a command run; see [gate.Evaluation].
	AtCommandLine []string
	// Stands reports whether the subject of the request is unchanged; if not, every answer is
	// held, and problem says why. nil: always.
	Stands func(v V, q *Request) (problem string, ok bool)
	// Lapses makes the deadline close the request in any case: without a default, and over
	// answers that are held because the subject of the request has changed.
	Lapses bool
	// AtDeadline says what happens at the deadline if nobody has answered, "" for a general
	// sentence.
	AtDeadline templates.Key
	// MayAnswer returns who may answer, among those whom the gate admits; nil: all of them.
	MayAnswer func(v V, q *Request) []string
	// Tell adds the family's own parts to an open request.
	Tell func(v V, q *Request, asked *engine.OpenRequest)
}
