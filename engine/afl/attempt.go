package afl

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"placet/engine"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// attempt is what lies with the attempt in hand. What was there when it began,
// or was used already, is no news.
type attempt struct {
	cp string
	n  int
	// open are the files that may still be being written, by name.
	open map[string]bool

	workerNews bool
	worker     WorkerReport
	workerSum  engine.Digest

	resultNews bool
	result     Result
	resultSum  engine.Digest

	questionNews bool
	questionText string
	questionSum  engine.Digest

	// workerRun and validation are nil until they are there.
	workerRun     *WorkerRun
	workerRunRel  string
	workerRunSum  engine.Digest
	validation    *Validation
	validationRel string
	validationSum engine.Digest

	analysis *Analysis
}

// rel is the path of a file of the attempt, relative to the session's folder.
func (t *attempt) rel(name string) string { return place(t.cp, t.n, name) }

// pending reports whether a file of the attempt may still be being written.
func (t *attempt) pending(name string) bool { return t.open[name] }

// isPending reports whether anything that a worker hands in may be.
func (t *attempt) isPending() bool { return len(t.open) > 0 }

// attempt is the attempt in hand of a checkpoint.
func (r *session) attempt(id string) *attempt { return r.try(id, r.checkpoint(id)) }

// try reads the attempt in hand of a checkpoint, once per step.
func (r *session) try(id string, c *Checkpoint) *attempt {
	if t := r.tries[id]; t != nil {
		return t
	}
	t := &attempt{cp: id, n: c.Iteration, open: map[string]bool{}}
	r.tries[id] = t
	if c.Status != Validating {
		r.readWorker(t, c)
		r.readQuestion(t, c)
		r.readWorkerRun(t, c)
	}
	r.readResult(t, c)
	if c.Run != nil {
		r.readValidation(t, c)
		r.readAnalysis(t, c)
	}
	return t
}

// news decodes a document that is news; nil where it is none or cannot be used. Content
// that is no news is not looked at.
func news[T any](r *session, t *attempt, rel, schema string, seen []text) *T {
	d := r.Snap.In(rel)
	if d.Present() && known(seen, d.Sum) {
		return nil
	}
	return watched[T](r, t, d, schema)
}

// watched decodes a document and notes whether it may still be being written.
func watched[T any](r *session, t *attempt, d engine.Document, schema string) *T {
	v, got := run.Load[T](&r.Input, d, schema)
	if got == run.Pending {
		t.open[path.Base(d.Path)] = true
	}
	return v
}

func (r *session) readWorker(t *attempt, c *Checkpoint) {
	d := r.Snap.In(t.rel("worker.json"))
	w := news[WorkerReport](r, t, t.rel("worker.json"), "afl/worker", c.Seen.Worker)
	switch {
	case w == nil:
	case w.Checkpoint != "" && string(w.Checkpoint) != t.cp:
		r.Bad(d, fmt.Sprintf("cannot use worker.json: /checkpoint: is %q, the folder is of %q", w.Checkpoint, t.cp))
	case w.Iteration != nil && *w.Iteration != t.n:
		r.Bad(d, fmt.Sprintf("cannot use worker.json: /iteration: is %d, the attempt is %d", *w.Iteration, t.n))
	case w.Status == "question" && strings.TrimSpace(w.Question) == "":
		r.Bad(d, "cannot use worker.json: /question: is empty: say what is asked")
	default:
		t.workerNews, t.worker, t.workerSum = true, *w, d.Sum
	}
}

// hookEvent reports whether a result's output is what upstream's hook stores
// there: the event instead of the output. Its exit code is that of cat.
func hookEvent(output string) bool {
	trimmed := strings.TrimSpace(output)
	if trimmed == "" {
		return true
	}
	if !strings.HasPrefix(trimmed, "{") {
		return false
	}
	var event struct {
		Hook       *string     `json:"hook_event_name"`
		Tool       *string     `json:"tool_name"`
		Input      schemas.Raw `json:"tool_input"`
		Session    *string     `json:"session_id"`
		Transcript *string     `json:"transcript_path"`
	}
	if schemas.Decode("", "output", []byte(trimmed), &event) != nil {
		return false
	}
	return event.Hook != nil || event.Tool != nil && event.Input != nil || event.Session != nil && event.Transcript != nil
}

func (r *session) readResult(t *attempt, c *Checkpoint) {
	command := r.defs[t.cp] != nil && r.byCommand(*r.defs[t.cp])
	own := command && r.runnable(*r.defs[t.cp])
	if c.Status == Validating && (command || c.Run != nil && c.Run.Mode == modeCommand) {
		return // it has no say
	}
	d := r.Snap.In(t.rel("result.json"))
	result := news[Result](r, t, t.rel("result.json"), "afl/result", c.Seen.Result)
	if result == nil {
		return
	}
	t.result, t.resultSum = *result, d.Sum
	switch {
	case result.Iteration != t.n:
		r.Bad(d, fmt.Sprintf("cannot use result.json: /iteration: is %d, the attempt is %d", result.Iteration, t.n))
	case hookEvent(result.Output) && own:
	case hookEvent(result.Output) && command:
		r.Bad(d, "result.json cannot be used: the output is a hook event and exitCode is always 0; run `placet trust`")
	case hookEvent(result.Output):
		r.Bad(d, "result.json cannot be used: the output is a hook event and exitCode is always 0; write the real result")
	default:
		t.resultNews = true
	}
}

// longestQuestion is how much of a question is kept, in bytes.
const longestQuestion = 8 << 10

func (r *session) readQuestion(t *attempt, c *Checkpoint) {
	type pendingQuestion struct {
		Checkpoint string `json:"checkpoint"`
		Question   string `json:"question"`
	}
	rel := "delegations/" + t.cp + "/pending-question.json"
	d := r.Snap.In(rel)
	q := news[pendingQuestion](r, t, rel, "afl/pending-question", c.Seen.Question)
	switch {
	case q == nil:
	case q.Checkpoint != t.cp:
		r.Bad(d, fmt.Sprintf("cannot use pending-question.json: /checkpoint: is %q, the folder is of %q", q.Checkpoint, t.cp))
	default:
		t.questionNews, t.questionText, t.questionSum = true, asked(q.Question), d.Sum
	}
}

// asked is the text of a hook's question: those of the event, if it is one.
func asked(s string) string {
	var event struct {
		Input struct {
			Questions []struct {
				Question string `json:"question"`
				Options  []struct {
					Label string `json:"label"`
				} `json:"options"`
			} `json:"questions"`
		} `json:"tool_input"`
	}
	if strings.HasPrefix(strings.TrimSpace(s), "{") && schemas.Decode("", "question", []byte(strings.TrimSpace(s)), &event) == nil {
		var lines []string
		for _, q := range event.Input.Questions {
			lines = append(lines, q.Question)
			for _, o := range q.Options {
				lines = append(lines, "- "+o.Label)
			}
		}
		if len(lines) > 0 {
			s = strings.Join(lines, "\n")
		}
	}
	return templates.Cut(s, longestQuestion)
}

func (r *session) readWorkerRun(t *attempt, c *Checkpoint) {
	if c.Worker == nil || c.Worker.Mode != modeCommand {
		return
	}
	t.workerRunRel = t.rel(layout.AFLNumbered("worker-run", c.Worker.Number, ".json"))
	d := r.Snap.In(t.workerRunRel)
	var run WorkerRun
	if !r.Decode(d, "afl/worker-run", &run) {
		return
	}
	if run.Number != c.Worker.Number {
		r.Bad(d, fmt.Sprintf("cannot use %s: /number: is %d, the start is %d", path.Base(d.Path), run.Number, c.Worker.Number))
		return
	}
	t.workerRun, t.workerRunSum = &run, d.Sum
}

func (r *session) readValidation(t *attempt, c *Checkpoint) {
	if c.Run.Mode != modeCommand {
		return
	}
	t.validationRel = t.rel(layout.AFLNumbered("validation", c.Run.Number, ".json"))
	d := r.Snap.In(t.validationRel)
	var v Validation
	if !r.Decode(d, "afl/validation", &v) {
		return
	}
	if v.Iteration != t.n || v.Run != c.Run.Number || v.CommandDigest != string(c.Run.CommandDigest) {
		r.Bad(d, fmt.Sprintf("cannot use %s: it is of attempt %d, run %d and another command: expected attempt %d, run %d; remove it", path.Base(d.Path), v.Iteration, v.Run, t.n, c.Run.Number))
		return
	}
	if len(d.Issued) > 0 && !slices.Contains(d.Issued, d.Sum) {
		r.Bad(d, fmt.Sprintf("%s does not count: placet ran the command, and somebody else wrote this file; nobody knows how the validation ended", path.Base(d.Path)))
		v = Validation{Iteration: v.Iteration, Run: v.Run, CommandDigest: v.CommandDigest, Outcome: outLost}
	}
	t.validation, t.validationSum = &v, d.Sum
}

// readAnalysis reads an analysis of what is judged now.
func (r *session) readAnalysis(t *attempt, c *Checkpoint) {
	d := r.Snap.In(t.rel("analysis.json"))
	a := watched[Analysis](r, t, d, "afl/analysis")
	of := t.judgedSum(c.Run.Mode)
	switch {
	case a == nil:
	case a.isOf(of, c.Run.Number):
		t.analysis = a
	case of != "":
		r.Bad(d, fmt.Sprintf("analysis.json is stale: it is of %s; the run judged now is %d, /of must be %q", orWord(string(a.Of), "run 1"), c.Run.Number, of))
	}
}

// judgedSum is the digest of the document that is judged.
func (t *attempt) judgedSum(mode string) engine.Digest {
	if mode == modeResult {
		return t.resultSum
	}
	return t.validationSum
}

// isOf reports whether an analysis is about a judged document of a run.
func (a *Analysis) isOf(sum engine.Digest, run int) bool {
	return a.Of == "" && run == 1 || a.Of != "" && string(a.Of) == string(sum)
}

// changedFiles are the files that the worker says it changed.
func (r *session) changedFiles(id string, n int) []string {
	var w WorkerReport
	d := r.Snap.In(place(id, n, "worker.json"))
	if !d.Present() || schemas.Decode("afl/worker", "worker.json", d.Body, &w) != nil {
		return nil
	}
	return w.ChangedFiles
}

// lastIteration is the highest number among the attempts that lie there.
func (r *session) lastIteration(id string) int {
	last := 0
	for _, d := range r.Snap.Under("delegations/" + id + "/iterations") {
		if _, n, _, ok := layout.AFLPlace(r.Snap.Rel(d.Path)); ok && !d.Absent() {
			last = max(last, n)
		}
	}
	return last
}

// finishedWords are upstream's words for a checkpoint that passed.
var finishedWords = []string{"completed", "checkpoint_passed"}

// finishedBefore reports whether the checkpoint's status.json says that it has
// passed already.
func (r *session) finishedBefore(id string) (bool, []engine.Document) {
	rel := "delegations/" + id + "/status.json"
	var st struct {
		Status string `json:"status"`
	}
	d := r.Snap.In(rel)
	if !d.Present() || schemas.Decode("", rel, d.Body, &st) != nil {
		return false, nil
	}
	return slices.Contains(finishedWords, st.Status), []engine.Document{d}
}
