package faber

import (
	"path"
	"strings"

	"placet/engine"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
)

// Phases in their order; a run walks no others.
var phaseOrder = []string{"frame", "architect", "build", "evaluate", "release"}

// Where definitions lie, nearest first.
const (
	projectWorkflows = ".fractary/faber/workflows"
	pluginWorkflows  = ".fractary/plugins/faber/workflows"
	faberConfig      = ".fractary/faber/config.json"
)

// workflow is what a run's plan is known to be.
type workflow struct {
	known bool
	// source says where the plan comes from, for people.
	source string
	steps  []plannedStep
	// problem says why the definition that the run names is not used.
	problem string
}

// plannedStep is one step of the plan.
type plannedStep struct {
	Phase, ID   string
	Destructive bool
}

// definition is what placet reads of a workflow definition.
type definition struct {
	ID        string                     `json:"id"`
	Extends   string                     `json:"extends"`
	SkipSteps []string                   `json:"skip_steps"`
	Phases    map[string]definitionPhase `json:"phases"`
	file      string
}

type definitionPhase struct {
	Enabled   *bool            `json:"enabled"`
	PreSteps  []definitionStep `json:"pre_steps"`
	Steps     []definitionStep `json:"steps"`
	PostSteps []definitionStep `json:"post_steps"`
}

type definitionStep struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Destructive bool   `json:"destructive"`
}

func (s definitionStep) id() string {
	if s.ID != "" {
		return s.ID
	}
	return s.Name
}

// planner knows what comes next in a run.
type planner struct{ *eventLog }

// definitionNeeds are the files that may define a run's workflow.
func (r *planner) definitionNeeds() []string {
	needs := []string{faberConfig, projectWorkflows + "/*.json", pluginWorkflows + "/*.json"}
	for _, dir := range r.cfg.WorkflowPaths {
		if layout.Safe(dir) {
			needs = append(needs, path.Join(dir, "*.json"))
		}
	}
	return append(needs, r.registered()...)
}

// registered are the definition files that upstream's config.json names.
func (r *planner) registered() []string {
	var files []string
	for _, w := range r.registry() {
		if layout.Safe(w.File) {
			files = append(files, w.File)
		}
	}
	return files
}

type registration struct {
	ID   string `json:"id"`
	File string `json:"file"`
}

// registry is decoded once: a chain of definitions asks for it at every link.
func (r *planner) registry() []registration {
	return run.Once(r.Run, "registry", func() []registration {
		var c struct {
			Workflows []registration `json:"workflows"`
		}
		if d := r.Snap.Doc(faberConfig); d.Present() && schemas.Decode("", d.Path, d.Body, &c) != nil {
			return nil
		}
		return c.Workflows
	})
}

// workflowID is the definition that the run names, without its prefixes.
func (r *planner) workflowID() string {
	id := r.State.WorkflowID
	if id == "" {
		id = r.meta.WorkflowID
	}
	return id
}

// plan finds the run's plan: the definition named by workflow_id if its whole
// chain resolves, else the order of the entries in state.json, else unknown.
func (r *planner) plan() workflow { return run.Once(r.Run, "plan", r.findPlan) }

func (r *planner) findPlan() workflow {
	id := r.workflowID()
	problem := ""
	if id != "" {
		chain, why := r.chain(id)
		if why == "" {
			steps, err := merge(chain)
			if err == "" {
				return workflow{known: true, source: chain[0].file, steps: steps}
			}
			why = err
		}
		problem = why
	}
	steps := r.State.shape.steps
	return workflow{known: len(steps) > 0, source: "state.json", steps: steps, problem: problem}
}

// chain resolves a definition and its ancestors, nearest first. A file already
// in the chain is passed over for the next place that has the name.
func (r *planner) chain(id string) (chain []definition, problem string) {
	used := map[string]bool{}
	for id != "" {
		if strings.HasPrefix(id, "url:") {
			return nil, "workflow " + quote(id) + " is named by URL: nothing is fetched, keep a copy in " + projectWorkflows
		}
		name := id[strings.LastIndexByte(id, ':')+1:]
		d, why := r.definition(name, used)
		if why != "" {
			return nil, why
		}
		used[d.file] = true
		chain = append(chain, d)
		id = d.Extends
	}
	return chain, ""
}

// definition reads the first definition of a name that is not used yet.
func (r *planner) definition(name string, used map[string]bool) (definition, string) {
	again := false
	for _, file := range r.candidates(name) {
		d := r.Snap.Doc(file)
		if d.Absent() {
			continue
		}
		if used[file] {
			again = true
			continue
		}
		return r.readDefinition(d)
	}
	if again {
		return definition{}, "workflow " + quote(name) + " extends itself"
	}
	return definition{}, "workflow " + quote(name) + " has no definition: looked in " + strings.Join(r.candidates(name), ", ")
}

func (r *planner) readDefinition(d engine.Document) (definition, string) {
	def := definition{file: d.Path}
	switch {
	case d.Unsettled():
		r.Held = true
		return def, d.Path + " is still being written"
	case d.Err != nil:
		return def, "cannot read " + d.Path + ": " + d.Err.Error()
	}
	if err := schemas.Decode("faber/workflow", d.Path, d.Body, &def); err != nil {
		if r.MaybePartial(d, err) {
			r.Held = true
		}
		return def, "cannot read " + err.Error()
	}
	return def, ""
}

// candidates are the files that may hold a definition, nearest first.
func (r *planner) candidates(name string) []string {
	if name == "" || strings.ContainsAny(name, "/\\\x00") {
		return nil
	}
	files := []string{path.Join(projectWorkflows, name+".json"), path.Join(pluginWorkflows, name+".json")}
	for _, w := range r.registry() {
		if w.ID == name && layout.Safe(w.File) {
			files = append(files, path.Clean(w.File))
		}
	}
	for _, dir := range r.cfg.WorkflowPaths {
		if layout.Safe(dir) {
			files = append(files, path.Join(dir, name+".json"))
		}
	}
	return files
}

// merge joins a chain into the steps in order: pre_steps of the ancestors
// first, steps of the nearest definition that has the key, post_steps of the
// child first; enabled of the nearest that says so; skip_steps of all.
func merge(chain []definition) ([]plannedStep, string) {
	skip := map[string]bool{}
	for _, d := range chain {
		for _, id := range d.SkipSteps {
			skip[id] = true
		}
	}
	var steps []plannedStep
	seen := map[string]string{}
	for _, phase := range phaseOrder {
		if !enabled(chain, phase) {
			continue
		}
		for _, s := range phaseSteps(chain, phase) {
			id := s.id()
			if id == "" || skip[id] {
				continue
			}
			if before, doubled := seen[id]; doubled {
				return nil, "step " + quote(id) + " is defined in " + before + " and again in " + phase + ": step ids are unique over all phases"
			}
			seen[id] = phase
			steps = append(steps, plannedStep{Phase: phase, ID: id, Destructive: s.Destructive})
		}
	}
	if len(steps) == 0 {
		return nil, "workflow " + quote(chain[0].ID) + " has no enabled step"
	}
	return steps, ""
}

func enabled(chain []definition, phase string) bool {
	for _, d := range chain {
		if p, ok := d.Phases[phase]; ok && p.Enabled != nil {
			return *p.Enabled
		}
	}
	return true
}

func phaseSteps(chain []definition, phase string) []definitionStep {
	var pre, steps, post []definitionStep
	for i := len(chain) - 1; i >= 0; i-- {
		p := chain[i].Phases[phase]
		pre = append(pre, p.PreSteps...)
		if p.Steps != nil {
			steps = p.Steps
		}
	}
	for _, d := range chain {
		post = append(post, d.Phases[phase].PostSteps...)
	}
	return append(append(pre, steps...), post...)
}

// position finds a step in the plan; -1 where it is not planned.
func (w workflow) position(phase, step string) int {
	for i, s := range w.steps {
		if s.Phase == phase && s.ID == step {
			return i
		}
	}
	return -1
}

// index is a step's number in its phase, from 0; -1 where it is not planned.
func (w workflow) index(phase, step string) int {
	n := 0
	for _, s := range w.steps {
		if s.Phase != phase {
			continue
		}
		if s.ID == step {
			return n
		}
		n++
	}
	return -1
}

// indexValue is a step's number in its phase for a document: null where it is not planned.
func (w workflow) indexValue(phase, step string) any {
	if i := w.index(phase, step); i >= 0 {
		return i
	}
	return nil
}

// next is the first later planned step that is neither completed nor skipped.
func (w workflow) next(phase, step string, sh shape) (plannedStep, bool) {
	i := w.position(phase, step)
	if !w.known || i < 0 {
		return plannedStep{}, false
	}
	for _, s := range w.steps[i+1:] {
		switch sh.status(s.Phase, s.ID) {
		case Completed, Skipped:
		default:
			return s, true
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

// destructive reports whether a step is marked, or named, as one that cannot
// be taken back.
func (r *planner) destructive(phase, step string) bool {
	i := r.plan().position(phase, step)
	return i >= 0 && r.plan().steps[i].Destructive || r.namedDestructive(step)
}

// namedDestructive reports whether the settings name a step as one that cannot be
// taken back.
func (r *sources) namedDestructive(step string) bool {
	for _, pattern := range r.cfg.DestructiveSteps {
		if ok, err := path.Match(pattern, step); ok && err == nil {
			return true
		}
	}
	return false
}

func quote(s string) string { return "\"" + s + "\"" }
