package afl

import (
	"placet/engine/run"
	"placet/engine/testoutput"
)

// Meta is meta.json.
type Meta struct {
	SessionID string `json:"sessionId"`
	Title     string `json:"title"`
	Status    string `json:"status"`
	Approved  bool   `json:"checkpointsApproved"`
}

// Delegation is the part of current-delegation.json that placet reads.
type Delegation struct {
	SessionID  string `json:"sessionId"`
	Checkpoint string `json:"currentCheckpoint"`
	Iteration  int    `json:"iteration"`
	Status     string `json:"status"`
}

// PendingQuestion is pending-question.json: a worker's question to upstream's hook.
type PendingQuestion struct {
	Checkpoint string `json:"checkpoint"`
	Question   string `json:"question"`
}

// WorkerReport is worker.json: a worker's report on its attempt.
type WorkerReport struct {
	Status       string   `json:"status"` // completed, failed or question
	Question     string   `json:"question"`
	Message      string   `json:"message"`
	FailureType  text     `json:"failure_type"`
	ChangedFiles []string `json:"changed_files"`
	Checkpoint   text     `json:"checkpoint"`
	Iteration    *int     `json:"iteration"`
}

// Result is result.json: an outside validator's report on an attempt.
type Result struct {
	Iteration      int      `json:"iteration"`
	Timestamp      text     `json:"timestamp"`
	ExitCode       int      `json:"exitCode"`
	Output         string   `json:"output"`
	FailureType    text     `json:"failure_type"`
	FailedCriteria []string `json:"failed_criteria"`
	TimedOut       bool     `json:"timed_out"`
}

// Analysis is analysis.json: the findings of a Test Oracle.
type Analysis struct {
	FailureType    testoutput.Type `json:"failure_type"`
	Causes         []string        `json:"causes"`
	Suggestions    []Suggestion    `json:"suggestions"`
	FailedCriteria []string        `json:"failed_criteria"`
	Of             text            `json:"of"` // digest of the document analysed; "" for run 1
}

// Suggestion is a change that an analysis proposes.
type Suggestion struct {
	File   string `json:"file"`
	Line   *int   `json:"line"`
	Before text   `json:"before"`
	After  text   `json:"after"`
	Why    string `json:"why"`
}

// Validation is validation.json: the outcome of a validation command.
type Validation struct {
	run.CommandEnd
	Iteration     int               `json:"iteration"`
	Run           int               `json:"run"`
	CommandDigest string            `json:"command_digest"`
	DurationMS    int64             `json:"duration_ms"`
	Cwd           string            `json:"cwd"`
	TimedOut      bool              `json:"timed_out"`
	Stdout        run.CommandOutput `json:"stdout"`
	Stderr        run.CommandOutput `json:"stderr"`
	MatchedText   *bool             `json:"matched_expected"`
	Marker        *string           `json:"failing_marker"`
}

// WorkerRun is worker-run.json: the outcome of one start of the worker command.
type WorkerRun struct {
	run.CommandEnd
	Number        int    `json:"number"`
	CommandDigest string `json:"command_digest"`
	StartedAt     text   `json:"started_at"`
	FinishedAt    text   `json:"finished_at"`
	Tail          string `json:"tail"`
}

// ended reports whether the command ended well, as far as is known. The exit code is unknown if the
// command ended while placet was away. A command that a signal ended did not end well.
func (o WorkerRun) ended() bool {
	if o.ExitCode == nil {
		return o.Reason == ""
	}
	return *o.ExitCode == 0
}

// ReviewReport is review.json: the findings of an outside reviewer.
type ReviewReport struct {
	Reviewer string         `json:"reviewer"`
	Scores   map[string]int `json:"scores"`
	Findings []struct {
		Checkpoint string `json:"checkpoint"`
		Severity   string `json:"severity"`
		Title      string `json:"title"`
		Detail     string `json:"detail"`
		File       string `json:"file"`
		Line       *int   `json:"line"`
	} `json:"findings"`
}
