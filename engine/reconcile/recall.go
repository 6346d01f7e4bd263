package reconcile

import (
	"encoding/json"
	"hash/fnv"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"placet/engine"
	"placet/engine/recall"
	"placet/engine/store"
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
	Holding []engine.Holding
	look    look
	state   store.Sight
}

// Look is Snapshot, for callers that may keep what they make of it.
func (l *Loop) Look(f Found) (Seen, error) {
	k := looker{l: l, f: f}
	state := l.sightState(f)
	lk, err := k.look()
	seen := Seen{Snap: lk.snap, Again: lk.loaded.Again, Stray: lk.loaded.Stray, Holding: lk.plan.Holding, look: lk, state: state}
	for _, d := range lk.plan.Writes {
		if d.Kind == layout.KindProblem {
			seen.Notes = append(seen.Notes, d)
		}
	}
	return seen, err
}

// sightState is how a state document looks before it is read: whatever happens
// after that makes the sight differ.
func (l *Loop) sightState(f Found) store.Sight {
	if l.o.Recall == nil {
		return store.Sight{}
	}
	return l.o.Store.SightState(f.Run)
}

// Keep has a later placet recall what the caller made of a look, if nothing is to
// be done for the run and any change of it would show.
func (l *Loop) Keep(f Found, s Seen, view string) { l.keep(f, s.look, s.state, view) }

func (l *Loop) keep(f Found, lk look, state store.Sight, view string) {
	if l.o.Recall == nil || state.Zero() || lk.loaded.Sight.Zero() || !calm(lk) || l.ends.due(f.Run.State) {
		return
	}
	facts, ok := l.marks.of(lk.snap.Facts)
	if !ok {
		return
	}
	rest := &recall.Rest{
		Sight: lk.loaded.Sight, Facts: facts, At: lk.snap.Now, Until: lk.plan.Wake, Wake: lk.plan.Wake,
		Needs: lk.plan.Needs, Dirs: follows(lk, f.Run, nil), Notes: standingNotes(lk.snap.Docs), View: view,
	}
	l.o.Recall.Note(f.Run, recall.Entry{Peek: peek(f, lk.snap.Doc(f.Run.State)), State: state, Rest: rest})
}

// calm reports whether a look found nothing to do and nothing that may read
// otherwise although it looks the same: what git says, what other runs say of
// themselves, what the disk refused, what may be half of a write, and what a crash
// has left.
func calm(lk look) bool {
	p := lk.plan
	return p.Empty() && len(p.Ends) == 0 && len(p.Holding) == 0 && len(lk.loaded.Temps) == 0 &&
		(p.Wake.IsZero() || p.Wake.After(lk.snap.Now)) &&
		!slices.ContainsFunc(lk.snap.Needs, func(n string) bool { return strings.HasPrefix(n, gitNeed) || n == engine.NeedRuns }) &&
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

// Recall is one round of looking at what an earlier placet has seen of many runs.
type Recall struct {
	l     *Loop
	again *store.Again
	now   time.Time
	marks map[string]uint64 // family → the facts' mark; none where it cannot be had
}

// Recall begins a round. The facts are read before the files are looked at, as in
// every look.
func (l *Loop) Recall() *Recall {
	r := &Recall{l: l, again: l.o.Store.Again(), now: l.o.Now(), marks: map[string]uint64{}}
	if l.o.Recall == nil {
		return r
	}
	for _, f := range l.o.Families {
		name := f.Layout.Name()
		if mark, ok := l.marks.of(l.o.Facts(name)); ok {
			r.marks[name] = mark
		}
	}
	return r
}

// View returns what an earlier placet made of a run, while the run looks as it did
// then; it is false where there is nothing of the kind. What it returns must not be
// kept.
func (r *Recall) View(f Found) (view string, ok bool) {
	e := r.entry(f)
	if e.Rest == nil || e.Rest.View == "" || !r.again.Holds(f.Run.Dir, e.Rest.Sight) {
		return "", false
	}
	return e.Rest.View, true
}

// entry is what is remembered of a run; its rest only where that may still hold.
func (r *Recall) entry(f Found) recall.Entry {
	e := r.l.o.Recall.Entry(f.Run)
	if mark, ok := r.marks[f.Run.Family]; !ok || e.Rest == nil || !e.Rest.Fits(r.now, mark) {
		e.Rest = nil
	}
	return e
}

// SaveRecall writes what was seen for a later placet, if there is enough of it.
// runs are all runs of the workspace, nil where they are not known.
func (l *Loop) SaveRecall(runs []Found) {
	var all []layout.Run
	for _, f := range runs {
		all = append(all, f.Run)
	}
	if err := l.o.Recall.Save(all); err != nil {
		l.o.Log.Debug("the next start will take longer", "err", err)
	}
}

// factMarks makes a number of facts that means the same to another process.
type factMarks struct {
	mu   sync.Mutex
	last map[reflect.Type]markedFacts
}

type markedFacts struct {
	facts engine.Facts
	mark  uint64
}

// of is false where the facts cannot be put into a number. How actions ended is
// known to this process alone: of it the mark says nothing.
func (m *factMarks) of(facts engine.Facts) (uint64, bool) {
	facts.Ended = nil
	typ := reflect.TypeOf(facts.Config.Family)
	m.mu.Lock()
	defer m.mu.Unlock()
	if last, ok := m.last[typ]; ok && sameFacts(last.facts, facts) {
		return last.mark, true
	}
	body, err := json.Marshal([]any{facts.Config, held(facts.Trusted), held(facts.Alive)})
	if err != nil {
		return 0, false
	}
	h := fnv.New64a()
	_, _ = h.Write(body)
	if m.last == nil {
		m.last = map[reflect.Type]markedFacts{}
	}
	m.last[typ] = markedFacts{facts, h.Sum64()}
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

// remember notes what a first pass came to, for the next start.
func (s *session) remember(lv *live, p *pass, state store.Sight) {
	if !s.starting.Load() {
		return
	}
	s.l.keep(p.f, p.last, state, "")
}

// started saves what the start has seen and lets go of it: from now on the runs
// are in the book.
func (s *session) started() {
	if s.starting.Swap(false) {
		s.l.SaveRecall(nil)
		s.l.o.Recall.Close()
		s.l.o.Store.Sighting(false)
		s.giveBack()
	}
}
