package afl

import (
	"fmt"
	"slices"
	"strings"

	"placet/engine/run"
	"placet/engine/testoutput"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// input is what the classifier looks at.
func (r *session) input(id string, n int, words string, timedOut bool, exit *int) testoutput.Input {
	changed := r.changedFiles(id, n)
	own := append([]string{id}, changed...)
	if d := r.defs[id]; d != nil {
		own = append(append(own, d.Name, string(d.Description)), d.Criteria...)
	}
	return testoutput.Input{Text: words, TimedOut: timedOut, Exit: exit, Own: own, Changed: changed}
}

// classified lays what the classifier found over a verdict that did not pass.
func (v *Verdict) classified(f testoutput.Finding) {
	v.FailureType, v.TypeFrom, v.Rule = text(f.Type), fromClassifier, text(f.Rule)
	v.FailingTests, v.KeyLines, v.RelatedFiles, v.Names = f.FailingTests, f.KeyLines, f.RelatedFiles, f.Names
}

// judgeValidation judges the run of a command.
func (r *session) judgeValidation(id string, c *Checkpoint, t *attempt) Verdict {
	d, o := r.defs[id], t.validation
	v := Verdict{
		Iteration: t.n, Run: c.Run.Number, Source: fromValidation, SourceDigest: text(t.validationSum),
		TimedOut: o.TimedOut || o.Outcome == outTimedOut, ExitCode: o.ExitCode, MatchedText: o.MatchedText, Marker: o.Marker,
	}
	v.Passed = o.Outcome == outFinished && testoutput.Passed(o.ExitCode, v.TimedOut, string(d.Expected), o.MatchedText, o.Marker)
	if v.Passed {
		return v.routed(r, c)
	}
	words := testoutput.Text(o.Stdout.text(), o.Stderr.text())
	if o.Outcome == outNotStarted {
		words = strings.TrimSpace(words + "\n" + o.Reason)
	}
	v.classified(testoutput.Classify(r.input(id, t.n, words, v.TimedOut, v.ExitCode)))
	if o.Outcome == outNotStarted {
		v.FailureType, v.Rule = text(testoutput.EnvIssue), ""
		return v.failedBy([]string{"not started"}).routed(r, c)
	}
	v.analysed(t.analysis)
	return v.failedBy(nil).routed(r, c)
}

// judgeLost judges a run of which a person says that it failed.
func (r *session) judgeLost(id string, c *Checkpoint, t *attempt) Verdict {
	v := Verdict{Iteration: t.n, Run: c.Run.Number, Source: fromValidation, SourceDigest: text(t.validationSum)}
	v.classified(testoutput.Finding{Type: testoutput.EnvIssue})
	return v.failedBy([]string{"the validation was lost"}).routed(r, c)
}

// judgeResult judges what an outside validator says.
func (r *session) judgeResult(id string, c *Checkpoint, t *attempt) Verdict {
	d, o := r.defs[id], t.result
	exit := o.ExitCode
	v := Verdict{
		Iteration: t.n, Run: c.Run.Number, Source: fromResult, SourceDigest: text(t.resultSum),
		TimedOut: o.TimedOut, ExitCode: &exit,
	}
	v.MatchedText, v.Marker = testoutput.Match(string(d.Expected), o.Output)
	v.Passed = o.FailureType == "" && len(o.FailedCriteria) == 0 && testoutput.Passed(&exit, o.TimedOut, string(d.Expected), v.MatchedText, v.Marker)
	if v.Passed {
		return v.routed(r, c)
	}
	v.classified(testoutput.Classify(r.input(id, t.n, o.Output, o.TimedOut, &exit)))
	if typ, known := testoutput.Known(string(o.FailureType)); known {
		v.FailureType, v.TypeFrom = text(typ), fromResult
	}
	v.analysed(t.analysis)
	return v.failedBy(o.FailedCriteria).routed(r, c)
}

// judgeReport judges an attempt that its worker gave up.
func (r *session) judgeReport(id string, c *Checkpoint, t *attempt) Verdict {
	one := 1
	v := Verdict{Iteration: t.n, Run: nextRun(c, 0), Source: fromWorker, SourceDigest: text(t.workerSum)}
	v.classified(testoutput.Classify(r.input(id, t.n, t.worker.Message, false, &one)))
	if typ, known := testoutput.Known(string(t.worker.FailureType)); known {
		v.FailureType, v.TypeFrom = text(typ), fromWorker
	}
	return v.failedBy([]string{gaveUp}).routed(r, c)
}

// gaveUp is the criterion that an attempt failed whose worker gave it up.
const gaveUp = "the worker gave the attempt up"

// judgeWorkerRun judges an attempt whose worker command ended badly, or of
// which a person says so.
func (r *session) judgeWorkerRun(id string, c *Checkpoint, t *attempt, typ testoutput.Type) Verdict {
	v := Verdict{Iteration: t.n, Run: nextRun(c, 0), Source: fromWorker, TimedOut: typ == testoutput.Timeout}
	criterion := "the worker command did not end"
	if run := t.workerRun; run != nil {
		v.SourceDigest, v.ExitCode = text(t.workerRunSum), run.ExitCode
		f := testoutput.Classify(r.input(id, t.n, strings.TrimSpace(run.Tail+"\n"+run.Reason), v.TimedOut, run.ExitCode))
		v.classified(f)
		if run.ExitCode != nil && !v.TimedOut {
			criterion = fmt.Sprintf("the worker command: exit code %d", *run.ExitCode)
		}
	}
	v.FailureType, v.TypeFrom = text(typ), fromWorker
	if v.TimedOut {
		criterion = "the worker command: timed out"
	}
	return v.failedBy([]string{criterion}).routed(r, c)
}

// analysed lets an analysis decide where there is one.
func (v *Verdict) analysed(a *Analysis) {
	if a == nil {
		return
	}
	v.FailureType, v.TypeFrom = text(a.FailureType), fromAnalysis
	v.Causes, v.Suggestions = bounded(a.Causes), a.Suggestions[:min(len(a.Suggestions), mostWords)]
	for i, s := range v.Suggestions {
		s.File, s.Why = templates.Cut(s.File, longestWords), templates.Cut(s.Why, longestWords)
		s.Before, s.After = text(templates.Cut(string(s.Before), longestWords)), text(templates.Cut(string(s.After), longestWords))
		v.Suggestions[i] = s
	}
	if len(a.FailedCriteria) > 0 {
		v.FailedCriteria = a.FailedCriteria
	}
}

// mostCriteria is how many failing tests stand for the failed criteria.
const mostCriteria = 10

// failedBy completes a failed verdict: which criteria failed, and by which
// signature the failure is known again.
func (v Verdict) failedBy(said []string) Verdict {
	switch {
	case len(v.FailedCriteria) > 0: // the analysis says
	case len(said) > 0:
		v.FailedCriteria = said
	case len(v.FailingTests) > 0:
		v.FailedCriteria = v.FailingTests[:min(mostCriteria, len(v.FailingTests))]
	case v.TimedOut:
		v.FailedCriteria = []string{"timed out"}
	case v.ExitCode != nil && *v.ExitCode != 0:
		v.FailedCriteria = []string{fmt.Sprintf("exit code %d", *v.ExitCode)}
	case v.Marker != nil:
		v.FailedCriteria = []string{"failing marker found: " + *v.Marker}
	case v.ExitCode == nil:
		v.FailedCriteria = []string{"no exit code"}
	default:
		v.FailedCriteria = []string{"expected text not found"}
	}
	v.FailedCriteria = bounded(v.FailedCriteria)
	v.Signature = text(testoutput.Signature(v.failure(), v.KeyLines))
	return v
}

// How much of what others say a judgement keeps: entries, and bytes of each.
const (
	mostWords    = 100
	longestWords = 2000
)

// bounded cuts what others say: the state keeps it.
func bounded(words []string) []string {
	kept := make([]string, 0, min(len(words), mostWords))
	for _, w := range words[:min(len(words), mostWords)] {
		kept = append(kept, templates.Cut(w, longestWords))
	}
	return kept
}

// duration is how long the judged run took.
func (r *session) duration(id string, v Verdict) int64 {
	if t := r.tries[id]; t != nil && v.Source == fromValidation && t.validation != nil {
		return t.validation.DurationMS
	}
	return 0
}

// verdictDoc is where the judgement on a run lies.
func verdictDoc(id string, n, run int) string { return place(id, n, numbered("verdict", run)) }

// verdictOf finds a judgement again: in the commit under way, on disk, or by
// judging once more what was judged.
func (r *session) verdictOf(id string, h Judged) Verdict {
	return run.Once(r.Run, verdictDoc(id, h.Iteration, h.Run), func() (v Verdict) {
		d := r.Snap.In(verdictDoc(id, h.Iteration, h.Run))
		if d.Present() && schemas.Decode("afl/verdict", "verdict.json", d.Body, &v) == nil {
			return v
		}
		return r.judgeAgain(id, h)
	})
}

// judgeAgain makes a verdict again from what was judged, as far as it is still
// there; what the history says stands.
func (r *session) judgeAgain(id string, h Judged) Verdict {
	c := &Checkpoint{Iteration: h.Iteration, Epoch: h.Epoch, Run: &Run{Number: h.Run, Mode: modeCommand}, MaxIterations: h.Iteration + 1}
	t := &attempt{cp: id, n: h.Iteration, open: map[string]bool{}}
	v := Verdict{Iteration: h.Iteration, Run: h.Run, Source: h.Source, Passed: h.Result == passed}
	switch h.Source {
	case fromValidation:
		d := r.Snap.In(place(id, h.Iteration, numbered("validation", h.Run)))
		var o Validation
		if r.defs[id] != nil && d.Present() && schemas.Decode("afl/validation", "validation.json", d.Body, &o) == nil {
			t.validation, t.validationSum = &o, d.Sum
			r.findAnalysis(t, c)
			v = r.judgeValidation(id, c, t)
		}
	case fromWorker:
		if again, ok := r.judgeWorkerAgain(id, c, t, h); ok {
			v = again
		}
	case fromResult:
		d := r.Snap.In(t.rel("result.json"))
		if r.defs[id] != nil && d.Present() && schemas.Decode("afl/result", "result.json", d.Body, &t.result) == nil {
			t.resultSum = d.Sum
			c.Run.Mode = modeResult
			r.findAnalysis(t, c)
			v = r.judgeResult(id, c, t)
		}
	}
	v.Passed, v.Route, v.FailureType = h.Result == passed, h.Route, h.FailureType
	v.Rule, v.Signature, v.FailedCriteria = h.Rule, h.Signature, h.FailedCriteria
	return v
}

// findAnalysis takes the analysis that a judgement of the past was made with, if it is
// still there.
func (r *session) findAnalysis(t *attempt, c *Checkpoint) {
	var a Analysis
	d := r.Snap.In(t.rel("analysis.json"))
	if d.Present() && schemas.Decode("afl/analysis", "analysis.json", d.Body, &a) == nil && a.isOf(t.judgedSum(c.Run.Mode), c.Run.Number) {
		t.analysis = &a
	}
}

// judgeWorkerAgain makes the verdict on a worker again: of what lies with the
// attempt, that which leads to the same judgement was judged.
func (r *session) judgeWorkerAgain(id string, c *Checkpoint, t *attempt, h Judged) (v Verdict, ok bool) {
	same := func() bool {
		v.Run = h.Run
		return v.Signature == h.Signature && v.FailureType == h.FailureType && slices.Equal(v.FailedCriteria, h.FailedCriteria)
	}
	docs := slices.Clone(r.Snap.Under(place(id, t.n, "")))
	slices.Reverse(docs)
	for _, d := range docs {
		if !d.Present() {
			continue
		}
		var run WorkerRun
		switch {
		case d.Kind == layout.AFLWorker && schemas.Decode("afl/worker", d.Path, d.Body, &t.worker) == nil:
			t.workerSum = d.Sum
			v = r.judgeReport(id, c, t)
		case d.Kind == layout.AFLWorkerRun && schemas.Decode("afl/worker-run", d.Path, d.Body, &run) == nil:
			t.workerRun, t.workerRunSum = &run, d.Sum
			v = r.judgeWorkerRun(id, c, t, testoutput.Type(h.FailureType))
		default:
			continue
		}
		if same() {
			return v, true
		}
	}
	return v, false
}
