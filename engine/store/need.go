package store

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"time"

	"placet/engine"
	"placet/layout"
)

// stillPrefix begins a need for a file that must stand still for 2 s.
const stillPrefix = "still:"

// errOutside says why a need is not looked up.
var errOutside = errors.New("the path leads out of the workspace; expected a relative path without \"..\"")

// need looks up one path or glob.
func (v *visit) need(need string) error {
	p, still := strings.CutPrefix(need, stillPrefix)
	if !layout.Safe(p) {
		v.add(engine.Document{Path: p, Err: errOutside}, time.Time{})
		return nil
	}
	p = path.Clean(p)
	if !strings.ContainsAny(p, `*?[\`) {
		v.one(p, still, true)
		return nil
	}
	// A real file may have such a name, where its folder is there.
	_, _ = v.beside(path.Dir(p))
	info, err := v.beside(p)
	if v.sight("/"+p, info, err == nil); err == nil {
		v.one(p, still, true)
	}
	return v.glob(".", strings.Split(p, "/"), still)
}

// one looks at one path that is needed.
func (v *visit) one(p string, still, watch bool) {
	a := ask{path: p, file: layout.Outside(p), at: v.s.memory.beside(p), still: still, need: true}
	if rel, inside := v.inside(p); inside {
		file, known := v.fam.File(v.run, rel)
		if v.docs.has(p) && !still {
			return
		}
		if known {
			a.file, a.at = file, v.s.memory.inside(v.folder, rel)
		}
	} else if watch {
		v.watch(path.Dir(p))
	}
	v.add(v.readAt(a))
}

// beside describes a name that a need leads to, once per visit: several needs lead
// through the same folders, and most of those are not there. Below a folder that
// is not there nothing is.
func (v *visit) beside(p string) (Info, error) {
	if old, known := v.met[p]; known {
		return old.info, old.err
	}
	if above, known := v.met[path.Dir(p)]; known && errors.Is(above.err, fs.ErrNotExist) {
		return Info{}, above.err
	}
	info, err := v.s.fs.Stat(p)
	if v.met == nil {
		v.met = map[string]met{}
	}
	v.met[p] = met{info, err}
	return info, err
}

// met is what stat said of a name that a need led to.
type met struct {
	info Info
	err  error
}

// inside returns the path relative to the run's folder.
func (v *visit) inside(p string) (string, bool) {
	return strings.CutPrefix(p, v.run.Dir+"/")
}

// watch notes the nearest existing folder.
func (v *visit) watch(dir string) {
	for ; dir != "." && dir != "/"; dir = path.Dir(dir) {
		if info, err := v.beside(dir); err == nil && info.Mode.IsDir() {
			break
		}
	}
	if _, in := v.inside(dir); !in && dir != v.run.Dir {
		v.dirs[dir] = true
	}
}

// glob looks at every file below dir that the parts match.
func (v *visit) glob(dir string, parts []string, still bool) error {
	part, rest := parts[0], parts[1:]
	if !strings.ContainsAny(part, `*?[\`) {
		next := path.Join(dir, part)
		if len(rest) > 0 {
			return v.glob(next, rest, still)
		}
		info, err := v.beside(next)
		if v.sight("/"+next, info, err == nil); err == nil && !info.Mode.IsDir() {
			v.one(next, still, true)
		}
		return nil
	}
	v.watch(dir)
	seen, err := v.beside(dir)
	v.sight("/"+dir, seen, err == nil)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	infos, err := v.s.list(dir)
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
			v.one(next, still, false)
		case len(rest) > 0 && info.Mode.IsDir():
			if err := v.glob(next, rest, still); err != nil {
				return err
			}
		}
	}
	return nil
}

// hidden reports whether a pattern passes over a name: somebody's temporary
// file, and what begins with a dot unless the pattern does.
func hidden(pattern, name string) bool {
	return layout.Noise(name) && !(strings.HasPrefix(name, ".") && strings.HasPrefix(pattern, ".")) || layout.IsTemp(name)
}
