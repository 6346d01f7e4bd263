package faber

import (
	"regexp"
	"strings"
	"testing"

	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// untranslated finds two words in a row that no language translates.
var (
	translated   = regexp.MustCompile(`⟦[^⟧]*⟧`)
	untranslated = regexp.MustCompile(`[\pL']{2,}[,;:.]? [\pL']{2,}`)
)

// spoken returns the texts of a run that people read: its view, and the notes, transitions and
// receipts of its next pass.
func (w *world) spoken() []string {
	s, p := w.Full()
	a := New().Account(s)
	texts := append(append([]string{}, a.Why...), a.WaitsFor...)
	for _, f := range a.Unblock {
		texts = append(texts, f.Content)
	}
	for _, f := range a.Findings {
		texts = append(texts, f.Text)
	}
	for _, f := range a.Facts {
		texts = append(texts, f.Label+": "+f.Value)
	}
	for _, t := range p.Transitions {
		texts = append(texts, t.Reason)
	}
	for _, d := range p.Writes {
		switch d.Kind {
		case layout.KindProblem:
			texts = append(texts, string(d.Body))
		case layout.KindReceipt:
			var rc struct {
				Reason string `json:"reason"`
			}
			_ = schemas.Decode("", "receipt.json", d.Body, &rc)
			texts = append(texts, rc.Reason)
		}
	}
	return texts
}

// Everything that people read of a run is in its language.
func TestEveryTextForPeopleIsTranslated(t *testing.T) {
	state := func(body string) func(t *testing.T) *world {
		return func(t *testing.T) *world {
			w := newWorld(t, plainDir)
			w.Put(w.Run.State, body)
			return w
		}
	}
	waits := func(change func(w *world)) func(t *testing.T) *world {
		return func(t *testing.T) *world {
			w := waitingIn(t, templates.Pseudo, "review", "release", "ship")
			change(w)
			return w
		}
	}
	replace := func(old, new string) func(t *testing.T) *world {
		return waits(func(w *world) { w.Put(w.Run.State, strings.Replace(w.Files[w.Run.State], old, new, 1)) })
	}
	feedback := func(request string) func(t *testing.T) *world {
		return state(`{"status": "awaiting_feedback", "current_phase": "build", "current_step": "make", "feedback_request": ` + request + `}`)
	}
	history := `"feedback_history": [{"request_id": "fr-1", "request_type": "review", "response": "approve", "provided_by": {"user": "keiko", "source": "cli"}, "received_at": "2025-12-06T18:10:00Z"}]`
	event := `{"event_id": 1, "type": "checkpoint", "timestamp": "2026-11-20T10:25:41Z", "run_id": "r"}`
	for name, c := range map[string]struct {
		world func(t *testing.T) *world
		key   templates.Key // a sentence that it contains
	}{
		"nothing": {func(t *testing.T) *world { return newWorld(t, plainDir) }, "faber.why.absent"},
		"asked":   {feedback(`{"request_id": "fr-1", "type": "approval", "prompt": "?"}`), "faber.reason.form"},
		"open":    {func(t *testing.T) *world { return waitingIn(t, templates.Pseudo, "clarification", "build", "make") }, "faber.unblock.words"},
		"waiting": {waits(func(*world) {}), "faber.why.looked"},
		"stale": {func(t *testing.T) *world {
			w := newWorld(t, plainDir)
			w.Facts.Config.Language = templates.Pseudo
			w.Put("a.md", "a")
			w.Put(w.Run.State, `{"status": "awaiting_feedback", "current_phase": "build", "current_step": "make", "feedback_request": {"request_id": "fr-1", "type": "approval", "prompt": "?", "context": {"artifact_path": "a.md", "deadline": "2035-01-01T00:00:00Z"}}}`)
			w.settle()
			w.Put("a.md", "b")
			return w
		}, "faber.stale"},
		"answered":  {waits(func(w *world) { w.Respond("fr-1", map[string]any{"response": "approve"}) }), "faber.reason.answer"},
		"taken":     {waits(func(w *world) { w.Respond("fr-1", map[string]any{"response": "approve"}); w.settle() }), "faber.why.taken"},
		"cancelled": {waits(func(w *world) { w.Put(w.In("cancel.json"), `{"by": "keiko", "reason": "done"}`) }), "faber.reason.given_up"},
		"posted": {waits(func(w *world) {
			w.Put(w.In("requests/fr-1/posted.json"), `{"comment_url": "https://x.example/1", "posted_at": "2025-12-06T18:10:00Z"}`)
		}), "faber.reason.comment"},
		"superseded":   {replace(`"fr-1"`, `"fr-2"`), "faber.why.unopened"},
		"only in case": {replace(`"fr-1"`, `"FR-1"`), "faber.unfit.case"},
		"elsewhere": {waits(func(w *world) {
			w.Put(w.Run.State, `{"status": "in_progress", "revision": 1, `+history+`}`)
			w.Now = w.Now.Add(quiet)
		}), "faber.reason.elsewhere"},
		"withdrawn": {waits(func(w *world) {
			w.Put(w.Run.State, `{"status": "in_progress", "revision": 1}`)
			w.Now = w.Now.Add(quiet)
		}), "faber.reason.withdrawn"},
		"older": {waits(func(w *world) { w.Put(w.Run.State, `{"status": "in_progress", "revision": 0}`) }), "faber.note.older"},
		"altered": {waits(func(w *world) {
			w.Put(w.In("requests/fr-1/request.json"), "[]")
			w.Respond("fr-1", map[string]any{"response": "approve"})
		}), "faber.note.request"},
		"no place":        {state(`{"status": "awaiting_feedback", "feedback_request": {"request_id": "fr-1", "type": "approval", "prompt": "?"}}`), "faber.note.place"},
		"unknown status":  {state(`{"status": "odd"}`), "faber.unfit.status"},
		"no request":      {state(`{"status": "awaiting_feedback"}`), "faber.unfit.missing"},
		"early request":   {state(`{"status": "pending", "feedback_request": {"request_id": "fr-1", "type": "approval", "prompt": "?"}}`), "faber.unfit.early"},
		"long":            {feedback(`{"request_id": "fr-1", "type": "approval", "prompt": "` + strings.Repeat("x", longestRequest) + `"}`), "faber.unfit.long"},
		"no options":      {feedback(`{"request_id": "fr-1", "type": "selection", "prompt": "?"}`), "faber.unfit.selection"},
		"no events":       {state(`{"status": "in_progress", "revision": 1, "last_event_id": 4}`), "faber.note.events"},
		"paused":          {state(`{"status": "paused"}`), "faber.why.paused"},
		"failed":          {state(`{"status": "failed", "updated_at": "2020-01-01T00:00:00Z"}`), "faber.why.failed.long"},
		"final":           {state(`{"status": "completed"}`), "faber.why.final"},
		"pending":         {state(`{"status": "pending"}`), "faber.wait.moves"},
		"at work":         {state(`{"status": "in_progress", "current_phase": "build", "current_step": "make", "updated_at": "2020-01-01T00:00:00Z"}`), "faber.fact.quiet.hour"},
		"no workflow":     {state(`{"status": "pending", "workflow_id": "none", "run_id": "r", "work_id": 1, "errors": {}}`), "faber.plan.missing"},
		"workflow by URL": {state(`{"status": "pending", "workflow_id": "url:x"}`), "faber.plan.url"},
		"revived": {func(t *testing.T) *world {
			w := newWorld(t, plainDir)
			w.Put(w.Run.State, `{"status": "pending", "revision": 1}`)
			w.Put(w.In("events/001-b.json"), event)
			w.Put(w.In("events/001-c.json"), event)
			w.Put(w.In("events/003-d.json"), event)
			w.Put(w.In("events/009-d.json"), event)
			w.Put(w.In("events/010-d.json"), "{")
			w.Put(w.In("events/.next-id"), "x")
			return w
		}, "faber.finding.gaps"},
	} {
		t.Run(name, func(t *testing.T) {
			w := c.world(t)
			w.Facts.Config.Language = templates.Pseudo
			all := strings.Join(w.spoken(), "\n")
			for _, text := range w.spoken() {
				if rest := translated.ReplaceAllString(text, "⟦⟧"); untranslated.MatchString(rest) || !strings.Contains(text, "⟦") && strings.Contains(text, " ") {
					t.Errorf("%q is in no language", text)
				}
			}
			if first, _, _ := strings.Cut(templates.Text(templates.Pseudo, string(c.key)), "⟧"); !strings.Contains(all, first) {
				t.Errorf("it does not say %q:\n%s", first, all)
			}
		})
	}
}

// placet recognizes in one language what it wrote in another.
func TestARunGoesOnInAnotherLanguage(t *testing.T) {
	w := waitingIn(t, "ko", "approval", "architect", "design-review")
	w.Respond("fr-1", map[string]any{"response": "approve"})
	w.settle()
	receipt := w.In("requests/fr-1/receipt.json")
	delete(w.Files, receipt)
	w.Facts.Config.Language = "ja"
	w.settle()
	if body := w.Files[receipt]; strings.Contains(body, templates.Text("ja", string(elsewhere.Key))) || !strings.Contains(body, `"response": "approve"`) {
		t.Errorf("placet's own answer: %s", body)
	}
}
