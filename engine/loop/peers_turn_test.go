package loop

import (
	"errors"
	"testing"

	"placet/engine"
	"placet/engine/store"
)

// Only a plan that changes what others will know must wait for the turn.
func TestAPlanConcernsTheOthersByTheSharedFilesAlone(t *testing.T) {
	x := newShelfWorld(t).peers["shelf"]
	run := shelfRun("a")
	for _, tt := range []struct {
		name string
		plan engine.Plan
		want bool
	}{
		{"nothing", engine.Plan{}, false},
		{"its own state", engine.Plan{Writes: []engine.Document{{Path: run.State}}}, false},
		{"a shared file", engine.Plan{Writes: []engine.Document{{Path: run.State}, {Path: run.Dir + "/claim.json"}}}, true},
		{"one of another run", engine.Plan{Writes: []engine.Document{{Path: "shelf/b/work/claim.json"}}}, false},
		{"one outside its folder", engine.Plan{Writes: []engine.Document{{Path: "shelf/a/order.json"}}}, true},
		{"its removal", engine.Plan{Removes: []string{run.Dir + "/claim.json"}}, true},
		{"a line of it", engine.Plan{Lines: []engine.Line{{Path: run.Dir + "/claim.json"}}}, true},
		{"another line", engine.Plan{Lines: []engine.Line{{Path: run.Dir + "/log.jsonl"}}}, false},
	} {
		if got := x.concerns(run, tt.plan); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}

// A look under the run's locks may lead to a plan that needs the turn.
func TestAPlanThatNeedsTheTurnIsNotCommittedWithoutIt(t *testing.T) {
	w := newShelfWorld(t)
	w.order("tray", shelfOrder{Brings: []string{"t"}})
	w.wants("a")
	w.eventually("a is told of t", func() bool { return string(w.answered("a", true).Body) == "t" })
	p := w.newPass(Found{shelfRun("a"), Family{shelfLayout{}, w.m}})
	w.eventually("a would take it", func() bool { return p.settled(t.Context()) == nil && writes(p.last.plan) })
	if err := p.commit(t.Context()); !errors.Is(err, store.ErrConflict) || w.took("a") != "" {
		t.Errorf("got %v, want ErrConflict; a took %q", err, w.took("a"))
	}
	if err := p.carry(t.Context()); err != nil || w.took("a") != "t" {
		t.Errorf("in turn: %v; a took %q", err, w.took("a"))
	}
}
