package enginetest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"placet/engine"
)

// Run checks a family's table and machine against the laws; see the package's
// documentation for them.
func Run(t T, s Suite) {
	t.Helper()
	under(t, "table", func(t T) { tableLaws(t, s) })
	taken, asked := map[engine.Edge]bool{}, map[string]bool{}
	for _, c := range s.Cases {
		under(t, c.Name, func(t T) { runCase(t, s, c, taken, asked) })
	}
	for _, typ := range s.Asks {
		if !asked[typ] {
			t.Errorf("no case asks a request of the type %q", typ)
		}
	}
	if s.EveryRow {
		under(t, "every row is taken", func(t T) { everyRow(t, s, taken) })
	}
}

// runCase runs one scenario and judges its every step and every idle state. It adds the rows that
// were taken, even if the case fails, and the types of the open requests.
func runCase(t T, s Suite, c Case, taken map[engine.Edge]bool, asked map[string]bool) {
	t.Helper()
	bubble(t, func(t T) {
		j := newJudge(t, s)
		j.honest = true
		defer func() { maps.Copy(taken, j.taken) }()
		w := newWorld(s, c, j.machine(), telling{})
		story := newTranscript(real(t))
		err := w.tell(func(steps int) {
			story.rest(real(t), w.tree(), nil)
			w.restLaws(named{t, c.where(steps)})
			if steps < len(c.Steps) {
				w.newFolders(named{t, c.where(steps)}, c.Steps[steps])
			}
		})
		if err != nil {
			t.Errorf("%v", err)
		} else {
			w.noteLaw(t)
			w.endLaw(t)
		}
		maps.Copy(asked, w.asked)
	})
}

// restLaws checks every run that has settled.
func (w *world) restLaws(t T) {
	t.Helper()
	found, err := w.loop.Runs()
	if err != nil {
		t.Errorf("cannot find the runs: %v", err)
	}
	for _, f := range found {
		s, _, err := w.loop.Snapshot(f)
		if err != nil {
			t.Errorf("cannot look at %s: %v", f.Key(), err)
			continue
		}
		restLaws(t, w.suite.Layout, w.suite.Machine, f.Run, s)
		for _, a := range w.suite.Machine.Account(s).Open {
			w.asked[a.Type] = true
			effectLaw(t, a)
		}
	}
}

// effectLaw checks that every option of an open request says what choosing it does.
func effectLaw(t T, a engine.OpenRequest) {
	t.Helper()
	for _, o := range a.Options {
		if strings.TrimSpace(o.Effect) == "" {
			t.Errorf("the option %q of %s (%s) does not say what it does", o.ID, a.Request, a.Type)
		}
	}
}

// noteLaw checks that a scenario ends with problem notes exactly if it is about bad
// input: an unexpected note means that the scenario is wrong.
func (w *world) noteLaw(t T) {
	t.Helper()
	r, err := w.loop.Once(context.Background())
	if err != nil {
		t.Errorf("cannot look once more: %v", err)
	}
	if w.c.Notes != (len(r.Notes) > 0) {
		text := ""
		for _, p := range r.Notes {
			body, _ := w.disk.Get(p)
			text += fmt.Sprintf("\n%s:\n%s", p, body)
		}
		t.Errorf("the case says that notes stand at the end: %t; there are %d%s", w.c.Notes, len(r.Notes), text)
	}
}

// endLaw checks that at the end of a scenario its machine has forgotten every end of
// an action, because a run with such an end is kept for ever. A scenario about bad
// input is excepted, because that may delay it.
func (w *world) endLaw(t T) {
	t.Helper()
	if w.c.Notes {
		return
	}
	f := w.facts()
	for _, id := range slices.Sorted(maps.Keys(f.Ended)) {
		t.Errorf("the action %q has ended, which is neither written down nor forgotten at the end", id)
	}
}

// everyRow checks that some case took each row of the table.
func everyRow(t T, s Suite, taken map[engine.Edge]bool) {
	t.Helper()
	for _, row := range s.Machine.Edges() {
		if !taken[row] {
			t.Errorf("no case takes the row %s", rowText(row))
		}
	}
}

// plain runs a scenario without any trouble and returns its idle states, or nil if
// the scenario fails.
func plain(t T, s Suite, c Case, how telling) (rests []rest) {
	t.Helper()
	bubble(t, func(t T) {
		w := newWorld(s, c, s.Machine, how)
		if err := w.tell(w.keep(&rests)); err != nil {
			t.Errorf("told plainly: %v", err)
			rests = nil
		}
	})
	return rests
}

// keep adds every idle state to rests.
func (w *world) keep(rests *[]rest) func(int) {
	return func(int) {
		*rests = append(*rests, rest{tree: w.tree(), disk: w.disk.KillClone(), record: w.record.Clone(), out: w.out.clone(), at: time.Now()})
	}
}
