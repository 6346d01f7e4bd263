package web

import (
	"log/slog"
	"net/http/httptest"
	"path"
	"slices"
	"testing"
	"time"

	"placet/engine"
	"placet/engine/facade"
	"placet/layout"
)

// Events of transitions are numbered in their commit. Other events have no number.
func TestEventsOfTransitionsAreNumbered(t *testing.T) {
	action := layout.Run{Family: "nemawashi", ID: "7", Dir: ".nemawashi/actions/7", State: ".nemawashi/actions/7/state.json"}
	workflow := layout.Run{Family: "faber", ID: "acme/1", Dir: "runs/acme/1", State: "runs/acme/1/state.json"}
	writes := func(run layout.Run, names ...string) (docs []engine.Document) {
		for _, name := range names {
			docs = append(docs, engine.Document{Path: path.Join(run.Dir, name), Body: []byte(`{"revision": 3}`)})
		}
		return docs
	}
	moved := make([]engine.Transition, 1)
	line := []engine.Line{{Path: "events.jsonl", Body: []byte(`{"event_type": "approval_requested"}`), Revision: 3}}
	const opened, problem, closed = "requests/apr-0123456789ab/request.json", "requests/apr-0123456789ab/problem.md", "requests/apr-0123456789ab/receipt.json"
	for what, c := range map[string]struct {
		run  layout.Run
		plan engine.Plan
		ids  []string
	}{
		"a transition that asks":     {action, engine.Plan{Transitions: moved, Lines: line, Writes: writes(action, opened, "state.json")}, []string{"nemawashi/7@3.1", "nemawashi/7@3.2", "nemawashi/7@3.3"}},
		"a transition and a note":    {action, engine.Plan{Transitions: moved, Writes: writes(action, "state.json", problem)}, []string{"nemawashi/7@3.1", "nemawashi/7@3.2"}},
		"a note":                     {action, engine.Plan{Writes: writes(action, problem)}, []string{""}},
		"a request that is restored": {action, engine.Plan{Writes: writes(action, opened)}, []string{""}},
		"progress":                   {action, engine.Plan{Lines: []engine.Line{{Path: "events.jsonl", Body: []byte(`{"event_type": "progress"}`)}}}, []string{""}},
		"a note that goes":           {action, engine.Plan{Removes: []string{path.Join(action.Dir, problem)}}, []string{""}},
		"a note that an answer ends": {action, engine.Plan{Transitions: moved, Writes: writes(action, "state.json"), Removes: []string{path.Join(action.Dir, problem)}}, []string{"nemawashi/7@3.1"}},
		"answers that are void":      {action, engine.Plan{Writes: writes(action, "requests/apr-0123456789ab/void.json")}, []string{""}},
		"a note of FABER":            {workflow, engine.Plan{Writes: writes(workflow, problem)}, []string{""}},
	} {
		var ids []string
		for _, e := range eventsOf(c.run, c.plan, time.Now(), nil) {
			ids = append(ids, e.ID)
		}
		if !slices.Equal(ids, c.ids) {
			t.Errorf("%s: %q, expected %q", what, ids, c.ids)
		}
	}
	// FABER opens a request without a transition: the digest of the commit stands for a revision.
	one := eventsOf(workflow, engine.Plan{Writes: writes(workflow, opened)}, time.Now(), nil)
	other := eventsOf(workflow, engine.Plan{Writes: writes(workflow, closed)}, time.Now(), nil)
	if len(one) != 1 || len(other) != 1 || one[0].ID == "" || one[0].ID == other[0].ID {
		t.Errorf("FABER's requests: %+v %+v", one, other)
	}
}

func TestHealthSaysWhetherTheLoopTurns(t *testing.T) {
	turns := false
	a := New()
	a.o = Options{Turns: func() bool { return turns }}
	s := facade.New(facade.Options{Routes: a.Routes(), Encode: Encode, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	for _, status := range []int{503, 200} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest("GET", "http://localhost/healthz", nil))
		if w.Code != status {
			t.Errorf("turns %v: %d %s", turns, w.Code, w.Body)
		}
		turns = true
	}
}
