package pal

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// text is a string that documents write as null while it is empty.
type text = schemas.OrNull

// Statuses of runs, ports, loops and escalations. Not each of them has all.
const (
	Pending   engine.Status = "pending"   // of a run: not started; of a port: waits for dependencies
	Ready     engine.Status = "ready"     // a port waits for a slot, a resume or trust
	Running   engine.Status = "running"   //
	Paused    engine.Status = "paused"    // nothing starts; hand-ins and answers count
	Blocked   engine.Status = "blocked"   // a person must answer, at this port or one before it
	Complete  engine.Status = "complete"  // final
	Failed    engine.Status = "failed"    // final
	Cancelled engine.Status = "cancelled" // final
	Success   engine.Status = "success"   // of a loop, final: the tests passed
	Escalated engine.Status = "escalated" // of a loop, final: the tries are used up
	Open      engine.Status = "open"      // of an escalation
	Resolved  engine.Status = "resolved"  // of an escalation, final
	Dismissed engine.Status = "dismissed" // of an escalation, final
)

// isFinal reports whether nothing leads out of the status of a run or a port.
func isFinal(s engine.Status) bool { return s == Complete || s == Failed || s == Cancelled }

// State is state.json.
type State struct {
	SchemaVersion int                      `json:"schema_version"`
	ID            string                   `json:"id"`
	Title         string                   `json:"title"`
	Revision      int                      `json:"revision"`
	Status        engine.Status            `json:"status"`
	Language      string                   `json:"language"`
	Percent       int                      `json:"progress_percent"`
	CreatedAt     text                     `json:"created_at"`
	StartedAt     text                     `json:"started_at"`
	PausedAt      text                     `json:"paused_at"`
	CompletedAt   text                     `json:"completed_at"`
	Digest        engine.Digest            `json:"orchestration_digest"`
	Specs         map[string]engine.Digest `json:"specs"`
	// AdmittedRevision is the revision at which the sources were taken in last.
	AdmittedRevision int                    `json:"admitted_revision"`
	Settings         Settings               `json:"settings"`
	Ports            map[string]*Port       `json:"ports"`
	Loops            map[string]*Loop       `json:"loops"`
	Sessions         map[string]*Session    `json:"sessions"`
	Escalations      map[string]*Escalation `json:"escalations"`
	Requests         []*run.Request         `json:"requests"`
	EventSeq         int                    `json:"event_seq"`
	Last             *run.Last              `json:"last_transition"`
	// Extra are members of a later version, kept as they are.
	Extra schemas.Object `json:"-"`
}

// Settings are those of the whole run, fixed when it starts.
type Settings struct {
	MaxConcurrency int  `json:"max_concurrency"`
	Parallel       bool `json:"parallel_enabled"`
}

// Port is one work package.
type Port struct {
	Status    engine.Status `json:"status"`
	Title     string        `json:"title"`
	Order     int           `json:"order"`
	DependsOn []string      `json:"depends_on"`
	// Waived are dependencies without which the port may run.
	Waived []string `json:"waived"`
	// Spec is the path of the port's text, Body the text itself where there is no file.
	Spec  string `json:"spec,omitzero"`
	Body  string `json:"body,omitzero"`
	Agent string `json:"agent,omitzero"`
	// Round counts the loops, Starts how often the port began to run, and LastTry is the
	// number of the newest try; tries are counted over all rounds.
	Round          int       `json:"round"`
	Starts         int       `json:"starts"`
	LastTry        int       `json:"last_try"`
	Limits         Limits    `json:"limits"`
	Workers        Workers   `json:"workers"`
	TokenBase      Tokens    `json:"token_base"`
	FirstStartedAt text      `json:"first_started_at"`
	StartedAt      text      `json:"started_at"`
	Deadline       text      `json:"deadline"`
	NoDeadline     bool      `json:"no_deadline"`
	CompletedAt    text      `json:"completed_at"`
	Skipped        bool      `json:"skipped"`
	TakenOverBy    text      `json:"taken_over_by"`
	BlockedBy      BlockedBy `json:"blocked_by"`
	Reason         text      `json:"reason"`
}

// Tokens are what the workers of a port had used when a round began.
type Tokens struct {
	Impl int `json:"impl"`
	Test int `json:"test"`
}

func (t Tokens) of(role string) int {
	if role == roleTest {
		return t.Test
	}
	return t.Impl
}

// BlockedBy says what holds a port up: open escalations of its own that stop or hold it,
// and dependencies that failed or are cut off.
type BlockedBy struct {
	Escalations []string `json:"escalations"`
	Ports       []string `json:"ports"`
}

// What a loop awaits, and the roles of the workers that hand it in.
const (
	awaitResult   = "result"
	awaitFeedback = "feedback"
	roleImpl      = "impl"
	roleTest      = "test"
)

// Loop is one round of tries of a port.
type Loop struct {
	PortID      string        `json:"port_id"`
	Round       int           `json:"round"`
	ChannelID   string        `json:"channel_id"`
	ImplSession string        `json:"impl_session"`
	TestSession string        `json:"test_session"`
	MaxRetries  int           `json:"max_retries"`
	CurrentTry  int           `json:"current_try"` // failed tries
	FirstTry    int           `json:"first_try"`
	Awaiting    text          `json:"awaiting"`
	Status      engine.Status `json:"status"`
	History     []Try         `json:"history"`
}

// Why a try failed.
const (
	causeTests = "tests"
	causeImpl  = "impl_failed"
)

// Try is one try: what was handed in, and what the tests said.
type Try struct {
	Try            int      `json:"try"`
	Success        bool     `json:"success"`
	Cause          text     `json:"cause"`
	ResultDigest   text     `json:"result_digest"`
	FeedbackDigest text     `json:"feedback_digest"`
	Total          *int     `json:"total"`
	Passed         *int     `json:"passed"`
	Coverage       *float64 `json:"coverage"`
	ResultAt       text     `json:"result_at"`
	At             text     `json:"at"`
	// Tokens is what the result says was used, 0 where it says nothing.
	Tokens int `json:"tokens_used"`
}

// Session is where a session stands.
type Session struct {
	Type      string        `json:"type"`
	Status    engine.Status `json:"status"`
	StartedAt text          `json:"started_at"`
	EndedAt   text          `json:"ended_at"`
}

// Escalation is what was handed to a person, or noted.
type Escalation struct {
	Type         string        `json:"type"`
	ReportedType text          `json:"reported_type"`
	Severity     string        `json:"severity"`
	Subject      string        `json:"subject"`
	PortID       text          `json:"port_id"`
	SessionID    text          `json:"session_id"`
	Cause        string        `json:"cause"`
	Digest       text          `json:"digest"` // of the document that was filed
	AutoResolve  bool          `json:"auto_resolve"`
	Status       engine.Status `json:"status"`
	OpenedAt     text          `json:"opened_at"`
	ResolvedAt   text          `json:"resolved_at"`
	ResolvedBy   text          `json:"resolved_by"`
	Resolution   text          `json:"resolution"`
	Comment      string        `json:"comment,omitzero"`
	// What the person is shown, as it was when the escalation opened.
	Title       string          `json:"title"`
	Description string          `json:"description,omitzero"`
	Context     schemas.Object  `json:"context"`
	Actions     []string        `json:"suggested_actions"`
	Dependents  []Dependent     `json:"dependents"`
	Artifacts   []gate.Artifact `json:"artifacts"`
	// Cut names the port by which the port is cut off, "" where it was not.
	Cut string `json:"cut_off_by,omitzero"`
}

// Dependent is a port that depends on another one, as it stood.
type Dependent struct {
	Port   string        `json:"port"`
	Status engine.Status `json:"status"`
}

// format reads a state that this machine wrote without the schema: to check that of 500 ports
// takes ten times as long as to read it.
var format = func() run.Format[State] {
	f := run.JSONState("pal/state", (*State).head, unfitState)
	f.DecodeOwn = run.DecodeOwn((*State).head)
	return f
}()

// ReadState reads state.json.
func ReadState(path string, body []byte) (State, error) { return format.Decode(path, body) }

func (st *State) head() run.Head {
	return run.Head{Status: &st.Status, Revision: &st.Revision, Last: &st.Last, Requests: &st.Requests, Language: &st.Language, Extra: &st.Extra}
}

// unfitState says why a readable state does not belong to the orchestration, "" if it does.
func unfitState(r *run.Input, st State) error {
	if st.ID != r.Snap.Key.ID {
		return templates.Errorf("pal.state.id", "is", run.QuoteID(st.ID), "folder", strconv.Quote(r.Snap.Key.ID))
	}
	for id, p := range st.Ports {
		if !layout.IsPalID(id) {
			return templates.Errorf("pal.state.port", "port", run.QuoteID(id))
		}
		if st.loop(id) == nil && (p.Status == Running || p.Round > 0) {
			return templates.Errorf("pal.state.loop", "round", p.Round, "port", id)
		}
	}
	return run.CheckIDs(st.Requests)
}

// loopID names a round of a port.
func loopID(port string, round int) string { return fmt.Sprintf("%s.r%d", port, round) }

// loop is the newest loop of a port, nil for none.
func (st *State) loop(port string) *Loop {
	if p := st.Ports[port]; p != nil {
		return st.Loops[loopID(port, p.Round)]
	}
	return nil
}

// last is the newest try of a loop, nil for none.
func (l *Loop) last() *Try {
	if l == nil || len(l.History) == 0 {
		return nil
	}
	return &l.History[len(l.History)-1]
}

// role is that of the worker whom a loop waits for, "" for none.
func (l *Loop) role() string {
	switch {
	case l == nil || l.Status != Running:
		return ""
	case l.Awaiting == awaitFeedback:
		return roleTest
	}
	return roleImpl
}

// order are the ports by order and id.
func (st *State) order() []string {
	return slices.SortedFunc(maps.Keys(st.Ports), func(a, b string) int {
		return cmp.Or(cmp.Compare(st.Ports[a].Order, st.Ports[b].Order), strings.Compare(a, b))
	})
}

// session is the id of a session by its path below sessions/.
func (st *State) session(path string) string { return st.ID + "/" + path }

func portPath(port string) string         { return "build/" + port }
func memberPath(port, role string) string { return portPath(port) + "/" + role }
