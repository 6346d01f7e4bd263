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

// Seen is a run as one look found it.
type Seen struct {
	Snap engine.Snapshot
	// Again is when to look again because a file has not settled; zero: never.
	Again time.Time
	// Stray are the unknown paths in the run's folder.
	Stray []string
	// Notes are the problem notes that the next pass writes, and Holding are the files that
	// it ignores because they may be half written.
	Notes   []engine.Document
	Holding []engine.PendingFile
	look    look
}

// Look is Snapshot, for callers that may store what they derive from it. It also reads what the
// caller needs besides the machine.
func (l *Loop) Look(f Found, needs ...string) (Seen, error) {
	if s := l.serving.Load(); s != nil {
		needs = slices.Concat(needs, s.registry.needsOf(f.Run.State)) // otherwise a first look would find out
	}
	k := looker{l: l, f: f, needs: needs}
	lk, err := k.look()
	seen := Seen{Snap: lk.snap, Again: lk.loaded.Again, Stray: lk.loaded.Stray, Holding: lk.plan.Pending, look: lk}
	for _, d := range lk.plan.Writes {
		if d.Kind == layout.KindProblem {
			seen.Notes = append(seen.Notes, d)
		}
	}
	return seen, err
}

// storedRun is the cache's data on a run besides the fingerprints of its files.
type storedRun struct {
	Summary engine.Summary
	// Idle is nil if only the state document was read.
	Idle *storedIdle `json:",omitempty"`
}

// storedIdle describes a run for which nothing is to be done while it looks the same.
type storedIdle struct {
	// Facts is a digest of the facts that the machine was given.
	Facts uint64
	// At and Wake enclose the time in which nothing is to be done; a zero Wake means for
	// ever.
	At, Wake time.Time
	// Needs are what the machine needed, Dirs are the folders to follow, including those
	// outside the run, and Notes are the existing problem notes.
	Needs, Dirs, Notes []string `json:",omitempty"`
	// View is what the caller derived from the run, nil for nothing. It is stored after the
	// rest, and is not read unless somebody wants it.
	View []byte `json:"-"`
}

// fits reports whether a run may still be idle at a time, given the digest of the facts.
func (r *storedIdle) fits(now time.Time, facts uint64) bool {
	return r.Facts == facts && !now.Before(r.At) && (r.Wake.IsZero() || now.Before(r.Wake))
}

// StoreView stores, for a later look, what the caller derived from this one, if nothing is
// to be done for the run and any change of it would be visible.
func (l *Loop) StoreView(f Found, s Seen, view []byte) { l.store(f, s.look, view) }

// store stores an idle run. For an ended run only the folders and the state document are
// compared later, unless there is a view of the other documents.
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

// storedPeek returns the stored summary of a run's state document, if the document still
// looks the same.
func (l *Loop) storedPeek(f Found) (engine.Summary, bool) {
	rec, run, ok := l.stored(f)
	if !ok || !l.o.Store.HoldsState(f.Run, rec) {
		return engine.Summary{}, false
	}
	return run.Summary, true
}

// storePeek stores the summary of a state document. rec is how the document looked before
// it was read.
func (l *Loop) storePeek(f Found, rec statcache.Record, p engine.Summary) {
	l.put(f, rec, storedRun{Summary: p})
}

// stored returns the cache's data on a run; ok is false if there is none.
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

// isIdle reports whether a look found nothing to do, and nothing whose content may change
// while the files look the same: what git says, volatile documents, what other runs report,
// what the disk refused, files that may be half written, and the remains of a crash.
func isIdle(lk look) bool {
	p := lk.plan
	return p.Empty() && len(p.Ends) == 0 && len(p.Pending) == 0 && len(lk.loaded.Temps) == 0 &&
		(p.Wake.IsZero() || p.Wake.After(lk.snap.Now)) &&
		!slices.ContainsFunc(p.Needs, isFact) &&
		!slices.ContainsFunc(lk.snap.Docs, func(d engine.Document) bool { return d.Err != nil && !d.Absent() })
}

// standingNotes returns the existing problem notes beside the files of a run.
func standingNotes(docs []engine.Document) []string {
	var notes []string
	for _, d := range docs {
		if d.Kind == layout.KindProblem && !d.Absent() && strings.HasSuffix(d.Path, ".md") {
			notes = append(notes, d.Path)
		}
	}
	return notes
}

// Stored is one round of comparing many runs with their stored data.
type Stored struct {
	l     *Loop
	now   time.Time
	marks map[string]uint64 // family → the digest of the facts; missing if it cannot be computed
}

// Stored begins a round. It reads the facts before it looks at the files, as every look
// does.
func (l *Loop) Stored() *Stored { return l.storedFor(l.o.Families...) }

// storedFor is Stored for runs of some families only.
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

// View returns what was derived from a run in an earlier look, if the run still looks the
// same; ok is false if nothing is stored.
func (r *Stored) View(f Found) (view []byte, ok bool) {
	rec, run := r.get(f)
	if run.Idle == nil || run.Idle.View == nil || !r.l.o.Store.Holds(f.Run, rec) {
		return nil, false
	}
	return run.Idle.View, true
}

// get returns the stored data of a run. Its Idle is nil unless it may still hold.
func (r *Stored) get(f Found) (statcache.Record, storedRun) {
	rec, run, _ := r.l.stored(f)
	if mark, ok := r.marks[f.Run.Family]; !ok || run.Idle == nil || !run.Idle.fits(r.now, mark) {
		run.Idle = nil
	}
	return rec, run
}

// SaveCache writes what was seen for a later placet, if it is worth storing. runs are all
// runs of the workspace, nil if they are not known.
func (l *Loop) SaveCache(runs []Found) {
	var all []layout.Run
	for _, f := range runs {
		all = append(all, f.Run)
	}
	if err := l.o.Cache.Save(all); err != nil {
		l.o.Log.Debug("the next start will take longer", "err", err)
	}
}

// markOf computes a digest of facts that has the same value in every process; ok is false
// if that is not possible. The digest leaves out how actions ended, which only this process
// knows.
func markOf(facts engine.Environment) (uint64, bool) {
	body, err := json.Marshal([]any{facts.Config, held(facts.Trusted), held(facts.Alive), changes(facts.Changed)})
	if err != nil {
		return 0, false
	}
	h := fnv.New64a()
	_, _ = h.Write(body)
	return h.Sum64(), true
}

// held returns the members of a set, sorted, and with a "!" before those that map to false.
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

// changes returns what keeps commands from being trusted, sorted.
func changes(changed map[engine.Digest][]engine.ChangedFile) (out []string) {
	for command, files := range changed {
		for _, f := range files {
			out = append(out, string(command)+" "+f.Path+" "+string(f.Now))
		}
	}
	slices.Sort(out)
	return out
}

// started saves what the start has seen and frees it: from now on the runs are in the
// registry. Views are still kept if somebody looks at the runs.
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
