package store

import (
	"slices"

	"placet/engine/store/statcache"
	"placet/layout"
)

// Record returns what the last look at a run depended on, to be stored: of a run that has
// ended the folders and the state document only, because nothing else is looked at. It is
// false where a change of it might not show, and where the run was looked at since.
func (s *reader) Record(run layout.Run, look uint64, ended bool) (statcache.Record, bool) {
	tree := s.cache.Lock(run.State)
	defer tree.Unlock()
	if look == 0 || tree.Look != look {
		return statcache.Record{}, false
	}
	for _, e := range tree.All() {
		if e.Racy {
			return statcache.Record{}, false
		}
	}
	root := copyTree(run.Dir, &tree.Root, func(name string, e *statcache.Entry) bool {
		return !ended || e.Kind == statcache.Folder || name == run.State
	})
	return statcache.Record{Root: root, Outside: slices.Clone(tree.Outside)}, true
}

// copyTree copies an entry and those below that are kept, without their documents.
func copyTree(at string, e *statcache.Entry, keep func(string, *statcache.Entry) bool) statcache.Entry {
	c := *e
	c.Doc, c.Immutable, c.Below = nil, false, nil
	for i := range e.Below {
		if name := at + "/" + e.Below[i].Name; keep(name, &e.Below[i]) {
			c.Below = append(c.Below, copyTree(name, &e.Below[i], keep))
		}
	}
	return c
}

// RecordState is a record of a run's state document alone, as it is now.
func (s *reader) RecordState(run layout.Run) (statcache.Record, bool) {
	g := s.newGrain()
	info, err := s.fs.Stat(run.State)
	if err != nil || g.isRacy(info) {
		return statcache.Record{}, false
	}
	return statcache.Record{Outside: []statcache.Entry{{Name: run.State, Known: true, ID: identityOf(info)}}}, true
}

// Holds reports, by stat alone, that all of a record still looks the same. That its state
// document was seen is remembered.
func (s *reader) Holds(run layout.Run, rec statcache.Record) bool {
	tree := &statcache.Run{Dir: run.Dir, Root: rec.Root, Outside: rec.Outside}
	for e, id := range s.identities(tree) {
		if id != e.ID {
			return false
		}
	}
	if stateOf(run, tree) != (statcache.Identity{}) {
		s.states.begin(run.State)
	}
	return true
}

// HoldsState is Holds for the state document of a record alone.
func (s *reader) HoldsState(run layout.Run, rec statcache.Record) bool {
	id := stateOf(run, &statcache.Run{Dir: run.Dir, Root: rec.Root, Outside: rec.Outside})
	if id == (statcache.Identity{}) || s.identityAt(run.State) != id {
		return false
	}
	s.states.begin(run.State)
	return true
}

// stateOf is the identity of the state document.
func stateOf(run layout.Run, tree *statcache.Run) statcache.Identity {
	for name, e := range tree.All() {
		if name == run.State {
			return e.ID
		}
	}
	return statcache.Identity{}
}

// Restore takes over a record that holds, as if this store had looked at the run and all
// had stood still since. It returns the number of the look.
func (s *reader) Restore(run layout.Run, rec statcache.Record) (look uint64, ok bool) {
	tree := s.tree(run)
	tree.Lock()
	defer tree.Unlock()
	if tree.Look != 0 || !rec.Root.Known || !s.Holds(run, rec) {
		return 0, false
	}
	tree.Root, tree.Outside = rec.Root, rec.Outside
	age := s.age()
	for _, e := range tree.All() {
		e.Since, e.Still = age-standLong, standLong
	}
	s.cache.Looked(run.State, tree, false)
	return tree.Look, true
}
