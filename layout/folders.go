package layout

import (
	"path"
	"strings"
)

// folders are the places of a family whose runs are the folders of one root.
type folders struct {
	family, root string
	isID         func(string) bool
}

// find returns the runs. Whether a folder holds one at all, its documents tell: only
// the root is listed, so every folder with the name of a run is one.
func (f folders) find(ls Lister) (runs []Run, err error) {
	w := walker{ls: ls}
	for _, name := range w.folders(f.root) {
		if f.isID(name) {
			runs = append(runs, f.run(name))
		}
	}
	return runs, w.err
}

func (f folders) run(id string) Run {
	dir := path.Join(f.root, id)
	return Run{Family: f.family, ID: id, Dir: dir, State: path.Join(dir, "state.json")}
}

// at returns the run that a path lies in.
func (f folders) at(p string) (Run, bool) {
	rel, ok := strings.CutPrefix(p, f.root+"/")
	id, _, _ := strings.Cut(rel, "/")
	if !ok || !f.isID(id) {
		return Run{}, false
	}
	return f.run(id), true
}
