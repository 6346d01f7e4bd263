package faber

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"placet/engine/gate"
	"placet/templates"
)

// waitingFor returns a run of the default plan that asks at a step.
func waitingFor(t *testing.T, typ, phase, step string, options ...string) *world {
	return waitingIn(t, "en", typ, phase, step, options...)
}

// waitingIn does the same in a language.
func waitingIn(t *testing.T, lang, typ, phase, step string, options ...string) *world {
	w := newWorld(t, plainDir)
	w.Facts.Config.Language = lang
	w.Put(".fractary/faber/workflows/default.json", readFile(t, "testdata/default.json"))
	list, err := json.Marshal(append([]string{}, options...))
	if err != nil {
		t.Fatal(err)
	}
	w.Put(w.Run.State, fmt.Sprintf(`{"status": "awaiting_feedback", "workflow_id": "default", "updated_at": "2025-12-06T18:00:00Z",
  "phases": {%[1]q: {"status": "in_progress", "steps": [{"id": %[2]q, "status": "in_progress"}]}},
  "feedback_request": {"request_id": "fr-1", "type": %[3]q, "prompt": "?", "options": %[4]s},
  "resume_point": {"phase": %[1]q, "step": %[2]q}}`, phase, step, typ, list))
	w.settle()
	return w
}

func (w *world) effects() map[string]string {
	w.T.Helper()
	req, err := gate.ReadRequest("request.json", []byte(w.Files[w.In("requests/fr-1/request.json")]))
	if err != nil {
		w.T.Fatalf("%v\n%s", err, w.Files[w.In("state.json.problem.md")])
	}
	all := map[string]string{}
	for _, o := range req.Options {
		all[o.ID] = o.Effect
	}
	return all
}

func TestEffectsAreThoseOfThePage(t *testing.T) {
	const inside = "goes on with architect:design-review, knowing your answer"
	const next, again, stop = "goes on with build:implement", "repeats architect:design-review with your words", "stops the whole run for good"
	for _, c := range []struct {
		typ  string
		want map[string]string
	}{
		{"approval", map[string]string{"approve": next, "reject": stop}},
		{"review", map[string]string{"approve": next, "request_changes": again, "reject": stop}},
		{"confirmation", map[string]string{"confirm": inside, "cancel": stop}},
		{"approval", map[string]string{"yes": next, "No": stop, "maybe": again}},
		{"review", map[string]string{"ship": next, "decline": stop}},
		{"approval", map[string]string{"approve": next, "yes": again, "no": stop}},
		{"approval", map[string]string{"approve": next, "reject": stop, "no": again}},
		{"error_resolution", map[string]string{"retry": "repeats architect:design-review", "skip": "leaves architect:design-review out and goes on", "abort": stop, "stop": again}},
		{"selection", map[string]string{"option-a": inside, "abort": stop, "no": again, "yes": inside, "Deny": again, "approve": next}},
		{"of-upstream", map[string]string{"one": inside, "decline": again}},
	} {
		w := waitingFor(t, c.typ, "architect", "design-review", slices.Sorted(maps.Keys(c.want))...)
		if diff := cmp.Diff(c.want, w.effects()); diff != "" {
			t.Errorf("%s: %s", c.typ, diff)
		}
		for id, effect := range c.want {
			if form := w.Files[w.In("requests/fr-1/form.md")]; !strings.Contains(form, "- [ ] "+id+": ") || !strings.Contains(form, templates.Inline(effect)) {
				t.Errorf("the form does not show %q as %q:\n%s", id, effect, form)
			}
		}
	}
	for step, want := range map[string]string{"merge-pr": "lets the step run", "create-pr": "goes on with release:merge-pr"} {
		if got := waitingFor(t, "approval", "release", step, "approve", "reject").effects()["approve"]; got != want {
			t.Errorf("%s: %q, want %q", step, got, want)
		}
	}
	if got := waitingFor(t, "approval", "release", "other", "approve").effects()["approve"]; got != "goes on after release:other" {
		t.Errorf("a step that nobody planned: %q", got)
	}
}

// Every type of request has a form in every language, which shows the effect of each option.
// PLACET_UPDATE=1 writes the golden forms anew.
func TestGoldenForms(t *testing.T) {
	for name, c := range map[string]struct {
		typ     string
		options []string
	}{
		"approval": {typ: "approval"}, "confirmation": {typ: "confirmation"}, "clarification": {typ: "clarification"},
		"review": {typ: "review"}, "error_resolution": {typ: "error_resolution"},
		"selection": {"selection", []string{"postgres", "sqlite", "no"}}, "yes-no": {"approval", []string{"yes", "no"}},
	} {
		for _, lang := range templates.Languages() {
			w := waitingIn(t, lang, c.typ, "architect", "design-review", c.options...)
			for id, effect := range w.effects() {
				if strings.TrimSpace(effect) == "" || lang != "en" && effect == waitingFor(t, c.typ, "architect", "design-review", c.options...).effects()[id] {
					t.Errorf("%s, %s: %q has the effect %q", name, lang, id, effect)
				}
			}
			path := filepath.Join("testdata", "forms", name+"-"+lang+".md")
			got := w.Files[w.In("requests/fr-1/form.md")]
			if os.Getenv("PLACET_UPDATE") != "" {
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(readFile(t, path), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", path, diff)
			}
		}
	}
}

// No refusing word lets a run continue, whatever the type, and the effect is the one that was
// shown.
func TestARefusingWordNeverGoesOn(t *testing.T) {
	for _, typ := range []string{"approval", "confirmation", "selection", "review", "error_resolution", "clarification", "of-upstream"} {
		for _, word := range []string{"reject", "cancel", "abort", "no", "n", "deny", "decline", "refuse", "stop", "disapprove", "NO", " No "} {
			w := waitingFor(t, typ, "architect", "design-review", "something", word)
			effect := w.effects()[word]
			w.Respond("fr-1", map[string]any{"response": word})
			taken := w.settle()
			want := map[string]string{"stops the whole run for good": "answered_abort", "repeats architect:design-review with your words": "answered_revise"}[effect]
			if want == "" || !cmp.Equal(taken, []string{want}) {
				t.Errorf("%s %q: shown as %q, took %v", typ, word, effect, taken)
			}
			if want == "answered_revise" && !strings.Contains(w.Files[w.In("resume.md")], "did not agree and said `"+strings.TrimSpace(word)+"`") {
				t.Errorf("%s %q: resume.md does not say that the reviewer did not agree:\n%s", typ, word, w.Files[w.In("resume.md")])
			}
		}
	}
	w := waitingFor(t, "approval", "architect", "design-review", "yes", "no")
	w.Respond("fr-1", map[string]any{"response": "yes"})
	if taken := w.settle(); !cmp.Equal(taken, []string{"answered_continue"}) || !strings.Contains(strings.Join(w.events(), " "), "approval_granted") {
		t.Errorf("yes: took %v, events %v", taken, w.events())
	}
}

// Options that imitate one another or a refusing word are never offered.
func TestOptionsThatImitateAreBadInput(t *testing.T) {
	for _, options := range [][]string{{"approve", "reject\ufe0f"}, {"\u0430pprove", "reject"}, {"ok", "ＮＯ"}, {"one", "one\u200b"}, {"cop", "сор"}} {
		w := waitingFor(t, "selection", "architect", "design-review", options...)
		if note := w.Files[w.In("state.json.problem.md")]; !strings.Contains(note, "/feedback_request/options: cannot offer") || w.Has("requests/fr-1/request.json") {
			t.Errorf("%q: note %q", options, note)
		}
		for p := range w.Files {
			if strings.Contains(p, "problem.md") && strings.ContainsAny(w.Files[p], "\ufe0f\u200b") {
				t.Errorf("%s shows what cannot be seen", p)
			}
		}
	}
}

// An answer is carried out with the effect that was shown, even if settings or plan have changed
// since. If that is impossible, the answer waits.
func TestAnAnswerIsCarriedOutByTheEffectThatWasShown(t *testing.T) {
	w := waitingFor(t, "approval", "release", "create-pr", "approve", "reject")
	w.config(func(c *Config) { c.DestructiveSteps = []string{"create-pr"} })
	w.Respond("fr-1", map[string]any{"response": "approve"})
	if taken := w.settle(); !cmp.Equal(taken, []string{"answered_continue"}) || w.state().ResumePoint.Step != "merge-pr" {
		t.Errorf("took %v, resumes at %+v: shown was that the step is over", taken, w.state().ResumePoint)
	}

	w = waitingFor(t, "approval", "architect", "design-review", "approve", "reject")
	plan := w.Files[".fractary/faber/workflows/default.json"]
	w.Put(".fractary/faber/workflows/default.json", strings.Replace(plan, `{"id": "implement"}, `, "", 1))
	w.Respond("fr-1", map[string]any{"response": "approve"})
	note := w.In("requests/fr-1/problem.md")
	if taken := w.settle(); len(taken) > 0 || !strings.Contains(w.Files[note], "build:implement") || !strings.Contains(w.Files[note], "build:commit") {
		t.Fatalf("took %v, note %q", taken, w.Files[note])
	}
	w.Put(".fractary/faber/workflows/default.json", plan)
	if taken := w.settle(); !cmp.Equal(taken, []string{"answered_continue"}) || w.Has("requests/fr-1/problem.md") {
		t.Errorf("restored: took %v, note %q", taken, w.Files[note])
	}
}

// A request of a version that showed no effects keeps its bytes and its form, and is answered as
// before.
func TestARequestWithoutEffectsIsAnswered(t *testing.T) {
	w := waitingFor(t, "approval", "architect", "design-review", "approve", "reject")
	request, form := w.In("requests/fr-1/request.json"), w.In("requests/fr-1/form.md")
	req, err := gate.ReadRequest(request, []byte(w.Files[request]))
	if err != nil {
		t.Fatal(err)
	}
	for i := range req.Options {
		req.Options[i].Effect = ""
	}
	body, err := req.Encode()
	if err != nil {
		t.Fatal(err)
	}
	w.Put(request, string(body))
	delete(w.Files, form)
	w.Unrecorded = true // that version recorded nothing
	w.settle()
	if w.Files[request] != string(body) || strings.Contains(w.Files[form], "→") || w.Files[form] == "" {
		t.Fatalf("request\n%s\nform\n%s", w.Files[request], w.Files[form])
	}
	w.Respond("fr-1", map[string]any{"response": "approve"})
	if taken := w.settle(); !cmp.Equal(taken, []string{"answered_continue"}) {
		t.Errorf("took %v", taken)
	}
}
