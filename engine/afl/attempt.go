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

// attempt holds what others submitted for the current attempt, and how its commands ended.
type attempt struct {
	worker     run.HandIn[WorkerReport]
	result     run.HandIn[Result]
	question   run.HandIn[PendingQuestion]
	workerRun  run.HandIn[WorkerRun]
	validation run.HandIn[Validation]
	analysis   run.HandIn[Analysis]
}

// isPending reports whether somebody may still be writing one of these documents.
func (t *attempt) isPending() bool {
	return t.worker.Pending || t.result.Pending || t.question.Pending || t.workerRun.Pending || t.validation.Pending || t.analysis.Pending
}

// attempt returns the current attempt of a checkpoint. It reads it once a step.
func (cp *checkpoint) attempt() *attempt {
	if cp.try != nil {
		return cp.try
	}
	t := &attempt{}
	cp.try = t
	if cp.Status != Validating {
		t.worker = readNews(cp, cp.file("worker.json"), "afl/worker", cp.Seen.Worker, checkWorker)
		t.question = readNews(cp, cp.rel("pending-question.json"), "afl/pending-question", cp.Seen.Question, checkQuestion)
		if cp.isCommandWorker() {
			t.workerRun = readNews(cp, cp.file(numbered("worker-run", cp.Worker.Number)), "afl/worker-run", nil, checkWorkerRun)
		}
	}
	// A result does not count if a command decides.
	if cp.Status != Validating || !cp.isByCommand() && (cp.Run == nil || cp.Run.Mode != modeCommand) {
		t.result = readNews(cp, cp.file("result.json"), "afl/result", cp.Seen.Result, checkResult)
		if o := t.result.Said; o != nil && isHookEvent(o.Output) {
			t.result.Said = nil // a trusted command decides better than a hook
		}
	}
	if cp.Run != nil && cp.Run.Mode == modeCommand {
		t.validation = readNews(cp, cp.file(numbered("validation", cp.Run.Number)), "afl/validation", nil, checkValidation)
		checkIssued(cp, &t.validation)
	}
	if cp.Run != nil {
		t.analysis = readAnalysis(cp, t.judged(cp.Run.Mode))
	}
	return t
}

// isCommandWorker reports whether placet's worker command makes the current attempt.
func (cp *checkpoint) isCommandWorker() bool {
	return cp.Worker != nil && cp.Worker.Mode == modeCommand
}

// readNews reads a document of an attempt. It ignores one that existed when the attempt began, or
// that was used already.
func readNews[T any](cp *checkpoint, rel, schema string, seen []text, fits func(*checkpoint, *T) error) run.HandIn[T] {
	d := cp.r.run.Snap.In(rel)
	if d.Present() && slices.Contains(seen, text(d.Sum)) {
		return run.HandIn[T]{}
	}
	return run.ReadHandIn(&cp.r.run.Input, d, schema, func(v *T) error { return fits(cp, v) })
}

func checkWorker(cp *checkpoint, w *WorkerReport) error {
	switch {
	case w.Checkpoint != "" && string(w.Checkpoint) != cp.id:
		return templates.Errorf("afl.bad.checkpoint", "file", "worker.json", "is", strconv.Quote(string(w.Checkpoint)), "folder", strconv.Quote(cp.id))
	case w.Iteration != nil && *w.Iteration != cp.Iteration:
		return templates.Errorf("afl.bad.iteration", "file", "worker.json", "is", *w.Iteration, "attempt", cp.Iteration)
	case w.Status == "question" && strings.TrimSpace(w.Question) == "":
		return templates.Errorf("afl.bad.question")
	}
	return nil
}

func checkQuestion(cp *checkpoint, q *PendingQuestion) error {
	if q.Checkpoint != cp.id {
		return templates.Errorf("afl.bad.checkpoint", "file", "pending-question.json", "is", strconv.Quote(q.Checkpoint), "folder", strconv.Quote(cp.id))
	}
	return nil
}

func checkResult(cp *checkpoint, result *Result) error {
	switch {
	case result.Iteration != cp.Iteration:
		return templates.Errorf("afl.bad.iteration", "file", "result.json", "is", result.Iteration, "attempt", cp.Iteration)
	case !isHookEvent(result.Output) || cp.isRunnable():
		return nil
	case cp.isByCommand():
		return templates.Errorf("afl.bad.event.trust")
	}
	return templates.Errorf("afl.bad.event.result")
}

func checkWorkerRun(cp *checkpoint, o *WorkerRun) error {
	return checkNumber(numbered("worker-run", cp.Worker.Number), o.Number, cp.Worker.Number)
}

// checkNumber refuses the outcome of another start of a command.
func checkNumber(file string, is, start int) error {
	if is != start {
		return templates.Errorf("afl.bad.number", "file", file, "is", is, "start", start)
	}
	return nil
}

func checkValidation(cp *checkpoint, v *Validation) error {
	if v.Iteration == cp.Iteration && v.Run == cp.Run.Number && v.CommandDigest == string(cp.Run.CommandDigest) {
		return nil
	}
	return templates.Errorf("afl.bad.validation", "file", numbered("validation", cp.Run.Number),
		"is_attempt", v.Iteration, "is_run", v.Run, "attempt", cp.Iteration, "run", cp.Run.Number)
}

// checkIssued replaces an outcome that somebody else wrote by a lost one.
func checkIssued(cp *checkpoint, h *run.HandIn[Validation]) {
	if d, v := h.Doc, h.Said; v != nil && len(d.Issued) > 0 && !slices.Contains(d.Issued, d.Sum) {
		cp.r.run.Bad(d, cp.r.say("bad.foreign_validation", "file", path.Base(d.Path)))
		h.Said = &Validation{Iteration: v.Iteration, Run: v.Run, CommandDigest: v.CommandDigest, CommandEnd: run.CommandEnd{Outcome: engine.CommandLost}}
	}
}

// readAnalysis reads an analysis of the judged document, which has the digest of; "" means that no
// document is judged yet.
func readAnalysis(cp *checkpoint, of text) run.HandIn[Analysis] {
	h := readNews(cp, cp.file("analysis.json"), "afl/analysis", nil, func(cp *checkpoint, a *Analysis) error {
		if of == "" || a.isOf(of, cp.Run.Number) {
			return nil
		}
		return templates.Errorf("afl.bad.analysis", "of", orWord(string(a.Of), cp.r.say("bad.analysis.first")), "run", cp.Run.Number, "digest", strconv.Quote(string(of)))
	})
	if h.Said != nil && !h.Said.isOf(of, cp.Run.Number) {
		h.Said = nil
	}
	return h
}

// judged returns the digest of the judged document.
func (t *attempt) judged(mode string) text {
	if mode == modeResult {
		return t.result.Sum()
	}
	return t.validation.Sum()
}

// isOf reports whether an analysis is about the judged document of a run.
func (a *Analysis) isOf(sum text, run int) bool {
	return a.Of == "" && run == 1 || a.Of != "" && a.Of == sum
}

// isHookEvent reports whether a result's output comes from upstream's hook. The hook stores the
// event in place of the output, and the exit code of cat.
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

// longestQuestion is how much of a question placet keeps, in bytes.
const longestQuestion = 8 << 10

// words returns the text of a hook's question. It takes it from the event if the question is one.
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

// changedFiles returns the files that the worker of an attempt reports as changed.
func (cp *checkpoint) changedFiles(n int) []string {
	if w := run.Peek[WorkerReport](cp.r.run.Snap.In(cp.fileOf(n, "worker.json")), "afl/worker"); w != nil {
		return w.ChangedFiles
	}
	return nil
}

// lastIteration returns the highest number of an existing attempt.
func (cp *checkpoint) lastIteration() int {
	last := 0
	for _, d := range cp.r.run.Snap.Under(cp.rel("iterations")) {
		if _, n, _, ok := layout.AFLPlace(cp.r.run.Snap.Rel(d.Path)); ok && !d.Absent() {
			last = max(last, n)
		}
	}
	return last
}

// outcomes returns the highest number of an attempt's outcomes of a kind, 0 for none.
func (cp *checkpoint) outcomes(n int, stem string) int {
	highest := 0
	for _, d := range cp.r.run.Snap.Under(cp.fileOf(n, "")) {
		if of, k, ok := layout.AFLNumber(path.Base(d.Path)); ok && of == stem && !d.Absent() {
			highest = max(highest, k)
		}
	}
	return highest
}

// wasFinished reports whether the checkpoint's status.json says, in one of upstream's words, that
// the checkpoint has passed.
func wasFinished(cp *checkpoint) (bool, []engine.Document) {
	d := cp.r.run.Snap.In(cp.rel("status.json"))
	st := run.Peek[struct {
		Status string `json:"status"`
	}](d, "")
	if st == nil {
		return false, nil
	}
	return st.Status == "completed" || st.Status == "checkpoint_passed", []engine.Document{d}
}
