package store

import (
	"cmp"
	"errors"
	"maps"
	"math"
	"path"
	"slices"
)

const (
	// manyFiles is from how many files or folders on a round of fsync is one sync of
	// the whole file system: a burst costs as much as one commit then. It is not
	// done for fewer, because it also waits for what other programs have written.
	manyFiles = 64
	// othersShare bounds what waits to be written on this machine, for each file or
	// folder of the round: a few times what the round itself has written. Where
	// there is more, a build runs beside placet, say, one sync for each is faster.
	othersShare = 16 << 10
)

// useSyncfs reports whether so many files or folders are made durable by one sync of
// everything.
func (s *syncer) useSyncfs(files int) bool {
	if files < s.many {
		return false
	}
	waiting, known := s.fs.Unwritten()
	return !known || waiting <= int64(files)*othersShare
}

// syncWrites makes many written contents durable with one sync for each file system
// that they lie in. It reports whether there is such a sync: else they are to be written
// again. An error does not say what was lost, so all of it is thrown away.
func (s *syncer) syncWrites(todo []*fileWrite) (ok bool) {
	devices := map[uint64][]*fileWrite{}
	for _, p := range todo {
		if p.err == nil {
			devices[p.info.Device] = append(devices[p.info.Device], p)
		}
	}
	ok = true
	for _, writes := range devices {
		had, err := s.syncAll(path.Dir(writes[0].doc.Path))
		if had && err == nil {
			continue
		}
		if ok = ok && had; had {
			s.touchNewDirs(writes)
		}
		each(s.parallel, writes, func(p *fileWrite) { s.discard(p, err) })
	}
	return ok
}

// syncAll syncs the file system that a folder lies in. had is false where that could not be
// had, and nothing is lost. Where there is no such sync, it is not asked for again.
func (s *syncer) syncAll(dir string) (had bool, err error) {
	err = s.fs.SyncAll(dir)
	if errors.Is(err, errors.ErrUnsupported) {
		s.many = math.MaxInt
		return false, nil
	}
	if isPassing(err) {
		return false, nil
	}
	return true, err
}

// discard throws a content away that a sync of everything has not made durable, nil where
// it could not be had.
func (s *syncer) discard(p *fileWrite, cause error) {
	p.again = true
	switch inPlace := p.there || p.journal; {
	case !inPlace:
		s.dropTemp(p.temp)
		p.temp, p.err = "", syncError(cause)
	case cause != nil:
		p.err = s.writeAnew(p, syncError(cause))
	}
}

// touchNewDirs changes the folders that have got new ones, whose names a sync of
// everything that failed may have lost. One that cannot be changed now is owed.
func (s *syncer) touchNewDirs(writes []*fileWrite) {
	dirs := map[string]bool{}
	for _, p := range writes {
		maps.Copy(dirs, p.commit.dirs)
	}
	each(s.parallel, slices.Sorted(maps.Keys(dirs)), func(dir string) {
		if err := s.touchDir(dir); err != nil {
			s.addPendingDir(dir, lostSync{err})
		}
	})
}

// syncManyDirs syncs many folders with one sync for each file system, and
// reports whether it could.
func (s *syncer) syncManyDirs(dirs []string, errs []error) bool {
	devices := map[uint64]string{}
	for _, dir := range dirs {
		info, err := s.fs.Stat(dir)
		if err != nil {
			return false
		}
		devices[info.Device] = dir
	}
	for _, dir := range devices {
		had, err := s.syncAll(dir)
		if !had {
			return false
		}
		for i := range errs {
			errs[i] = cmp.Or(errs[i], err)
		}
	}
	return true
}
