package faber

import (
	"cmp"
	"slices"

	"placet/engine/run"
	"placet/templates"
)

// Phases in their order; a run walks no others.
var phaseOrder = []string{"frame", "architect", "build", "evaluate", "release"}

// workflow is what a run's plan is known to be: without steps, it is not known.
type workflow struct {
	steps []plannedStep
	// problem says why the definition that the run names is not used.
	problem string
}

// plannedStep is one step of the plan.
type plannedStep struct {
	Phase, ID   string
	Destructive bool
}

// workflowID is the definition that the run names.
func (r *view) workflowID() string { return cmp.Or(r.state.WorkflowID, r.meta.WorkflowID) }

// plan is the run's plan: the definition named by workflow_id if its whole
// chain resolves, else the order of the entries in state.json, else unknown.
func (r *view) plan() workflow {
	return run.Once(r.kernel, "plan", func() workflow {
		w := workflow{steps: r.state.shape.steps}
		if id := r.workflowID(); id != "" {
			chain, err := r.definitions().chain(id)
			if err == nil {
				var steps []plannedStep
				if steps, err = merge(chain); err == nil {
					return workflow{steps: steps}
				}
			}
			w.problem = templates.In(r.Lang, err)
		}
		return w
	})
}

// merge joins a chain into the steps in order: pre_steps of the ancestors
// first, steps of the nearest definition that has the key, post_steps of the
// child first; enabled of the nearest that says so; skip_steps of all.
func merge(chain []definition) (steps []plannedStep, err error) {
	skip, seen := map[string]bool{"": true}, map[string]string{}
	for _, d := range chain {
		for _, id := range d.SkipSteps {
			skip[id] = true
		}
	}
	for _, phase := range phaseOrder {
		for _, s := range phaseSteps(chain, phase) {
			id := cmp.Or(s.ID, s.Name)
			if skip[id] {
				continue
			}
			if before, doubled := seen[id]; doubled {
				return nil, templates.Errorf("faber.plan.twice", "step", quote(id), "before", before, "phase", phase)
			}
			seen[id] = phase
			steps = append(steps, plannedStep{Phase: phase, ID: id, Destructive: s.Destructive})
		}
	}
	if len(steps) == 0 {
		return nil, templates.Errorf("faber.plan.empty", "workflow", quote(chain[0].ID))
	}
	return steps, nil
}

// phaseSteps are the steps of a phase, none where it is not enabled.
func phaseSteps(chain []definition, phase string) []definitionStep {
	if i := slices.IndexFunc(chain, func(d definition) bool { return d.Phases[phase].Enabled != nil }); i >= 0 && !*chain[i].Phases[phase].Enabled {
		return nil
	}
	var pre, steps, post []definitionStep
	for _, d := range slices.Backward(chain) {
		p := d.Phases[phase]
		pre = append(pre, p.PreSteps...)
		if p.Steps != nil {
			steps = p.Steps
		}
	}
	for _, d := range chain {
		post = append(post, d.Phases[phase].PostSteps...)
	}
	return slices.Concat(pre, steps, post)
}

// position finds a step in the plan; -1 where it is not planned.
func (w workflow) position(phase, step string) int {
	return slices.IndexFunc(w.steps, func(s plannedStep) bool { return s.Phase == phase && s.ID == step })
}

// index is a step's number in its phase, from 0; nil where it is not planned.
func (w workflow) index(phase, step string) *int {
	i := w.position(phase, step)
	if i < 0 {
		return nil
	}
	n := 0
	for _, s := range w.steps[:i] {
		if s.Phase == phase {
			n++
		}
	}
	return &n
}

// next is the first later planned step that is neither completed nor skipped.
func (w workflow) next(phase, step string, sh shape) (plannedStep, bool) {
	if i := w.position(phase, step); i >= 0 {
		for _, s := range w.steps[i+1:] {
			if have := sh.status(s.Phase, s.ID); have != Completed && have != Skipped {
				return s, true
			}
		}
	}
	return plannedStep{}, false
}

// nextPhase is the phase after a step that is the last of its own; "" else.
func (w workflow) nextPhase(phase, step string) string {
	i := w.position(phase, step)
	if i < 0 || i+1 >= len(w.steps) || w.steps[i+1].Phase == phase {
		return ""
	}
	return w.steps[i+1].Phase
}

// isDestructive reports whether a step is marked, or named, as one that cannot
// be taken back.
func (r *view) isDestructive(phase, step string) bool {
	i := r.plan().position(phase, step)
	return i >= 0 && r.plan().steps[i].Destructive || r.cfg.isDestructive(step)
}

func quote(s string) string { return "\"" + s + "\"" }
