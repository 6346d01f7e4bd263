package afl

import (
	"placet/engine/testoutput"
	"placet/schemas"
)

// Route is what becomes of an attempt.
type Route string

// The routes.
const (
	routePass     Route = "PASS"
	routeRetry    Route = "RETRY"
	routeDesign   Route = "ESCALATE_DESIGN"
	routeEnv      Route = "ESCALATE_ENV"
	routeMaxRetry Route = "ESCALATE_MAX_RETRY"
	routeUnclear  Route = "ESCALATE_UNCLEAR"
	routePattern  Route = "ESCALATE_PATTERN"
)

func (r Route) escalates() bool { return r != routePass && r != routeRetry }

// Where a verdict comes from.
const (
	fromValidation = "validation"
	fromResult     = "result"
	fromWorker     = "worker"
	fromAnalysis   = "analysis"
	fromClassifier = "classifier"
)

// Verdict is verdict.json: the judgement on one run of an attempt. Feedback
// and escalation are rendered from it.
type Verdict struct {
	Iteration      int          `json:"iteration"`
	Run            int          `json:"run"`
	Source         string       `json:"source"`        // validation, result or worker
	SourceDigest   text         `json:"source_digest"` // of the document judged
	Passed         bool         `json:"passed"`
	TimedOut       bool         `json:"timed_out"`
	ExitCode       *int         `json:"exit_code"`
	MatchedText    *bool        `json:"matched_expected"`
	Marker         *string      `json:"failing_marker"`
	FailureType    text         `json:"failure_type"` // "" where it passed
	TypeFrom       text         `json:"type_from"`    // analysis, result, worker or classifier
	Rule           text         `json:"rule"`         // the classifier's, even where another source decides
	FailedCriteria []string     `json:"failed_criteria"`
	FailingTests   []string     `json:"failing_tests"`
	KeyLines       []string     `json:"key_lines"`
	RelatedFiles   []string     `json:"related_files"`
	Names          []string     `json:"names"` // command, module or service that the environment lacks
	Causes         []string     `json:"causes"`
	Suggestions    []Suggestion `json:"suggestions"`
	Signature      text         `json:"signature"`
	Route          Route        `json:"route"`
}

func (v Verdict) failure() testoutput.Type { return testoutput.Type(v.FailureType) }

// encode returns the verdict as verdict.json.
func (v Verdict) encode() []byte { return encoded(v) }

// encoded is a document of placet's own as JSON. What placet makes can be
// encoded.
func encoded(v any) []byte {
	body, err := schemas.Encode(v)
	if err != nil {
		panic(err)
	}
	return body
}

// Suggestion is a change that an analysis proposes.
type Suggestion struct {
	File   string `json:"file"`
	Line   *int   `json:"line"`
	Before text   `json:"before"`
	After  text   `json:"after"`
	Why    string `json:"why"`
}

// Analysis is analysis.json: what a Test Oracle found.
type Analysis struct {
	FailureType    testoutput.Type `json:"failure_type"`
	Causes         []string        `json:"causes"`
	Suggestions    []Suggestion    `json:"suggestions"`
	FailedCriteria []string        `json:"failed_criteria"`
	Of             text            `json:"of"` // digest of the document analysed; "" for run 1
}

// Validation is validation.json: the outcome of a validation command.
type Validation struct {
	Iteration     int      `json:"iteration"`
	Run           int      `json:"run"`
	CommandDigest string   `json:"command_digest"`
	Shell         []string `json:"shell"`
	Cwd           string   `json:"cwd"`
	StartedAt     text     `json:"started_at"`
	FinishedAt    text     `json:"finished_at"`
	DurationMS    int64    `json:"duration_ms"`
	Outcome       string   `json:"outcome"`
	ExitCode      *int     `json:"exit_code"`
	TimedOut      bool     `json:"timed_out"`
	Stdout        Output   `json:"stdout"`
	Stderr        Output   `json:"stderr"`
	MatchedText   *bool    `json:"matched_expected"`
	Marker        *string  `json:"failing_marker"`
	Reason        string   `json:"reason"`
}

// Output is what is kept of one output of a command.
type Output struct {
	Bytes     int64  `json:"bytes"`
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

// Outcomes of a command.
const (
	outFinished   = "finished"
	outTimedOut   = "timed_out"
	outStopped    = "stopped"
	outLost       = "lost"
	outNotStarted = "not_started"
)

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

// ended reports whether the command ended well, as far as anybody saw: of one
// that ended while placet was away, the code is not known. One that a signal
// ended did not.
func (o WorkerRun) ended() bool {
	if o.ExitCode == nil {
		return o.Reason == ""
	}
	return *o.ExitCode == 0
}

// isLost reports whether nobody knows what became of the command.
func (o WorkerRun) isLost() bool { return o.Outcome == outLost || o.Outcome == outStopped }

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
