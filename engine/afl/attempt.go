package afl

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"placet/engine"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// attempt is what was handed in for the attempt in hand, and what became of its commands.
type attempt struct {
	// pending are the files that may still be being written, by name.
	pending    map[string]bool
	worker     handIn[WorkerReport]
	result     handIn[Result]
	question   handIn[PendingQuestion]
	workerRun  handIn[WorkerRun]
	validation handIn[Validation]
	analysis   *Analysis
}

// handIn is a document of an attempt.
type handIn[T any] struct {
	doc engine.Document
	// said is what it says, nil where it is absent, cannot be used, or is no news: it was
	// there when the attempt began, or was used already.
	said *T
}

// sum is the digest of the document.
func (h handIn[T]) sum() text { return text(h.doc.Sum) }

// attempt is the attempt in hand of a checkpoint, read once per step.
func (cp *checkpoint) attempt() *attempt {
	if cp.try != nil {
		return cp.try
	}
	t := &attempt{pending: map[string]bool{}}
	cp.try = t
	if cp.Status != Validating {
		t.worker = readNews(cp, cp.file("worker.json"), "afl/worker", cp.Seen.Worker, checkWorker)
		t.question = readNews(cp, cp.rel("pending-question.json"), "afl/pending-question", cp.Seen.Question, checkQuestion)
		if cp.isCommandWorker() {
			t.workerRun = readNews(cp, cp.file(numbered("worker-run", cp.Worker.Number)), "afl/worker-run", nil, checkWorkerRun)
		}
	}
	// A result has no say where a command decides.
	if cp.Status != Validating || !cp.isByCommand() && (cp.Run == nil || cp.Run.Mode != modeCommand) {
		t.result = readNews(cp, cp.file("result.json"), "afl/result", cp.Seen.Result, checkResult)
		if o := t.result.said; o != nil && isHookEvent(o.Output) {
			t.result = handIn[Result]{} // the trusted command says what a hook cannot
		}
	}
	if cp.Run != nil && cp.Run.Mode == modeCommand {
		t.validation = readNews(cp, cp.file(numbered("validation", cp.Run.Number)), "afl/validation", nil, checkValidation)
		checkIssued(cp, &t.validation)
	}
	if cp.Run != nil {
		readAnalysis(cp, t)
	}
	return t
}

// isCommandWorker reports whether placet's command makes the attempt in hand.
func (cp *checkpoint) isCommandWorker() bool {
	return cp.Worker != nil && cp.Worker.Mode == modeCommand
}

// readNews reads a document of an attempt, unless it is among those that were seen before.
// check says why it cannot be used, "" if it can.
func readNews[T any](cp *checkpoint, rel, schema string, seen []text, check func(*checkpoint, *T) (problem string)) (h handIn[T]) {
	d := cp.r.run.Snap.In(rel)
	if d.Present() && isKnown(seen, d.Sum) {
		return h
	}
	v, got := run.Load[T](&cp.r.run.Input, d, schema)
	if got == run.Pending {
		cp.try.pending[path.Base(rel)] = true
	}
	if v == nil {
		return h
	}
	if problem := check(cp, v); problem != "" {
		cp.r.run.Bad(d, problem)
		return h
	}
	return handIn[T]{d, v}
}

func checkWorker(cp *checkpoint, w *WorkerReport) string {
	switch {
	case w.Checkpoint != "" && string(w.Checkpoint) != cp.id:
		return cp.r.say("bad.checkpoint", "file", "worker.json", "is", strconv.Quote(string(w.Checkpoint)), "folder", strconv.Quote(cp.id))
	case w.Iteration != nil && *w.Iteration != cp.Iteration:
		return cp.r.say("bad.iteration", "file", "worker.json", "is", *w.Iteration, "attempt", cp.Iteration)
	case w.Status == "question" && strings.TrimSpace(w.Question) == "":
		return cp.r.say("bad.question")
	}
	return ""
}

func checkQuestion(cp *checkpoint, q *PendingQuestion) string {
	if q.Checkpoint != cp.id {
		return cp.r.say("bad.checkpoint", "file", "pending-question.json", "is", strconv.Quote(q.Checkpoint), "folder", strconv.Quote(cp.id))
	}
	return ""
}

func checkResult(cp *checkpoint, result *Result) string {
	switch {
	case result.Iteration != cp.Iteration:
		return cp.r.say("bad.iteration", "file", "result.json", "is", result.Iteration, "attempt", cp.Iteration)
	case !isHookEvent(result.Output) || cp.isRunnable():
		return ""
	case cp.isByCommand():
		return cp.r.say("bad.event.trust")
	}
	return cp.r.say("bad.event.result")
}

func checkWorkerRun(cp *checkpoint, o *WorkerRun) string {
	if o.Number != cp.Worker.Number {
		return cp.r.say("bad.number", "file", numbered("worker-run", cp.Worker.Number), "is", o.Number, "start", cp.Worker.Number)
	}
	return ""
}

func checkValidation(cp *checkpoint, v *Validation) string {
	if v.Iteration == cp.Iteration && v.Run == cp.Run.Number && v.CommandDigest == string(cp.Run.CommandDigest) {
		return ""
	}
	return cp.r.say("bad.validation", "file", numbered("validation", cp.Run.Number),
		"is_attempt", v.Iteration, "is_run", v.Run, "attempt", cp.Iteration, "run", cp.Run.Number)
}

// checkIssued takes an outcome that somebody else wrote for lost.
func checkIssued(cp *checkpoint, h *handIn[Validation]) {
	if d, v := h.doc, h.said; v != nil && len(d.Issued) > 0 && !slices.Contains(d.Issued, d.Sum) {
		cp.r.run.Bad(d, cp.r.say("bad.foreign_validation", "file", path.Base(d.Path)))
		h.said = &Validation{Iteration: v.Iteration, Run: v.Run, CommandDigest: v.CommandDigest, Outcome: outLost}
	}
}

// readAnalysis reads an analysis of what is judged now.
func readAnalysis(cp *checkpoint, t *attempt) {
	of := t.judged(cp.Run.Mode)
	t.analysis = readNews(cp, cp.file("analysis.json"), "afl/analysis", nil, func(_ *checkpoint, a *Analysis) string {
		if of == "" || a.isOf(of, cp.Run.Number) {
			return ""
		}
		return cp.r.say("bad.analysis", "of", orWord(string(a.Of), cp.r.say("bad.analysis.first")), "run", cp.Run.Number, "digest", strconv.Quote(string(of)))
	}).said
	if t.analysis != nil && !t.analysis.isOf(of, cp.Run.Number) {
		t.analysis = nil // nothing is judged yet
	}
}

// judged is the digest of the document that is judged.
func (t *attempt) judged(mode string) text {
	if mode == modeResult {
		return t.result.sum()
	}
	return t.validation.sum()
}

// isOf reports whether an analysis is about a judged document of a run.
func (a *Analysis) isOf(sum text, run int) bool {
	return a.Of == "" && run == 1 || a.Of != "" && a.Of == sum
}

// isHookEvent reports whether a result's output is what upstream's hook stores there: the
// event instead of the output. Its exit code is that of cat.
func isHookEvent(output string) bool {
	trimmed := strings.TrimSpace(output)
	if !strings.HasPrefix(trimmed, "{") {
		return trimmed == ""
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

// longestQuestion is how much of a question is kept, in bytes.
const longestQuestion = 8 << 10

// words are the text of a hook's question: those of the event, if it is one.
func (q *PendingQuestion) words() string {
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
	s := q.Question
	if trimmed := strings.TrimSpace(s); strings.HasPrefix(trimmed, "{") && schemas.Decode("", "question", []byte(trimmed), &event) == nil {
		var lines []string
		for _, asked := range event.Input.Questions {
			lines = append(lines, asked.Question)
			for _, o := range asked.Options {
				lines = append(lines, "- "+o.Label)
			}
		}
		if len(lines) > 0 {
			s = strings.Join(lines, "\n")
		}
	}
	return templates.Cut(s, longestQuestion)
}

// peek decodes a document that placet has judged before, nil where it cannot be used any
// more.
func peek[T any](d engine.Document, schema string) *T {
	if !d.Present() {
		return nil
	}
	v, err := engine.Parse(d, func(p string, body []byte) (v T, err error) {
		err = schemas.Decode(schema, path.Base(p), body, &v)
		return v, err
	})
	if err != nil {
		return nil
	}
	return v
}

// changedFiles are the files that the worker of an attempt says it changed.
func (cp *checkpoint) changedFiles(n int) []string {
	if w := peek[WorkerReport](cp.r.run.Snap.In(cp.fileOf(n, "worker.json")), "afl/worker"); w != nil {
		return w.ChangedFiles
	}
	return nil
}

// lastIteration is the highest number among the attempts that are there.
func (cp *checkpoint) lastIteration() int {
	last := 0
	for _, d := range cp.r.run.Snap.Under(cp.rel("iterations")) {
		if _, n, _, ok := layout.AFLPlace(cp.r.run.Snap.Rel(d.Path)); ok && !d.Absent() {
			last = max(last, n)
		}
	}
	return last
}

// outcomes is the highest number among an attempt's outcomes of a kind, 0
// for none.
func (cp *checkpoint) outcomes(n int, stem string) int {
	highest := 0
	for _, d := range cp.r.run.Snap.Under(cp.fileOf(n, "")) {
		if of, k, ok := layout.AFLNumber(path.Base(d.Path)); ok && of == stem && !d.Absent() {
			highest = max(highest, k)
		}
	}
	return highest
}

// wasFinished reports whether the checkpoint's status.json says, in one of upstream's
// words, that it has passed already.
func wasFinished(cp *checkpoint) (bool, []engine.Document) {
	d := cp.r.run.Snap.In(cp.rel("status.json"))
	st := peek[struct {
		Status string `json:"status"`
	}](d, "")
	if st == nil {
		return false, nil
	}
	return st.Status == "completed" || st.Status == "checkpoint_passed", []engine.Document{d}
}
