package nemawashi

import (
	"fmt"
	"strconv"
	"strings"

	"placet/engine"
	"placet/engine/run"
	"placet/schemas"
	"placet/templates"
)

// text is a string that documents write as null if it is empty.
type text = schemas.OrNull

// Statuses of an action.
const (
	Pending         engine.Status = "pending"          // no usable draft yet
	Drafted         engine.Status = "drafted"          // a draft is in force, nobody is being asked
	ApprovalPending engine.Status = "approval_pending" // a person is being asked
	Approved        engine.Status = "approved"         // the job has not begun
	Executing       engine.Status = "executing"        // the job runs, or waits for a person to clear an outcome
	Failed          engine.Status = "failed"           // the job ended with failed parts, a person is being asked
	Executed        engine.Status = "executed"         // final: every part succeeded
	Rejected        engine.Status = "rejected"         // final
	Canceled        engine.Status = "canceled"         // final: withdrawn or given up
	Expired         engine.Status = "expired"          // final: nobody answered in time
)

func isFinal(s engine.Status) bool {
	return s == Executed || s == Rejected || s == Canceled || s == Expired
}

// StatusWords returns all statuses.
func StatusWords() (words []string) {
	for _, s := range []engine.Status{Pending, Drafted, ApprovalPending, Approved, Executing, Failed, Executed, Rejected, Canceled, Expired} {
		words = append(words, string(s))
	}
	return words
}

// State is state.json.
type State struct {
	SchemaVersion int           `json:"schema_version"`
	ActionID      int           `json:"action_id"`
	ThreadID      string        `json:"thread_id"`
	Type          string        `json:"type"`
	ProjectID     text          `json:"project_id"`
	Severity      text          `json:"severity"`
	Mode          text          `json:"mode"`
	Summary       string        `json:"summary"`
	CreatedAt     text          `json:"created_at"`
	UpdatedAt     text          `json:"updated_at"`
	Status        engine.Status `json:"status"`
	IsApproved    bool          `json:"is_approved"`
	Revision      int           `json:"revision"`
	Last          *run.Last     `json:"last_transition"`
	EventSeq      int           `json:"event_seq"`
	// Language is the language of the texts for people, fixed when the action begins.
	Language     string        `json:"language"`
	ActionDigest engine.Digest `json:"action_digest"`
	Drafts       []Draft       `json:"drafts"`
	// Payload is the payload in force. PayloadSource is its origin: action, draft_line, revise or
	// override; "" if nobody gave one.
	Payload           schemas.Raw    `json:"payload"`
	PayloadSource     text           `json:"payload_source"`
	ApprovalRequestID text           `json:"approval_request_id"`
	ApprovalDigest    text           `json:"approval_digest"`
	RequestedBy       text           `json:"requested_by"`
	RequestedAt       text           `json:"requested_at"`
	ExpiresAt         text           `json:"expires_at"`
	MayAnswer         []string       `json:"may_answer"`
	Superseded        []Supersession `json:"superseded"`
	NextRequest       *NextRequest   `json:"next_request"`
	Decision          *Decision      `json:"decision"`
	ExecutionJobID    text           `json:"execution_job_id"`
	ExecutionStatus   text           `json:"execution_status"`
	Jobs              []*Job         `json:"jobs"`
	OpenRequest       *OpenRequest   `json:"open_request"`
	Slack             schemas.Raw    `json:"slack"`
	IdempotencyKeys   []string       `json:"idempotency_keys"`
	Handled           []Handled      `json:"handled"`
	Requests          []*run.Request `json:"requests"`
	// Extra holds the members of later versions unchanged.
	Extra schemas.Object `json:"-"`
}

// Origins of drafts.
const (
	originAgent  = "agent"
	originSteer  = "steer"
	originRevise = "revise"
)

// Draft is one version of the draft.
type Draft struct {
	Version      int           `json:"version"`
	Digest       engine.Digest `json:"digest"`
	Origin       string        `json:"origin"`
	Actor        string        `json:"actor"`
	At           text          `json:"at"`
	Feedback     string        `json:"feedback,omitzero"`
	SelectedPlan text          `json:"selected_plan,omitzero"`
}

// Supersession is an approval that was closed without a decision. SupersededBy is null until the
// next one is requested.
type Supersession struct {
	ApprovalRequestID string `json:"approval_request_id"`
	SupersededBy      text   `json:"superseded_by"`
	Reason            string `json:"reason"`
	At                text   `json:"at"`
}

// NextRequest says why the approval of a draft is requested again.
type NextRequest struct {
	RequestedBy string `json:"requested_by"`
	Summary     string `json:"summary"`
}

// Decision is the approval or the rejection.
type Decision struct {
	ApprovalRequestID string   `json:"approval_request_id"`
	Response          string   `json:"response"`
	Actor             string   `json:"actor"`
	KnownAs           []string `json:"known_as"`
	At                text     `json:"at"`
}

// Statuses of a part of a job.
const (
	partOpen      = "open"
	partSucceeded = "succeeded"
	partFailed    = "failed"
	partUnclear   = "unclear"
)

// Job carries out an approval. It is as of the last transition.
type Job struct {
	ID       string     `json:"job_id"`
	Approval string     `json:"approval_request_id"`
	RetryOf  text       `json:"retry_of"`
	Parts    []*JobPart `json:"parts"`
	// CreatedAt is when the job began. Simulated makes it fail without doing anything. Override is
	// a calendar payload that an execute command brought.
	CreatedAt text        `json:"created_at"`
	Simulated bool        `json:"simulate_failure"`
	Override  schemas.Raw `json:"override"`
}

// JobPart is the status of one part of a job.
type JobPart struct {
	Part       int    `json:"part"`
	Status     string `json:"status"`
	ResolvedBy string `json:"resolved_by,omitzero"`
}

// OpenRequest is the open request about a job.
type OpenRequest struct {
	RequestID string `json:"request_id"`
	Type      string `json:"type"`
	JobID     string `json:"job_id"`
	Part      int    `json:"part,omitzero"`
}

// Handled is a command that caused a transition.
type Handled struct {
	IntakeID          string        `json:"intake_id"`
	Digest            engine.Digest `json:"digest"`
	Result            string        `json:"result"`
	Code              text          `json:"code"`
	Reason            text          `json:"reason"`
	Revision          int           `json:"revision"`
	At                text          `json:"at"`
	Status            engine.Status `json:"status"`
	JobID             text          `json:"job_id"`
	ApprovalRequestID text          `json:"approval_request_id"`
	IdempotencyKey    text          `json:"idempotency_key"`
}

// mostKeys is how many idempotency keys the state keeps; it drops the oldest.
const mostKeys = 256

func (st *State) head() run.Head {
	return run.Head{Version: &st.SchemaVersion, Status: &st.Status, Revision: &st.Revision, Last: &st.Last, Requests: &st.Requests, Language: &st.Language, Extra: &st.Extra}
}

var format = run.JSONState("nemawashi/state", (*State).head, unfit)

// ReadState reads state.json.
func ReadState(path string, body []byte) (State, error) { return format.Decode(path, body) }

// ThreadID returns the name of an action's thread.
func ThreadID(id int) string { return fmt.Sprintf("action-%d", id) }

// unfit returns why a readable state does not belong to the action, or nil.
func unfit(r *run.Input, st State) error {
	switch {
	case strconv.Itoa(st.ActionID) != r.Snap.Key.ID:
		return templates.Errorf("nemawashi.unfit.id", "id", st.ActionID, "folder", strconv.Quote(r.Snap.Key.ID))
	case st.ThreadID != ThreadID(st.ActionID):
		return templates.Errorf("nemawashi.unfit.thread", "thread", run.QuoteID(st.ThreadID), "wanted", strconv.Quote(ThreadID(st.ActionID)))
	case len(st.Drafts) == 0 && st.Status != Pending && !isFinal(st.Status):
		return templates.Errorf("nemawashi.unfit.drafts", "status", st.Status)
	}
	return run.CheckIDs(st.Requests)
}

// current returns the draft in force; a pending action has none.
func (st *State) current() (Draft, bool) {
	if len(st.Drafts) == 0 {
		return Draft{}, false
	}
	return st.Drafts[len(st.Drafts)-1], true
}

// job returns the newest job, or nil.
func (st *State) job() *Job {
	if len(st.Jobs) == 0 {
		return nil
	}
	return st.Jobs[len(st.Jobs)-1]
}

// part returns a part of the job, or nil.
func (j *Job) part(n int) *JobPart {
	for _, p := range j.Parts {
		if p.Part == n {
			return p
		}
	}
	return nil
}

// Final reports whether the action has ended.
func (st *State) Final() bool { return isFinal(st.Status) }

// FirstJob returns the id of the first job of an approval, or "".
func (st *State) FirstJob(approval string) string {
	for _, j := range st.Jobs {
		if j.Approval == approval {
			return j.ID
		}
	}
	return ""
}

// keep adds idempotency keys and drops the oldest beyond mostKeys.
func (st *State) keep(keys ...string) {
	for _, key := range keys {
		if key != "" {
			st.IdempotencyKeys = append(st.IdempotencyKeys, key)
		}
	}
	st.IdempotencyKeys = st.IdempotencyKeys[max(0, len(st.IdempotencyKeys)-mostKeys):]
}

// newID returns the id of something that the next revision creates.
func (st *State) newID(prefix string, purpose ...string) string {
	words := append([]string{"nemawashi", st.ThreadID, string(st.ActionDigest), strconv.Itoa(st.Revision - 1)}, purpose...)
	return prefix + engine.Sum([]byte(strings.Join(words, "\n"))).Hex()[:12]
}
