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
	many  int // the number of files from which on a round is one sync of everything

	mu sync.Mutex
	// pendingJournals are the journals with lines that are not durable yet, by run.
	pendingJournals map[string]map[string]bool
	// pendingDirs are the folders that still must be synced; true if a sync of the folder
	// has failed.
	pendingDirs map[string]bool

	// failures counts the consecutive rounds of fsync that failed, separately for
	// contents and for names.
	failures    [2]atomic.Int32
	stopped     atomic.Bool
	failedSyncs sync.Map // files whose fsync failed and that were not written anew since
}

// maxFailures is how many consecutive rounds of fsync may fail.
const maxFailures = 3

// rounds carries out a batch of commits. Each commit ends durable or with an error in
// err.
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

// contents is the first round: every new content becomes durable under a temporary name.
// A content whose fsync failed is discarded and written anew.
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

// unwritten returns the contents that are not durable yet.
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

// failWrites ends the commits of contents that cannot be written. A content of which only
// the fsync failed gets another try.
func (s *syncer) failWrites(tried []*fileWrite) {
	failed := false
	for _, p := range tried {
		failed = failed || errors.As(p.err, new(errSync))
	}
	s.countFailure(contentRound, failed)
	for _, p := range tried {
		switch {
		case p.err == nil, p.commit.err != nil:
		case errors.Is(p.err, os.ErrNotExist): // its folder is gone
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

// countFailure counts the consecutive rounds of one kind that failed.
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

// writePhased writes contents and syncs each of them after all are written: the first
// sync of files on one disk then also writes the others, which find their work done.
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

// write writes one content, unless it already has its name. With sync, the caller syncs
// it next; without, write describes a file that has its name.
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

// syncFile makes the bytes of a file durable that already has its name. If that fails,
// the file is not trusted again, and its bytes are written anew beside it.
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

// ignoreGone drops the error for a journal that others have removed or replaced by
// something else, because nothing of it is left to make durable.
func (p *fileWrite) ignoreGone(err error) error {
	if p.journal && (errors.Is(disk.Unusable(p.doc.Path, err), engine.ErrAbsent) || errors.As(err, new(*fs.NotRegular))) {
		return nil
	}
	return err
}

// hasFailedSync reports whether an fsync of a file has failed and the file was not
// written anew since. Another fsync of it would not report the loss.
func (s *syncer) hasFailedSync(p *fileWrite) bool {
	_, is := s.failedSyncs.Load(p.doc.Path)
	return is && (p.there || p.journal)
}

// writeAnew turns the write of a file that already has its name into one that writes its
// bytes anew and replaces it.
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

// names is the second round: every touched folder is synced, also those of commits that
// ended early. A folder whose sync failed is changed once more before it is synced again,
// because otherwise the second sync would not report what the first has lost.
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

// syncDirs syncs folders in parallel and returns the errors by folder.
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

// touchDir changes a folder and leaves nothing in it.
func (s *syncer) touchDir(dir string) error {
	name := s.temps.tempName(path.Join(dir, "x"))
	f, err := s.disk.FS.Open(name, fs.ForCreating, 0o666)
	if err != nil {
		return err
	}
	s.disk.Remove(name) // the folder is changed, whether that works or not
	return f.Close()
}

// isPassing reports whether an error of a folder's sync came from opening it, or says
// that space ran out. Nothing is lost then, and the sync can be done later.
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

// sayStopped adds to the error of an fsync that nothing more is written, if the store has
// stopped.
func (s *syncer) sayStopped(err error) error {
	if s.stopped.Load() {
		return fmt.Errorf("%w (%w)", ErrStopped, err)
	}
	return err
}

const (
	// manyFiles is the number of files or folders from which on a round of fsync is one
	// sync of the whole file system: a burst then costs as much as one commit. That is
	// not done for fewer, because it also waits for what other programs have written.
	manyFiles = 64
	// othersShare bounds the bytes that wait to be written on this machine, for each file
	// or folder of the round: a few times what the round itself has written. If more are
	// waiting, because a build runs beside placet, for example, one sync for each file is
	// faster.
	othersShare = 16 << 10
)

// useSyncfs reports whether to make so many files or folders durable with one sync of
// everything.
func (s *syncer) useSyncfs(files int) bool {
	if files < s.many {
		return false
	}
	waiting, known := s.disk.FS.Unwritten()
	return !known || waiting <= int64(files)*othersShare
}

// syncWrites makes many written contents durable with one sync for each file system that
// they are on. It reports whether such a sync exists; if not, they must be written again.
// An error does not say what was lost, so all contents of that file system are discarded.
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

// syncAll syncs the file system of a folder. had is false if that was impossible, and
// nothing is lost then. If the file system has no such sync, syncAll is not tried again.
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

// discard discards a content that a sync of everything has not made durable. cause is nil
// if there was no such sync.
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

// touchNewDirs changes the folders in which others were made, because a failed sync of
// everything may have lost the names of these. A folder that cannot be changed now is
// left for the next commit.
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

// syncManyDirs syncs many folders with one sync for each file system, and reports whether
// that was possible.
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
