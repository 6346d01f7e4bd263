package enginetest

import (
	"path"
	"slices"

	"placet/engine"
	"placet/layout"
)

// newFolders checks a step that puts files into folders of a run that do not exist: the machine
// must name each of these folders, or one above it. A folder that it does not name is seen by the
// scan of each minute, so the first file in it would wait that long.
func (w *world) newFolders(t T, step Step) {
	t.Helper()
	if step.Do == nil {
		return
	}
	before, after := w.tree(), w.tree()
	if !takes(step, after) {
		return // it expects another tree; the scenario fails on it
	}
	found, err := w.loop.Runs()
	if err != nil {
		t.Errorf("cannot find the runs: %v", err)
	}
	for _, f := range found {
		s, _, err := w.loop.Snapshot(f)
		if err != nil || w.suite.Machine.Account(s).Final {
			continue
		}
		plan, err := w.suite.Machine.Step(copySnapshot(s))
		if err != nil {
			continue // the judge has reported it
		}
		for _, p := range after.Paths() {
			if _, there := before[p]; !there && isTheirs(w.suite.Layout, f.Run, p) && isNew(before, path.Dir(p)) && !isNamed(plan, f.Run, path.Dir(p)) {
				t.Errorf("%s: nothing follows the folder of %s before it is there: %q", step.Name, p, plan.Follow)
			}
		}
	}
}

// takes takes a step on a tree, and reports whether that was possible.
func takes(step Step, tree Tree) (ok bool) {
	defer func() { ok = recover() == nil }()
	step.Do(tree)
	return true
}

// isTheirs reports whether a path is a document of a run that others write, below the run's own
// folder and in none of placet's request folders.
func isTheirs(l layout.Family, run layout.Run, p string) bool {
	if !layout.Under(p, run.Dir) || path.Dir(p) == run.Dir || layout.Under(p, path.Join(run.Dir, layout.RequestsDir)) {
		return false
	}
	file, ok := l.File(run, p[len(run.Dir)+1:])
	return ok && file.Writer != layout.Placet
}

// isNew reports whether a folder is not there.
func isNew(tree Tree, dir string) bool {
	return !slices.ContainsFunc(tree.Paths(), func(p string) bool { return layout.Under(p, dir) })
}

// isNamed reports whether a plan follows a folder, or a folder of the run above it.
func isNamed(plan engine.Plan, run layout.Run, dir string) bool {
	for ; len(dir) > len(run.Dir); dir = path.Dir(dir) {
		if slices.Contains(plan.Follow, dir) {
			return true
		}
	}
	return false
}
