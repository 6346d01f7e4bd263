package run

import (
	"time"

	"placet/engine"
	"placet/engine/gate"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// Family describes a family of runs. S is what its state document says, V the family's
// view of a run: its own type around the *[Run] that Read gets.
type Family[S, V any] struct {
	// Layout says where its runs lie and what their files are. Its name begins the keys of
	// the runs; what people call one of them is the sentence of that name + ".noun".
	Layout layout.Family
	// Format says how the state document is read and written.
	Format Format[S]
	// Stamp writes a moment as the family's documents do.
	Stamp func(time.Time) Text
	// Folder begins the paths of the run's files as the family's documents write them, "" for
	// none.
	Folder string
	// Parts are what a run consists of that moves on its own, by kind; none: nothing. With
	// parts transitions name what moved, and the journal names it in place of the
	// statuses.
	Parts []Parts[S, V]
	// Anew says what helps where the state document cannot be used.
	Anew templates.Key
	// Read makes the view. The state is read by then; see [Run.Begun].
	Read func(*Run[S, V]) V
	// Rules are the transition table, in groups of equal rank: the order of the groups
	// is their precedence. Within a group the first request, and then the first part,
	// to which any rule applies comes first.
	Rules [][]Rule[S, V]
	// Final reports whether nothing leads out of a status.
	Final func(engine.Status) bool
	// Shared is set where the state document belongs to another program, too.
	Shared *Shared[V]
	// Questions are what persons are asked, by the type of the request.
	Questions map[string]Question[V]
	// Raised is an open request that no transition opens, but documents that stand; nil
	// for none. The transition that closes it keeps it in the state. nil: never.
	Raised func(V) *Request
	// Foreign reports whether a document where placet's ought to stand was written by
	// somebody else. nil: never; most are told by their schema.
	Foreign func(V, engine.Document) bool
	// Outputs adds what the state calls for besides requests. It is called for the
	// state after a transition, too, and for a run that has not begun.
	Outputs func(V, *Outputs)
	// Posts adds the messages about requests, once everything else is there.
	Posts func(V, *Outputs)
	// BadSettings reports whether settings of others that the run reads cannot be used,
	// and which notes are about them. Then nothing moves, and other notes stay as they
	// are. nil: there are none.
	BadSettings func(V) (notes []string, bad bool)
	// Always changes what every transition changes, the status being set. nil: nothing.
	Always func(*Change[S, V])
	// Actions are the commands that the state names, and those of them whose end is
	// awaited and not there. nil: the outputs plan all actions.
	Actions func(V) (named, due []engine.Action)
	// Notes looks at whatever else notes are about, whatever a rule came first. It is
	// called while nothing moves.
	Notes func(V)
	// Needs are what the run looks at outside its folder.
	Needs func(V) []string
	// Watch are folders of the run in which others may write what moves it. nil: the
	// run's own, until it has ended.
	Watch func(V) []string
	// Thresholds say which volatile documents move the run, and when; Progress reads one
	// of them: see [engine.Progressing]. nil: there are none.
	Thresholds func(V) []engine.Threshold
	Progress   func(path string, body []byte) (engine.Progress, error)
	// Keeps reports whether an action under way, or its end, is kept though the state
	// does not name it. Only what belongs to the run is asked about. nil: never.
	Keeps func(v V, id string) bool
	// Late adds a sentence to the note about an answer that came after its request was
	// closed. nil: none.
	Late func(v V, q *Request) string
	// Entry tells people of a line of the family's own in the journal; see
	// [Change.Event]. It is false for other lines. nil: there are none.
	Entry func(line []byte) (engine.Entry, bool)
	// Summary is [engine.Machine]'s Summarize. nil: that of a state that keeps the requests as
	// the kernel has them.
	Summary func(body []byte) engine.Summary
	// New is the status that people are told of a run that has not begun.
	New engine.Status
	// Absent reports whether a folder in which nothing has begun is no run, and says
	// what would begin one.
	Absent func(V, *engine.RunView) bool
	// Fabrications are what other programs claim in documents of the family's own. It is
	// also called for a state that cannot be used. nil: there are none.
	Fabrications func(V) []Fabrication
	// Explain adds to why a run stands what no rule says, whatever its status.
	Explain func(V, *Waiting)
	// Tell adds to the view for people what is the family's own.
	Tell func(V, *engine.RunView)
}

// Shared is for a family whose state document belongs to another program: that one writes
// it whenever it likes, and no journal accounts for it. What such a state says of requests
// stands in the documents around it, so the family reads, keeps and tells them itself.
type Shared[V any] struct {
	// Document is the state document.
	Document func(engine.Snapshot) engine.Document
	// MayNote reports whether placet writes and removes notes at a path.
	MayNote func(v V, note string) bool
	// Asks reports whether the request of an id is open.
	Asks func(v V, id string) bool
	// Contradictions say where state and receipts tell different histories.
	Contradictions func(V) []engine.Finding
}

// Format says how the state document of a family is read and written.
type Format[S any] struct {
	// Decode reads a state document. The error is a *schemas.Error.
	Decode func(path string, body []byte) (S, error)
	// DecodeOwn reads a state document that this machine wrote, as its digest shows: what
	// was encoded need not be checked. nil: Decode does.
	DecodeOwn func(body []byte) (S, error)
	Encode    func(S) ([]byte, error)
	// Head are the members of a state that the kernel reads and writes.
	Head func(*S) Head
	// Unfit says why a state that can be read is none of the run's, nil if it is.
	Unfit func(*Input, S) error
}

// Head points at the members of a state that every family has.
type Head struct {
	Status   *engine.Status
	Revision *int
	Last     **Last
	Requests *[]*Request
	// Language is that of the run's texts for people, nil where the state does not say it.
	Language *string
	// Extra are the members of a later version, kept as they are; see [JSONState].
	Extra *schemas.Object
	// History are the transitions before the last, of a family whose state keeps them
	// itself. nil: a journal beside the state keeps them.
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
	// Row is that of the rule, where rules have names.
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

// Question is how persons are asked about one thing.
type Question[V any] struct {
	// Fill adds prompt, options, items and artifacts, and returns the context. The
	// rest of the request is filled in already.
	Fill func(v V, q *Request, req *gate.Request) schemas.Object
	// Remakes reports whether request.json may be made again though it differs from
	// what was issued: nothing that it shows can have changed but who may answer.
	// nil: never.
	Remakes func(v V, q *Request) bool
	// Check says why an answer cannot be used though its options are in order, "" if it
	// can. nil: it always can.
	Check func(v V, a *Answer) string
	// Title is the heading of the form.
	Title func(v V, q *Request) gate.Texts
	// Brief leaves out of the form what the context has null or empty; request.json
	// has every member.
	Brief bool
	// Default is the option that stands for none, Hint what an answer needs, and
	// Members are further members of a response that are read.
	Default string
	Hint    templates.Key
	Members []string
	// Stands reports whether what was asked about is as it was; if not, every answer
	// is held, and problem says why. nil: always.
	Stands func(v V, q *Request) (problem string, ok bool)
	// Lapses says that the deadline closes the request whatever stands: without a
	// default, and over answers that are held since what was asked about has changed.
	Lapses bool
	// MayAnswer lists who may answer, of those whom the gate admits; nil: all of them.
	MayAnswer func(v V, q *Request) []string
	// Tell adds to an open request what is the family's own.
	Tell func(v V, q *Request, asked *engine.OpenRequest)
}
