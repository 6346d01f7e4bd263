package layout

import (
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

// holds reports whether a folder has an entry of one of some names.
func holds(ls Lister, dir string, names ...string) (bool, error) {
	entries, err := ls(dir)
	return slices.ContainsFunc(entries, func(e Entry) bool { return slices.Contains(names, e.Name) }), err
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
func (f Faber) Misplaced(ls Lister) ([]Misplaced, error) {
	var all []Misplaced
	for _, root := range f.runRoots() {
		orgs, err := foldersOf(ls, root)
		if err != nil {
			return nil, err
		}
		for _, org := range orgs {
			if faberNever[org] {
				continue
			}
			found, err := faberMisplaced(ls, path.Join(root, org), org)
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
		}
	}
	return all, nil
}

// faberMisplaced finds those of one org.
func faberMisplaced(ls Lister, dir, org string) ([]Misplaced, error) {
	projects, err := foldersOf(ls, dir)
	if err != nil {
		return nil, err
	}
	var all []Misplaced
	for _, project := range projects {
		entries, err := ls(path.Join(dir, project))
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			why := faberRule(org, project, e)
			if why == "" || !e.Dir && !e.Link || strings.HasPrefix(e.Name, ".") || faberNever[e.Name] {
				continue
			}
			p := path.Join(dir, project, e.Name)
			looks := e.Link && faberUUID.MatchString(e.Name)
			if e.Dir {
				if looks, err = holds(ls, p, "state.json"); err != nil {
					return nil, err
				}
			}
			if looks {
				all = append(all, Misplaced{p, why, true})
			}
		}
	}
	return all, nil
}

// aflRule says why a name names no AFL session, "" where it does.
func aflRule(id string) string {
	switch {
	case IsAFLSession(id):
		return ""
	case aflLitter[id]:
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
func (AFL) Misplaced(ls Lister) ([]Misplaced, error) {
	var all []Misplaced
	sessions, err := foldersOf(ls, aflRoot)
	if err != nil {
		return nil, err
	}
	for _, id := range sessions {
		dir := path.Join(aflRoot, id)
		if why := aflRule(id); why != "" {
			run, err := holds(ls, dir, "meta.json", "specs", "checkpoints", "state.json")
			if err != nil {
				return nil, err
			}
			all = append(all, Misplaced{dir, why, run && !aflLitter[id]})
			continue
		}
		below, err := aflMisplaced(ls, path.Join(dir, "delegations"))
		if err != nil {
			return nil, err
		}
		all = append(all, below...)
	}
	return all, nil
}

// aflMisplaced finds what of a session's delegations has no good name.
func aflMisplaced(ls Lister, dir string) ([]Misplaced, error) {
	var all []Misplaced
	checkpoints, err := foldersOf(ls, dir)
	if err != nil {
		return nil, err
	}
	for _, cp := range checkpoints {
		if !IsAFLCheckpoint(cp) {
			all = append(all, Misplaced{Path: path.Join(dir, cp), Why: fmt.Sprintf("%q cannot name a checkpoint", cp)})
			continue
		}
		attempts, err := foldersOf(ls, path.Join(dir, cp, "iterations"))
		if err != nil {
			return nil, err
		}
		for _, n := range attempts {
			if _, ok := aflCount(n); !ok {
				all = append(all, Misplaced{Path: path.Join(dir, cp, "iterations", n), Why: fmt.Sprintf("%q is no number of an attempt", n)})
			}
		}
	}
	return all, nil
}

// Misplaced returns the folders beside the runs that hold a cycle and are no runs for
// their names. A folder in active with a trigger is not among them: it is told as a run
// that is misnamed.
func (o Optimizer) Misplaced(ls Lister) ([]Misplaced, error) {
	var all []Misplaced
	for _, root := range o.runRoots() {
		active, archive := path.Join(root, optimizerActive), path.Join(root, optimizerArchive)
		found, err := optimizerMisplaced(ls, active, "")
		if err != nil {
			return nil, err
		}
		months, err := foldersOf(ls, archive)
		if err != nil {
			return nil, err
		}
		for _, month := range months {
			why := ""
			if !optimizerMonth.MatchString(month) {
				why = fmt.Sprintf("the archive's folder %q does not match %s", month, optimizerMonth)
			}
			old, err := optimizerMisplaced(ls, path.Join(archive, month), why)
			if err != nil {
				return nil, err
			}
			found = append(found, old...)
		}
		all = append(all, found...)
	}
	return all, nil
}

// optimizerMisplaced finds the folders in one that hold a cycle and are no runs; all of
// them are where why is not "".
func optimizerMisplaced(ls Lister, dir, why string) ([]Misplaced, error) {
	names, err := foldersOf(ls, dir)
	if err != nil {
		return nil, err
	}
	var all []Misplaced
	for _, name := range names {
		if why == "" && IsOptimizerRunID(name) {
			continue
		}
		cycle := path.Join(dir, name, optimizerDir)
		entries, err := ls(cycle)
		if err != nil {
			return nil, err
		}
		told := path.Base(dir) == optimizerActive && nameable(name) && slices.Contains(entries, Entry{Name: "trigger.json"})
		if len(entries) == 0 || told {
			continue
		}
		rule := why
		if rule == "" {
			rule = fmt.Sprintf("the run id %q does not match %s", name, OptimizerRunIDPattern)
		}
		all = append(all, Misplaced{path.Join(dir, name), rule, true})
	}
	return all, nil
}
