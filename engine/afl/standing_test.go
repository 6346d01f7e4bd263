package afl

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"placet/layout"
)

// notesRemoved carries out plans until nothing is left to do, and returns the notes that were
// removed meanwhile.
func (w *world) notesRemoved() (removed []string) {
	w.T.Helper()
	for range 50 {
		p := w.Step()
		removed = append(removed, p.Removes...)
		if len(p.Transitions)+len(p.Writes)+len(p.Removes)+len(p.Lines) == 0 {
			return removed
		}
	}
	w.T.Fatal("does not settle")
	return nil
}

// A note stays as long as its cause: pending outputs, a pause, or unusable settings do not remove
// it.
func TestANoteStandsAsLongAsItsCause(t *testing.T) {
	bad := func(t testing.TB) *world {
		w := oneInProgress(t)
		w.Write(attemptOne+"worker.json", `{"status": "nonsense"}`)
		return w
	}
	reviewed := func(t testing.TB) *world {
		w := validatingWorld(t, nil, cp{id: "a"})
		w.validated("a", outcome{})
		w.settle()
		w.answer(typeReview, "nonsense", nil)
		return w
	}
	outside := func(t testing.TB) *world {
		w := validatingWorld(t, func(c *Config) { c.Review = ptr("external") }, cp{id: "a"})
		w.validated("a", outcome{})
		w.settle()
		w.Write("review.json", `{"findings": 3}`)
		return w
	}
	escalated := func(t testing.TB) *world {
		w := escalatedWorld(t, cp{id: "a"}, cp{id: "b"})
		w.workerSays("b", map[string]any{"status": "nonsense"})
		return w
	}
	asked := func(t testing.TB) *world {
		w := newWorld(t)
		w.config(func(c *Config) { c.ApprovalQuiet = ptr("0s") })
		w.Write(specsYAML, design("", cp{id: "a"}))
		w.settle()
		w.answer(typeApproval, "nonsense", nil)
		return w
	}
	pause := func(w *world) { w.Write("control.json", `{"want": "pause"}`) }
	for name, c := range map[string]struct {
		begin func(t testing.TB) *world
		then  func(w *world)
	}{
		"a rendering is gone": {bad, func(w *world) { delete(w.Files, w.In("delegations/a/routing.json")) }},
		"the last event line is gone": {bad, func(w *world) {
			body := strings.TrimSuffix(w.Read("events.jsonl"), "\n")
			w.Write("events.jsonl", body[:strings.LastIndexByte(body, '\n')+1])
		}},
		"the settings are broken": {bad, func(w *world) { w.Put(upstreamJSON, `{"feedbackLoop": {"maxIterations": 0}}`) }},
		"the session pauses":      {bad, pause},
		"an approval, and a rendering is gone": {asked, func(w *world) {
			delete(w.Files, w.In("requests/"+w.open(typeApproval)+"/form.md"))
		}},
		"a review's answer, and it pauses":     {reviewed, pause},
		"an outside review, and it pauses":     {outside, pause},
		"an escalated session's other attempt": {escalated, func(w *world) { delete(w.Files, w.In("delegations/status.json")) }},
	} {
		t.Run(name, func(t *testing.T) {
			w := c.begin(t)
			w.pass(11 * time.Second)
			w.settle()
			before := w.notes()
			if len(before) != 1 {
				t.Fatalf("notes %v", before)
			}
			text := w.Read(before[0])
			c.then(w)
			if removed := w.notesRemoved(); len(removed) > 0 {
				t.Errorf("removed %v", removed)
			}
			if !slices.Contains(w.notes(), before[0]) || w.Read(before[0]) != text {
				t.Errorf("notes %v", w.notes())
			}
		})
	}
}

// An unreadable file in the place of one of placet's documents stays and gets a note.
func TestWhatCannotBeReadInPlacetsPlaceIsSaid(t *testing.T) {
	w := escalatedWorld(t, cp{id: "a"}, cp{id: "b"})
	id := w.answer(typeEscalation, optRetryMore, nil)
	w.settle()
	notes := map[string]string{
		"delegations/a/iterations/2/prompt.md":   "delegations/a/iterations/2/prompt.md.problem.md",
		"delegations/a/iterations/1/feedback.md": "delegations/a/iterations/1/feedback.md.problem.md",
		"delegations/a/status.json":              "delegations/a/status.json.problem.md",
		"delegations/status.json":                "delegations/status.json.problem.md",
		"delegations/a/escalation.md":            "delegations/a/escalation.md.problem.md",
		"requests/" + id + "/receipt.json":       "requests/" + id + "/problem.md",
	}
	for _, rel := range slices.Sorted(maps.Keys(notes)) {
		note := notes[rel]
		body, state := w.Read(rel), w.Read("state.json")
		w.Write(rel, "unusable:it is a link")
		took(t, w.settle())
		if text := w.Read(note); !strings.Contains(text, "cannot be read (it is a link)") {
			t.Errorf("%s: %s", rel, text)
		}
		if got := w.notes(); len(got) != 1 || w.Read(rel) != "unusable:it is a link" || w.Read("state.json") != state {
			t.Errorf("%s: notes %v", rel, got)
		}
		w.Write(rel, body)
		w.settle()
		if got := w.notes(); len(got) > 0 {
			t.Errorf("%s: notes %v", rel, got)
		}
	}
}

// `explain` names what blocks an approval once, and does not repeat it from the note.
func TestAFindingIsNamedOnce(t *testing.T) {
	named := func(w *world) (files []string) {
		for _, f := range w.account().Findings {
			if f.Severity == "error" {
				files = append(files, strings.TrimPrefix(f.Path, sessionDir+"/"))
			}
		}
		slices.Sort(files)
		return files
	}
	first := newWorld(t)
	first.Write(specsYAML, design("", cp{id: "a", after: []string{"b"}}, cp{id: "b", after: []string{"a", "x"}}))
	second := newWorld(t)
	second.Write("meta.json", `{}`)
	second.Write("checkpoints/a.json", `{"dependencies": ["b"], "validation": {"command": "x"}}`)
	second.Write("checkpoints/b.json", `{"dependencies": ["a"], "validation": {"command": "x"}}`)
	for _, c := range []struct {
		w    *world
		want []string
		note string
	}{
		{first, []string{specsYAML, specsYAML}, specsYAML},
		{second, []string{"checkpoints/a.json"}, "checkpoints/a.json"},
	} {
		if got := named(c.w); !slices.Equal(got, c.want) {
			t.Errorf("before a look: %v", got)
		}
		c.w.settle()
		if note := c.w.Read(c.note + layout.ProblemSuffix); !strings.Contains(note, "cannot begin: cycle a → b → a") {
			t.Errorf("note: %s", note)
		}
		if got := named(c.w); !slices.Equal(got, c.want) {
			t.Errorf("after it: %v", got)
		}
		c.w.Write("control.json", `{"want": "stop"}`) // a note of its own
		c.w.settle()
		if got := named(c.w); len(got) != len(c.want)+1 || !slices.Contains(got, "control.json"+layout.ProblemSuffix) {
			t.Errorf("beside another note: %v", got)
		}
	}
}
