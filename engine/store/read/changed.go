package read

import (
	"encoding/binary"
	"errors"
	"hash/maphash"
	"iter"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"placet/engine"
	"placet/engine/store/disk"
	"placet/engine/store/fs"
	"placet/engine/store/statcache"
	"placet/layout"
	"placet/templates"
)

// Unchanged reports, by stat alone, whether everything that a look at a run depended on
// still looks the same. sure is false if a change might not show. The next look reads an
// immutable document again if it has changed. A run that was loaded since that look
// counts as changed; a folder that changed only because of a volatile document does not.
func (s *Reader) Unchanged(run layout.Run, fam layout.Family, look uint64) (same, sure bool) {
	tree := s.seen.Cache.Lock(run.State)
	defer tree.Unlock()
	if look == 0 || tree.Look != look {
		return false, true
	}
	same, sure = true, true
	_, mayBeVolatile := fam.(layout.Volatile)
	for name, e := range compared(tree) {
		id := s.disk.IdentityAt(name)
		if mayBeVolatile && e.Kind == statcache.Folder && (e.Racy || id != e.ID) && s.hasSameNames(run, fam, name, e) {
			continue
		}
		sure = sure && !e.Racy
		if id != e.ID {
			same, e.Immutable = false, false
		}
	}
	return same, sure
}

// compared iterates over the paths and entries of a run that stat can show to have
// changed. It skips temporary and stray files, because a change of those changes their
// folder.
func compared(tree *statcache.Run) iter.Seq2[string, *statcache.Entry] {
	return func(yield func(string, *statcache.Entry) bool) {
		for name, e := range tree.All() {
			if e.Known && e.Kind != statcache.Temporary && e.Kind != statcache.Stray && !yield(name, e) {
				return
			}
		}
	}
}

// identities iterates over the entries of a run, each with the present identity of its
// name.
func identities(d *disk.Disk, tree *statcache.Run) iter.Seq2[*statcache.Entry, statcache.Identity] {
	return func(yield func(*statcache.Entry, statcache.Identity) bool) {
		for name, e := range compared(tree) {
			if !yield(e, d.IdentityAt(name)) {
				return
			}
		}
	}
}

// UnchangedLocked reports, by stat alone, whether everything that others write under a
// run's locks is as a look found it before the locks were taken: a second look would then
// find nothing new there. It returns false if a change might not show.
func (s *Reader) UnchangedLocked(run layout.Run, look uint64) bool {
	tree := s.seen.Cache.Lock(run.State)
	defer tree.Unlock()
	if look == 0 || tree.Look != look {
		return false
	}
	for name, e := range tree.All() {
		if e.Locked && !e.Immutable && !e.Trusts(s.disk.IdentityAt(name)) {
			return false
		}
	}
	return true
}

// RunFingerprint returns one number for the present identities of everything that the last
// look at a run depended on.
func (s *Reader) RunFingerprint(run layout.Run) uint64 {
	tree := s.seen.Cache.Lock(run.State)
	defer tree.Unlock()
	if tree.Look == 0 {
		return s.Fingerprint(run.Dir, run.State)
	}
	var f fingerprint
	for _, id := range identities(s.disk, tree) {
		f.add(id)
	}
	return f.sum()
}

// Fingerprint returns one number for the present identities of names. It has no meaning
// for another process, and is never 0.
func (s *Reader) Fingerprint(names ...string) uint64 {
	var f fingerprint
	for _, name := range names {
		f.add(s.disk.IdentityAt(name))
	}
	return f.sum()
}

// FingerprintOld is Fingerprint of one name. It returns 0 if a change might not show in
// it.
func (s *Reader) FingerprintOld(name string) uint64 {
	info, err := s.disk.FS.Stat(name)
	g := s.disk.NewGrain()
	if !g.IsKnown() || err == nil && g.IsFresh(info) {
		return 0
	}
	var f fingerprint
	f.add(disk.IdentityOf(info))
	return f.sum()
}

// fingerprint combines identities, in order.
type fingerprint uint64

var fingerprintSeed = maphash.MakeSeed()

func (f *fingerprint) add(id statcache.Identity) {
	*f = fingerprint(maphash.Comparable(fingerprintSeed, struct {
		before fingerprint
		id     statcache.Identity
	}{*f, id}))
}

func (f fingerprint) sum() uint64 { return uint64(f) | 1 }

// Invalidate makes the next look at every run stat every file, because events may have
// been lost.
func (s *Reader) Invalidate() { s.seen.Cache.Invalidate() }

// Suspect makes the next look at a run stat a file, even an immutable one. state is the
// path of the run's state document.
func (s *Reader) Suspect(state, file string) {
	tree := s.seen.Cache.Lock(state)
	defer tree.Unlock()
	if e := tree.At(file); e != nil {
		e.Immutable = false
	}
}

// Forget drops everything that is remembered of a run, except that it was seen. The next
// look treats its files as new. A loop calls it for runs that are final or gone.
func (s *Reader) Forget(run layout.Run) { s.seen.Cache.Drop(run.State) }

// Read reads one document by its path, settled or not as the rules say. f says what the
// file is; a Limit of 0 means that of state documents.
func (s *Reader) Read(p string, f layout.File) engine.Document {
	info, err := s.disk.FS.Stat(p)
	d, _ := s.readOne(p, target{path: p, file: f}, info, err)
	return d
}

// readOne reads one document by its path; info is what stat returned for it. If the run
// with the state document state was looked at, readOne uses what that look has shown.
func (s *Reader) readOne(state string, a target, info fs.Info, err error) (engine.Document, time.Time) {
	if err == nil && a.file.Kind == layout.KindStateFile {
		s.seen.states.begin(a.path)
	}
	g := s.disk.NewGrain()
	tree := s.seen.Cache.Lock(state)
	defer tree.Unlock()
	if e := tree.At(a.path); e != nil && err == nil {
		return s.settler.look(a, e, info, nil, &g)
	}
	known := s.seen.Cache.Outside(a.path).Known
	d, again := s.settler.lookOutside(a, info, err, &g)
	if !known && again.IsZero() {
		s.seen.Cache.SetOutside(a.path, statcache.Entry{}) // there may be very many
	}
	return d, again
}

// Part holds some of a run's files as one look found them.
type Part struct {
	// Docs are sorted by path. A file that does not exist is included with
	// engine.ErrAbsent.
	Docs []engine.Document
	// Again is when to look again because one of them is unsettled; zero: never.
	Again time.Time
	// Print is the number that PrintPart returns while the files do not change. Racy says
	// that one of them is so young that a later change might not show in the number.
	Print uint64
	Racy  bool
}

// LoadPart reads some of a run's files, named relative to its folder; "../" leads out of
// that. It does not wait for files to settle. It returns an error for a file that the
// system refuses to describe or read; every other problem of a file is its document's Err.
func (s *Reader) LoadPart(run layout.Run, fam layout.Family, rels []string) (part Part, err error) {
	var f fingerprint
	g := s.disk.NewGrain()
	for _, rel := range rels {
		a := target{path: path.Join(run.Dir, rel)}
		var known bool
		if a.file, known = fam.File(run, rel); !known || strings.HasPrefix(rel, "../") {
			a.file = layout.Outside(a.path)
		}
		info, err := s.disk.FS.Stat(a.path)
		if isUntold(a.path, err) {
			return Part{}, templates.Errorf("store.peers", "file", run.Dir, "error", err)
		}
		f.add(disk.IdentityOf(info))
		part.Racy = part.Racy || err == nil && g.IsRacy(info)
		d, again := s.readOne(run.State, a, info, err)
		if errors.As(d.Err, new(syscall.Errno)) {
			return Part{}, d.Err
		}
		part.Again = earlier(part.Again, again)
		part.Docs = append(part.Docs, d)
	}
	part.Print = f.sum()
	sortDocs(part.Docs)
	return part, nil
}

// isUntold reports whether an error leaves open whether the file exists.
func isUntold(name string, err error) bool {
	return err != nil && !errors.Is(disk.Unusable(name, err), engine.ErrAbsent)
}

// earlier returns the earlier of two times. The zero time stands for never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// PrintPart is Fingerprint of some of a run's files. It returns 0 if it is unknown whether
// one of them exists.
func (s *Reader) PrintPart(run layout.Run, rels []string) uint64 {
	var f fingerprint
	for _, rel := range rels {
		p := path.Join(run.Dir, rel)
		info, err := s.disk.FS.Stat(p)
		if isUntold(p, err) {
			return 0
		}
		f.add(disk.IdentityOf(info))
	}
	return f.sum()
}

// Record returns what the last look at a run depended on, to be stored: for a run that has
// ended only the folders and the state document, because nothing else is looked at. It
// returns false if a change of that might not show, or if the run was looked at since.
func (s *Reader) Record(run layout.Run, look uint64, ended bool) (statcache.Record, bool) {
	tree := s.seen.Cache.Lock(run.State)
	defer tree.Unlock()
	if look == 0 || tree.Look != look {
		return statcache.Record{}, false
	}
	for name, e := range tree.All() {
		if e.Racy && !s.confirm(name, e) {
			return statcache.Record{}, false
		}
	}
	root := copyTree(run.Dir, &tree.Root, func(name string, e *statcache.Entry) bool {
		return !ended || e.Kind == statcache.Folder || name == run.State
	})
	return statcache.Record{Root: root, Outside: slices.Clone(tree.Outside)}, true
}

// confirm reads a document again that placet wrote, and reports whether it is still the
// same: somebody may have changed it within the clock tick in which it was written.
func (s *Reader) confirm(name string, e *statcache.Entry) bool {
	if !e.Immutable {
		return false
	}
	g := s.disk.NewGrain()
	info, err := s.disk.FS.Stat(name)
	if err != nil || g.IsRacy(info) {
		return false
	}
	c, err := s.disk.Read(name, e.ID.Size, false)
	id := disk.IdentityOf(c.Info)
	if err != nil || !e.ID.Is(id) || e.ID.Modified != id.Modified || binary.NativeEndian.Uint64(c.Sum[:]) != e.Sum {
		return false
	}
	e.ID, e.Racy = id, false // the rename has changed the ctime
	return true
}

// copyTree copies an entry and those below for which keep returns true, without their
// documents.
func copyTree(at string, e *statcache.Entry, keep func(string, *statcache.Entry) bool) statcache.Entry {
	c := *e
	c.Doc, c.Immutable, c.Below = nil, false, nil
	for i := range e.Below {
		if name := at + "/" + e.Below[i].Name; keep(name, &e.Below[i]) {
			c.Below = append(c.Below, copyTree(name, &e.Below[i], keep))
		}
	}
	return c
}

// RecordState returns a record of a run's state document alone, as it is now.
func (s *Reader) RecordState(run layout.Run) (statcache.Record, bool) {
	g := s.disk.NewGrain()
	info, err := s.disk.FS.Stat(run.State)
	if err != nil || g.IsRacy(info) {
		return statcache.Record{}, false
	}
	return statcache.Record{Outside: []statcache.Entry{{Name: run.State, Known: true, ID: disk.IdentityOf(info)}}}, true
}

// Holds reports, by stat alone, whether everything in a record still looks the same. If
// so, it remembers that the run's state document was seen.
func (s *Reader) Holds(run layout.Run, rec statcache.Record) bool {
	tree := &statcache.Run{Dir: run.Dir, Root: rec.Root, Outside: rec.Outside}
	for e, id := range identities(s.disk, tree) {
		if id != e.ID {
			return false
		}
	}
	if stateOf(run, tree) != (statcache.Identity{}) {
		s.seen.states.begin(run.State)
	}
	return true
}

// HoldsState is Holds for the state document of a record alone.
func (s *Reader) HoldsState(run layout.Run, rec statcache.Record) bool {
	id := stateOf(run, &statcache.Run{Dir: run.Dir, Root: rec.Root, Outside: rec.Outside})
	if id == (statcache.Identity{}) || s.disk.IdentityAt(run.State) != id {
		return false
	}
	s.seen.states.begin(run.State)
	return true
}

// stateOf returns the identity of the state document.
func stateOf(run layout.Run, tree *statcache.Run) statcache.Identity {
	for name, e := range tree.All() {
		if name == run.State {
			return e.ID
		}
	}
	return statcache.Identity{}
}

// Restore adopts a record that holds, as if this store had looked at the run and nothing
// had changed since. It returns the number of the look.
func (s *Reader) Restore(run layout.Run, rec statcache.Record) (look uint64, ok bool) {
	tree := s.seen.Tree(run)
	tree.Lock()
	defer tree.Unlock()
	if tree.Look != 0 || !rec.Root.Known || !s.Holds(run, rec) {
		return 0, false
	}
	tree.Root, tree.Outside = rec.Root, rec.Outside
	age := s.disk.Age()
	for _, e := range tree.All() {
		e.Since, e.Still = age-standLong, standLong
	}
	s.seen.Cache.Looked(run.State, tree, false)
	return tree.Look, true
}
