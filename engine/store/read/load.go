package read

import (
	"errors"
	"maps"
	"os"
	"path"
	"slices"
	"sort"
	"strings"
	"time"

	"placet/engine"
	"placet/engine/store/disk"
	"placet/engine/store/fs"
	"placet/engine/store/statcache"
	"placet/layout"
)

// Loaded holds one run's documents as one look found them.
type Loaded struct {
	// Docs are sorted by path: the run's own and those that were needed. A needed path
	// that does not exist is included with engine.ErrAbsent. The slice belongs to the
	// caller.
	Docs []engine.Document
	// Needs are the needs that were looked up, sorted, in the words of the request. Facts
	// from git ("git:…") and volatile documents are not among them.
	Needs []string
	// Again is when to look again because something is unsettled; zero: never.
	Again time.Time
	// Dirs are the folders outside the run with the needed files, sorted; if such a
	// folder does not exist, the nearest existing folder above it.
	Dirs []string
	// Empty are the run's subfolders that hold no document and no folder: somebody may
	// have just made one of them.
	Empty []string
	// Stray are the paths in the run's folder that its family does not know, sorted.
	Stray []string
	// Temps are placet's own temporary names in the run's folder: they belong to a
	// running commit, or a crash has left them; see Sweep.
	Temps []string
	// Missed is when the last of the things was first missed that an earlier look had
	// found: folders of the run, and documents in it that this store wrote. It is zero if
	// all are present, or have been gone for long.
	Missed time.Time
	// Vanished are the paths of folders and documents of the run that vanished a moment
	// ago and that placet did not remove.
	Vanished []string
	// Look is the number of the look; see [Reader.Unchanged].
	Look uint64
}

// visit is one Load in progress.
type visit struct {
	s      *Reader
	run    layout.Run
	fam    layout.Family
	tree   *statcache.Run // locked
	loaded bool           // the run was looked at before
	stale  bool           // every file must be looked at again
	// heard are the folders in which something may have happened since the look before;
	// nil means anywhere.
	heard map[string]bool
	// before holds the names outside the run's folder as the look before found them, and
	// kept those that were adopted from it without another stat.
	before map[string]statcache.Entry
	kept   []statcache.Entry
	out    Loaded
	gone   bool  // something vanished during the look
	scarce error // an error of reading that says nothing about the file
	grain  disk.Grain
	dirs   map[string]bool
	needed map[string]int // the index in Docs, by path, of documents that needs led to
	met    map[string]met // names that needs led to
}

// MaxDepth bounds the walk of a run's folder, whatever its family says.
const MaxDepth = 32

// steadyLooks is how often a run is looked at until nothing vanishes during the look.
const steadyLooks = 8

// Load reads a run's documents and the others that its machine needs. A need is a path or
// a glob (path.Match, part by part), relative to the workspace; the prefix "still:"
// demands that the file has been unchanged for 2 s. The document's Path is without the
// prefix. The error is about the run as a whole, or says that placet is short of
// descriptors or memory; a problem with one file is its document's Err.
func (s *Reader) Load(run layout.Run, fam layout.Family, needs []string) (Loaded, error) {
	return s.load(run, fam, needs, nil)
}

// LoadHeard is Load for a caller that knows in which folders something may have happened
// since the last look. Besides them it looks at the run's own folder, at files that were
// not settled, and at files that this store has written; for everything else it uses the
// results of the last look.
func (s *Reader) LoadHeard(run layout.Run, fam layout.Family, needs, dirs []string) (Loaded, error) {
	heard := make(map[string]bool, len(dirs))
	for _, dir := range dirs {
		heard[dir] = true
	}
	return s.load(run, fam, needs, heard)
}

func (s *Reader) load(run layout.Run, fam layout.Family, needs []string, heard map[string]bool) (Loaded, error) {
	s.disk.RemoveAgain()
	tree := s.seen.Tree(run)
	tree.Lock()
	defer tree.Unlock()
	for range steadyLooks - 1 {
		loaded, gone, err := s.visit(run, fam, tree, needs, heard)
		if err != nil || !gone {
			return loaded, err
		}
		heard = nil
	}
	loaded, _, err := s.visit(run, fam, tree, needs, nil)
	return loaded, err
}

// visit looks at a run once. gone is true if something vanished during the look.
func (s *Reader) visit(run layout.Run, fam layout.Family, tree *statcache.Run, needs []string, heard map[string]bool) (loaded Loaded, gone bool, err error) {
	v := &visit{
		s: s, run: run, fam: fam, tree: tree, loaded: tree.Look != 0, stale: s.seen.Cache.Stale(tree),
		grain: s.disk.NewGrain(), dirs: map[string]bool{}, needed: map[string]int{}, met: map[string]met{},
	}
	if v.loaded && !v.stale {
		v.heard = heard
	}
	if v.heard != nil {
		v.hearAbove()
		v.before = make(map[string]statcache.Entry, len(tree.Outside))
		for _, e := range tree.Outside {
			v.before[e.Name] = e
		}
	}
	if err := v.look(needs); err != nil {
		return Loaded{}, false, err
	}
	v.finish()
	return v.out, v.gone, nil
}

// look looks at the run's folder and at its needs.
func (v *visit) look(needs []string) error {
	if err := v.folder(".", &v.tree.Root, 0); err != nil {
		return err
	}
	for _, need := range needs {
		if strings.HasPrefix(need, "git:") || strings.HasPrefix(need, engine.VolatileNeed) {
			continue
		}
		v.out.Needs = append(v.out.Needs, need)
		if err := v.need(need); err != nil {
			return err
		}
	}
	return v.scarce
}

// finish remembers what the visit has seen, and sorts the results.
func (v *visit) finish() {
	v.tree.Outside = v.tree.Outside[:0]
	for name, m := range v.met {
		if _, inside := v.inside(name); inside || !m.counts || name == v.run.Dir {
			continue
		}
		v.tree.Outside = append(v.tree.Outside, statcache.Entry{
			Name: statcache.Name(name), ID: disk.IdentityOf(m.info), Known: true, Racy: m.err == nil && v.grain.IsRacy(m.info),
		})
	}
	v.tree.Outside = append(v.tree.Outside, v.kept...)
	sortDocs(v.out.Docs)
	v.out.Docs = v.markIssued(v.out.Docs)
	v.s.seen.Cache.Looked(v.run.State, v.tree, v.stale)
	v.out.Look = v.tree.Look
	vanished, missed, ok := v.tree.Missed(v.s.disk.Age(), standLong)
	if v.out.Vanished = vanished; ok {
		v.out.Missed = v.s.disk.At(missed)
	}
	v.markOthers()
	slices.Sort(v.out.Needs)
	v.out.Needs = slices.Compact(v.out.Needs)
	for dir := range v.dirs {
		v.out.Dirs = append(v.out.Dirs, dir)
	}
	slices.Sort(v.out.Dirs)
	slices.Sort(v.out.Stray)
}

// markOthers adds to needed state documents of other runs what this machine wrote under
// their paths.
func (v *visit) markOthers() {
	if v.s.settler.record == nil {
		return
	}
	for _, need := range v.out.Needs {
		other, ok := v.fam.At(need)
		if i, found := find(v.out.Docs, need); ok && found && need == other.State && other.Dir != v.run.Dir {
			issued, _, _ := v.s.settler.record.IssuedSince(other.Dir, fs.Info{})
			v.out.Docs[i].Issued = slices.Clip(issued[need])
		}
	}
}

// folder looks at the files of one folder of the run, and below.
func (v *visit) folder(rel string, e *statcache.Entry, depth int) error {
	at := path.Join(v.run.Dir, rel)
	isHeard := v.isHeard(at)
	if isHeard || !e.Known || e.Racy || e.ID == (statcache.Identity{}) {
		if there, err := v.names(rel, at, e, depth); err != nil || !there {
			return err
		}
	}
	e.Locked = v.isGuarded(rel)
	if rel != "." && !slices.ContainsFunc(e.Below, func(e statcache.Entry) bool { return e.Kind == statcache.Document || e.Kind == statcache.Folder }) {
		v.out.Empty = append(v.out.Empty, at)
	}
	closed := v.isClosed(rel, e)
	for i := range e.Below {
		if err := v.entry(path.Join(rel, e.Below[i].Name), &e.Below[i], closed, isHeard, depth); err != nil {
			return err
		}
	}
	// A document that vanished since the folder was listed is dropped.
	n := len(e.Below)
	e.Below = slices.DeleteFunc(e.Below, func(e statcache.Entry) bool { return e.Kind == statcache.Document && !e.Known })
	e.Racy = e.Racy || len(e.Below) < n
	return nil
}

// hearAbove adds the folders in which those that were heard of are new: a look finds a new
// folder only where it lists the one above it.
func (v *visit) hearAbove() {
	for _, dir := range slices.Collect(maps.Keys(v.heard)) {
		rel, ok := strings.CutPrefix(dir, v.run.Dir+"/")
		if !ok {
			continue
		}
		e, at := &v.tree.Root, v.run.Dir
		for name := range strings.SplitSeq(rel, "/") {
			if e = e.Child(name); e == nil || e.Kind != statcache.Folder {
				v.heard[at] = true
				break
			}
			at = path.Join(at, name)
		}
	}
}

// isHeard reports whether something may have happened in a folder since the look before.
func (v *visit) isHeard(dir string) bool { return v.heard == nil || dir == v.run.Dir || v.heard[dir] }

// names lists a folder of the run that may have changed. there is false if there is no
// folder.
func (v *visit) names(rel, at string, e *statcache.Entry, depth int) (there bool, err error) {
	info, err := v.s.disk.FS.Stat(at) // before it is listed: a later change must show
	v.gone = v.gone || rel != "." && errors.Is(err, os.ErrNotExist)
	if err := disk.NoFolder(at, err); err != nil {
		return false, err
	}
	if err != nil || !info.Mode.IsDir() {
		v.miss(rel, e.Below, nil)
		if e.ID != (statcache.Identity{}) && rel == "." {
			v.tree.Miss(at, v.s.disk.Age(), true)
		}
		*e = statcache.Entry{Name: e.Name, Kind: e.Kind, Known: true}
		return false, nil
	}
	if id := disk.IdentityOf(info); v.stale || !e.Trusts(id) || v.grain.IsAhead(info) {
		racy := v.grain.IsRacy(info)
		if err := v.list(rel, at, e); err != nil || depth > MaxDepth {
			return false, err
		}
		e.ID, e.Racy, e.Known = id, racy, true
	}
	return true, nil
}

// list lists a folder. It keeps what is known of the names that are still there.
// Immutable documents stay trusted only if none of them has gone, because another file
// may now have the inode of one that went.
func (v *visit) list(rel, at string, e *statcache.Entry) error {
	names, err := v.s.disk.List(at)
	if err != nil {
		return err
	}
	next := make([]statcache.Entry, 0, len(names))
	went := 0
	for i := range e.Below {
		if e.Below[i].Immutable {
			went++
		}
	}
	for _, name := range names {
		kind, ok := kindOf(v.run, v.fam, path.Join(rel, name.Name), name)
		if !ok {
			continue
		}
		entry := statcache.Entry{Name: statcache.Name(name.Name)}
		if old := e.Child(name.Name); old != nil && old.Kind == kind && (kind != statcache.Document || name.Mode.IsRegular()) {
			entry = *old
			if old.Immutable && old.ID.Inode == name.Inode {
				went--
			}
		}
		entry.Kind = kind
		next = append(next, entry)
	}
	for i := range next {
		next[i].Immutable = next[i].Immutable && went == 0
	}
	v.miss(rel, e.Below, next)
	e.Below = next
	return nil
}

// kindOf returns the kind of a name in a folder of a run. It returns false for a name
// that means nothing, and for a volatile document, which no look depends on.
func kindOf(run layout.Run, fam layout.Family, rel string, name fs.Name) (statcache.Kind, bool) {
	_, known := fam.File(run, rel)
	switch {
	case known:
		return statcache.Document, true
	case layout.IsVolatile(fam, run, rel):
		return 0, false
	case name.Mode.IsDir() && fam.Descend(run, rel):
		return statcache.Folder, true
	case layout.IsTemp(name.Name):
		return statcache.Temporary, true
	}
	return statcache.Stray, !layout.Noise(name.Name) && !slices.Contains(run.Locks, path.Join(run.Dir, rel))
}

// miss notes which folders and documents are no longer in a folder.
func (v *visit) miss(rel string, old, now []statcache.Entry) {
	left := statcache.Entry{Below: now}
	for i := range old {
		e, at := &old[i], path.Join(rel, old[i].Name)
		if left.Child(e.Name) != nil {
			continue
		}
		if e.Known {
			v.tree.Miss(path.Join(v.run.Dir, at), v.s.disk.Age(), e.Kind == statcache.Folder || e.Own)
		}
		v.miss(at, e.Below, nil)
	}
}

// entry looks at one name of a folder, according to its kind.
func (v *visit) entry(rel string, e *statcache.Entry, closed, isHeard bool, depth int) error {
	at := path.Join(v.run.Dir, rel)
	switch e.Kind {
	case statcache.Folder:
		return v.folder(rel, e, depth+1)
	case statcache.Temporary:
		v.out.Temps = append(v.out.Temps, at)
	case statcache.Stray:
		v.out.Stray = append(v.out.Stray, at)
	case statcache.Document:
		v.document(rel, at, e, closed, isHeard)
	}
	return nil
}

// document looks at one document of the run. A document that is written once, and those
// in the folder of a closed request, are later trusted as long as their folder is; so is
// a settled document in a folder in which nothing has happened.
func (v *visit) document(rel, at string, e *statcache.Entry, closed, isHeard bool) {
	if e.Immutable && !v.stale || !isHeard && e.Known && !e.Racy && e.Doc != nil && e.Doc.Body != nil {
		v.out.Docs = append(v.out.Docs, *e.Doc)
		return
	}
	file, _ := v.fam.File(v.run, rel)
	a := target{path: at, file: file, appeared: v.s.seen.watching.Load() && (v.loaded || v.tree.Newborn)}
	was := *e
	f, info, err := v.s.describe(at, e)
	if f != nil {
		defer f.Close()
	}
	d, again := engine.Document{Path: at, Kind: file.Kind, Err: disk.Unusable(at, err)}, time.Time{}
	if err == nil {
		if at == v.run.State {
			v.s.seen.states.begin(at)
		}
		d, again = v.s.settler.look(a, e, info, f, &v.grain)
	}
	if d.Absent() {
		v.gone = true
		if was.Known && errors.Is(err, os.ErrNotExist) {
			v.tree.Miss(at, v.s.disk.Age(), was.Own)
		}
		*e = statcache.Entry{Name: e.Name}
		return
	}
	e.Locked = file.Writer == layout.Shared
	e.Immutable = (file.Once || closed) && d.Err == nil && again.IsZero() && e.Doc != nil && !e.Racy
	v.add(d, again)
}

// describe describes a document, and opens it if it must be read anyway.
func (s *Reader) describe(at string, e *statcache.Entry) (f *disk.Opened, info fs.Info, err error) {
	if e.Doc == nil || e.Racy {
		return s.disk.OpenOrStat(at)
	}
	info, err = s.disk.FS.Stat(at)
	return nil, info, err
}

// isClosed reports whether a folder holds the receipt of a request.
func (v *visit) isClosed(rel string, e *statcache.Entry) bool {
	const receipt = "receipt.json"
	if e.Child(receipt) == nil {
		return false
	}
	f, known := v.fam.File(v.run, path.Join(rel, receipt))
	return known && f.Kind == layout.KindReceipt
}

// isGuarded reports whether a folder of the run gets new names only under its locks.
// Reviewers write without the locks, at any moment.
func (v *visit) isGuarded(rel string) bool {
	return rel != layout.RequestsDir && !strings.HasPrefix(rel, layout.RequestsDir+"/")
}

// add adds a document to the results.
func (v *visit) add(d engine.Document, again time.Time) {
	v.out.Again = earlier(v.out.Again, again)
	if disk.IsScarce(d.Err) {
		v.scarce = d.Err
	}
	v.out.Docs = append(v.out.Docs, d)
}

func sortDocs(docs []engine.Document) {
	slices.SortFunc(docs, func(a, b engine.Document) int { return strings.Compare(a.Path, b.Path) })
}

// find returns the index of a path in sorted documents.
func find(docs []engine.Document, p string) (int, bool) {
	i := sort.Search(len(docs), func(i int) bool { return docs[i].Path >= p })
	return i, i < len(docs) && docs[i].Path == p
}
