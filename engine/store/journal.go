package store

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"sort"

	"placet/engine"
	"placet/engine/store/fs"
	"placet/layout"
	"placet/templates"
)

// joinLines joins the lines of each journal and keeps the order of the journals.
func joinLines(lines []engine.Line) (joined []engine.Line) {
	for _, l := range lines {
		i := slices.IndexFunc(joined, func(j engine.Line) bool { return j.Path == l.Path })
		if i < 0 {
			i, joined = len(joined), append(joined, engine.Line{Path: l.Path})
		}
		joined[i].Body = append(joined[i].Body, l.Body...)
	}
	return joined
}

// newJournals returns, as writes, the journals that a commit's lines begin. They are
// empty, because their names must be durable before the state that the lines account
// for.
func (s *syncer) newJournals(j *commit) (writes []*fileWrite, err error) {
	for _, l := range j.lines {
		_, err := s.disk.FS.Stat(l.Path)
		if errors.Is(err, os.ErrNotExist) {
			writes = append(writes, &fileWrite{commit: j, doc: engine.Document{Path: l.Path}})
		} else if err != nil {
			return nil, templates.Errorf("store.append", "file", l.Path, "error", err)
		}
	}
	return writes, nil
}

// appendLines adds a commit's lines to their journals, with one write for each journal.
// The run's next commit makes them durable.
func (s *syncer) appendLines(j *commit) error {
	for _, l := range j.lines {
		err := s.appendTo(l.Path, l.Body)
		if errors.Is(err, os.ErrNotExist) {
			return moved(l.Path) // its folder is gone
		}
		if err != nil {
			return templates.Errorf("store.append", "file", l.Path, "error", err)
		}
		s.addPendingJournal(j.run.State, l.Path)
	}
	return nil
}

// appendTo adds lines to one journal, after it has cut a torn last line.
func (s *syncer) appendTo(name string, text []byte) error {
	f, err := s.disk.FS.Open(name, fs.ForAppending, 0o666)
	if err != nil {
		return err
	}
	err = cutTorn(f)
	if err == nil {
		_, err = f.Write(text)
	}
	return errors.Join(err, f.Close())
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

// lastLine returns the offset after the last newline, 0 if there is none.
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

// addPendingJournal notes that a journal has lines that are not durable.
func (s *syncer) addPendingJournal(run, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pendingJournals[run] == nil {
		s.pendingJournals[run] = map[string]bool{}
	}
	s.pendingJournals[run][name] = true
}

// Finish makes the journals durable that a run's commits have left for its next commit; it
// does nothing if they left none. A loop calls it for runs that it releases, because their
// next commit may never come.
func (s *Store) Finish(run layout.Run) error {
	s.syncer.mu.Lock()
	owed := len(s.syncer.pendingJournals[run.State]) > 0
	s.syncer.mu.Unlock()
	if !owed {
		return nil
	}
	return s.committer.commit(&commit{run: run})[0]
}

// takePendingJournals returns, as writes, the journals that a commit must make durable
// first.
func (s *syncer) takePendingJournals(j *commit) []*fileWrite {
	s.mu.Lock()
	defer s.mu.Unlock()
	var writes []*fileWrite
	for run, owed := range s.pendingJournals {
		if !j.all && (run != j.run.State || run == "") {
			continue
		}
		for name := range owed {
			doc := engine.Document{Path: name}
			writes = append(writes, &fileWrite{commit: j, doc: doc, journal: true, run: run})
		}
		delete(s.pendingJournals, run)
	}
	sort.Slice(writes, func(a, b int) bool { return writes[a].doc.Path < writes[b].doc.Path })
	return writes
}
