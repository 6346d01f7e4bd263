package loop

import (
	"testing"
	"time"

	"placet/engine"
	"placet/engine/store"
	"placet/layout"
)

// A file that a person is shown is written again when it has been missing for a moment, not
// while somebody may be replacing it.
func TestWhatVanishedIsWrittenAgainWhenItsAbsenceHasStood(t *testing.T) {
	now := time.Unix(1e9, 0)
	var d absence
	run := toyFound("a").Run
	form := engine.Plan{Writes: []engine.Document{{Path: run.Dir + "/requests/q/form.md", Kind: layout.KindForm}}}
	other := engine.Plan{Writes: []engine.Document{{Path: run.Dir + "/requests/r/form.md", Kind: layout.KindForm}}}
	note := engine.Plan{Writes: []engine.Document{{Path: run.Dir + "/requests/q/form.md", Kind: layout.KindProblem}}}
	moves := form
	moves.Transitions = []engine.Transition{{}}

	loaded := store.Loaded{Vanished: []string{run.Dir + "/requests/q/form.md"}}
	expect := func(what string, plan engine.Plan, want bool) {
		t.Helper()
		until, got := d.debounce(now, loaded, plan)
		if got != want || got && until.Sub(now) > absenceStands {
			t.Errorf("%s: early %v until %v, want %v", what, got, until.Sub(now), want)
		}
	}
	expect("a form that was never there", other, false)
	expect("what nobody is shown", note, false)
	expect("a plan that moves the run", moves, false)
	expect("a form that was there", form, true)
	now = now.Add(absenceStands - time.Millisecond)
	expect("a moment later", form, true)
	now = now.Add(time.Millisecond)
	expect("when its absence has stood", form, false)
	d = absence{}
	expect("the next time", form, true)
	now = now.Add(-time.Hour)
	expect("when the clock was set back", form, false)
	loaded.Missed = now
	expect("while a folder is missed", moves, true)
	now = now.Add(absenceStands)
	expect("when it has been missed for long", moves, false)
	now = now.Add(-time.Hour)
	expect("when the clock was set back since", moves, false)
}
