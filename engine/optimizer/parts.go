package optimizer

import (
	"fmt"
	"slices"
	"strings"

	"placet/engine"
	"placet/layout"
)

// Statuses of a level that only an account has.
const (
	levelDone    engine.Status = "done"     // its report was written
	levelDemoted engine.Status = "demoted"  // it could not be carried out
	levelUnused  engine.Status = "not used" // the cycle runs at another one
)

// parts are the automation levels as show prints one of them, none before one was
// decided.
func (r *cycle) parts() []engine.Part {
	if r.run.State.Decision == nil {
		return nil
	}
	return []engine.Part{levelPart(r, 10), levelPart(r, 20), levelPart(r, 30)}
}

func levelPart(r *cycle, level int) engine.Part {
	t := factList{lang: r.run.Lang}
	p := engine.Part{ID: fmt.Sprintf("level%d", level), Status: levelUnused}
	if r.run.State.Decision.AutomationLevel == level {
		t.add("decided", strings.Join(r.run.State.Decision.Rationale, "; "))
	}
	if r.run.State.Level != nil && r.run.State.Level.Current == level {
		if p.Status = r.run.State.Status; r.run.State.Report != nil {
			p.Status = levelDone
		}
	}
	if i := slices.IndexFunc(r.run.State.Demotions, func(d Demotion) bool { return d.From == level }); i >= 0 {
		d := r.run.State.Demotions[i]
		p.Status = levelDemoted
		t.add("demoted", r.words("part.demoted", "to", d.To, "at", d.At, "error", d.Error))
	}
	if d := r.run.Snap.In(layout.OptimizerReportName(level)); d.Present() {
		t.add("report", d.Path)
	}
	p.Facts = t.facts
	tries := linesOf(r.allAttempts(), func(t levelAttempt) string {
		if t.level != level {
			return ""
		}
		return r.words("part.attempt", "attempt", t.n, "how", r.why(t))
	})
	if len(tries) > 0 {
		p.Sections = []engine.Section{{Title: r.words("part.attempts"), Text: strings.Join(tries, "\n")}}
	}
	return p
}
