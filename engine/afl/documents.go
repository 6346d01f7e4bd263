package afl

import "placet/engine/testoutput"

// Meta is meta.json.
type Meta struct {
	SessionID string `json:"sessionId"`
	Title     string `json:"title"`
	Status    string `json:"status"`
	Approved  bool   `json:"checkpointsApproved"`
}

// Wishes of control.json.
const (
	wantRun   = "run"
	wantPause = "pause"
	wantAbort = "abort"
)

// Control is control.json: a person's standing wish.
type Control struct {
	Want   string `json:"want"`
	By     string `json:"by"`
	Reason string `json:"reason"`
}

// Delegation is what placet believes of current-delegation.json.
type Delegation struct {
	SessionID  string `json:"sessionId"`
	Checkpoint string `json:"currentCheckpoint"`
	Iteration  int    `json:"iteration"`
	Status     string `json:"status"`
}

// PendingQuestion is pending-question.json: what a worker asked upstream's hook.
type PendingQuestion struct {
	Checkpoint string `json:"checkpoint"`
	Question   string `json:"question"`
}

// WorkerReport is worker.json: what a worker says of its attempt.
type WorkerReport struct {
	Status       string   `json:"status"` // completed, failed or question
	Question     string   `json:"question"`
	Message      string   `json:"message"`
	FailureType  text     `json:"failure_type"`
	ChangedFiles []string `json:"changed_files"`
	Checkpoint   text     `json:"checkpoint"`
	Iteration    *int     `json:"iteration"`
}

// Result is result.json: what an outside validator says of an attempt.
type Result struct {
	Iteration      int      `json:"iteration"`
	Timestamp      text     `json:"timestamp"`
	ExitCode       int      `json:"exitCode"`
	Output         string   `json:"output"`
	FailureType    text     `json:"failure_type"`
	FailedCriteria []string `json:"failed_criteria"`
	TimedOut       bool     `json:"timed_out"`
}

// Analysis is analysis.json: what a Test Oracle found.
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

// Outcomes of a command.
const (
	outFinished   = "finished"
	outTimedOut   = "timed_out"
	outStopped    = "stopped"
	outLost       = "lost"
	outNotStarted = "not_started"
)

// Validation is validation.json: the outcome of a validation command.
type Validation struct {
	Iteration     int     `json:"iteration"`
	Run           int     `json:"run"`
	CommandDigest string  `json:"command_digest"`
	DurationMS    int64   `json:"duration_ms"`
	Outcome       string  `json:"outcome"`
	ExitCode      *int    `json:"exit_code"`
	TimedOut      bool    `json:"timed_out"`
	Stdout        Output  `json:"stdout"`
	Stderr        Output  `json:"stderr"`
	MatchedText   *bool   `json:"matched_expected"`
	Marker        *string `json:"failing_marker"`
	Reason        string  `json:"reason"`
}

// Output is what is kept of one output of a command.
type Output struct {
	Head      string `json:"head"`
	Tail      string `json:"tail"`
	Truncated bool   `json:"truncated"`
}

// text joins what is kept.
func (o Output) text() string {
	if o.Truncated {
		return o.Head + "\n…\n" + o.Tail
	}
	return o.Head + o.Tail
}

// WorkerRun is worker-run.json: how one start of the worker command ended.
type WorkerRun struct {
	Number        int    `json:"number"`
	CommandDigest string `json:"command_digest"`
	StartedAt     text   `json:"started_at"`
	FinishedAt    text   `json:"finished_at"`
	Outcome       string `json:"outcome"`
	ExitCode      *int   `json:"exit_code"`
	Tail          string `json:"tail"`
	Reason        string `json:"reason"`
}

// ended reports whether the command ended well, as far as anybody saw: of one that ended
// while placet was away, the code is not known. One that a signal ended did not.
func (o WorkerRun) ended() bool {
	if o.ExitCode == nil {
		return o.Reason == ""
	}
	return *o.ExitCode == 0
}

// isLost reports whether nobody knows what became of the command.
func (o WorkerRun) isLost() bool { return o.Outcome == outLost || o.Outcome == outStopped }

// ReviewReport is review.json: what an outside reviewer found.
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
