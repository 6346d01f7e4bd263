package pal

import (
	"cmp"
	"errors"
	"fmt"
	iofs "io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"placet/cmd/placet/cli/verb"

	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/pal"
	"placet/engine/store/fs"
	"placet/layout"
	"placet/templates"
)

// specsFolder is the folder with the specs of ports.
const specsFolder = "ports"

// PlanVerb returns the verb that prints the plan of specs, or of an orchestration, before it
// begins.
func PlanVerb() verb.Verb {
	return verb.Verb{
		Use: "plan [FOLDER|FILE]", Most: 1,
		Look: func(c verb.Call, b *workspace.Workspace) error {
			at, err := pathInside(b, cmp.Or(console.First(c.Args), filepath.Join(b.Root, specsFolder)))
			if err != nil {
				return err
			}
			return printPlan(b, at)
		},
	}
}

// pathInside returns the path, below the workspace, of a file that is named on the command
// line.
func pathInside(b *workspace.Workspace, name string) (string, error) {
	full := b.Env.Path(name)
	dir, err := filepath.EvalSymlinks(filepath.Dir(full))
	if err == nil {
		dir, err = filepath.Rel(b.Root, filepath.Join(dir, filepath.Base(full)))
	}
	if at := filepath.ToSlash(dir); err == nil && (at == "." || layout.Safe(at)) {
		return at, nil
	}
	if err == nil {
		err = templates.Errorf("cli.pal.plan.outside")
	}
	return "", console.Usage("cli.pal.read", "file", name, "error", console.Plain(err))
}

// printPlan prints the plan of the specs at a path. A plan that cannot be carried out ends with
// exit code 1.
func printPlan(b *workspace.Workspace, at string) error {
	disk := fs.OS(b.Root)
	info, err := disk.Stat(at)
	if err != nil {
		return console.Usage("cli.pal.plan.failed", "file", at, "error", console.Plain(err)).Try("cli.pal.plan.try")
	}
	read := func(name string) engine.Document { return readDocument(disk, name) }
	var plan pal.PlanDocument
	if info.Mode.IsDir() {
		specs, err := readSpecs(disk, at)
		if err != nil {
			return console.Refused("cli.pal.plan.list", "folder", at, "error", console.Plain(err))
		}
		plan = pal.PlanSpecs(b.Env.Lang, specs)
	} else {
		d := read(at)
		if d.Err != nil {
			return console.Refused("cli.pal.read", "file", at, "error", console.Plain(d.Err))
		}
		plan = pal.PlanOrchestration(b.Env.Lang, d, b.Pal, read)
	}
	err = b.Env.Answer(plan, func() { fmt.Fprint(b.Env.Out, drawPlan(b.Env, plan)) })
	return cmp.Or(err, console.Outcome(!plan.Valid, false))
}

// drawPlan returns a plan as a tree of its levels and their ports, below what is wrong with it.
func drawPlan(w *console.Env, plan pal.PlanDocument) string {
	var lines []string
	for _, e := range plan.Errors {
		lines = append(lines, w.Paint(console.Alarm, w.Text("cli.check.error"))+"  "+console.OneLine(e.Message))
	}
	ports := map[string]pal.PlanPort{}
	for _, p := range plan.Ports {
		ports[p.ID] = p
	}
	if len(plan.Levels) > 0 {
		lines = append(lines, w.Text("cli.pal.plan.head", "ports", len(plan.Ports), "levels", len(plan.Levels), "most", plan.MaxParallelism))
	}
	for i, level := range plan.Levels {
		stem, below := branch(i, len(plan.Levels))
		lines = append(lines, stem+w.Paint(console.Strong, w.Text("cli.graph.level", "n", i+1)))
		for j, id := range level {
			stem, _ := branch(j, len(level))
			lines = append(lines, below+stem+portLine(w, ports[id], slices.Contains(plan.CriticalPath, id)))
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// branch returns what stands before the i-th of n things in a tree, and before the lines below it.
func branch(i, n int) (stem, below string) {
	if i == n-1 {
		return "└─ ", "   "
	}
	return "├─ ", "│  "
}

// portLine returns a port, what it waits for, and whether a delay of it delays everything.
func portLine(w *console.Env, p pal.PlanPort, critical bool) string {
	var remarks []string
	if len(p.DependsOn) > 0 {
		remarks = append(remarks, w.Text("page.after", "names", strings.Join(p.DependsOn, ", ")))
	}
	if critical {
		remarks = append(remarks, w.Text("page.critical"))
	}
	return console.OneLine(p.ID) + console.Suffix("  ", console.OneLine(strings.Join(remarks, "; ")))
}

// readDocument reads a small file of the workspace as it is, and follows no link.
func readDocument(disk fs.FS, name string) engine.Document {
	d := engine.Document{Path: name}
	d.Body, d.Err = verb.ReadBelow(disk, name)
	switch {
	case errors.Is(d.Err, iofs.ErrNotExist):
		d.Err = engine.ErrAbsent
	case d.Err == nil:
		d.Sum = engine.Sum(d.Body)
	}
	return d
}

// mostSpecs limits the specs of a folder that are read: one more than a plan accepts.
const mostSpecs = 501

// readSpecs reads the specs of a folder, by name.
func readSpecs(disk fs.FS, dir string) (list []engine.Document, err error) {
	names, err := disk.List(dir)
	for _, n := range names {
		if len(list) < mostSpecs && strings.HasSuffix(n.Name, ".md") && !layout.Noise(n.Name) && !n.Mode.IsDir() {
			list = append(list, readDocument(disk, path.Join(dir, n.Name)))
		}
	}
	return list, err
}
