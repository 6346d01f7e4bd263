package store

import (
	"slices"

	"placet/engine/store/statcache"
	"placet/layout"
)

// Record returns what the last look at a run depended on, to be stored. It is false where
// a change of it might not show, and where the run was looked at since.
func (s *reader) Record(run layout.Run, look uint64) (statcache.Record, bool) {
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
	return statcache.Record{Root: copyTree(&tree.Root), Outside: slices.Clone(tree.Outside)}, true
}

// copyTree copies an entry and all below without their documents.
func copyTree(e *statcache.Entry) statcache.Entry {
	c := *e
	c.Doc, c.Immutable = nil, false
	c.Below = make([]statcache.Entry, len(e.Below))
	for i := range e.Below {
		c.Below[i] = copyTree(&e.Below[i])
	}
	return c
}

// RecordState is a record of a run's state document alone, as it is now.
func (s *reader) RecordState(run layout.Run) (statcache.Record, bool) {
	g := s.newGrain()
	info, err := s.fs.Stat(run.State)
	if err != nil || g.hides(info) {
		return statcache.Record{}, false
	}
	return statcache.Record{Outside: []statcache.Entry{{Name: run.State, Known: true, ID: identityOf(info)}}}, true
}

// Prune leaves of a record the folders and the state document: of a run that has ended
// nothing else is looked at.
func Prune(run layout.Run, rec statcache.Record) statcache.Record {
	prune(run.Dir, run.State, &rec.Root)
	return rec
}

func prune(at, state string, e *statcache.Entry) {
	e.Below = slices.DeleteFunc(e.Below, func(e statcache.Entry) bool {
		return e.Kind != statcache.Folder && at+"/"+e.Name != state
	})
	for i := range e.Below {
		prune(at+"/"+e.Below[i].Name, state, &e.Below[i])
	}
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
