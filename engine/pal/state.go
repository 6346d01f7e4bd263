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

// text is a string that documents write as null if it is empty.
type text = schemas.OrNull

// Statuses of runs, ports, loops and escalations. None of these has all of them.
const (
	Pending   engine.Status = "pending"   // of a run: not started; of a port: waits for dependencies
	Ready     engine.Status = "ready"     // a port waits for a slot, a resume or trust
	Running   engine.Status = "running"   //
	Paused    engine.Status = "paused"    // nothing starts; submitted documents and answers still count
	Blocked   engine.Status = "blocked"   // a person has to answer, about this port or one before it
	Complete  engine.Status = "complete"  // final
	Failed    engine.Status = "failed"    // final
	Cancelled engine.Status = "cancelled" // final
	Success   engine.Status = "success"   // of a loop, final: the tests passed
	Escalated engine.Status = "escalated" // of a loop, final: the tries were used up
	Open      engine.Status = "open"      // of an escalation
	Resolved  engine.Status = "resolved"  // of an escalation, final
	Dismissed engine.Status = "dismissed" // of an escalation, final
)

// isFinal reports whether the status of a run or a port is final.
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
	// AdmittedRevision is the revision that last copied the sources into the state.
	AdmittedRevision int                    `json:"admitted_revision"`
	Settings         Settings               `json:"settings"`
	Ports            map[string]*Port       `json:"ports"`
	Loops            map[string]*Loop       `json:"loops"`
	Sessions         map[string]*Session    `json:"sessions"`
	Escalations      map[string]*Escalation `json:"escalations"`
	Requests         []*run.Request         `json:"requests"`
	EventSeq         int                    `json:"event_seq"`
	Last             *run.Last              `json:"last_transition"`
	// Extra holds the members of later versions unchanged.
	Extra schemas.Object `json:"-"`
}

// Settings are the settings of the whole run, fixed when it starts.
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
	// Waived are dependencies that the port may run without.
	Waived []string `json:"waived"`
	// Spec is the path of the port's text. Body is the text itself if it has no file.
	Spec  string `json:"spec,omitzero"`
	Body  string `json:"body,omitzero"`
	Agent string `json:"agent,omitzero"`
	// Round counts the loops, and Starts how often the port began to run. LastTry is the number of
	// the newest try; tries are counted over all rounds.
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

// Tokens are the numbers of tokens that the workers of a port had used when a round began.
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

// BlockedBy is what blocks a port: its own open escalations that stop or hold it, and dependencies
// that failed or are cut off.
type BlockedBy struct {
	Escalations []string `json:"escalations"`
	Ports       []string `json:"ports"`
}

// Values of Loop.Awaiting, and the roles of the workers that submit these documents.
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

// Causes of failed tries.
const (
	causeTests = "tests"
	causeImpl  = "impl_failed"
)

// Try is one try: the submitted documents and the result of the tests.
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
	// Tokens is the number of used tokens in the result, 0 if it names none.
	Tokens int `json:"tokens_used"`
}

// Session is the status of a session.
type Session struct {
	Type      string        `json:"type"`
	Status    engine.Status `json:"status"`
	StartedAt text          `json:"started_at"`
	EndedAt   text          `json:"ended_at"`
}

// Escalation is a problem that a person has to decide or that is only recorded.
type Escalation struct {
	Type         string        `json:"type"`
	ReportedType text          `json:"reported_type"`
	Severity     string        `json:"severity"`
	Subject      string        `json:"subject"`
	PortID       text          `json:"port_id"`
	SessionID    text          `json:"session_id"`
	Cause        string        `json:"cause"`
	Digest       text          `json:"digest"` // of the filed document
	AutoResolve  bool          `json:"auto_resolve"`
	Status       engine.Status `json:"status"`
	OpenedAt     text          `json:"opened_at"`
	ResolvedAt   text          `json:"resolved_at"`
	ResolvedBy   text          `json:"resolved_by"`
	Resolution   text          `json:"resolution"`
	Comment      string        `json:"comment,omitzero"`
	// Title and the members below are what the person sees, as of the opening of the escalation.
	Title       string          `json:"title"`
	Description string          `json:"description,omitzero"`
	Context     schemas.Object  `json:"context"`
	Actions     []string        `json:"suggested_actions"`
	Dependents  []Dependent     `json:"dependents"`
	Artifacts   []gate.Artifact `json:"artifacts"`
	// Cut names the port that cuts the port off, or "".
	Cut string `json:"cut_off_by,omitzero"`
}

// Dependent is a port that depends on another one, with its status at that time.
type Dependent struct {
	Port   string        `json:"port"`
	Status engine.Status `json:"status"`
}

var format = run.JSONState("pal/state", (*State).head, unfitState)

// ReadState reads state.json.
func ReadState(path string, body []byte) (State, error) { return format.Decode(path, body) }

func (st *State) head() run.Head {
	return run.Head{Version: &st.SchemaVersion, Status: &st.Status, Revision: &st.Revision, Last: &st.Last, Requests: &st.Requests, Language: &st.Language, Extra: &st.Extra}
}

// unfitState returns why a readable state does not belong to the orchestration, or nil.
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

// loopID returns the id of a round of a port.
func loopID(port string, round int) string { return fmt.Sprintf("%s.r%d", port, round) }

// loop returns the newest loop of a port, or nil.
func (st *State) loop(port string) *Loop {
	if p := st.Ports[port]; p != nil {
		return st.Loops[loopID(port, p.Round)]
	}
	return nil
}

// last returns the newest try of a loop, or nil.
func (l *Loop) last() *Try {
	if l == nil || len(l.History) == 0 {
		return nil
	}
	return &l.History[len(l.History)-1]
}

// role returns the role of the worker that a loop waits for, or "".
func (l *Loop) role() string {
	switch {
	case l == nil || l.Status != Running:
		return ""
	case l.Awaiting == awaitFeedback:
		return roleTest
	}
	return roleImpl
}

// order returns the ids of the ports sorted by order and id.
func (st *State) order() []string {
	return slices.SortedFunc(maps.Keys(st.Ports), func(a, b string) int {
		return cmp.Or(cmp.Compare(st.Ports[a].Order, st.Ports[b].Order), strings.Compare(a, b))
	})
}

// session returns the id of a session by its path below sessions/.
func (st *State) session(path string) string { return st.ID + "/" + path }

func portPath(port string) string         { return "build/" + port }
func memberPath(port, role string) string { return portPath(port) + "/" + role }
