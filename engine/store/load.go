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
	// needed path that does not exist is there with engine.ErrAbsent. The slice is
	// the caller's alone.
	Docs []engine.Document
	// Moving are all of them but those of long folders that were taken as an
	// earlier look saw them; Still are these folders. See Verify.
	Moving []engine.Document
	Still  []string
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
	// Missed is when a folder of the run, or a document that this store wrote there, was
	// first missed that an earlier look had found; of several, the last. It is zero where
	// all are there, or have been gone for long.
	Missed time.Time
	// Shared is how the look saw what others write under the run's locks; nil
	// where a change of it might not show. See StandsLocked.
	Shared *Shared
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
	docs   documents
	shelving
	names  strings.Builder // what was seen, for the sight
	seeing *seeing         // nil: no sight is asked for
	found  found
	began  time.Time // by the file system's clock
	clock  bool      // which is known
	scarce error     // what could not be read for reasons that are not its own
	dirs   map[string]bool
	shared []sharedName
	met    map[string]met // names that needs lead to
}

// maxDepth bounds the walk of a run's folder, whatever its family says.
const maxDepth = 32

// steadyLooks is how often a run is looked at until nothing goes away meanwhile.
const steadyLooks = 8

// Load reads a run's documents and what its machine needs besides. A need is a
// path or a glob (path.Match, part by part), relative to the workspace; before
// either may stand "still:", for a file that must stand still for 2 s. The
// document's Path is without that word. The error is about the run as a whole,
// or says that placet is short of descriptors or memory; what is wrong with one
// file is its document's Err.
func (s *Store) Load(run layout.Run, fam layout.Family, needs []string) (Loaded, error) {
	for range steadyLooks - 1 {
		loaded, gone, err := s.visit(run, fam, needs)
		if err != nil || !gone {
			return loaded, err
		}
	}
	loaded, _, err := s.visit(run, fam, needs)
	return loaded, err
}

// visit looks at a run once. gone is true where something went away meanwhile.
func (s *Store) visit(run layout.Run, fam layout.Family, needs []string) (loaded Loaded, gone bool, err error) {
	v := &visit{s: s, run: run, fam: fam, folder: s.memory.of(run), dirs: map[string]bool{}}
	v.pass, v.shelving = s.memory.begin(v.folder)
	v.began, v.clock = s.diskNow(staleClock)
	if s.sighting.Load() {
		v.seeing, v.whole = newSeeing(), true
	}
	defer v.close()
	if err := v.look(needs); err != nil {
		s.memory.suspect(v.folder, v.suspects)
		return Loaded{}, false, err
	}
	v.finish()
	v.sort()
	return v.out, v.found.gone, nil
}

// look looks at everything.
func (v *visit) look(needs []string) error {
	if err := v.walk(".", 0); err != nil {
		return err
	}
	v.docs.walked()
	for _, need := range needs {
		if strings.HasPrefix(need, "git:") {
			continue
		}
		v.out.Needs = append(v.out.Needs, need)
		if err := v.need(need); err != nil {
			return err
		}
	}
	return v.scarce
}

// finish remembers what was seen.
func (v *visit) finish() {
	if v.seeing != nil && v.out.Again.IsZero() {
		v.out.Sight = v.seeing.sight(v.names.String(), v.began, v.clock)
	}
	v.out.Shared = v.sharing()
	if missed, ok := v.s.memory.finish(v.folder, v.pass, v.shelving, v.found, v.s.age()); ok {
		v.out.Missed = v.s.began.Add(missed)
	}
}

// sight notes how a name looked.
func (v *visit) sight(name string, info Info, there bool) {
	if v.seeing == nil {
		return
	}
	v.names.WriteString(name)
	v.names.WriteByte(0)
	v.seeing.add(info, there)
}

func (v *visit) sort() {
	v.out.Docs, v.out.Moving, v.out.Still = v.docs.sorted(), v.docs.single, v.docs.folders()
	v.s.markIssued(v.run, v.out.Docs)
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
	seen, err := v.stat(rel) // before listing: a later change must show
	there := err == nil
	v.sight(rel, seen, there)
	if there && seen.Mode.IsDir() {
		v.found.dirs = append(v.found.dirs, v.s.memory.hash(rel))
	}
	v.found.gone = v.found.gone || rel != "." && errors.Is(err, fs.ErrNotExist)
	if there && v.guarded(rel) {
		v.share(path.Join(v.run.Dir, rel), seen)
	}
	if old := v.old[rel]; there && v.holds(old, path.Join(v.run.Dir, rel), seen) {
		if taken, err := v.take(rel, old, depth); taken {
			return err
		}
	}
	return v.list(rel, seen, there, depth)
}

// add takes a document in.
func (v *visit) add(d engine.Document, again time.Time) {
	if !again.IsZero() && (v.out.Again.IsZero() || again.Before(v.out.Again)) {
		v.out.Again = again
	}
	if scarce(d.Err) {
		v.scarce = d.Err
	}
	v.docs.add(d)
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
		s.memory.noteState(p)
	}
	d, _ := s.look(a, info)
	return d
}

// readAt looks at one file that no listing described.
func (v *visit) readAt(a ask) (engine.Document, time.Time) {
	info, err := v.beside(a.path)
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
