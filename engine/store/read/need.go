package read

import (
	"errors"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"placet/engine"
	"placet/engine/store/disk"
	"placet/engine/store/fs"
	"placet/engine/store/statcache"
	"placet/layout"
	"placet/templates"
)

// stillPrefix begins a need for a file that must have been unchanged for 2 s.
const stillPrefix = "still:"

// errOutside says why a need is not looked up.
var errOutside = templates.Errorf("store.outside")

// need looks up one path or glob.
func (v *visit) need(need string) error {
	p, still := strings.CutPrefix(need, stillPrefix)
	if !layout.Safe(p) {
		v.addNeeded(engine.Document{Path: p, Err: errOutside}, time.Time{})
		return nil
	}
	p = path.Clean(p)
	if !strings.ContainsAny(p, `*?[\`) {
		v.one(p, still)
		return nil
	}
	// A real file may have such a name, if its folder exists.
	_, _ = v.beside(path.Dir(p))
	if _, err := v.depend(p); err == nil {
		v.one(p, still)
	}
	return v.glob(".", strings.Split(p, "/"), still)
}

// one looks at one path that is needed.
func (v *visit) one(p string, still bool) {
	a := target{path: p, file: layout.Outside(p), still: still, need: true}
	rel, inside := v.inside(p)
	if !inside {
		v.watch(path.Dir(p))
		v.outside(a)
		return
	}
	file, known := v.fam.File(v.run, rel)
	e := v.tree.Root.Find(rel)
	switch {
	case known && still:
		// The file must be settled for longer than a document of the run.
		if a.file = file; e != nil && !v.s.seen.Cache.Outside(p).Known {
			v.s.seen.Cache.SetOutside(p, *e)
		}
	case known && e != nil:
		return
	}
	v.outside(a)
}

// outside looks at a file that is not a document of the run.
func (v *visit) outside(a target) {
	if d, ok := v.asBefore(a); ok {
		v.addNeeded(d, time.Time{})
		return
	}
	info, err := v.depend(a.path)
	v.addNeeded(v.s.settler.lookOutside(a, info, err, &v.grain))
}

// asBefore returns a file that is not a document of the run as the look before found it,
// if nothing has happened in its folder since.
func (v *visit) asBefore(a target) (d engine.Document, ok bool) {
	if v.isHeard(path.Dir(a.path)) {
		return d, false
	}
	was, known := v.before[a.path]
	e := v.s.seen.Cache.Outside(a.path)
	switch {
	case !known || was.Racy || !e.Known || e.Racy || wait(&e, a.settleTime()) > 0:
		return d, false
	case e.ID == statcache.Identity{}:
		d = engine.Document{Path: a.path, Err: engine.ErrAbsent}
	case e.Doc == nil || e.Doc.Body == nil && !a.still:
		return d, false
	default:
		d = *e.Doc
		d.Kind = a.file.Kind
	}
	v.kept = append(v.kept, statcache.Entry{Name: was.Name, ID: e.ID, Known: true})
	return d, true
}

// lookOutside looks at a file by its path alone; info and err are what stat returned.
func (s *settler) lookOutside(a target, info fs.Info, err error, g *disk.Grain) (d engine.Document, again time.Time) {
	e := s.seen.Cache.Outside(a.path)
	if err != nil {
		d, again = s.absentDocument(a, &e, err)
	} else {
		d, again = s.look(a, &e, info, nil, g)
	}
	s.seen.Cache.SetOutside(a.path, e)
	return d, again
}

// absentDocument returns the document for a name that stat cannot describe. An artifact
// that existed a moment ago does not count as absent until it has been gone for a while,
// because editors remove a file before they put the new one in its place.
func (s *settler) absentDocument(a target, e *statcache.Entry, err error) (engine.Document, time.Time) {
	d := engine.Document{Path: a.path, Kind: a.file.Kind, Err: disk.Unusable(a.path, err)}
	if !d.Absent() {
		*e = statcache.Entry{}
		return d, time.Time{}
	}
	now := s.disk.Age()
	next := statcache.Entry{Known: true, Since: now}
	switch {
	case !e.Known:
		next.Since = now - standLong
	case e.ID == statcache.Identity{} && e.Since <= now:
		next.Since = e.Since
	}
	next.Still = now - next.Since
	*e = next
	if wait := wait(e, a.settleTime()); a.still && wait > 0 {
		d.Err = engine.ErrUnsettled
		return d, s.disk.Now().Add(wait)
	}
	return engine.Document{Path: a.path, Err: engine.ErrAbsent}, time.Time{}
}

// addNeeded adds a document that a need led to. If two needs led to one file, the
// stricter result wins: unsettled.
func (v *visit) addNeeded(d engine.Document, again time.Time) {
	i, twice := v.needed[d.Path]
	if _, inside := v.inside(d.Path); inside && !twice {
		i = slices.IndexFunc(v.out.Docs, func(o engine.Document) bool { return o.Path == d.Path })
		twice = i >= 0
	}
	if !twice {
		i = len(v.out.Docs)
		v.needed[d.Path] = i
		v.add(d, again)
		return
	}
	if d.Unsettled() {
		v.out.Again = earlier(v.out.Again, again)
		v.out.Docs[i] = d
	}
}

// depend is like beside, and also notes that the look depends on the name.
func (v *visit) depend(p string) (fs.Info, error) {
	info, err := v.beside(p)
	m := v.met[p]
	m.info, m.err, m.counts = info, err, true
	v.met[p] = m
	return info, err
}

// beside describes a name that a need leads to. It calls stat once per visit and name,
// because several needs lead through the same folders, most of which do not exist, and
// never below a folder that does not exist.
func (v *visit) beside(p string) (fs.Info, error) {
	if e := v.tree.At(p); e != nil && e.Kind == statcache.Folder {
		return fs.Info{Name: e.Name, Mode: os.ModeDir}, nil // this look has seen it
	}
	if above := v.tree.At(path.Dir(p)); above != nil && above.Kind == statcache.Folder && above.Below != nil &&
		above.Child(path.Base(p)) == nil && !layout.Noise(path.Base(p)) && !slices.Contains(v.run.Locks, p) {
		return fs.Info{}, &os.PathError{Op: "stat", Path: p, Err: os.ErrNotExist} // nor has it seen that
	}
	if old, known := v.met[p]; known {
		return old.info, old.err
	}
	if dir := path.Dir(p); !v.isAboveRun(dir) && dir != p {
		if above, err := v.beside(dir); errors.Is(err, os.ErrNotExist) || err == nil && !above.Mode.IsDir() {
			return fs.Info{}, &os.PathError{Op: "stat", Path: p, Err: os.ErrNotExist}
		}
	}
	info, err := v.s.disk.FS.Stat(p)
	v.met[p] = met{info: info, err: err}
	return info, err
}

// isAboveRun reports whether a path is the run's folder or one above it. This visit has
// found these.
func (v *visit) isAboveRun(p string) bool { return layout.Under(v.run.Dir, p) }

// met holds what stat returned for a name that a need led to.
type met struct {
	info   fs.Info
	err    error
	counts bool // the look depends on it
}

// inside returns the path relative to the run's folder.
func (v *visit) inside(p string) (string, bool) {
	return strings.CutPrefix(p, v.run.Dir+"/")
}

// watch notes the nearest existing folder of a path, as one to watch.
func (v *visit) watch(dir string) {
	for ; !v.isAboveRun(dir); dir = path.Dir(dir) {
		if _, in := v.inside(dir); in || dir == v.run.Dir {
			return
		}
		if info, err := v.beside(dir); err == nil && info.Mode.IsDir() {
			break
		}
	}
	v.dirs[dir] = true
}

// glob looks at every file below dir that matches the parts.
func (v *visit) glob(dir string, parts []string, still bool) error {
	part, rest := parts[0], parts[1:]
	if !strings.ContainsAny(part, `*?[\`) {
		next := path.Join(dir, part)
		if len(rest) > 0 {
			return v.glob(next, rest, still)
		}
		if info, err := v.depend(next); err == nil && !info.Mode.IsDir() {
			v.one(next, still)
		}
		return nil
	}
	v.watch(dir)
	if _, err := v.depend(dir); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	infos, err := v.s.disk.List(dir)
	if err != nil {
		return err
	}
	for _, info := range infos {
		if ok, err := path.Match(part, info.Name); err != nil || !ok || hidden(part, info.Name) {
			continue
		}
		next := path.Join(dir, info.Name)
		switch {
		case len(rest) == 0 && !info.Mode.IsDir():
			v.one(next, still)
		case len(rest) > 0 && info.Mode.IsDir():
			if err := v.glob(next, rest, still); err != nil {
				return err
			}
		}
	}
	return nil
}

// hidden reports whether a pattern skips a name: somebody's temporary file, or a name
// that begins with a dot unless the pattern does.
func hidden(pattern, name string) bool {
	return layout.Noise(name) && !(strings.HasPrefix(name, ".") && strings.HasPrefix(pattern, ".")) || layout.IsTemp(name)
}
