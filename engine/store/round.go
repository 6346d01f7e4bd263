package store

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"syscall"

	"placet/engine"
)

// maxFailures is how many rounds of fsync in a row may fail.
const maxFailures = 3

// rounds carries out a batch of jobs: contents, names, and once more for what
// an fsync lost. Each job ends durable or with its err.
func (s *Store) rounds(batch []*job) {
	each(s.parallel, batch, s.prepare)
	for again := true; again; {
		s.contents(batch)
		each(s.parallel, going(batch), s.putInPlace)
		again = s.names(batch)
	}
	each(s.parallel, batch, s.finish)
}

// going are the jobs without an error.
func going(batch []*job) []*job {
	return slices.DeleteFunc(slices.Clone(batch), func(j *job) bool { return j.err != nil })
}

// contents is the first round: every new content becomes durable under a
// temporary name. What an fsync refused is thrown away and written anew.
func (s *Store) contents(batch []*job) {
	for {
		var todo []*put
		for _, j := range going(batch) {
			for _, p := range j.puts {
				if !p.written {
					todo = append(todo, p)
				}
			}
		}
		if len(todo) == 0 {
			return
		}
		each(s.parallel, todo, func(p *put) { p.err = s.write(p) })
		s.judge(todo)
	}
}

// judge ends the jobs of puts that cannot be written; those that only an fsync
// refused get another try.
func (s *Store) judge(tried []*put) {
	failed := false
	for _, p := range tried {
		failed = failed || errors.As(p.err, new(errSync))
	}
	s.count(contentRound, failed)
	for _, p := range tried {
		switch {
		case p.err == nil, p.job.err != nil:
		case !errors.As(p.err, new(errSync)):
			p.job.err = fmt.Errorf("cannot write %s: %w", p.doc.Path, p.err)
		case s.stopped.Load():
			p.job.err = fmt.Errorf("cannot write %s: %w (%w)", p.doc.Path, ErrStopped, p.err)
		}
	}
}

// The two rounds of a commit.
const (
	contentRound = iota
	nameRound
)

// count counts the rounds of one kind that failed in a row.
func (s *Store) count(round int, failed bool) {
	if !failed {
		s.failures[round].Store(0)
		return
	}
	if s.failures[round].Add(1) >= maxFailures {
		s.stopped.Store(true)
		s.once("stopped", "three rounds of fsync in a row failed; nothing more is written until placet is started again")
	}
}

// write makes one content durable.
func (s *Store) write(p *put) (err error) {
	switch {
	case p.there, p.journal:
		err = s.syncFile(p)
	default:
		err = s.writeTemp(p)
	}
	p.written = err == nil
	return err
}

// syncFile makes the bytes of a file durable that already has its name. If that
// fails the file is not trusted again: its bytes are written anew beside it.
func (s *Store) syncFile(p *put) error {
	c, err := s.present(p.doc.Path)
	if err != nil {
		return err
	}
	f, err := s.fs.Open(p.doc.Path, ForReading, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil {
		p.doc.Body, p.doc.Over, p.old = c.body, c.digest(), &c.info
		p.there, p.journal = false, false
		return syncError(err)
	}
	return nil
}

// names is the second round: every touched folder is synced. It returns true
// if a folder refused: what was put in place there is written anew.
func (s *Store) names(batch []*job) (again bool) {
	dirs := s.takeFolders()
	for _, j := range batch {
		dirs = slices.AppendSeq(dirs, maps.Keys(j.dirs))
	}
	slices.Sort(dirs)
	refused := s.syncDirs(slices.Compact(dirs))
	for _, j := range batch {
		again = s.redo(j, refused) || again
	}
	return again
}

// syncDirs syncs folders side by side and returns those that refused, which are
// owed from then on.
func (s *Store) syncDirs(dirs []string) (refused map[string]error) {
	if len(dirs) == 0 {
		return nil
	}
	errs := make([]error, len(dirs))
	each(s.parallel, upTo(len(dirs)), func(i int) { errs[i] = s.fs.SyncDir(dirs[i]) })
	s.count(nameRound, slices.ContainsFunc(errs, func(err error) bool { return err != nil && !passing(err) }))
	refused = map[string]error{}
	for i, err := range errs {
		if err != nil {
			refused[dirs[i]] = err
			s.oweFolder(dirs[i])
		}
	}
	return refused
}

func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// passing reports whether an error of a folder's sync came from opening it, or
// says that space ran out: nothing is lost yet, the sync is owed.
func passing(err error) bool {
	for _, e := range []error{
		fs.ErrNotExist, fs.ErrPermission, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM,
		syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.ENOTDIR,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return errors.As(err, new(*NotRegular))
}

// redo prepares a job to put in place anew what lies in folders that refused to
// be synced, and reports whether there is any.
func (s *Store) redo(j *job, refused map[string]error) bool {
	var cause error
	owed := map[string]bool{}
	for dir := range j.dirs {
		if err := refused[dir]; err != nil {
			cause, owed[dir] = err, true
		}
	}
	j.dirs = owed
	if cause == nil || j.err != nil {
		return false
	}
	if s.stopped.Load() {
		j.err = fmt.Errorf("cannot make %s durable: %w (%w)", j.what(), ErrStopped, cause)
		return false
	}
	if passing(cause) || !s.anew(j, owed) {
		j.err = fmt.Errorf("cannot make %s durable: %w", j.what(), cause)
		return false
	}
	return true
}

// anew prepares what was put in place in some folders to be written once more,
// over itself, and reports whether there is any.
func (s *Store) anew(j *job, dirs map[string]bool) (any bool) {
	for _, p := range j.puts {
		if p.placed && !p.journal && dirs[path.Dir(p.doc.Path)] {
			s.settleDisplaced(p)
			p.doc.Over = engine.Sum(p.doc.Body)
			p.there, p.written, p.placed = false, false, false
			any = true
		}
	}
	return any
}

// what names a job in an error.
func (j *job) what() string {
	if n := len(j.puts); n > 0 {
		return j.puts[n-1].doc.Path
	}
	if len(j.removes) > 0 {
		return "the removal of " + j.removes[0]
	}
	return j.run.Dir
}
