package store

import (
	"errors"
	"fmt"
	"hash/maphash"
	"path"
	"strings"
	"syscall"
	"time"

	"placet/engine"
	"placet/engine/store/fs"
	"placet/engine/store/statcache"
	"placet/layout"
)

// identityOf is what the cache remembers of what stat says.
func identityOf(i fs.Info) statcache.Identity {
	if i.Inode == 0 && i.Device == 0 {
		return statcache.Identity{}
	}
	return statcache.Identity{
		Device: i.Device, Inode: i.Inode, Size: i.Size, Modified: i.Modified.UnixNano(), Changed: i.Changed.UnixNano(),
	}
}

// Unchanged reports, by stat alone, whether all that a look at a run depended on is as
// the look saw it. sure is false where a change might not show. What was written once and
// has changed all the same is read by the next look. A run that was looked at since is
// another one.
func (s *reader) Unchanged(run layout.Run, look uint64) (same, sure bool) {
	tree := s.cache.Get(run.State)
	if tree == nil {
		return false, true
	}
	tree.Lock()
	defer tree.Unlock()
	if look == 0 || tree.Look != look {
		return false, true
	}
	same, sure = true, true
	s.statTree(run.Dir, tree, func(e *statcache.Entry, id statcache.Identity) {
		sure = sure && !e.Racy
		if id != e.ID {
			same, e.Immutable = false, false
		}
	})
	return same, sure
}

// statTree shows every entry of a run and what stat says of its name now.
func (s *reader) statTree(dir string, tree *statcache.Run, show func(*statcache.Entry, statcache.Identity)) {
	s.statBelow(dir, &tree.Root, show)
	for i := range tree.Outside {
		show(&tree.Outside[i], s.identityAt(tree.Outside[i].Name))
	}
}

func (s *reader) statBelow(at string, e *statcache.Entry, show func(*statcache.Entry, statcache.Identity)) {
	if e.Kind == statcache.Temporary || e.Kind == statcache.Stray {
		return // its folder tells
	}
	if e.Known {
		show(e, s.identityAt(at))
	}
	for i := range e.Below {
		s.statBelow(at+"/"+e.Below[i].Name, &e.Below[i], show)
	}
}

func (s *disk) identityAt(name string) statcache.Identity {
	info, err := s.fs.Stat(name)
	if err != nil {
		return statcache.Identity{}
	}
	return identityOf(info)
}

// UnchangedLocked reports, by stat alone, that nothing that others write under a run's
// locks is different from how a look found it before they were held: then a second
// look would show no more of it. It is false where a change might not show.
func (s *reader) UnchangedLocked(run layout.Run, look uint64) bool {
	tree := s.cache.Get(run.State)
	if tree == nil {
		return false
	}
	tree.Lock()
	defer tree.Unlock()
	return look != 0 && tree.Look == look && s.lockedUnchanged(run.Dir, &tree.Root)
}

func (s *reader) lockedUnchanged(at string, e *statcache.Entry) bool {
	if e.Locked && !e.Immutable && !e.Trusts(s.identityAt(at)) {
		return false
	}
	for i := range e.Below {
		if !s.lockedUnchanged(at+"/"+e.Below[i].Name, &e.Below[i]) {
			return false
		}
	}
	return true
}

// RunFingerprint makes one number of what stat says now of all that the last look at a
// run depended on.
func (s *reader) RunFingerprint(run layout.Run) uint64 {
	tree := s.cache.Get(run.State)
	if tree == nil {
		return s.Fingerprint(run.Dir, run.State)
	}
	tree.Lock()
	defer tree.Unlock()
	var f fingerprint
	s.statTree(run.Dir, tree, func(_ *statcache.Entry, id statcache.Identity) { f.add(id) })
	return uint64(f) | 1
}

// Fingerprint makes one number of what stat says of names. It means nothing to another
// process, and is never 0.
func (s *disk) Fingerprint(names ...string) uint64 {
	var f fingerprint
	for _, name := range names {
		f.add(s.identityAt(name))
	}
	return uint64(f) | 1
}

// FingerprintOld is Fingerprint of one name, 0 where a change might not show in it.
func (s *reader) FingerprintOld(name string) uint64 {
	info, err := s.fs.Stat(name)
	g := s.newGrain()
	if !g.known || err == nil && g.began.Sub(latest(info)) < coarseTick {
		return 0
	}
	var f fingerprint
	f.add(identityOf(info))
	return uint64(f) | 1
}

// fingerprint folds identities, in order.
type fingerprint uint64

var fingerprintSeed = maphash.MakeSeed()

func (f *fingerprint) add(id statcache.Identity) {
	*f = fingerprint(maphash.Comparable(fingerprintSeed, struct {
		before fingerprint
		id     statcache.Identity
	}{*f, id}))
}

// Invalidate has the next look at every run ask of every file: something may have
// happened that nobody was told of.
func (s *reader) Invalidate() { s.cache.Invalidate() }

// Suspect has the next look at a run stat a file, although it was written once. The run
// is named by its state document.
func (s *reader) Suspect(state, file string) {
	tree := s.cache.Get(state)
	if tree == nil {
		return
	}
	tree.Lock()
	defer tree.Unlock()
	if e := tree.At(file); e != nil {
		e.Immutable = false
	}
}

// Forget drops what is remembered of a run, but that it was seen. Its files are then
// looked at as if for the first time. A loop calls it for runs that are final or gone.
func (s *reader) Forget(run layout.Run) { s.cache.Drop(run.State) }

// Read reads one document by its path, settled or not as the rules say. The
// file says what it is; a Limit of 0 means that of state documents.
func (s *reader) Read(p string, f layout.File) engine.Document {
	d, _ := s.readOne(p, p, f)
	return d
}

// readOne reads one document by its path. Where its run, which a state document names, was
// looked at, what that has shown is used.
func (s *reader) readOne(state, p string, f layout.File) (engine.Document, time.Time) {
	a := ask{path: p, file: f}
	info, err := s.fs.Stat(p)
	if err == nil && f.Kind == layout.KindStateFile {
		s.states.begin(p)
	}
	g := s.newGrain()
	if tree := s.cache.Get(state); tree != nil && err == nil {
		tree.Lock()
		defer tree.Unlock()
		if e := tree.At(p); e != nil {
			return s.look(a, e, info, &g)
		}
	}
	known := s.cache.Outside(p).Known
	d, again := s.lookOutside(a, info, err, &g)
	if !known && again.IsZero() {
		s.cache.SetOutside(p, statcache.Entry{}) // there may be very many
	}
	return d, again
}

// Part is some of a run's files as one look found them.
type Part struct {
	// Docs are sorted by path. A file that does not exist is there with
	// engine.ErrAbsent.
	Docs []engine.Document
	// Again is when to look again because one of them is unsettled; zero: never.
	Again time.Time
	// Print is what PrintPart said before the files were read. Racy: one of them
	// is so young that a later change might not show in it.
	Print uint64
	Racy  bool
}

// LoadPart reads some of a run's files, named relative to its folder; "../" leads
// out of that. It waits for nothing. The error is what the system refused: nobody can
// tell what is in such a file. What is wrong with a file itself is its document's Err.
func (s *reader) LoadPart(run layout.Run, fam layout.Family, rels []string) (Part, error) {
	part := Part{Print: s.PrintPart(run, rels)}
	if part.Print == 0 {
		return Part{}, fmt.Errorf("cannot read what others must know of %s: %w", run.Dir, syscall.EIO)
	}
	g := s.newGrain()
	for _, rel := range rels {
		p := path.Join(run.Dir, rel)
		file, known := fam.File(run, rel)
		if !known || strings.HasPrefix(rel, "../") {
			file = layout.Outside(p)
		}
		info, err := s.fs.Stat(p)
		part.Racy = part.Racy || err == nil && g.hides(info)
		d, again := s.readOne(run.State, p, file)
		if errors.As(d.Err, new(syscall.Errno)) {
			return Part{}, d.Err
		}
		if !again.IsZero() && (part.Again.IsZero() || again.Before(part.Again)) {
			part.Again = again
		}
		part.Docs = append(part.Docs, d)
	}
	sortDocs(part.Docs)
	return part, nil
}

// PrintPart is Fingerprint of some of a run's files; 0 where it cannot be told whether
// one of them is there.
func (s *reader) PrintPart(run layout.Run, rels []string) uint64 {
	var f fingerprint
	for _, rel := range rels {
		p := path.Join(run.Dir, rel)
		info, err := s.fs.Stat(p)
		if err != nil && !errors.Is(unusable(p, err), engine.ErrAbsent) {
			return 0
		}
		f.add(identityOf(info))
	}
	return uint64(f) | 1
}
