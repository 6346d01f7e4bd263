package store

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"placet/engine"
	"placet/layout"
)

// Loaded is one run's documents as one look found them.
type Loaded struct {
	// Docs are sorted by path: the run's own and those that were needed. A
	// needed path that does not exist is there with engine.ErrAbsent.
	Docs []engine.Document
	// Needs are the needs that were looked up, sorted, as they were asked.
	// Facts from git ("git:…") are not the store's and not among them.
	Needs []string
	// Again is when to look again because something is unsettled; zero: never.
	Again time.Time
	// Dirs are the folders outside the run that needs lie in, sorted; where
	// such a folder does not exist, the nearest above it that does.
	Dirs []string
	// Stray are the paths in the run's folder that nobody knows, sorted.
	Stray []string
	// Temps are placet's own temporary names in the run's folder: of a commit
	// that is under way, or left by a crash; see Sweep.
	Temps []string
	// Sight is what the look depended on, where it is asked for (Sighting) and a
	// later change would show in it; else the zero Sight.
	Sight Sight
}

// visit is one Load in progress.
type visit struct {
	s      *Store
	run    layout.Run
	fam    layout.Family
	folder *folder
	pass   uint32
	out    Loaded
	at     map[string]int  // path → index in out.Docs
	names  strings.Builder // what was seen; see Unchanged
	glance glance
	seeing *seeing   // nil: no sight is asked for
	began  time.Time // by the file system's clock
	clock  bool      // which is known
	blind  bool      // some of it may change without showing
	scarce error     // what could not be read for reasons that are not its own
	dirs   map[string]bool
}

// maxDepth bounds the walk of a run's folder, whatever its family says.
const maxDepth = 32

// Load reads a run's documents and what its machine needs besides. A need is a
// path or a glob (path.Match, part by part), relative to the workspace; before
// either may stand "still:", for a file that must stand still for 2 s. The
// document's Path is without that word. The error is about the run as a whole,
// or says that placet is short of descriptors or memory; what is wrong with one
// file is its document's Err.
func (s *Store) Load(run layout.Run, fam layout.Family, needs []string) (Loaded, error) {
	v := &visit{
		s: s, run: run, fam: fam, folder: s.memory.of(run),
		at: map[string]int{}, dirs: map[string]bool{},
	}
	v.pass = s.memory.begin(v.folder)
	v.began, v.clock = s.diskNow(staleClock)
	if s.sighting.Load() {
		v.seeing = newSeeing()
	}
	if err := v.walk(".", 0); err != nil {
		return Loaded{}, err
	}
	for _, need := range needs {
		if strings.HasPrefix(need, "git:") {
			continue
		}
		v.out.Needs = append(v.out.Needs, need)
		if err := v.need(need); err != nil {
			return Loaded{}, err
		}
	}
	if v.scarce != nil {
		return Loaded{}, v.scarce
	}
	v.finish()
	v.sort()
	return v.out, nil
}

// finish remembers what was seen.
func (v *visit) finish() {
	if v.blind || !v.out.Again.IsZero() {
		v.glance.number = 0
	}
	if v.seeing != nil && !v.blind && v.out.Again.IsZero() {
		v.out.Sight = v.seeing.sight(v.names.String(), v.began, v.clock)
	}
	v.s.memory.finish(v.folder, v.pass, v.names.String(), v.glance.number, v.s.age())
}

// sight notes how a name looked.
func (v *visit) sight(name string, info Info, there bool) {
	v.names.WriteString(name)
	v.names.WriteByte(0)
	v.glance.add(&v.s.memory, info, there)
	if v.seeing != nil {
		v.seeing.add(info, there)
	}
	v.blind = v.blind || there && racy(info, v.began)
}

func (v *visit) sort() {
	slices.SortFunc(v.out.Docs, func(a, b engine.Document) int { return strings.Compare(a.Path, b.Path) })
	slices.Sort(v.out.Needs)
	v.out.Needs = slices.Compact(v.out.Needs)
	for dir := range v.dirs {
		v.out.Dirs = append(v.out.Dirs, dir)
	}
	slices.Sort(v.out.Dirs)
	slices.Sort(v.out.Stray)
}

// walk looks at the files of one folder of the run, and below.
func (v *visit) walk(rel string, depth int) error {
	dir := path.Join(v.run.Dir, rel)
	seen, err := v.s.fs.Stat(dir) // before listing: a later change must show
	v.sight(rel, seen, err == nil)
	infos, err := v.s.list(dir)
	if err != nil || depth > maxDepth {
		return err
	}
	for _, info := range infos {
		if err := v.entry(path.Join(rel, info.Name), info, depth); err != nil {
			return err
		}
	}
	return nil
}

func (v *visit) entry(rel string, info Info, depth int) error {
	file, known := v.fam.File(v.run, rel)
	switch {
	case known:
		v.sight(rel, info, true)
		if name := path.Join(v.run.Dir, rel); name == v.run.State {
			v.s.memory.noteState(name, info)
		}
		v.add(v.s.look(ask{path: path.Join(v.run.Dir, rel), file: file, at: v.s.memory.inside(v.folder, rel)}, info))
	case info.Mode.IsDir() && v.fam.Descend(v.run, rel):
		return v.walk(rel, depth+1)
	case layout.IsTemp(info.Name):
		v.out.Temps = append(v.out.Temps, path.Join(v.run.Dir, rel))
	case !layout.Noise(info.Name) && !slices.Contains(v.run.Locks, path.Join(v.run.Dir, rel)):
		v.out.Stray = append(v.out.Stray, path.Join(v.run.Dir, rel))
	}
	return nil
}

// add takes a document in. Of two looks at one file the one that says more
// about its stillness stands.
func (v *visit) add(d engine.Document, again time.Time) {
	if !again.IsZero() && (v.out.Again.IsZero() || again.Before(v.out.Again)) {
		v.out.Again = again
	}
	if scarce(d.Err) {
		v.scarce = d.Err
	}
	i, twice := v.at[d.Path]
	switch {
	case !twice:
		v.at[d.Path] = len(v.out.Docs)
		v.out.Docs = append(v.out.Docs, d)
	case d.Unsettled():
		v.out.Docs[i] = d
	}
}

// Read reads one document by its path, settled or not as the rules say. The
// file says what it is; a Limit of 0 means that of state documents.
func (s *Store) Read(p string, f layout.File) engine.Document {
	a := ask{path: p, file: f, at: s.memory.whereIs(p)}
	info, err := s.fs.Stat(p)
	if err != nil {
		d, _ := s.missing(a, err)
		return d
	}
	if f.Kind == layout.KindStateFile {
		s.memory.noteState(p, info)
	}
	d, _ := s.look(a, info)
	return d
}

// readAt looks at one file that no listing described.
func (v *visit) readAt(a ask) (engine.Document, time.Time) {
	info, err := v.s.fs.Stat(a.path)
	v.sight("/"+a.path, info, err == nil)
	if err != nil {
		return v.s.missing(a, err)
	}
	return v.s.look(a, info)
}

// missing is the document for a name that cannot be described. An artifact that
// was there a moment ago is not absent before its absence has stood for a while:
// editors remove a file before they put the new one in its place.
func (s *Store) missing(a ask, err error) (engine.Document, time.Time) {
	d := engine.Document{Path: a.path, Kind: a.file.Kind, Err: unusable(a.path, err)}
	if !d.Absent() {
		s.memory.put(a.at, trace{})
		return d, time.Time{}
	}
	old, _ := s.memory.get(a.at, Info{})
	now := s.age()
	t := trace{known: true, absent: true, since: now}
	switch {
	case !old.known:
		t.since = now - standLong
	case old.absent && old.since <= now:
		t.since = old.since
	}
	t.still = now - t.since
	if a.at.in != s.memory.outside && !a.still {
		t = trace{} // a visit that does not see it says so
	}
	s.memory.put(a.at, t)
	if wait := t.wait(a.stands()); a.still && wait > 0 {
		d.Err = engine.ErrUnsettled
		return d, s.now().Add(wait)
	}
	return engine.Document{Path: a.path, Err: engine.ErrAbsent}, time.Time{}
}

// whereIs returns the place of a file that is looked at by its path alone: the
// run's, where it is the state document of one that was loaded.
func (m *memory) whereIs(p string) place {
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.runs[p]; f != nil {
		return m.inside(f, path.Base(p))
	}
	return m.beside(p)
}

// There reports whether anything is under a name. What cannot be told is there.
func (s *Store) There(name string) bool {
	_, err := s.fs.Stat(name)
	return !errors.Is(err, fs.ErrNotExist)
}

// exists reports whether there is a folder under a name.
func (s *Store) exists(dir string) (bool, error) {
	info, err := s.fs.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && info.Mode.IsDir(), err
}
