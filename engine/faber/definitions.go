package faber

import (
	"path"
	"slices"
	"strings"

	"placet/engine"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// Where definitions lie, nearest first.
const (
	projectWorkflows = ".fractary/faber/workflows"
	pluginWorkflows  = ".fractary/plugins/faber/workflows"
	faberConfig      = ".fractary/faber/config.json"
)

// definition is what placet reads of a workflow definition.
type definition struct {
	ID        string                     `json:"id"`
	Extends   string                     `json:"extends"`
	SkipSteps []string                   `json:"skip_steps"`
	Phases    map[string]definitionPhase `json:"phases"`
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

// registration is a definition file that upstream's config.json names.
type registration struct {
	ID   string `json:"id"`
	File string `json:"file"`
}

// definitions are the files that may define a run's workflow.
type definitions struct {
	in *run.Input
	// folders are the further ones that the settings name.
	folders []string
	// registered is what upstream's config.json names.
	registered []registration
}

// definitions are read once: a chain of definitions asks for them at every link.
func (r *view) definitions() *definitions {
	return run.Once(r.kernel, "definitions", func() *definitions {
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

// needs are those files, as the run asks for them.
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

// chain resolves a definition and its ancestors, nearest first. A file already
// in the chain is passed over for the next place that has the name.
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

// find reads the first definition of a name that is not used yet.
func (d *definitions) find(name string, used map[string]bool) (*definition, error) {
	files := d.candidates(name)
	for _, file := range files {
		if doc := d.in.Snap.Doc(file); !doc.Absent() && !used[file] {
			used[file] = true
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

// candidates are the files that may hold a definition, nearest first.
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
