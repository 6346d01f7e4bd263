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
	if r.State.Decision == nil {
		return nil
	}
	var list []engine.Part
	for _, level := range []int{10, 20, 30} {
		list = append(list, levelPart(r, level))
	}
	return list
}

func levelPart(r *cycle, level int) engine.Part {
	p := engine.Part{ID: fmt.Sprintf("level%d", level), Status: levelUnused}
	add := func(label, value string) {
		if value != "" {
			p.Facts = append(p.Facts, engine.Fact{Label: label, Value: value})
		}
	}
	if r.State.Decision.AutomationLevel == level {
		add("decided", strings.Join(r.State.Decision.Rationale, "; "))
	}
	if r.State.Level != nil && r.State.Level.Current == level {
		if p.Status = r.State.Status; r.State.Report != nil {
			p.Status = levelDone
		}
	}
	if i := slices.IndexFunc(r.State.Demotions, func(d Demotion) bool { return d.From == level }); i >= 0 {
		d := r.State.Demotions[i]
		p.Status = levelDemoted
		add("demoted", fmt.Sprintf("to %d at %s: %s", d.To, d.At, d.Error))
	}
	if d := r.Snap.In(layout.OptimizerReportName(level)); d.Present() {
		add("report", d.Path)
	}
	var tries []string
	for _, t := range r.allAttempts() {
		if t.level == level {
			tries = append(tries, fmt.Sprintf("attempt %d: %s", t.n, t.why()))
		}
	}
	if len(tries) > 0 {
		p.Sections = append(p.Sections, engine.Section{Title: "Attempts", Text: strings.Join(tries, "\n")})
	}
	return p
}
