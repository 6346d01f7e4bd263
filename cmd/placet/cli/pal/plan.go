package pal

import (
	"cmp"
	"errors"
	iofs "io/fs"
	"path"
	"path/filepath"
	"strings"

	"placet/cmd/placet/cli/verb"

	"placet/cmd/placet/console"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/pal"
	"placet/engine/store/fs"
	"placet/layout"
	"placet/schemas"
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
	body, err := schemas.Encode(plan)
	if err != nil {
		return err
	}
	err = b.Env.Answer(plan, func() { b.Env.Out.Write(body) })
	return cmp.Or(err, console.Outcome(!plan.Valid, false))
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
