package layout

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"placet/templates"
)

// Misplaced is a folder below a family's roots that is passed over for its name.
type Misplaced struct {
	Path string
	// Why says which rule the name misses.
	Why templates.Message
	// Run is true where the folder holds what a run holds: somebody waits for it.
	Run bool
}

// misses says which rule a name misses.
func misses(key templates.Key, name string, rule any) templates.Message {
	return templates.NewMessage(key, "name", strconv.Quote(name), "rule", rule)
}

// Unread are files of upstream's that one would expect to be read, and that are not.
func (Faber) Unread() []string {
	return []string{".fractary/config.yaml", ".fractary/gateway.json", ".fractary/faber/gateway.json"}
}

// faberRule says why <org>/<project>/<uuid> names no FABER run, the zero message where
// it does.
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

// Misplaced returns the folders three levels below a root that hold a state.json and are
// no runs for their names, sorted within their roots.
func (f Faber) Misplaced(ls Lister) (all []Misplaced, err error) {
	w := walker{ls: ls}
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

// faberMisplaced finds those of one project.
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

// aflRule says why a name names no AFL session, the zero message where it does.
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

// Misplaced returns the folders below the root that are passed over for their
// names: what upstream's hooks make where they do not know a session or an
// attempt ("unknown", "iterations/null"), and what cannot name a session, a
// checkpoint or an attempt. Hidden folders are nobody's. Sorted by session.
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

// aflMisplaced finds what of a session's delegations has no good name.
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

// Misplaced returns the folders beside the runs that hold a cycle and are no runs for
// their names. A folder in active with a trigger is not among them: it is reported as a
// run that is misnamed.
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

// optimizerMisplaced finds the folders in one that hold a cycle and are no runs; all of
// them are where why says so.
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
