package optimizer

import (
	"fmt"

	"placet/engine"
	"placet/engine/run"
	"placet/schemas"
)

// text is a string that documents write as null if it is empty.
type text = schemas.OrNull

// State is state.json. Nobody but placet writes it. Fields that the cycle has not reached are null
// or empty lists.
type State struct {
	SchemaVersion    int           `json:"schema_version"`
	RunID            string        `json:"run_id"`
	WorkflowName     string        `json:"workflow_name"`
	Status           engine.Status `json:"status"`
	Revision         int           `json:"revision"`
	Last             *run.Last     `json:"last_transition"`
	BeganAt          text          `json:"began_at"`
	Lang             string        `json:"lang"`
	Trigger          schemas.Raw   `json:"trigger"` // the file as it was when the cycle began
	TriggerDigest    text          `json:"trigger_digest"`
	TimeoutReentries int           `json:"timeout_reentries"`
	InputsUntil      text          `json:"inputs_until"`
	SuggestionsUntil text          `json:"suggestions_until"`
	Decision         *Decision     `json:"decision"`
	KPI              []Metric      `json:"kpi"` // merged, as the decision used them
	Level            *Level        `json:"level"`
	Demotions        []Demotion    `json:"demotions"`
	Report           *Report       `json:"report"`
	Suggestions      []Suggestion  `json:"suggestions"` // numbered as in the request
	// Issues are the open issues of the cycles before, as the request offers them (i1, i2, …).
	Issues     []string `json:"issues,omitempty"`
	AuditID    text     `json:"audit_id"`
	RequestID  text     `json:"request_id"` // of the request hitl
	Deadline   text     `json:"deadline"`
	Answer     *Given   `json:"answer"`
	Goal       *Goal    `json:"goal"`
	FeedbackID text     `json:"feedback_id"`
	Error      text     `json:"error"` // why the cycle failed
	// Requests holds all requests in the order in which they were opened.
	Requests []*run.Request `json:"requests"`
	// Extra holds the members of later versions unchanged.
	Extra schemas.Object `json:"-"`
	// trig is Trigger decoded.
	trig Trigger
}

// Decision is the result of the three signals and the previous goal.
type Decision struct {
	// AutomationLevel is the level to carry out.
	AutomationLevel  int      `json:"automation_level"`
	Rationale        []string `json:"rationale"`
	EscalationNeeded bool     `json:"escalation_needed"`
	RecommendedLevel *int     `json:"recommended_level"`
	Signals          Signals  `json:"signals"`
	// SignalLevel is the result of the table, GoalLevel the level of the previous cycle's goal: a
	// person chose it, or it is kept because nobody answered.
	SignalLevel int  `json:"signal_level"`
	GoalLevel   *int `json:"goal_level"`
}

// Signals are the values of assets (10, 20 or 30), KPI (10, 20, 30, or nil for neutral) and history
// (-10, 0 or 10).
type Signals struct {
	A int  `json:"a"`
	B *int `json:"b"`
	C int  `json:"c"`
}

// Level is the progress of the current level.
type Level struct {
	Current int `json:"current"`
	// Retrieved is the digest of retrieved.jsonl once placet accepted the file.
	Retrieved text `json:"retrieved"`
	// ExtraAttempts is the number of attempts that a person added.
	ExtraAttempts int `json:"extra_attempts"`
}

// Demotion records a level that failed.
type Demotion struct {
	From  int    `json:"from"`
	To    int    `json:"to"`
	Error string `json:"error"`
	At    text   `json:"at"`
}

// Report describes the report that was written.
type Report struct {
	Path   string `json:"path"`   // relative to the workspace
	SHA256 string `json:"sha256"` // 64 hex digits
	At     text   `json:"at"`
	// Inputs are the digests of the files that the report was made from.
	Inputs map[string]engine.Digest `json:"inputs"`
}

// Given is the answer to the request hitl.
type Given struct {
	Response string   `json:"response"` // appropriate, raise or lower
	Selected []string `json:"selected"` // ids of suggestions and of settled issues
	Comment  string   `json:"comment"`
	By       By       `json:"by"`
}

// By says who answered, as the receipt does.
type By = run.By

// Goal is goal.json: the four keys for the next cycle.
type Goal struct {
	NextAutomationLevel    int      `json:"next_automation_level"`
	OptimizationDirectives []string `json:"optimization_directives"`
	CarryOverIssues        []string `json:"carry_over_issues"`
	ApprovedBy             string   `json:"approved_by"` // human_feedback or timeout_fallback
}

// Values of Goal.ApprovedBy.
const (
	byHuman   = "human_feedback"
	byTimeout = "timeout_fallback"
)

var jsonState = run.JSONState("optimizer/state", (*State).head, unfit)

// decodeState reads a state.json. The error is a *schemas.Error.
func decodeState(path string, body []byte) (State, error) {
	st, err := jsonState.Decode(path, body)
	if err == nil {
		st.trig, err = decodeTrigger(path, st.Trigger)
	}
	return st, err
}

// decodeTrigger decodes a trigger. The error is a *schemas.Error.
func decodeTrigger(path string, body []byte) (Trigger, error) {
	var t Trigger
	if err := schemas.Decode("optimizer/trigger", path, body, &t); err != nil {
		return Trigger{}, err
	}
	switch t.TriggerType {
	case "":
		t.TriggerType = direct
	case observabilityAlert, milestone:
		t.TriggerType = external
	}
	return t, nil
}

// id returns an identifier: the first 8 hex digits of the kernel's hash over family, run, revision
// and purpose.
func id(run string, revision int, purpose string) string {
	return engine.Sum(fmt.Appendf(nil, "optimizer\n%s\n%d\n%s", run, revision, purpose)).Hex()[:8]
}
