package store

import (
	"errors"
	"path"
	"strings"
	"syscall"
	"time"

	"placet/engine"
	"placet/layout"
)

// Part is some of a run's files as one look found them.
type Part struct {
	// Docs are sorted by path. A file that does not exist is there with
	// engine.ErrAbsent.
	Docs []engine.Document
	// Again is when to look again because one of them is unsettled; zero: never.
	Again time.Time
	// Print is what PrintPart said before the files were read. Racy: one of them
	// is so young that a later change might not show in it.
	Print uint64
	Racy  bool
}

// LoadPart reads some of a run's files, named relative to its folder; "../" leads
// out of that. It waits for nothing, and costs the memory of later looks nothing:
// what settles by its age alone is not remembered. The error is what the system
// refused: nobody can tell what is in such a file. What is wrong with a file itself
// is its document's Err.
func (s *Store) LoadPart(run layout.Run, fam layout.Family, rels []string) (Part, error) {
	var part Part
	var g glance
	began, clock := s.diskNow(staleClock)
	for _, rel := range rels {
		p := path.Join(run.Dir, rel)
		info, err := s.fs.Stat(p)
		g.add(&s.memory, info, err == nil)
		var d engine.Document
		if err != nil {
			d = engine.Document{Path: p, Err: unusable(p, err)}
		} else {
			part.Racy = part.Racy || !clock || racy(info, began)
			d = s.lookPart(run, fam, rel, info, &part)
		}
		if errors.As(d.Err, new(syscall.Errno)) {
			return Part{}, d.Err
		}
		part.Docs = append(part.Docs, d)
	}
	sortDocs(part.Docs)
	part.Print = g.number
	return part, nil
}

// lookPart looks at one file of a part.
func (s *Store) lookPart(run layout.Run, fam layout.Family, rel string, info Info, part *Part) engine.Document {
	a := s.askPart(run, fam, rel)
	known, kept := s.memory.has(a.at), s.memory.bodies.has(a.path)
	d, again := s.look(a, info)
	if !again.IsZero() && (part.Again.IsZero() || again.Before(part.Again)) {
		part.Again = again
	}
	if !known && again.IsZero() {
		s.memory.put(a.at, trace{})
	}
	if !kept {
		s.memory.bodies.letGo([]engine.Document{d})
	}
	return d
}

// askPart says what a file of a part is, and where its trace is kept: with the
// run's, where the run is looked at as a whole too.
func (s *Store) askPart(run layout.Run, fam layout.Family, rel string) ask {
	p := path.Join(run.Dir, rel)
	a := ask{path: p, file: layout.Outside(p), at: s.memory.beside(p), need: true}
	if file, ok := fam.File(run, rel); ok && !strings.HasPrefix(rel, "../") {
		a.file = file
		if at, ok := s.memory.partOf(run, rel); ok {
			a.at, a.need = at, false
		}
	}
	return a
}

// partOf is the place of a file in a run that was looked at as a whole.
func (m *memory) partOf(run layout.Run, rel string) (place, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.runs[run.State]
	if f == nil {
		return place{}, false
	}
	return m.inside(f, rel), true
}

// PrintPart makes one number of what stat says of some of a run's files, as
// [Store.Glance] does of names; 0, which is no Print, where it cannot be told
// whether one of them is there.
func (s *Store) PrintPart(run layout.Run, rels []string) uint64 {
	var g glance
	for _, rel := range rels {
		p := path.Join(run.Dir, rel)
		info, err := s.fs.Stat(p)
		if err != nil && !errors.Is(unusable(p, err), engine.ErrAbsent) {
			return 0
		}
		g.add(&s.memory, info, err == nil)
	}
	return g.number
}
