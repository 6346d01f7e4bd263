package store

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"maps"
	"path"
	"slices"
	"strings"

	"placet/engine"
	"placet/engine/store/disk"
	"placet/engine/store/read"
	"placet/engine/store/statcache"
	"placet/layout"
)

// cleanUpAndAppend ends a commit. It removes what the commit displaced and its temporary names,
// remembers its documents, and appends its lines.
func (s *committer) cleanUpAndAppend(j *commit) {
	for _, p := range j.writes {
		s.swapper.settleDisplaced(p)
	}
	for _, p := range j.writes {
		s.temps.dropTemp(p.temp)
		p.temp = ""
		if p.placed && !p.there && !p.journal {
			s.syncer.failedSyncs.Delete(p.doc.Path)
		}
		switch {
		case p.run != "" && !p.placed:
			s.syncer.addPendingJournal(p.run, p.doc.Path)
		case p.placed && j.err == nil && p.info.Inode != 0 && len(p.doc.Body) > 0: // a journal begins empty
			s.remember(j, p)
		}
	}
	if j.err == nil {
		s.confirm(j)
		j.err = s.syncer.appendLines(j)
	}
}

// remember notes what placet itself has put in place: it is settled at once. What is
// written once is not read again before the next scan of all runs.
func (s *committer) remember(j *commit, p *fileWrite) {
	sum := sha256.Sum256(p.doc.Body)
	e := statcache.Entry{
		Known: true, Own: true, Racy: true, ID: disk.IdentityOf(p.info), Sum: binary.NativeEndian.Uint64(sum[:]), Since: s.disk.Age(),
	}
	if rel, inside := strings.CutPrefix(p.doc.Path, j.run.Dir+"/"); inside && j.run.State != "" {
		if e.Doc = s.written(j, p, rel); e.Doc != nil {
			e.Immutable = true
		}
		tree := s.seen.Tree(j.run)
		tree.Lock()
		tree.Set(p.doc.Path, e)
		tree.Unlock()
	}
	e.Doc, e.Immutable = nil, false
	if s.seen.Cache.Outside(p.doc.Path).Known {
		s.seen.Cache.SetOutside(p.doc.Path, e)
	}
}

// written is the document that a write has made, nil where it may change: then it must be
// read.
func (s *committer) written(j *commit, p *fileWrite, rel string) *engine.Document {
	if j.fam == nil || !p.created() || len(p.doc.Body) > read.KeepBody {
		return nil
	}
	file, known := j.fam.File(j.run, rel)
	if !known || !file.Once && file.Kind != layout.KindRequest && file.Kind != layout.KindReceipt {
		return nil
	}
	return &engine.Document{
		Path: p.doc.Path, Kind: file.Kind, Body: p.doc.Body, Sum: engine.Sum(p.doc.Body), Changed: p.info.Changed,
		Known: s.seen.Owner(file, p.info), Parsed: new(engine.Parsed),
	}
}

// forgetOwn notes that placet itself removed a document of a run, so that it does not
// count as vanished.
func (s *committer) forgetOwn(run layout.Run, name string) {
	tree := s.seen.Cache.Lock(run.State)
	defer tree.Unlock()
	if e := tree.At(name); e != nil {
		e.Known = false
	}
	if e := tree.At(path.Dir(name)); e != nil {
		e.Racy = true
	}
}

// takePendingDirs returns the folders whose sync is owed. Those whose last sync failed
// are changed first, or the next one would say nothing about what that has lost;
// where that cannot be done, the sync is refused.
func (s *syncer) takePendingDirs() (dirs []string, refused map[string]error) {
	s.mu.Lock()
	owed := s.pendingDirs
	s.pendingDirs = map[string]bool{}
	s.mu.Unlock()
	refused = map[string]error{}
	for _, dir := range slices.Sorted(maps.Keys(owed)) {
		if owed[dir] {
			if err := s.touchDir(dir); err != nil {
				refused[dir] = lostSync{err}
				continue
			}
		}
		dirs = append(dirs, dir)
	}
	return dirs, refused
}

// lostSync is why a folder is still not synced whose sync has failed before.
type lostSync struct{ error }

func (l lostSync) Unwrap() error { return l.error }

// addPendingDir notes that a folder is to be synced by the next commit, and why it is
// not yet.
func (s *syncer) addPendingDir(dir string, cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	lost := errors.As(cause, new(lostSync)) || !isPassing(cause)
	s.pendingDirs[dir] = s.pendingDirs[dir] || lost
}
