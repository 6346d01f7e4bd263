package afl

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"placet/engine"
	"placet/engine/run"
	"placet/engine/testoutput"
	"placet/layout"
	"placet/templates"
)

// Route is the consequence of a verdict for its attempt.
type Route string

// Routes.
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

// status returns the status of an attempt that did not pass.
func (r Route) status() engine.Status {
	if r == routeRetry {
		return Retrying
	}
	return Escalated
}

// Sources of verdicts and failure types.
const (
	fromValidation = "validation"
	fromResult     = "result"
	fromWorker     = "worker"
	fromAnalysis   = "analysis"
	fromClassifier = "classifier"
)

// Verdict is verdict.json: the verdict on one run of an attempt. Feedback and escalation reports
// are rendered from it.
type Verdict struct {
	Iteration      int          `json:"iteration"`
	Run            int          `json:"run"`
	Source         string       `json:"source"`        // validation, result or worker
	SourceDigest   text         `json:"source_digest"` // of the judged document
	Passed         bool         `json:"passed"`
	TimedOut       bool         `json:"timed_out"`
	ExitCode       *int         `json:"exit_code"`
	MatchedText    *bool        `json:"matched_expected"`
	Marker         *string      `json:"failing_marker"`
	FailureType    text         `json:"failure_type"` // "" if it passed
	TypeFrom       text         `json:"type_from"`    // analysis, result, worker or classifier
	Rule           text         `json:"rule"`         // the classifier's rule, even if another source decides
	FailedCriteria []string     `json:"failed_criteria"`
	FailingTests   []string     `json:"failing_tests"`
	KeyLines       []string     `json:"key_lines"`
	RelatedFiles   []string     `json:"related_files"`
	Names          []string     `json:"names"` // command, module or service that the environment lacks
	Causes         []string     `json:"causes"`
	Suggestions    []Suggestion `json:"suggestions"`
	Code           []Excerpt    `json:"code,omitzero"` // around the places that the output names
	Signature      text         `json:"signature"`
	Route          Route        `json:"route"`
}

func (v Verdict) failure() testoutput.Type { return testoutput.Type(v.FailureType) }

// reason returns the reason of the transition that a verdict leads to.
func (v Verdict) reason(lang string) string {
	if v.Passed {
		return phrase(lang, "move.pass")
	}
	return string(v.Route) + ": " + string(v.FailureType)
}

// judgeValidation judges a run of the validation command.
func judgeValidation(cp *checkpoint, o *Validation, sum text, a *Analysis) Verdict {
	v := Verdict{
		Iteration: cp.Iteration, Run: cp.Run.Number, Source: fromValidation, SourceDigest: sum,
		TimedOut: o.TimedOut || o.Outcome == engine.CommandTimedOut, ExitCode: o.ExitCode, MatchedText: o.MatchedText, Marker: o.Marker,
	}
	v.Passed = o.Outcome == engine.CommandFinished && testoutput.Passed(o.ExitCode, v.TimedOut, string(cp.def.Expected), o.MatchedText, o.Marker)
	words := testoutput.Text(o.Stdout.Text(), o.Stderr.Text())
	switch {
	case v.Passed:
	case o.Outcome == engine.CommandNotStarted:
		classify(cp, &v, strings.TrimSpace(words+"\n"+o.Reason), v.ExitCode)
		v.FailureType, v.Rule = text(testoutput.EnvIssue), ""
		v.failedBy([]string{worded("not_started", "")})
	default:
		classify(cp, &v, words, v.ExitCode)
		v.Code, _ = codeAt(cp, words, o.Cwd)
		v.analysed(a)
		v.failedBy(nil)
	}
	return route(cp, v)
}

// judgeLost judges a lost run that a person counts as failed.
func judgeLost(cp *checkpoint, sum text) Verdict {
	v := Verdict{
		Iteration: cp.Iteration, Run: cp.Run.Number, Source: fromValidation, SourceDigest: sum,
		FailureType: text(testoutput.EnvIssue), TypeFrom: fromClassifier,
	}
	v.failedBy([]string{worded("validation_lost", "")})
	return route(cp, v)
}

// judgeResult judges the report of an outside validator.
func judgeResult(cp *checkpoint, o *Result, sum text, a *Analysis) Verdict {
	v := Verdict{
		Iteration: cp.Iteration, Run: cp.Run.Number, Source: fromResult, SourceDigest: sum, TimedOut: o.TimedOut, ExitCode: &o.ExitCode,
	}
	v.MatchedText, v.Marker = testoutput.Match(string(cp.def.Expected), o.Output)
	v.Passed = o.FailureType == "" && len(o.FailedCriteria) == 0 && testoutput.Passed(v.ExitCode, o.TimedOut, string(cp.def.Expected), v.MatchedText, v.Marker)
	if !v.Passed {
		classify(cp, &v, o.Output, v.ExitCode)
		v.Code, _ = codeAt(cp, o.Output, "")
		v.named(o.FailureType, fromResult)
		v.analysed(a)
		v.failedBy(o.FailedCriteria)
	}
	return route(cp, v)
}

// judgeReport judges an attempt that its worker reported as failed.
func judgeReport(cp *checkpoint, w *WorkerReport, sum text) Verdict {
	one := 1
	v := Verdict{Iteration: cp.Iteration, Run: cp.nextRun(0), Source: fromWorker, SourceDigest: sum}
	classify(cp, &v, w.Message, &one)
	v.named(w.FailureType, fromWorker)
	v.failedBy([]string{worded("gave_up", "")})
	return route(cp, v)
}

// judgeWorkerRun judges an attempt whose worker command failed. o may be nil if a person counts the
// attempt as failed.
func judgeWorkerRun(cp *checkpoint, o *WorkerRun, sum text, typ testoutput.Type) Verdict {
	v := Verdict{Iteration: cp.Iteration, Run: cp.nextRun(0), Source: fromWorker, TimedOut: typ == testoutput.Timeout}
	criterion := worded("worker_lost", "")
	if o != nil {
		v.SourceDigest, v.ExitCode = sum, o.ExitCode
		classify(cp, &v, strings.TrimSpace(o.Tail+"\n"+o.Reason), o.ExitCode)
		if o.ExitCode != nil {
			criterion = worded("worker_exit", strconv.Itoa(*o.ExitCode))
		}
	}
	if v.TimedOut {
		criterion = worded("worker_timeout", "")
	}
	v.FailureType, v.TypeFrom = text(typ), fromWorker
	v.failedBy([]string{criterion})
	return route(cp, v)
}

// classify adds the classifier's findings in the output to a verdict that did not pass.
func classify(cp *checkpoint, v *Verdict, words string, exit *int) {
	changed := cp.changedFiles(v.Iteration)
	own := append([]string{cp.id}, changed...)
	if d := cp.def; d != nil {
		own = append(append(own, d.Name, string(d.Description)), d.Criteria...)
	}
	f := testoutput.Classify(testoutput.Input{Text: words, TimedOut: v.TimedOut, Exit: exit, Own: own, Changed: changed})
	v.FailureType, v.TypeFrom, v.Rule = text(f.Type), fromClassifier, text(f.Rule)
	v.FailingTests, v.KeyLines, v.RelatedFiles, v.Names = f.FailingTests, f.KeyLines, f.RelatedFiles, f.Names
}

// named sets the failure type to the one that a submitted document names, if it names one.
func (v *Verdict) named(said text, from text) {
	if typ, known := testoutput.Known(string(said)); known {
		v.FailureType, v.TypeFrom = text(typ), from
	}
}

// analysed makes an analysis decide if there is one.
func (v *Verdict) analysed(a *Analysis) {
	if a == nil {
		return
	}
	v.FailureType, v.TypeFrom = text(a.FailureType), fromAnalysis
	v.Causes, v.FailedCriteria = bounded(a.Causes), a.FailedCriteria
	for _, s := range a.Suggestions[:min(len(a.Suggestions), mostWords)] {
		s.File, s.Why = templates.Cut(s.File, longestWords), templates.Cut(s.Why, longestWords)
		s.Before, s.After = text(templates.Cut(string(s.Before), longestWords)), text(templates.Cut(string(s.After), longestWords))
		v.Suggestions = append(v.Suggestions, s)
	}
}

// mostCriteria is how many failing tests can serve as the failed criteria.
const mostCriteria = 10

// failedBy completes a failed verdict with the failed criteria and the signature that identifies
// the same failure later.
func (v *Verdict) failedBy(said []string) {
	switch {
	case len(v.FailedCriteria) > 0: // from the analysis
	case len(said) > 0:
		v.FailedCriteria = said
	case len(v.FailingTests) > 0:
		v.FailedCriteria = v.FailingTests[:min(mostCriteria, len(v.FailingTests))]
	case v.TimedOut:
		v.FailedCriteria = []string{worded("timeout", "")}
	case v.ExitCode == nil && v.Marker == nil:
		v.FailedCriteria = []string{worded("no_exit", "")}
	case v.ExitCode != nil && *v.ExitCode != 0:
		v.FailedCriteria = []string{worded("exit", strconv.Itoa(*v.ExitCode))}
	case v.Marker != nil:
		v.FailedCriteria = []string{worded("marker", *v.Marker)}
	default:
		v.FailedCriteria = []string{worded("expected", "")}
	}
	v.FailedCriteria = bounded(v.FailedCriteria)
	v.Signature = text(testoutput.Signature(v.failure(), v.KeyLines))
}

// worded returns a criterion of placet's own in English, the language of documents.
func worded(key, value string) string {
	return phrase(templates.English, "failed."+key, "value", value)
}

// ownCriteria are the keys of placet's own criteria.
var ownCriteria = []string{
	"exit", "expected", "gave_up", "marker", "no_exit", "not_started", "timeout", "validation_lost", "worker_exit", "worker_lost", "worker_timeout",
}

// criterion returns a failed criterion for people. It translates placet's own criteria.
func criterion(lang, said string) string {
	for _, key := range ownCriteria {
		if value, ok := strings.CutPrefix(said, worded(key, "")); ok && said == worded(key, value) {
			return phrase(lang, "failed."+key, "value", value)
		}
	}
	return said
}

// criteria lists failed criteria on one line, or returns a dash.
func criteria(lang string, said []string) string {
	list := make([]string, len(said))
	for i, c := range said {
		list[i] = criterion(lang, c)
	}
	return joined(list, "; ")
}

// Limits of other people's words in a verdict: entries, and bytes of each.
const (
	mostWords    = 100
	longestWords = 2000
)

// bounded limits other people's words, because the state keeps them.
func bounded(words []string) []string {
	kept := make([]string, 0, min(len(words), mostWords))
	for _, w := range words[:min(len(words), mostWords)] {
		kept = append(kept, templates.Cut(w, longestWords))
	}
	return kept
}

// route sets the route of a verdict: the first applicable row in section 4.3 of the page.
func route(cp *checkpoint, v Verdict) Verdict {
	cfg := cp.r.cfg
	switch {
	case v.Passed:
		v.Route = routePass
	case v.failure() == testoutput.DesignMismatch && cfg.EscalateDesign:
		v.Route = routeDesign
	case v.failure() == testoutput.EnvIssue, v.failure() == testoutput.Timeout && timedOutBefore(cp):
		v.Route = routeEnv
	case v.Iteration >= cp.MaxIterations:
		v.Route = routeMaxRetry
	case v.failure() == testoutput.Unknown && cfg.EscalateUnclear:
		v.Route = routeUnclear
	case cfg.EscalateOnPattern && cp.sameWith(v) >= cfg.PatternAfter:
		v.Route = routePattern
	default:
		v.Route = routeRetry
	}
	return v
}

// timedOutBefore reports whether the last verdict is of the same epoch and was a timeout.
func timedOutBefore(cp *checkpoint) bool {
	if len(cp.History) == 0 {
		return false
	}
	last := cp.History[len(cp.History)-1]
	return last.Epoch == cp.Epoch && testoutput.Type(last.FailureType) == testoutput.Timeout
}

// sameWith returns how many of the last verdicts are the same failure, including a new one.
func (c *Checkpoint) sameWith(v Verdict) int {
	return sameInARow(append(slices.Clip(c.History), Judged{Epoch: c.Epoch, Result: failed, Signature: v.Signature}))
}

// sameInARow returns how many of the last verdicts, in one epoch, are the same failure by
// signature. It returns 0 if the last one passed or the history is empty.
func sameInARow(history []Judged) int {
	last := len(history) - 1
	if last < 0 || history[last].Result == passed {
		return 0
	}
	k := 1
	for i := last - 1; i >= 0 && alike(history[i], history[last]); i-- {
		k++
	}
	return k
}

// alike reports whether two verdicts are the same failure within one epoch.
func alike(a, b Judged) bool {
	return a.Result != passed && b.Result != passed && a.Epoch == b.Epoch && a.Signature != "" && a.Signature == b.Signature
}

// verdictFile returns the path of the verdict on a run.
func (cp *checkpoint) verdictFile(n, run int) string {
	return cp.fileOf(n, numbered("verdict", run))
}

// verdictOf returns a verdict of the history: from the current commit, from disk, or by judging the
// same documents again.
func (cp *checkpoint) verdictOf(h Judged) Verdict {
	return run.Once(cp.r.run, cp.verdictFile(h.Iteration, h.Run), func() Verdict {
		if v := run.Peek[Verdict](cp.r.run.Snap.In(cp.verdictFile(h.Iteration, h.Run)), "afl/verdict"); v != nil {
			return *v
		}
		return judgeAgain(checkpointThen(cp, h), h)
	})
}

// checkpointThen returns the checkpoint as it was when a verdict was made, as far as the verdict
// shows it.
func checkpointThen(cp *checkpoint, h Judged) *checkpoint {
	past := *cp
	past.Checkpoint = &Checkpoint{Iteration: h.Iteration, Epoch: h.Epoch, Run: &Run{Number: h.Run}, MaxIterations: h.Iteration + 1}
	return &past
}

// judgeAgain makes a verdict again from the judged documents that still exist. The history
// overrides the result.
func judgeAgain(cp *checkpoint, h Judged) Verdict {
	v := Verdict{Iteration: h.Iteration, Run: h.Run, Source: h.Source}
	for _, d := range slices.Backward(cp.r.run.Snap.Under(cp.file(""))) {
		if again, ok := judgeDocument(cp, d, h); ok {
			v = again
			break
		}
	}
	v.Run, v.Passed, v.Route, v.FailureType = h.Run, h.Result == passed, h.Route, h.FailureType
	v.Rule, v.Signature, v.FailedCriteria = h.Rule, h.Signature, h.FailedCriteria
	return v
}

// judgeDocument judges a file of an attempt again. ok is false if the file is not the judged one. A
// worker's file counts as the judged one if it leads to the same verdict.
func judgeDocument(cp *checkpoint, d engine.Document, h Judged) (v Verdict, ok bool) {
	sum := text(d.Sum)
	switch h.Source {
	case fromValidation:
		if path.Base(d.Path) == numbered("validation", h.Run) && cp.def != nil {
			if o := run.Peek[Validation](d, "afl/validation"); o != nil {
				return judgeValidation(cp, o, sum, findAnalysis(cp, sum)), true
			}
		}
	case fromResult:
		if d.Kind == layout.AFLResult && cp.def != nil {
			if o := run.Peek[Result](d, "afl/result"); o != nil {
				return judgeResult(cp, o, sum, findAnalysis(cp, sum)), true
			}
		}
	case fromWorker:
		switch report, o := workerDoc(d); {
		case report != nil:
			v = judgeReport(cp, report, sum)
		case o != nil:
			v = judgeWorkerRun(cp, o, sum, testoutput.Type(h.FailureType))
		default:
			return v, false
		}
		ok = v.Signature == h.Signature && v.FailureType == h.FailureType && slices.Equal(v.FailedCriteria, h.FailedCriteria)
	}
	return v, ok
}

// findAnalysis returns the analysis that an earlier verdict used, nil if it is gone.
func findAnalysis(cp *checkpoint, sum text) *Analysis {
	if a := run.Peek[Analysis](cp.r.run.Snap.In(cp.file("analysis.json")), "afl/analysis"); a != nil && a.isOf(sum, cp.Run.Number) {
		return a
	}
	return nil
}

// workerDoc decodes the report of a worker or the outcome of its command; both are nil
// for other files.
func workerDoc(d engine.Document) (*WorkerReport, *WorkerRun) {
	switch d.Kind {
	case layout.AFLWorker:
		return run.Peek[WorkerReport](d, "afl/worker"), nil
	case layout.AFLWorkerRun:
		return nil, run.Peek[WorkerRun](d, "afl/worker-run")
	}
	return nil, nil
}
