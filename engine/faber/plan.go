package faber

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"placet/engine"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// phaseOrder lists the phases in order; a run has no others.
var phaseOrder = []string{"frame", "architect", "build", "evaluate", "release"}

// Phases returns the phases in order.
func Phases() []string { return slices.Clone(phaseOrder) }

// workflow is the known plan of a run. Without steps the plan is unknown.
type workflow struct {
	steps []plannedStep
	// defined is true if a definition says what the plan is, so that others may not add to it.
	defined bool
	// autonomy is what the definition says about asking, and gated are the phases that it gates.
	autonomy definedAutonomy
	gated    []string
	// problem is why the definition that the run names is not used.
	problem string
}

// plannedStep is one step of the plan.
type plannedStep struct {
	Phase, ID string
	// definition is the step in the definition, nil if no definition is known.
	definition *definitionStep
}

// workflowID returns the id of the definition that the run names.
func (r *view) workflowID() string { return cmp.Or(r.state.WorkflowID, r.meta.WorkflowID) }

// plan returns the run's plan: the definition named by workflow_id if its whole chain resolves,
// else the order of the entries in state.json, else an unknown plan.
func (r *view) plan() workflow {
	return run.Once(r.run, "plan", func() workflow {
		w := workflow{steps: r.state.shape.steps}
		if id := r.workflowID(); id != "" {
			chain, err := r.definitions().chain(id)
			if err == nil {
				var steps []plannedStep
				if steps, err = merge(chain); err == nil {
					return workflow{steps: steps, defined: true, autonomy: mergeAutonomy(chain), gated: gatedPhases(chain)}
				}
			}
			w.problem = templates.In(r.Lang, err)
		}
		return w
	})
}

// merge joins a chain of definitions into steps in order: pre_steps of the ancestors first, steps
// of the nearest definition that has the key, post_steps of the child first. enabled comes from the
// nearest definition that has it, skip_steps from all.
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
			steps = append(steps, plannedStep{Phase: phase, ID: id, definition: &s})
		}
	}
	if len(steps) == 0 {
		return nil, templates.Errorf("faber.plan.empty", "workflow", quote(chain[0].ID))
	}
	return steps, nil
}

// mergeAutonomy returns what a chain says about asking: each member as the nearest definition that
// has it says.
func mergeAutonomy(chain []definition) (a definedAutonomy) {
	for _, d := range chain {
		a.Level = cmp.Or(a.Level, d.Autonomy.Level)
		if a.RequireApprovalFor == nil {
			a.RequireApprovalFor = d.Autonomy.RequireApprovalFor
		}
		a.PauseBeforeRelease = cmp.Or(a.PauseBeforeRelease, d.Autonomy.PauseBeforeRelease)
		a.AllowDestructiveAuto = cmp.Or(a.AllowDestructiveAuto, d.Autonomy.AllowDestructiveAuto)
	}
	return a
}

// gatedPhases returns the phases of which the nearest definition that says it requires an approval.
func gatedPhases(chain []definition) (phases []string) {
	for _, phase := range phaseOrder {
		var required *bool
		for _, d := range chain {
			required = cmp.Or(required, d.Phases[phase].RequireApproval)
		}
		if isTrue(required) {
			phases = append(phases, phase)
		}
	}
	return phases
}

func isTrue(b *bool) bool { return b != nil && *b }

// phaseSteps returns the steps of a phase, none if it is not enabled.
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

// position returns the index of a step in the plan, -1 if it is not planned.
func (w workflow) position(phase, step string) int {
	return slices.IndexFunc(w.steps, func(s plannedStep) bool { return s.Phase == phase && s.ID == step })
}

// index returns a step's number in its phase, from 0; nil if it is not planned.
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

// next returns the first later planned step that is neither completed nor skipped.
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

// nextPhase returns the next phase if a step is the last of its own phase, and else "".
func (w workflow) nextPhase(phase, step string) string {
	i := w.position(phase, step)
	if i < 0 || i+1 >= len(w.steps) || w.steps[i+1].Phase == phase {
		return ""
	}
	return w.steps[i+1].Phase
}

// isDestructive reports whether a step is irreversible by its definition or by the settings.
func (r *view) isDestructive(phase, step string) bool {
	d := r.plan().definition(phase, step)
	return d != nil && d.Destructive || r.cfg.isDestructive(step)
}

// definition returns a step as its definition has it, nil if none has.
func (w workflow) definition(phase, step string) *definitionStep {
	if i := w.position(phase, step); i >= 0 {
		return w.steps[i].definition
	}
	return nil
}

// first returns the first step of a phase, "" if none is known.
func (w workflow) first(phase string) string {
	if i := slices.IndexFunc(w.steps, func(s plannedStep) bool { return s.Phase == phase }); i >= 0 {
		return w.steps[i].ID
	}
	return ""
}

func quote(s string) string { return "\"" + s + "\"" }

// Paths of definitions, the nearest first.
const (
	projectWorkflows = ".fractary/faber/workflows"
	pluginWorkflows  = ".fractary/plugins/faber/workflows"
	faberConfig      = ".fractary/faber/config.json"
)

// definition is the part of a workflow definition that placet reads.
type definition struct {
	ID        string                     `json:"id"`
	Extends   string                     `json:"extends"`
	SkipSteps []string                   `json:"skip_steps"`
	Autonomy  definedAutonomy            `json:"autonomy"`
	Phases    map[string]definitionPhase `json:"phases"`
}

// definedAutonomy says what a workflow does without asking.
type definedAutonomy struct {
	Level                string   `json:"level"`
	RequireApprovalFor   []string `json:"require_approval_for"`
	PauseBeforeRelease   *bool    `json:"pause_before_release"`
	AllowDestructiveAuto *bool    `json:"allow_destructive_auto"`
}

type definitionPhase struct {
	Enabled         *bool            `json:"enabled"`
	RequireApproval *bool            `json:"require_approval"`
	PreSteps        []definitionStep `json:"pre_steps"`
	Steps           []definitionStep `json:"steps"`
	PostSteps       []definitionStep `json:"post_steps"`
}

type definitionStep struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Destructive bool   `json:"destructive"`
	// RequiresApproval puts a gate at the step, which ApprovalType makes a review.
	RequiresApproval bool     `json:"requires_approval"`
	ApprovalType     string   `json:"approval_type"`
	Prompt           string   `json:"prompt"`
	Produces         []string `json:"produces"`
}

// registration is a definition file that upstream's config.json names.
type registration struct {
	ID   string `json:"id"`
	File string `json:"file"`
}

// definitions holds the files that may define a run's workflow.
type definitions struct {
	in *run.Input
	// folders are the further folders in the settings.
	folders []string
	// registered holds the definitions in upstream's config.json.
	registered []registration
	// unreadable is true if the system did not let a definition be read.
	unreadable bool
}

// definitions reads the definitions once, because a chain asks for them at every link.
func (r *view) definitions() *definitions {
	return run.Once(r.run, "definitions", func() *definitions {
		unsafe := func(dir string) bool { return !layout.Safe(dir) }
		d := &definitions{in: r.Input, folders: slices.DeleteFunc(slices.Clone(r.cfg.WorkflowPaths), unsafe)}
		var c struct {
			Workflows []registration `json:"workflows"`
		}
		if file := r.Snap.Doc(faberConfig); !file.Present() || schemas.Decode("", file.Path, file.Body, &c) == nil {
			d.registered = slices.DeleteFunc(c.Workflows, func(w registration) bool { return unsafe(w.File) })
		}
		return d
	})
}

// needs returns these files as the run's needs.
func (d *definitions) needs() []string {
	needs := []string{faberConfig, projectWorkflows + "/*.json", pluginWorkflows + "/*.json"}
	for _, dir := range d.folders {
		needs = append(needs, path.Join(dir, "*.json"))
	}
	for _, w := range d.registered {
		needs = append(needs, w.File)
	}
	return needs
}

// chain resolves a definition and its ancestors, nearest first. It skips a file that is already in
// the chain and uses the next place with the name.
func (d *definitions) chain(id string) (chain []definition, err error) {
	used := map[string]bool{}
	for id != "" {
		if strings.HasPrefix(id, "url:") {
			return nil, templates.Errorf("faber.plan.url", "workflow", quote(id), "dir", projectWorkflows)
		}
		def, err := d.find(id[strings.LastIndexByte(id, ':')+1:], used)
		if err != nil {
			return nil, err
		}
		chain = append(chain, *def)
		id = def.Extends
	}
	return chain, nil
}

// readDefinition reads a workflow definition.
func readDefinition(file string, body []byte) (d definition, err error) {
	err = schemas.Decode("faber/workflow", file, body, &d)
	return d, err
}

// find reads the first unused definition of a name.
func (d *definitions) find(name string, used map[string]bool) (*definition, error) {
	files := d.candidates(name)
	for _, file := range files {
		if doc := d.in.Snap.Doc(file); !doc.Absent() && !used[file] {
			used[file] = true
			d.unreadable = d.unreadable || run.IsUnreadable(doc)
			return usableDefinition(d.in, doc)
		}
	}
	if slices.ContainsFunc(files, func(file string) bool { return used[file] }) {
		return nil, templates.Errorf("faber.plan.loop", "workflow", quote(name))
	}
	return nil, templates.Errorf("faber.plan.missing", "workflow", quote(name), "files", strings.Join(files, ", "))
}

func usableDefinition(r *run.Input, d engine.Document) (*definition, error) {
	switch {
	case d.Unsettled():
		r.Held = true
		return nil, templates.Errorf("faber.plan.written", "file", d.Path)
	case d.Err != nil:
		return nil, templates.Errorf("run.unreadable", "file", d.Path, "error", d.Err)
	}
	def, err := engine.Parse(d, readDefinition)
	if err != nil {
		r.Held = r.MaybePartial(d, err) || r.Held
		return nil, templates.Errorf("run.invalid", "error", err)
	}
	return def, nil
}

// candidates returns the files that may hold a definition, nearest first.
func (d *definitions) candidates(name string) []string {
	if name == "" || strings.ContainsAny(name, "/\\\x00") {
		return nil
	}
	files := []string{path.Join(projectWorkflows, name+".json"), path.Join(pluginWorkflows, name+".json")}
	for _, w := range d.registered {
		if w.ID == name {
			files = append(files, path.Clean(w.File))
		}
	}
	for _, dir := range d.folders {
		files = append(files, path.Join(dir, name+".json"))
	}
	return files
}
