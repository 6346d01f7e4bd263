package reconcile

import (
	"encoding/json"
	"hash/fnv"
	"maps"
	"path"
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
	look  look
	state store.Sight
}

// Look is Snapshot, for callers that may keep what they make of it.
func (l *Loop) Look(f Found) (Seen, error) {
	k := looker{l: l, f: f}
	state := l.sightState(f)
	lk, err := k.look()
	return Seen{Snap: lk.snap, Again: lk.loaded.Again, Stray: lk.loaded.Stray, look: lk, state: state}, err
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
	if l.o.Recall == nil || state.Zero() || lk.loaded.Sight.Zero() || !calm(lk) {
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
// otherwise although it looks the same: what git says, what the disk refused, and
// what a crash has left.
func calm(lk look) bool {
	p := lk.plan
	return p.Empty() && len(p.Ends) == 0 && len(lk.loaded.Temps) == 0 &&
		(p.Wake.IsZero() || p.Wake.After(lk.snap.Now)) &&
		!slices.ContainsFunc(lk.snap.Needs, func(n string) bool { return strings.HasPrefix(n, gitNeed) }) &&
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

// Recalled returns what an earlier placet made of a run, while the run looks as
// it did then; it is false where there is nothing of the kind. What it returns
// must not be kept.
func (l *Loop) Recalled(f Found) (view string, ok bool) {
	_, rest := l.rest(f)
	if rest == nil || rest.View == "" || !l.o.Store.Holds(f.Run.Dir, rest.Sight) {
		return "", false
	}
	return rest.View, true
}

// rest is what is remembered of a run and may still hold.
func (l *Loop) rest(f Found) (engine.Peek, *recall.Rest) {
	if l.o.Recall == nil {
		return engine.Peek{}, nil
	}
	// The facts are read before the files are looked at, as in every look.
	facts, ok := l.marks.of(l.o.Facts(f.Run.Family))
	if !ok {
		return engine.Peek{}, nil
	}
	return l.o.Recall.Rest(f.Run, l.o.Now(), facts)
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

// of is false where the facts cannot be put into a number.
func (m *factMarks) of(facts engine.Facts) (uint64, bool) {
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

func sameFacts(a, b engine.Facts) bool {
	return maps.Equal(a.Alive, b.Alive) && maps.Equal(a.Trusted, b.Trusted) && reflect.DeepEqual(a.Config, b.Config)
}

// held are the members of a set, sorted.
func held[K ~string](set map[K]bool) []K {
	out := []K{}
	for k, in := range set {
		if in {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return out
}

// mostRecalled is how many names a live run may have to be recalled. One with a
// long history is read at the start: read at its next answer, it would hold that up.
const mostRecalled = 256

// recall takes a run that was just admitted as it was left, without reading it:
// its folders are followed first, and if then all of it looks as it did when
// nothing was to be done, nothing is. It is false where the run must be looked at.
func (s *session) recall(lv *live) bool {
	if lv.looks > 0 || lv.dirs != nil || s.l.o.Recall == nil {
		return false
	}
	f := s.book.found(lv)
	status, rest := s.l.rest(f)
	if rest == nil || !status.Final && strings.Count(rest.Sight.Names, "\x00") > mostRecalled {
		return false
	}
	rest = rest.Clone()
	if status.Final && short(f.Run) {
		print := s.w.Print(f.Run.Dir, f.Run.State)
		if !s.l.o.Store.Holds(f.Run.Dir, rest.Sight) {
			return false
		}
		s.book.retire(lv, f, print)
		s.l.o.Store.Forget(f.Run)
	} else {
		s.follow(lv, rest.Dirs)
		s.noteSights(lv, f, recalledSights(f.Run, rest), status)
		if !s.l.o.Store.Recall(f.Run, rest.Sight) {
			return false
		}
		lv.needs, lv.endedAt = files(rest.Needs), time.Now()
		s.timers.set(lv.state, rest.Wake)
	}
	lv.looks++
	s.firstOver(lv)
	return true
}

// recalledSights are the sights of a run by what a look at it depended on.
func recalledSights(run layout.Run, rest *recall.Rest) []string {
	var docs []engine.Document
	for name := range strings.SplitSeq(strings.TrimSuffix(rest.Sight.Names, "\x00"), "\x00") {
		at, outside := strings.CutPrefix(name, "/")
		if !outside {
			at = path.Join(run.Dir, name)
		}
		if at != run.Dir {
			docs = append(docs, engine.Document{Path: at})
		}
	}
	return sights(docs, rest.Dirs)
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
