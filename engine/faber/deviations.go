package faber

import (
	"slices"
	"strings"

	"placet/engine"
	"placet/templates"
)

// deviations finds where a run has left its plan: what others began or ended behind a gate that no
// person had passed, steps that the definition does not have, and steps that came too early.
func deviations(r *view) (list []engine.Finding) {
	if r.foreign() || r.state.unfit != nil || r.run.Torn {
		return nil
	}
	warn := func(p string, key templates.Key, pairs ...any) {
		list = append(list, engine.Finding{Severity: "warning", Path: p, Text: r.Say(key, pairs...)})
	}
	for _, b := range bypasses(r) {
		warn(r.Path("events/"+b.event.Name), "faber.finding.gate", "event", b.event.Type, "gate", b.gate.name(), "kind", b.gate.Kind)
	}
	for _, step := range unplannedSteps(r) {
		warn(r.doc.Path, "faber.finding.unplanned", "step", step, "workflow", quote(r.workflowID()))
	}
	for _, o := range outOfOrder(r) {
		warn(r.doc.Path, "faber.finding.order", "step", where(o[1].Phase, o[1].ID), "before", where(o[0].Phase, o[0].ID))
	}
	return list
}

// bypass is an event of others behind a gate that no person had passed.
type bypass struct {
	event *event
	gate  Gate
}

// bypasses returns the first such event of each gate. A step may be asked about while it is under way,
// so its start passes nothing; but a phase and an irreversible step are asked about before they begin.
func bypasses(r *view) (list []bypass) {
	attempts, seen := map[string]int{}, map[Gate]bool{}
	for _, e := range r.events.all {
		if e.Type == "step_retry" {
			attempts[e.Step]++
		}
		if e.ours() || !slices.Contains([]string{"phase_start", "step_start", "step_complete"}, e.Type) {
			continue
		}
		for _, g := range gatesAt(r, phaseOf(r, e), e.Step) {
			if g.Kind != phaseEntry {
				g.Attempt = 1 + attempts[e.Step]
			}
			if !seen[g] && isBehind(r, e, g) {
				seen[g] = true
				list = append(list, bypass{e, g})
			}
		}
	}
	return list
}

// isBehind reports whether an event is behind a gate that no person had passed. Without a definition
// only phases have gates here: others than the plan's author cannot tell what a step may do.
func isBehind(r *view, e *event, g Gate) bool {
	if g.Kind == stepGate && e.Type != "step_complete" || g.Kind != phaseEntry && !r.plan().defined {
		return false
	}
	switch a := passedBy(r, g); {
	case a != nil:
		return e.Type == "step_complete" && a.number > e.Number
	case e.Type == "step_complete":
		return true
	}
	o := r.asked()
	return o == nil || o.q.phase != g.Phase || g.Kind != phaseEntry && o.q.step != g.Step
}

// phaseOf returns the phase of an event, which need not say it if it names a planned step.
func phaseOf(r *view, e *event) string {
	for _, s := range r.plan().steps {
		if e.Phase == "" && s.ID == e.Step {
			return s.Phase
		}
	}
	return e.Phase
}

// unplannedSteps returns the steps of a run that its definition does not have, by entries of the
// state and by events of others.
func unplannedSteps(r *view) (names []string) {
	w := r.plan()
	if !w.defined || r.foreign() {
		return nil
	}
	add := func(phase, step string) {
		planned := slices.ContainsFunc(w.steps, func(s plannedStep) bool { return s.ID == step && (phase == "" || s.Phase == phase) })
		if name := strings.TrimPrefix(where(phase, step), ":"); !planned && step != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, s := range r.state.shape.steps {
		add(s.Phase, s.ID)
	}
	for _, e := range r.events.all {
		if !e.ours() && strings.HasPrefix(e.Type, "step_") {
			add(e.Phase, e.Step)
		}
	}
	return names
}

// outOfOrder returns the planned steps that were begun while an earlier one was not, each after that
// one, unless something was repeated since.
func outOfOrder(r *view) (pairs [][2]plannedStep) {
	w := r.plan()
	if !w.defined {
		return nil
	}
	var first *plannedStep // the first that was not begun
	for i, s := range w.steps {
		switch status := r.state.shape.status(s.Phase, s.ID); {
		case status == Completed || status == InProgress:
			if first != nil && !r.events.repeatedAfter(s) {
				pairs = append(pairs, [2]plannedStep{*first, s})
			}
		case status == Skipped || first != nil || slices.Contains([]string{string(Completed), string(Skipped)}, r.state.shape.phases[s.Phase].status):
		default:
			first = &w.steps[i]
		}
	}
	return pairs
}
