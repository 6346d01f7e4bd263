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

// remember notes a file that placet itself has written, which counts as settled at once. A file
// that is written once is not read again before the next scan of all runs.
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

// written returns the document that a write has made, nil if the file may change and must be
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

// forgetOwn notes that placet itself removed a document of a run, so that the document does not
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

// takePendingDirs returns the folders that still must be synced. A folder whose last sync
// failed is changed first, because otherwise the next sync would not report what the failed one
// has lost; if it cannot be changed, its sync is refused.
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

// lostSync says why a folder whose sync has failed is still not synced.
type lostSync struct{ error }

func (l lostSync) Unwrap() error { return l.error }

// addPendingDir notes that the next commit must sync a folder, and why that has not happened
// yet.
func (s *syncer) addPendingDir(dir string, cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	lost := errors.As(cause, new(lostSync)) || !isPassing(cause)
	s.pendingDirs[dir] = s.pendingDirs[dir] || lost
}
