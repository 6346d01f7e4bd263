package store

import (
	"errors"
	"maps"
	"path"
	"slices"

	"placet/engine/store/fs"
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

// writeMany makes many contents durable with one sync for each file system they
// lie in, and with one for each file where there is no such sync.
func (s *syncer) writeMany(todo []*fileWrite) {
	each(s.parallel, todo, func(p *fileWrite) { p.err = s.writeUnsynced(p) })
	devices := map[uint64][]*fileWrite{}
	for _, p := range todo {
		if p.err == nil {
			devices[p.info.Device] = append(devices[p.info.Device], p)
		}
	}
	for _, writes := range devices {
		err := s.fs.SyncAll(path.Dir(writes[0].doc.Path))
		if err != nil {
			s.touchNewDirs(writes)
		}
		each(s.parallel, writes, func(p *fileWrite) { p.err = s.wrote(p, s.synced(p, err)) })
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
			s.oweFolder(dir, lostSync{err})
		}
	})
}

// writeUnsynced writes one content and learns which file system it is on.
func (s *syncer) writeUnsynced(p *fileWrite) error {
	if !p.there && !p.journal {
		return s.writeTemp(p, false)
	}
	info, err := s.fs.Stat(p.doc.Path)
	p.info = fs.Info{Device: info.Device}
	return p.gone(err)
}

// synced ends one content's part in a sync of everything. What such a sync has
// lost nobody can tell, so after an error all of it is thrown away.
func (s *syncer) synced(p *fileWrite, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errors.ErrUnsupported) || passing(err):
		return s.syncOne(p)
	case p.there, p.journal:
		return s.distrust(p, syncError(err))
	}
	s.dropTemp(p.temp)
	p.temp = ""
	return syncError(err)
}

// syncOne syncs one content by itself.
func (s *syncer) syncOne(p *fileWrite) error {
	if p.there || p.journal {
		return s.syncFile(p)
	}
	f, err := s.fs.Open(p.temp, fs.ForReading, 0)
	if err == nil {
		err = syncError(f.Sync())
		f.Close()
	}
	if err != nil {
		s.dropTemp(p.temp)
		p.temp = ""
	}
	return err
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
		err := s.fs.SyncAll(dir)
		switch {
		case err == nil:
		case errors.Is(err, errors.ErrUnsupported) || passing(err):
			return false
		default:
			for i := range errs {
				errs[i] = err
			}
		}
	}
	return true
}
