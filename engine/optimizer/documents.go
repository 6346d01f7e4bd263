package optimizer

import (
	"placet/engine"
	"placet/schemas"
)

// Kinds of trigger. The last two are later upstream names for external.
const (
	direct             = "direct"
	external           = "external"
	observabilityAlert = "observability_alert"
	milestone          = "milestone"
)

// Trigger is trigger.json, the file that begins a cycle.
type Trigger struct {
	WorkflowName string `json:"workflow_name"`
	TriggerType  string `json:"trigger_type"` // direct or external
	// CurrentMetrics maps a metric's name to a number, or to an object like a metric of kpi.json
	// without its name.
	CurrentMetrics         schemas.Object `json:"current_metrics"`
	LastRunID              text           `json:"last_run_id"`
	OptimizationGoal       text           `json:"optimization_goal"`
	CurrentLevel           *int           `json:"current_level"`
	OptimizationDirectives []string       `json:"optimization_directives"`
	CarryOverIssues        []string       `json:"carry_over_issues"`
	TimeoutReentries       int            `json:"timeout_reentries"`
	CreatedBy              text           `json:"created_by"`
	CreatedAt              text           `json:"created_at"`
}

// Assets is inputs/assets.json. placet never executes the names in it.
type Assets struct {
	EvaluationScript text `json:"evaluation_script"`
	AnalysisScript   text `json:"analysis_script"`
	CriteriaFixed    bool `json:"criteria_fixed"`
}

// Units and directions of a metric.
const (
	percent = "percent"
	ratio   = "ratio"
	number  = "number"
	up      = "up"
	down    = "down"
)

// Measure is a metric as one source states it. nil and "" mean that the source does not say.
type Measure struct {
	Name      string   `json:"name"`
	Value     *float64 `json:"value"`
	Threshold *float64 `json:"threshold"`
	Target    *float64 `json:"target"`
	Unit      text     `json:"unit"`
	Direction text     `json:"direction"`
	Gate      *bool    `json:"gate"`
	// plain marks a bare number of a trigger: its value is in percent, whatever unit another source
	// gives the metric.
	plain bool
}

// KPI is inputs/kpi.json, and the kpi block of a usage document.
type KPI struct {
	GateThreshold *float64  `json:"gate_threshold"`
	Metrics       []Measure `json:"metrics"`
}

// Metric is a metric merged from all sources.
type Metric struct {
	Name      string   `json:"name"`
	Value     *float64 `json:"value"`
	Threshold *float64 `json:"threshold"`
	Target    *float64 `json:"target"`
	Unit      string   `json:"unit"`
	Direction string   `json:"direction"`
	Gate      bool     `json:"gate"`
	// Margin is how far a gated metric is beyond its threshold, in percentage points; nil if the
	// metric is not gated or has no value.
	Margin *float64 `json:"margin"`
}

// Record is one line of retrieved.jsonl.
type Record struct {
	RecordID string  `json:"record_id"`
	Metric   string  `json:"metric"`
	Value    float64 `json:"value"`
	Flag     text    `json:"flag"` // anomaly or empty
}

// anomaly is the only flag that a record can have.
const anomaly = "anomaly"

// Priorities of a suggestion.
const (
	high   = "high"
	normal = "normal"
)

// Suggestions is suggestions.json.
type Suggestions struct {
	Suggestions []struct {
		Text     string `json:"text"`
		Priority text   `json:"priority"`
	} `json:"suggestions"`
	Summary  text     `json:"summary"`
	Patterns []string `json:"patterns"`
}

// Suggestion is a suggestion as the person sees it, numbered by placet.
type Suggestion struct {
	ID       string `json:"id"` // s1, s2, …
	Text     string `json:"text"`
	Priority string `json:"priority"`
}

// LevelError is inputs/level-error.json: it says that a level cannot be carried out.
type LevelError struct {
	Level int    `json:"level"`
	Error string `json:"error"`
}

// Stop is stop.json: it abandons the cycle.
type Stop struct {
	Reason string `json:"reason"`
	By     text   `json:"by"`
}

// Findings is context.json: what placet found when the cycle began.
type Findings struct {
	SchemaVersion int           `json:"schema_version"`
	RunID         string        `json:"run_id"`
	WorkflowName  string        `json:"workflow_name"`
	CollectedAt   text          `json:"collected_at"`
	Usage         Usage         `json:"usage"`
	PreviousGoal  *PreviousGoal `json:"previous_goal"`
	OpenIssues    []string      `json:"open_issues"`
	LateAnswer    *Late         `json:"late_answer"`
	Audit         AuditRows     `json:"audit"`
	Feedback      []FeedbackRow `json:"feedback"` // newest first, at most three
	Callbacks     []Callback    `json:"callbacks"`
	Warnings      []string      `json:"warnings"`
}

// Usage is the path of the usage document, and whether the document exists.
type Usage struct {
	Path  string `json:"path"`
	Found bool   `json:"found"`
}

// PreviousGoal is the goal of the previous cycle.
type PreviousGoal struct {
	RunID                  string   `json:"run_id"`
	Archived               bool     `json:"archived"`
	ApprovedBy             string   `json:"approved_by"`
	NextAutomationLevel    int      `json:"next_automation_level"`
	OptimizationDirectives []string `json:"optimization_directives"`
	CarryOverIssues        []string `json:"carry_over_issues"`
}

// AuditRows holds the workflow's newest rows of audit_logs.
type AuditRows struct {
	DB        string     `json:"db"`
	Available bool       `json:"available"`
	Rows      []AuditRow `json:"rows"`
}

// AuditRow is the part of a row of audit_logs that placet keeps.
type AuditRow struct {
	ID       string `json:"id"`
	Date     text   `json:"date"`
	TaskName text   `json:"task_name"`
	Action   text   `json:"action"`
	Status   text   `json:"status"`
	Notes    text   `json:"notes"`
}

// FeedbackRow is a row of user_feedback that is about the workflow.
type FeedbackRow struct {
	ID           string `json:"id"`
	Date         text   `json:"date"`
	CreatedAt    text   `json:"created_at"`
	FeedbackType text   `json:"feedback_type"`
	LevelBefore  int    `json:"level_before"`
	LevelAfter   int    `json:"level_after"`
	FreeText     text   `json:"free_text"`
}

// callbackFile is a callback as upstream's observer writes it. Severity and message are in the
// payload; placet reads the outer ones where the payload has none.
type callbackFile struct {
	Callback
	Payload struct {
		Severity text `json:"severity"`
		Message  text `json:"message"`
	} `json:"payload"`
}

// Callback is a report of upstream's observer about the run.
type Callback struct {
	EventType    string `json:"event_type"`
	CheckpointID text   `json:"checkpoint_id"`
	Severity     text   `json:"severity"`
	Message      text   `json:"message"`
	Timestamp    text   `json:"timestamp"`
}

// Late is late.json: an answer that came after the deadline.
type Late struct {
	RequestID  string        `json:"request_id"`
	ReceivedAt text          `json:"received_at"`
	Response   string        `json:"response"`
	Selected   []string      `json:"selected"`
	Comment    string        `json:"comment"`
	ProvidedBy By            `json:"provided_by"`
	Digest     engine.Digest `json:"digest"`
}

// Attempt is attempts/<level>-<n>.json: the record of a command that is about to begin.
type Attempt struct {
	Level     int      `json:"level"`
	N         int      `json:"n"`
	Argv      []string `json:"argv"`
	StartedAt text     `json:"started_at"`
	Deadline  text     `json:"deadline"`
}

// Results of an attempt.
const (
	resultOK      = "ok"
	resultFailed  = "failed"
	resultTimeout = "timeout"
	resultInvalid = "invalid"
	resultUnknown = "unknown"
)

// Outcome is attempts/<level>-<n>.outcome.json: the record of how an attempt ended.
type Outcome struct {
	Exit       *int   `json:"exit"`
	Result     string `json:"result"` // ok, failed, timeout, invalid or unknown
	Error      text   `json:"error"`
	StdoutTail string `json:"stdout_tail"`
	StderrTail string `json:"stderr_tail"`
	EndedAt    text   `json:"ended_at"`
}

// Audit is audit.json, the record that the audit database mirrors.
type Audit struct {
	DB   string `json:"db"` // relative to the workspace
	Rows []Row  `json:"rows"`
}

// Outcomes of a row.
const (
	rowOwed     = "owed"
	rowInserted = "inserted"
	rowPresent  = "present"
	rowPending  = "pending"
	rowRefused  = "refused"
)

// Tables that placet adds rows to.
const (
	auditLogs    = "audit_logs"
	userFeedback = "user_feedback"
)

// Row is one row that belongs in the database.
type Row struct {
	ID        string         `json:"id"`
	Table     string         `json:"table"`
	Row       schemas.Object `json:"row"` // column → value
	Outcome   string         `json:"outcome"`
	Tries     int            `json:"tries"`
	NextTryAt text           `json:"next_try_at"`
	LastError text           `json:"last_error"`
	SettledAt text           `json:"settled_at"`
}

// Manifest is the part of upstream's manifest.json that placet reads.
type Manifest struct {
	RunID       text     `json:"run_id"`
	Status      text     `json:"status"`
	SkillKey    text     `json:"skill_key"`
	CaseSlug    text     `json:"case_slug"`
	Tags        []string `json:"tags"`
	CompletedAt text     `json:"completed_at"`
	UpdatedAt   text     `json:"updated_at"`
}
