package layout

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"placet/templates"
)

// Misplaced is a folder below a family's roots that is ignored because of its name.
type Misplaced struct {
	Path string
	// Why says which rule the name breaks.
	Why templates.Message
	// Run is true if the folder holds the documents of a run: somebody is waiting for
	// it.
	Run bool
}

// misses says which rule a name breaks.
func misses(key templates.Key, name string, rule any) templates.Message {
	return templates.NewMessage(key, "name", strconv.Quote(name), "rule", rule)
}

// Unread returns files of upstream's that people may expect placet to read, but that it
// does not read.
func (Faber) Unread() []string {
	return []string{".fractary/config.yaml", ".fractary/gateway.json", ".fractary/faber/gateway.json"}
}

// faberRule says why <org>/<project>/<uuid> names no FABER run; it returns the zero
// message if it does.
func faberRule(org, project string, e Entry) templates.Message {
	switch {
	case !faberWord.MatchString(org):
		return misses("layout.org", org, faberWord)
	case !faberWord.MatchString(project):
		return misses("layout.project", project, faberWord)
	case !faberUUID.MatchString(e.Name):
		return misses("layout.uuid", e.Name, faberUUID)
	case e.Link:
		return templates.NewMessage("layout.link")
	}
	return templates.Message{}
}

// Misplaced returns the folders three levels below a root that hold a state.json but
// are not runs because of their names, sorted within their roots, and those that are no
// coordinators because of theirs.
func (f Faber) Misplaced(ls Lister) (all []Misplaced, err error) {
	w := walker{ls: ls}
	for _, id := range w.folders(FaberCoordinators) {
		if dir := path.Join(FaberCoordinators, id); !faberCoordinator.MatchString(id) && w.has(dir, "coordinator.json") {
			all = append(all, Misplaced{dir, misses("layout.coordinator", id, faberCoordinator), true})
		}
	}
	for _, root := range f.runRoots() {
		for _, org := range w.folders(root) {
			if faberNever[org] {
				continue
			}
			for _, project := range w.folders(path.Join(root, org)) {
				all = append(all, faberMisplaced(&w, path.Join(root, org, project))...)
			}
		}
	}
	return all, w.err
}

// faberMisplaced finds the misplaced folders of one project.
func faberMisplaced(w *walker, dir string) (all []Misplaced) {
	for _, e := range w.entries(dir) {
		why := faberRule(path.Base(path.Dir(dir)), path.Base(dir), e)
		if why.None() || strings.HasPrefix(e.Name, ".") || faberNever[e.Name] {
			continue
		}
		p := path.Join(dir, e.Name)
		if e.Link && faberUUID.MatchString(e.Name) || e.Dir && w.has(p, "state.json") {
			all = append(all, Misplaced{p, why, true})
		}
	}
	return all
}

// aflRule says why a name names no AFL session; it returns the zero message if it does.
func aflRule(id string) templates.Message {
	switch {
	case IsAFLSession(id):
		return templates.Message{}
	case aflIgnored[id]:
		return misses("layout.session.hooks", id, nil)
	case !aflID.MatchString(id):
		return misses("layout.session", id, aflID)
	}
	return misses("layout.session.looks", id, nil)
}

// Misplaced returns the folders below the root that are ignored because of their names:
// those that upstream's hooks make if they do not know a session or an attempt
// ("unknown", "iterations/null"), and those whose names no session, checkpoint or
// attempt can have. It leaves out hidden folders. The result is sorted by session.
func (AFL) Misplaced(ls Lister) (all []Misplaced, err error) {
	w := walker{ls: ls}
	for _, id := range w.folders(aflRoot) {
		dir := path.Join(aflRoot, id)
		if why := aflRule(id); !why.None() {
			run := w.has(dir, "meta.json", "specs", "checkpoints", "state.json")
			all = append(all, Misplaced{dir, why, run && !aflIgnored[id]})
			continue
		}
		all = append(all, aflMisplaced(&w, path.Join(dir, "delegations"))...)
	}
	return all, w.err
}

// aflMisplaced finds the misplaced folders in a session's delegations.
func aflMisplaced(w *walker, dir string) (all []Misplaced) {
	for _, cp := range w.folders(dir) {
		if !IsAFLCheckpoint(cp) {
			all = append(all, Misplaced{Path: path.Join(dir, cp), Why: misses("layout.checkpoint", cp, nil)})
			continue
		}
		for _, n := range w.folders(path.Join(dir, cp, "iterations")) {
			if _, ok := parseCount(n); !ok {
				all = append(all, Misplaced{Path: path.Join(dir, cp, "iterations", n), Why: misses("layout.attempt", n, nil)})
			}
		}
	}
	return all
}

// Misplaced returns the folders beside the runs that hold a cycle but are not runs
// because of their names. It leaves out a folder in active with a trigger, which is
// reported as a misnamed run.
func (o Optimizer) Misplaced(ls Lister) (all []Misplaced, err error) {
	w := walker{ls: ls}
	for _, root := range o.runRoots() {
		archive := path.Join(root, optimizerArchive)
		all = append(all, optimizerMisplaced(&w, path.Join(root, optimizerActive), templates.Message{})...)
		for _, month := range w.folders(archive) {
			why := templates.Message{}
			if !optimizerMonth.MatchString(month) {
				why = misses("layout.archive", month, optimizerMonth)
			}
			all = append(all, optimizerMisplaced(&w, path.Join(archive, month), why)...)
		}
	}
	return all, w.err
}

// optimizerMisplaced finds the folders inside one that hold a cycle but are not runs.
// If why is not the zero message, it applies to all of them.
func optimizerMisplaced(w *walker, dir string, why templates.Message) (all []Misplaced) {
	for _, name := range w.folders(dir) {
		if why.None() && IsOptimizerRunID(name) {
			continue
		}
		entries := w.entries(path.Join(dir, name, optimizerDir))
		hasTrigger := path.Base(dir) == optimizerActive && isPrintableName(name) && slices.Contains(entries, Entry{Name: "trigger.json"})
		if len(entries) > 0 && !hasTrigger {
			rule := why
			if rule.None() {
				rule = misses("layout.run", name, OptimizerRunIDPattern)
			}
			all = append(all, Misplaced{path.Join(dir, name), rule, true})
		}
	}
	return all
}
