package layout

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Misplaced is a folder below a family's roots that is passed over for its name.
type Misplaced struct {
	Path string
	// Why says which rule the name misses.
	Why string
	// Run is true where the folder holds what a run holds: somebody waits for it.
	Run bool
}

// Unread are files of upstream's that one would expect to be read, and that are not.
func (Faber) Unread() []string {
	return []string{".fractary/config.yaml", ".fractary/gateway.json", ".fractary/faber/gateway.json"}
}

// faberRule says why <org>/<project>/<uuid> names no FABER run, "" where it does.
func faberRule(org, project string, e Entry) string {
	switch {
	case !faberWord.MatchString(org):
		return fmt.Sprintf("the org %q does not match %s", org, faberWord)
	case !faberWord.MatchString(project):
		return fmt.Sprintf("the project %q does not match %s", project, faberWord)
	case !faberUUID.MatchString(e.Name):
		return fmt.Sprintf("the name %q is no uuid: it does not match %s", e.Name, faberUUID)
	case e.Link:
		return "it is a link, and links are not followed"
	}
	return ""
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
		if why == "" || strings.HasPrefix(e.Name, ".") || faberNever[e.Name] {
			continue
		}
		p := path.Join(dir, e.Name)
		if e.Link && faberUUID.MatchString(e.Name) || e.Dir && w.has(p, "state.json") {
			all = append(all, Misplaced{p, why, true})
		}
	}
	return all
}

// aflRule says why a name names no AFL session, "" where it does.
func aflRule(id string) string {
	switch {
	case IsAFLSession(id):
		return ""
	case aflIgnored[id]:
		return fmt.Sprintf("%q is no session's name: upstream's hooks make it", id)
	case !aflID.MatchString(id):
		return fmt.Sprintf("the session's name %q does not match %s", id, aflID)
	}
	return fmt.Sprintf("the session's name %q looks like that of a backup or a note", id)
}

// Misplaced returns the folders below the root that are passed over for their
// names: what upstream's hooks make where they do not know a session or an
// attempt ("unknown", "iterations/null"), and what cannot name a session, a
// checkpoint or an attempt. Hidden folders are nobody's. Sorted by session.
func (AFL) Misplaced(ls Lister) (all []Misplaced, err error) {
	w := walker{ls: ls}
	for _, id := range w.folders(aflRoot) {
		dir := path.Join(aflRoot, id)
		if why := aflRule(id); why != "" {
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
			all = append(all, Misplaced{Path: path.Join(dir, cp), Why: fmt.Sprintf("%q cannot name a checkpoint", cp)})
			continue
		}
		for _, n := range w.folders(path.Join(dir, cp, "iterations")) {
			if _, ok := parseCount(n); !ok {
				all = append(all, Misplaced{Path: path.Join(dir, cp, "iterations", n), Why: fmt.Sprintf("%q is no number of an attempt", n)})
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
		all = append(all, optimizerMisplaced(&w, path.Join(root, optimizerActive), "")...)
		for _, month := range w.folders(archive) {
			why := ""
			if !optimizerMonth.MatchString(month) {
				why = fmt.Sprintf("the archive's folder %q does not match %s", month, optimizerMonth)
			}
			all = append(all, optimizerMisplaced(&w, path.Join(archive, month), why)...)
		}
	}
	return all, w.err
}

// optimizerMisplaced finds the folders in one that hold a cycle and are no runs; all of
// them are where why is not "".
func optimizerMisplaced(w *walker, dir, why string) (all []Misplaced) {
	for _, name := range w.folders(dir) {
		if why == "" && IsOptimizerRunID(name) {
			continue
		}
		entries := w.entries(path.Join(dir, name, optimizerDir))
		misnamed := path.Base(dir) == optimizerActive && isPrintableName(name) && slices.Contains(entries, Entry{Name: "trigger.json"})
		if len(entries) > 0 && !misnamed {
			rule := cmp.Or(why, fmt.Sprintf("the run id %q does not match %s", name, OptimizerRunIDPattern))
			all = append(all, Misplaced{path.Join(dir, name), rule, true})
		}
	}
	return all
}
