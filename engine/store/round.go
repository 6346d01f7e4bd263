package store

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"

	"placet/engine"
	"placet/engine/store/disk"
	"placet/engine/store/fs"
	"placet/templates"
)

// syncer makes contents and names durable.
type syncer struct {
	disk  *disk.Disk
	temps *temps
	many  int // from how many files on a round is one sync of everything

	mu sync.Mutex
	// pendingJournals are those with lines that are not durable yet, by run.
	pendingJournals map[string]map[string]bool
	// pendingDirs are those whose sync is owed; true where one has failed.
	pendingDirs map[string]bool

	// failures counts the rounds of fsync that failed in a row, those of
	// contents and those of names.
	failures    [2]atomic.Int32
	stopped     atomic.Bool
	failedSyncs sync.Map // files that an fsync refused and that were not written anew since
}

// maxFailures is how many rounds of fsync in a row may fail.
const maxFailures = 3

// rounds carries out a batch of commits. Each ends durable or with its err.
func (s *committer) rounds(batch []*commit) {
	s.disk.RemoveAgain()
	s.syncLeftovers(batch)
	each(s.disk.Parallel, withoutError(batch), s.prepare)
	waitRecorded := s.issue(withoutError(batch))
	s.syncer.contents(batch)
	waitRecorded()
	each(s.disk.Parallel, withoutError(batch), s.renameCommit)
	s.syncer.names(batch)
	each(s.disk.Parallel, batch, s.cleanUpAndAppend)
}

// withoutError returns the commits without an error.
func withoutError(batch []*commit) []*commit {
	return slices.DeleteFunc(slices.Clone(batch), func(j *commit) bool { return j.err != nil })
}

// contents is the first round: every new content becomes durable under a
// temporary name. What an fsync refused is thrown away and written anew.
func (s *syncer) contents(batch []*commit) {
	one := false // each file by itself
	for todo := unwritten(batch); len(todo) > 0; todo = unwritten(batch) {
		one = one || !s.useSyncfs(len(todo))
		if one {
			s.writePhased(todo)
		} else {
			each(s.disk.Parallel, todo, func(p *fileWrite) { p.err = s.write(p, false) })
			one = !s.syncWrites(todo)
		}
		each(s.disk.Parallel, todo, func(p *fileWrite) {
			if p.err == nil && !p.again {
				p.err = s.temps.nameSwap(p)
				p.written = p.err == nil
			}
		})
		s.failWrites(todo)
	}
}

// unwritten are the contents that are not durable yet.
func unwritten(batch []*commit) (todo []*fileWrite) {
	for _, j := range withoutError(batch) {
		for _, p := range j.writes {
			if p.again = false; !p.written {
				todo = append(todo, p)
			}
		}
	}
	return todo
}

// failWrites ends the commits of writes that cannot be written; those that only an fsync
// refused get another try.
func (s *syncer) failWrites(tried []*fileWrite) {
	failed := false
	for _, p := range tried {
		failed = failed || errors.As(p.err, new(errSync))
	}
	s.countFailure(contentRound, failed)
	for _, p := range tried {
		switch {
		case p.err == nil, p.commit.err != nil:
		case errors.Is(p.err, os.ErrNotExist): // its folder went away
			p.commit.err = moved(p.doc.Path)
		case !errors.As(p.err, new(errSync)) || s.stopped.Load():
			p.commit.err = templates.Errorf("store.write", "file", p.doc.Path, "error", s.sayStopped(p.err))
		}
	}
}

// The two rounds of a commit.
const (
	contentRound = iota
	nameRound
)

// countFailure counts the rounds of one kind that failed in a row.
func (s *syncer) countFailure(round int, failed bool) {
	if !failed {
		s.failures[round].Store(0)
		return
	}
	if s.failures[round].Add(1) >= maxFailures {
		s.stopped.Store(true)
		s.disk.Once("stopped", "three rounds of fsync in a row failed; nothing more is written until placet is started again")
	}
}

// writePhased writes contents, and syncs each when all are written: the first sync of files
// that lie on one disk finds all of them, and the others find their work done.
func (s *syncer) writePhased(todo []*fileWrite) {
	for some := range slices.Chunk(todo, s.disk.Parallel) {
		each(s.disk.Parallel, some, func(p *fileWrite) { p.err = s.write(p, true) })
		each(s.disk.Parallel, some, func(p *fileWrite) {
			switch {
			case p.err != nil:
			case p.file != nil:
				p.err = s.temps.syncTemp(p)
			default:
				p.err = s.syncFile(p)
			}
		})
	}
}

// write writes one content, if it has not its name already. With sync it is to be synced next;
// without, what has its name is described.
func (s *syncer) write(p *fileWrite, sync bool) error {
	switch {
	case !p.there && !p.journal:
		return s.temps.writeTemp(p, sync)
	case sync:
		return nil
	}
	info, err := s.disk.FS.Stat(p.doc.Path)
	p.info = fs.Info{Device: info.Device}
	return p.ignoreGone(err)
}

// syncFile makes the bytes of a file durable that already has its name. If that
// fails the file is not trusted again: its bytes are written anew beside it.
func (s *syncer) syncFile(p *fileWrite) error {
	f, err := s.disk.FS.Open(p.doc.Path, fs.ForReading, 0)
	if err != nil {
		return p.ignoreGone(err)
	}
	defer f.Close()
	if err := syncError(f.Sync()); err != nil {
		return s.writeAnew(p, err)
	}
	return nil
}

// ignoreGone lets a journal be that others have removed or replaced by something else:
// there is nothing left of it to make durable.
func (p *fileWrite) ignoreGone(err error) error {
	if p.journal && (errors.Is(disk.Unusable(p.doc.Path, err), engine.ErrAbsent) || errors.As(err, new(*fs.NotRegular))) {
		return nil
	}
	return err
}

// hasFailedSync reports whether an fsync of a file has failed, and the file was
// not written anew since: another fsync of it would say nothing.
func (s *syncer) hasFailedSync(p *fileWrite) bool {
	_, is := s.failedSyncs.Load(p.doc.Path)
	return is && (p.there || p.journal)
}

// writeAnew makes a write of a file that already has its name one that is written
// anew, over itself.
func (s *syncer) writeAnew(p *fileWrite, cause error) error {
	s.failedSyncs.Store(p.doc.Path, true)
	c, err := s.disk.Read(p.doc.Path, disk.MaxArtifact, false)
	if err != nil {
		return p.ignoreGone(err)
	}
	p.doc.Body, p.doc.Over, p.old = c.Body, c.Digest(), &c.Info
	p.there, p.journal = false, false
	return cause
}

// names is the second round: every touched folder is synced, those of commits that
// ended early too. A folder that refused is changed once more before it is synced
// again: the second sync would say nothing about what the first has lost.
func (s *syncer) names(batch []*commit) {
	dirs, refused := s.takePendingDirs()
	for _, j := range batch {
		dirs = slices.AppendSeq(dirs, maps.Keys(j.dirs))
	}
	slices.Sort(dirs)
	dirs = slices.DeleteFunc(slices.Compact(dirs), func(dir string) bool { return refused[dir] != nil })
	for len(dirs) > 0 {
		errs := s.syncDirs(dirs)
		maps.Copy(refused, errs)
		dirs = slices.DeleteFunc(dirs, func(dir string) bool {
			if errs[dir] == nil {
				delete(refused, dir)
				return true
			}
			return isPassing(errs[dir]) || s.stopped.Load() || s.touchDir(dir) != nil
		})
	}
	for dir, err := range refused {
		if !errors.Is(disk.Unusable(dir, err), engine.ErrAbsent) {
			s.addPendingDir(dir, err)
		}
	}
	for _, j := range batch {
		s.failNames(j, refused)
	}
}

// syncDirs syncs folders side by side and returns what refused.
func (s *syncer) syncDirs(dirs []string) map[string]error {
	errs := make([]error, len(dirs))
	if !s.useSyncfs(len(dirs)) || !s.syncManyDirs(dirs, errs) {
		eachIndex(s.disk.Parallel, len(dirs), func(i int) { errs[i] = s.disk.FS.SyncDir(dirs[i]) })
	}
	s.countFailure(nameRound, slices.ContainsFunc(errs, func(err error) bool { return err != nil && !isPassing(err) }))
	refused := map[string]error{}
	for i, err := range errs {
		if err != nil {
			refused[dirs[i]] = err
		}
	}
	return refused
}

// touchDir changes a folder without leaving anything in it.
func (s *syncer) touchDir(dir string) error {
	name := s.temps.tempName(path.Join(dir, "x"))
	f, err := s.disk.FS.Open(name, fs.ForCreating, 0o666)
	if err != nil {
		return err
	}
	s.disk.Remove(name) // the folder is changed, whether that works or not
	return f.Close()
}

// isPassing reports whether an error of a folder's sync came from opening it, or
// says that space ran out: nothing is lost yet, the sync is owed.
func isPassing(err error) bool {
	return disk.IsScarce(err) || errors.As(err, new(*fs.NotRegular)) || disk.IsAny(err,
		os.ErrNotExist, os.ErrPermission, syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.ENOTDIR)
}

// failNames ends a commit whose names may not be durable.
func (s *syncer) failNames(j *commit, refused map[string]error) {
	for _, dir := range slices.Sorted(maps.Keys(j.dirs)) {
		if cause := refused[dir]; cause != nil && j.err == nil {
			j.err = templates.Errorf("store.durable", "file", dir, "error", s.sayStopped(cause))
		}
	}
}

// sayStopped adds to the error of an fsync that nothing more is written, if that is so.
func (s *syncer) sayStopped(err error) error {
	if s.stopped.Load() {
		return fmt.Errorf("%w (%w)", ErrStopped, err)
	}
	return err
}

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
	waiting, known := s.disk.FS.Unwritten()
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
		each(s.disk.Parallel, writes, func(p *fileWrite) { s.discard(p, err) })
	}
	return ok
}

// syncAll syncs the file system that a folder lies in. had is false where that could not be
// had, and nothing is lost. Where there is no such sync, it is not asked for again.
func (s *syncer) syncAll(dir string) (had bool, err error) {
	err = s.disk.FS.SyncAll(dir)
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
		s.temps.dropTemp(p.temp)
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
	each(s.disk.Parallel, slices.Sorted(maps.Keys(dirs)), func(dir string) {
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
		info, err := s.disk.FS.Stat(dir)
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
