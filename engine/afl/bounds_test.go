package afl

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"placet/engine/gate"
	"placet/engine/run"
	"placet/layout"
)

// many returns n checkpoints with ids of a length.
func many(n, length int) []cp {
	list := make([]cp, n)
	for i := range list {
		list[i].id = fmt.Sprintf("c%0*d", length-1, i)
	}
	return list
}

// bounded checks that placet can read its own documents and the end of the journal.
func (w *world) bounded() {
	w.T.Helper()
	for p, body := range w.Files {
		rel := strings.TrimPrefix(p, sessionDir+"/")
		f, ok := layout.AFL{}.File(w.Run, rel)
		if !ok || f.Writer != layout.Placet {
			continue
		}
		if rel == "events.jsonl" {
			for line := range strings.Lines(body) {
				if len(line) > 4<<10 {
					w.T.Errorf("a line of events.jsonl has %d bytes: %.80s…", len(line), line)
				}
			}
		} else if int64(len(body)) > f.Limit || rel == "state.json" && len(body) > 2<<20 {
			w.T.Errorf("%s has %d bytes, its limit is %d", rel, len(body), f.Limit)
		}
	}
}

// Whatever others write, the state keeps as much of it as fits, and a line of the journal is short.
func TestOthersWordsAreBounded(t *testing.T) {
	long := strings.Repeat("x", 200<<10)
	escalated := func(t testing.TB) *world {
		w := validatingWorld(t, nil, cp{id: "a"}, cp{id: "b"})
		w.validated("a", mismatch)
		w.settle()
		return w
	}
	for name, c := range map[string]struct {
		begin func(t testing.TB) *world
		say   func(w *world)
		event string
	}{
		"failed criteria of a result": {oneInProgress, func(w *world) {
			byResult(w)
			w.Write(attemptOne+"result.json", result(1, 1, "x", fmt.Sprintf(`, "failed_criteria": [%q, "b"%s]`, long, strings.Repeat(`, "c"`, 900))))
		}, "a:fail"},
		"an analysis": {func(t testing.TB) *world { return validatingWorld(t, nil, cp{id: "a"}) }, func(w *world) {
			w.Write(attemptOne+"analysis.json", fmt.Sprintf(`{"failure_type": "ENV_ISSUE", "causes": [%q], "failed_criteria": [%q], "suggestions": [{"file": "f", "why": %q}]}`, long[:100<<10], long[:100<<10], long[:100<<10]))
			w.validated("a", outcome{exit: 1, stdout: "FAILED a.py::b\n"})
		}, "a:fail"},
		"a worker's question": {oneInProgress, func(w *world) { w.workerSays("a", map[string]any{"status": "question", "question": long}) }, "a:question"},
		"a hook's question": {oneInProgress, func(w *world) {
			w.Write("delegations/a/pending-question.json", fmt.Sprintf(hookQuestion, long))
		}, "a:question"},
		"a worker's message": {oneInProgress, func(w *world) { w.workerSays("a", map[string]any{"status": "failed", "message": long}) }, "a:worker_failed"},
		"a wish": {oneInProgress, func(w *world) {
			w.Write("control.json", fmt.Sprintf(`{"want": "pause", "by": %q, "reason": %q}`, long[:100<<10], long[:100<<10]))
		}, "pause"},
		"an answer": {escalated, func(w *world) {
			w.answer(typeEscalation, optRetryMore, map[string]any{"comment": long[:gate.LongestAnswer-10], "provided_by": map[string]any{"user": long[:gate.LongestUser], "source": "cli"}})
		}, "a:retry_more"},
		"a stamp": {newWorld, func(w *world) {
			w.Write(specsYAML, design("approved_at: 2025-12-06T10:00:00Z\napproved_by: "+long+"\n", cp{id: "a"}))
		}, "approved"},
		"a review": {func(t testing.TB) *world {
			w := validatingWorld(t, func(c *Config) { c.Review = ptr("external") }, cp{id: "a"})
			w.validated("a", outcome{})
			w.settle()
			return w
		}, func(w *world) {
			w.Write("review.json", fmt.Sprintf(`{"reviewer": %q, "findings": [{"checkpoint": "a", "severity": "blocking", "title": "x", "detail": %q}]}`, long[:100<<10], long[:100<<10]))
		}, "review_blocking"},
	} {
		t.Run(name, func(t *testing.T) {
			w := c.begin(t)
			c.say(w)
			if taken := w.settle(); !slices.Contains(taken, c.event) {
				t.Errorf("took %v, expected %s", taken, c.event)
			}
			w.bounded()
			w.Write("control.json", `{"want": "abort"}`)
			w.settle()
			w.status(Aborted)
			w.bounded()
		})
	}
}

// A comment that does not fit into the state is refused with a note.
func TestACommentThatIsTooLongDoesNotCount(t *testing.T) {
	w := validatingWorld(t, nil, cp{id: "a"})
	w.validated("a", mismatch)
	w.settle()
	id := w.answer(typeEscalation, optRetryMore, map[string]any{"comment": strings.Repeat("x", gate.LongestAnswer+1)})
	took(t, w.settle())
	if note := w.Read("requests/" + id + "/problem.md"); !strings.Contains(note, "expected at most 65536") {
		t.Errorf("problem.md: %s", note)
	}
	w.answer(typeEscalation, optRetryMore, nil)
	if taken := w.settle(); !slices.Contains(taken, "a:retry_more") || len(w.notes()) > 0 {
		t.Errorf("took %v, notes %v", taken, w.notes())
	}
}

// With many checkpoints with the longest ids, the causes of an approval and a review that reopens
// all of them take one line each.
func TestALineOfTheJournalIsShortHoweverManyCheckpoints(t *testing.T) {
	const n = 65
	w := newWorld(t)
	w.Write("meta.json", `{"checkpointsApproved": true}`)
	for _, c := range many(n, 64) {
		w.Write("checkpoints/"+c.id+".json", `{"validation": {"command": "x"}}`)
	}
	for !w.Has("state.json") || w.state().Status != Approving {
		w.Step()
	}
	w.bounded()

	w = newWorld(t)
	w.Write(specsYAML, design(approvedHead, many(n, 64)...))
	var options []string
	for _, c := range many(n, 64) {
		w.Write("delegations/"+c.id+"/status.json", `{"status": "completed"}`)
		options = append(options, optReopen+c.id)
	}
	w.settle()
	w.answer(typeReview, options[0], map[string]any{"selected": options, "comment": "all"})
	if taken := w.settle(); !slices.Contains(taken, "review_blocking") {
		t.Fatalf("took %v", taken)
	}
	w.bounded()
}

// A transition whose state would be unreadable is not made. The session stops, says so, and
// continues once it fits.
func TestAStateThatNobodyCanReadIsNeverWritten(t *testing.T) {
	w := newWorld(t)
	w.Write("meta.json", `{"checkpointsApproved": true}`)
	large := fmt.Sprintf(`{"description": %q, "validation": {"command": "x"}}`, strings.Repeat("x", layout.LimitText-100))
	list := many(layout.LimitState/layout.LimitText, 2)
	for _, c := range list {
		w.Write("checkpoints/"+c.id+".json", large)
	}
	took(t, w.settle(), "seen", "specs_read")
	if note := w.Read("state.json.problem.md"); !strings.Contains(note, "cannot go on: state.json would have ") {
		t.Errorf("note: %s", note)
	}
	for _, c := range list[1:] {
		delete(w.Files, w.In("checkpoints/"+c.id+".json"))
	}
	if taken := w.settle(); !slices.Contains(taken, "delegate") || len(w.notes()) > 0 {
		t.Errorf("took %v, notes %v", taken, w.notes())
	}
}

// A design of any size can be approved.
func TestALargeDesignHasItsForm(t *testing.T) {
	const n = 65
	long := strings.Repeat("go test ./x_*_; ", 150)
	var names, deps, finds []cp
	for i, c := range many(n, 60) {
		c.command = long
		names = append(names, c)
		if i > 0 {
			c.after = []string{names[i-1].id, names[i/2].id}
		}
		deps = append(deps, c)
		c.after = []string{strings.Repeat("n", 900)}
		finds = append(finds, c)
	}
	criteria := `["` + strings.Repeat("*", 300) + `", "` + strings.Repeat("<", 300) + `", "c", "d"]`
	for name, c := range map[string]struct {
		list      []cp
		old, with string
	}{
		"long commands": {names, "[it works]", criteria},
		"dependencies":  {deps, "[it works]", criteria},
		"findings":      {finds, "[it works]", criteria},
		"long names":    {many(n, 60), "    name: ", "    name: " + `"` + strings.Repeat("*", 1700) + `" # `},
	} {
		t.Run(name, func(t *testing.T) {
			w, list := newWorld(t), c.list
			w.config(func(c *Config) { c.ApprovalQuiet = ptr("0s") })
			w.Write(specsYAML, strings.ReplaceAll(design("", list...), c.old, c.with))
			w.settle()
			id := w.open(typeApproval)
			form := w.Read("requests/" + id + "/form.md")
			if blocked := name == "findings"; strings.Contains(form, "- [ ] approve") == blocked || !strings.Contains(form, list[0].id) {
				t.Errorf("form:\n%.2000s", form)
			}
			if left := !strings.Contains(form, list[len(list)-1].id); left != strings.Contains(form, "- … +") {
				t.Errorf("the last is left out: %t", left)
			}
			w.bounded()
			if len(form) > layout.LimitText/2 {
				t.Errorf("the form has %d bytes", len(form))
			}
		})
	}
}

// A form counts what it has no room for, and names the file that contains it.
func TestAFormShowsAsMuchOfADesignAsItHasRoomFor(t *testing.T) {
	w := newWorld(t)
	w.Write(specsYAML, design("", cp{id: "a", expected: "4 passing"}))
	s, _ := w.Full()
	r := read(s)
	r.specs.entries = slices.Repeat(r.specs.entries, shownDesign)
	lines := designLines(r, nil)
	shown := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "- … +") })
	if size := len(strings.Join(lines, "\n")); shown < 0 || size > 2*shownDesign {
		t.Errorf("%d lines of %d bytes, the last %q", len(lines), size, lines[len(lines)-1])
	}
	if size := len(run.Encoded(fillApproval(r, nil, &gate.Request{}))); size > 2*shownDesign {
		t.Errorf("the request has %d bytes", size)
	}
}

// The second layout accepts no more checkpoints than the first.
func TestTheSecondLayoutHasAMostToo(t *testing.T) {
	w := newWorld(t)
	w.config(func(c *Config) { c.ApprovalQuiet = ptr("0s") })
	w.Write("meta.json", `{}`)
	list := many(mostCheckpoints+1, 4)
	for _, c := range list {
		w.Write("checkpoints/"+c.id+".json", `{"validation": {"command": "x"}}`)
	}
	took(t, w.settle(), "seen")
	last := "checkpoints/" + list[mostCheckpoints].id + ".json"
	if note := w.Read(last + ".problem.md"); !strings.Contains(note, "there are 501: expected at most 500") {
		t.Errorf("note: %s", note)
	}
	delete(w.Files, w.In(last))
	took(t, w.settle(), "specs_read", "approval_asked")
	if len(w.notes()) > 0 {
		t.Errorf("notes %v", w.notes())
	}
}
