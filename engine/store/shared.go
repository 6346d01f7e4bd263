package store

import (
	"strings"
	"time"

	"placet/layout"
)

// Shared is how a look saw what others write under a run's locks: the documents
// that are shared, one by one, and the folders that they lie in, whose names tell
// of new ones.
type Shared struct {
	began time.Time // of the look, by the file system's clock
	names []sharedName
}

type sharedName struct {
	path string
	id   identity
}

// mostShared is how many names are worth a look at each of them.
const mostShared = 2 * longRun

// share notes how something looked that others may write under the run's locks.
func (v *visit) share(p string, info Info) {
	if len(v.run.Locks) > 0 && len(v.shared) <= mostShared {
		v.shared = append(v.shared, sharedName{p, identityOf(info)})
	}
}

// guarded reports whether a folder of the run gets new names under its locks. What
// a reviewer writes is written without them, at any moment.
func (v *visit) guarded(rel string) bool {
	return rel != layout.RequestsDir && !strings.HasPrefix(rel, layout.RequestsDir+"/")
}

// sharing is what was noted, nil where that is of no use.
func (v *visit) sharing() *Shared {
	if len(v.shared) == 0 || len(v.shared) > mostShared || !v.clock {
		return nil
	}
	return &Shared{v.began, v.shared}
}

// StandsLocked reports, by stat alone, that nothing that others write under a run's
// locks is different from how a look found it before they were held: then a second
// look would show no more of it. It is false where a change might not show.
func (s *Store) StandsLocked(l Loaded) bool {
	if l.Shared == nil {
		return false
	}
	for _, n := range l.Shared.names {
		info, err := s.fs.Stat(n.path)
		if err != nil || identityOf(info) != n.id || racy(info, l.Shared.began) {
			return false
		}
	}
	return true
}
