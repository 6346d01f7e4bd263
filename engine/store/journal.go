package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path"
	"sort"

	"placet/engine"
	"placet/engine/store/fs"
	"placet/layout"
)

// appendLines adds a commit's lines to their journals, one write for each. They
// are made durable by the run's next commit.
func (s *syncer) appendLines(j *commit) error {
	texts := map[string][]byte{}
	var names []string
	for _, l := range j.lines {
		if texts[l.Path] == nil {
			names = append(names, l.Path)
		}
		texts[l.Path] = append(texts[l.Path], l.Body...)
	}
	for _, name := range names {
		created, err := s.appendTo(name, texts[name])
		if created || err == nil {
			s.oweJournal(j.run.State, name, created)
		}
		if errors.Is(err, os.ErrNotExist) {
			return moved(name) // its folder went away
		}
		if err != nil {
			return fmt.Errorf("cannot append to %s: %w", name, err)
		}
		if !created {
			continue
		}
		if err := s.keepName(name); err != nil {
			return fmt.Errorf("cannot make the name of %s durable: %w", name, err)
		}
	}
	return nil
}

// keepName makes the name of a new journal durable. A journal is made once: its
// name must be durable before the next state is, or the first line could be lost
// behind it. Where the folder refuses it is changed once more, so that the sync
// which is owed now means something.
func (s *syncer) keepName(name string) error {
	dir := path.Dir(name)
	err := s.fs.SyncDir(dir)
	if err != nil && !passing(err) {
		return errors.Join(err, s.touchDir(dir))
	}
	return err
}

// appendTo adds lines to one journal, after cutting a torn last line.
func (s *syncer) appendTo(name string, text []byte) (created bool, err error) {
	_, err = s.fs.Stat(name)
	if created = errors.Is(err, os.ErrNotExist); err != nil && !created {
		return false, err // it could not be told whether the name is new
	}
	f, err := s.fs.Open(name, fs.ForAppending, 0o666)
	if err != nil {
		return false, err
	}
	err = cutTorn(f)
	if err == nil {
		_, err = f.Write(text)
	}
	return created, errors.Join(err, f.Close())
}

// cutTorn cuts a journal after its last newline.
func cutTorn(f fs.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	whole, err := lastLine(f, info.Size)
	if err != nil || whole == info.Size {
		return err
	}
	return f.Truncate(whole)
}

// lastLine returns the offset behind the last newline, 0 if there is none.
func lastLine(f fs.File, size int64) (int64, error) {
	buf := make([]byte, 4096)
	for end := size; end > 0; {
		part := buf[:min(end, int64(len(buf)))]
		start := end - int64(len(part))
		if n, err := f.ReadAt(part, start); n < len(part) {
			return 0, err
		}
		if i := bytes.LastIndexByte(part, '\n'); i >= 0 {
			return start + int64(i) + 1, nil
		}
		end = start
	}
	return 0, nil
}

// oweJournal notes that a journal has lines that are not durable.
func (s *syncer) oweJournal(run, name string, created bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	owed := s.journals[run]
	if owed == nil {
		owed = map[string]bool{}
		s.journals[run] = owed
	}
	owed[name] = owed[name] || created
}

// Finish makes durable what the commits of a run have left for its next one; where
// they left nothing, it does nothing. A loop calls it for runs that it lets go of:
// their next commit may never come.
func (s *committer) Finish(run layout.Run) error {
	s.mu.Lock()
	owed := len(s.journals[run.State]) > 0
	s.mu.Unlock()
	if !owed {
		return nil
	}
	return s.commit(&commit{run: run})[0]
}

// takeJournals returns, as writes, the journals that a commit makes durable first.
func (s *syncer) takeJournals(j *commit) []*fileWrite {
	s.mu.Lock()
	defer s.mu.Unlock()
	var writes []*fileWrite
	for run, owed := range s.journals {
		if !j.all && (run != j.run.State || run == "") {
			continue
		}
		for name, created := range owed {
			doc := engine.Document{Path: name}
			writes = append(writes, &fileWrite{commit: j, doc: doc, journal: true, newName: created, run: run})
		}
		delete(s.journals, run)
	}
	sort.Slice(writes, func(a, b int) bool { return writes[a].doc.Path < writes[b].doc.Path })
	return writes
}
