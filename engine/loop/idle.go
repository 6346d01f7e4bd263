package loop

import (
	"bytes"
	"encoding/json"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"placet/engine"
	"placet/engine/store/statcache"
	"placet/layout"
)

// Seen is a run as one look saw it.
type Seen struct {
	Snap engine.Snapshot
	// Again is when to look again because something is unsettled; zero: never.
	Again time.Time
	// Stray are the paths in the run's folder that nobody knows.
	Stray []string
	// Notes are the problem notes that the next pass writes, and Holding the files
	// that it passes over because they may be half of a write.
	Notes   []engine.Document
	Holding []engine.PendingFile
	look    look
}

// Look is Snapshot, for callers that may store what they make of it.
func (l *Loop) Look(f Found) (Seen, error) {
	k := looker{l: l, f: f}
	lk, err := k.look()
	seen := Seen{Snap: lk.snap, Again: lk.loaded.Again, Stray: lk.loaded.Stray, Holding: lk.plan.Pending, look: lk}
	for _, d := range lk.plan.Writes {
		if d.Kind == layout.KindProblem {
			seen.Notes = append(seen.Notes, d)
		}
	}
	return seen, err
}

// storedRun is what the cache's file has of a run besides how its files looked.
type storedRun struct {
	Summary engine.Summary
	// Idle is nil where only the state document was read.
	Idle *storedIdle `json:",omitempty"`
}

// storedIdle is of a run for which nothing is to be done while it looks the same.
type storedIdle struct {
	// Facts stands for the facts that the machine was given.
	Facts uint64
	// Nothing is to be done from At until Wake; zero stands for ever.
	At, Wake time.Time
	// Needs are what the machine needed, Dirs the folders to follow, outside
	// ones included, Notes the problem notes that stand.
	Needs, Dirs, Notes []string `json:",omitempty"`
	// View is what the caller made of the run, nil where it made nothing. It stands
	// behind the rest, and is not read where nobody wants it.
	View []byte `json:"-"`
}

// fits reports whether a run may still be idle at a moment, given the facts' mark.
func (r *storedIdle) fits(now time.Time, facts uint64) bool {
	return r.Facts == facts && !now.Before(r.At) && (r.Wake.IsZero() || now.Before(r.Wake))
}

// StoreView stores, for a later look, what the caller made of this one, if nothing is
// to be done for the run and any change of it would show.
func (l *Loop) StoreView(f Found, s Seen, view []byte) { l.store(f, s.look, view) }

// store stores a run that is idle. Of one that has ended the folders and the state
// document are compared, unless there is a view of the others.
func (l *Loop) store(f Found, lk look, view []byte) {
	if l.o.Cache == nil || !isIdle(lk) || l.actions.isUnderWay(f.Run.State) {
		return
	}
	facts, ok := markOf(lk.snap.Facts)
	if !ok {
		return
	}
	status := summarize(f, lk.snap.Doc(f.Run.State))
	rec, ok := l.o.Store.Record(f.Run, lk.loaded.Look, status.Final && view == nil)
	if !ok {
		return
	}
	l.put(f, rec, storedRun{Summary: status, Idle: &storedIdle{
		Facts: facts, At: lk.snap.Now, Wake: lk.plan.Wake,
		Needs: lk.plan.Needs, Dirs: follows(lk, f.Run, nil), Notes: standingNotes(lk.snap.Docs), View: view,
	}})
}

func (l *Loop) put(f Found, rec statcache.Record, run storedRun) {
	note, err := json.Marshal(run)
	if err != nil {
		return
	}
	if run.Idle != nil && run.Idle.View != nil {
		note = append(append(note, '\n'), run.Idle.View...)
	}
	rec.CanMove, rec.Note = !run.Summary.Final, note
	l.o.Cache.Put(f.Run, rec)
}

// storedPeek is what a run's state document said when it looked as it does now.
func (l *Loop) storedPeek(f Found) (engine.Summary, bool) {
	rec, run, ok := l.stored(f)
	if !ok || !l.o.Store.HoldsState(f.Run, rec) {
		return engine.Summary{}, false
	}
	return run.Summary, true
}

// storePeek stores what a state document says that looked like the record before it was
// read.
func (l *Loop) storePeek(f Found, rec statcache.Record, p engine.Summary) {
	l.put(f, rec, storedRun{Summary: p})
}

// stored is what the cache's file has of a run; false where it has nothing.
func (l *Loop) stored(f Found) (rec statcache.Record, run storedRun, ok bool) {
	rec, ok = l.o.Cache.Get(f.Run)
	note, view, hasView := bytes.Cut(rec.Note, []byte("\n"))
	if !ok || json.Unmarshal(note, &run) != nil {
		return statcache.Record{}, storedRun{}, false
	}
	if hasView && run.Idle != nil {
		run.Idle.View = view
	}
	return rec, run, true
}

// isIdle reports whether a look found nothing to do and nothing that may read
// otherwise although it looks the same: what git says, volatile documents, what other
// runs say of themselves, what the disk refused, what may be half of a write, and what a
// crash has left.
func isIdle(lk look) bool {
	p := lk.plan
	return p.Empty() && len(p.Ends) == 0 && len(p.Pending) == 0 && len(lk.loaded.Temps) == 0 &&
		(p.Wake.IsZero() || p.Wake.After(lk.snap.Now)) &&
		!slices.ContainsFunc(p.Needs, isFact) &&
		!slices.ContainsFunc(lk.snap.Docs, func(d engine.Document) bool { return d.Err != nil && !d.Absent() })
}

// standingNotes are the problem notes that stand beside the files of a run.
func standingNotes(docs []engine.Document) []string {
	var notes []string
	for _, d := range docs {
		if d.Kind == layout.KindProblem && !d.Absent() && strings.HasSuffix(d.Path, ".md") {
			notes = append(notes, d.Path)
		}
	}
	return notes
}

// Stored is one round of comparing many runs with what is stored of them.
type Stored struct {
	l     *Loop
	now   time.Time
	marks map[string]uint64 // family → the facts' mark; none where it cannot be had
}

// Stored begins a round. The facts are read before the files are looked at, as in
// every look.
func (l *Loop) Stored() *Stored { return l.storedFor(l.o.Families...) }

// storedFor is Stored for runs of some families alone.
func (l *Loop) storedFor(families ...Family) *Stored {
	r := &Stored{l: l, now: l.o.Now(), marks: map[string]uint64{}}
	if l.o.Cache == nil {
		return r
	}
	for _, f := range families {
		name := f.Layout.Name()
		if mark, ok := markOf(l.o.Facts(name)); ok {
			r.marks[name] = mark
		}
	}
	return r
}

// View returns what was made of a run in an earlier look, while the run looks as it did
// then; it is false where there is nothing of the kind.
func (r *Stored) View(f Found) (view []byte, ok bool) {
	rec, run := r.get(f)
	if run.Idle == nil || run.Idle.View == nil || !r.l.o.Store.Holds(f.Run, rec) {
		return nil, false
	}
	return run.Idle.View, true
}

// get is what is stored of a run; that it is idle only where that may still hold.
func (r *Stored) get(f Found) (statcache.Record, storedRun) {
	rec, run, _ := r.l.stored(f)
	if mark, ok := r.marks[f.Run.Family]; !ok || run.Idle == nil || !run.Idle.fits(r.now, mark) {
		run.Idle = nil
	}
	return rec, run
}

// SaveCache writes what was seen for a later placet, if there is enough of it.
// runs are all runs of the workspace, nil where they are not known.
func (l *Loop) SaveCache(runs []Found) {
	var all []layout.Run
	for _, f := range runs {
		all = append(all, f.Run)
	}
	if err := l.o.Cache.Save(all); err != nil {
		l.o.Log.Debug("the next start will take longer", "err", err)
	}
}

// markOf makes a number of facts that means the same to another process; it is false
// where they cannot be put into a number. How actions ended is known to this process
// alone: the mark does not depend on it.
func markOf(facts engine.Environment) (uint64, bool) {
	body, err := json.Marshal([]any{facts.Config, held(facts.Trusted), held(facts.Alive)})
	if err != nil {
		return 0, false
	}
	h := fnv.New64a()
	_, _ = h.Write(body)
	return h.Sum64(), true
}

// held are the members of a set, sorted, and after a "!" what it says is none.
func held[K ~string](set map[K]bool) []K {
	out := []K{}
	for k, in := range set {
		if !in {
			k = "!" + k
		}
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// started saves what the start has seen and releases it: from now on the runs are in
// the registry. What is made of them is still kept where somebody looks at them.
func (s *session) started() {
	if s.starting.Swap(false) {
		s.l.SaveCache(nil)
		if s.l.o.Viewed {
			s.l.o.Cache.Clear()
		} else {
			s.l.o.Cache.Close()
		}
		runs, _ := s.registry.count()
		giveBack(runs)
	}
}
