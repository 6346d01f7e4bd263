package loop

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"placet/engine"
	"placet/engine/store"
	"placet/engine/store/statcache"
	"placet/layout"
)

// Family is a dialect: the layout of its runs and the machine that moves them.
type Family struct {
	Layout  layout.Family
	Machine engine.Machine
}

// Options configure a loop. Store and Families are required.
type Options struct {
	Store    *store.Store
	Families []Family
	// Facts returns what the kernel knows besides a family's documents. It is called for every
	// look, before the documents are read.
	Facts func(family string) engine.Environment
	// Changed receives when the facts have changed without a change of a document: every run
	// that can move is looked at again. nil never does.
	Changed <-chan struct{}
	// Lookup answers needs that begin with "git:"; nil: there is no git.
	Lookup func(need string) engine.Document
	// Begin starts an action. It must not wait for the action's end, and the facts must report
	// the action as alive when it returns.
	Begin func(engine.Action)
	// End asks an action under way to end, once per process, or has its end forgotten if the
	// facts hold one. It must not wait. nil ends nothing.
	End func(id string)
	// Now is the clock; time.Now if nil.
	Now func() time.Time
	// Pause is how Once waits for files to settle; nil waits by the machine's clock. It returns
	// the context's error if the context ends first.
	Pause func(ctx context.Context, d time.Duration) error
	Log   *slog.Logger
	// Workers is how many runs are looked at in parallel; 32 if not positive.
	Workers int
	// Waiting is how many further runs may wait for the disk or for a lock, each with its locks
	// open; 256 if not positive. It limits how many plans share their rounds of fsync.
	Waiting int
	// Cache is what an earlier placet has stored; nil for nothing.
	Cache *statcache.File
	// Viewed says that somebody looks at the runs while Watch runs, so Cache keeps their views.
	Viewed bool
	// Observers are notified of what the loop does, in their order.
	Observers Observers
	// ProgressHz is how many times a second a volatile document is read at most, 1 or 2; 2 if
	// not positive.
	ProgressHz int
}

const (
	// defaultWorkers is more than most machines have processors, because workers wait for files
	// outside the page cache.
	defaultWorkers = 32
	defaultWaiting = 256
)

// Loop reconciles the runs of one workspace.
type Loop struct {
	o     Options
	edges map[string]map[engine.Edge]bool // family → rows of its table
	// peers has an entry for each family whose runs know of one another.
	peers map[string]*peers
	// volatile are the families that have volatile documents.
	volatile []Family
	sparse   bool // one of the families is sparse

	actions *actionLog
	errors  errorLog

	// serving is the session of Watch, nil while it is not running.
	serving atomic.Pointer[session]

	holdMu sync.Mutex
	held   string // the pause that was logged
	stale  string // the sign of git's that was logged as holding nothing up
}

// Found is a run of the workspace.
type Found struct {
	Run    layout.Run
	Family Family
}

// Key returns the run's key.
func (f Found) Key() engine.Key { return engine.Key{Family: f.Run.Family, ID: f.Run.ID} }

// Lookup returns what local git answers to a need that begins with "git:".
func (l *Loop) Lookup(need string) engine.Document { return l.o.Lookup(need) }

// New returns a loop.
func New(o Options) *Loop {
	if o.Facts == nil {
		o.Facts = func(string) engine.Environment { return engine.Environment{} }
	}
	if o.Lookup == nil {
		o.Lookup = func(need string) engine.Document {
			if strings.HasPrefix(need, engine.CommitterNeed) {
				return engine.Document{Path: need, Err: engine.ErrAbsent} // nothing came by git
			}
			return engine.Document{Path: need, Err: errors.New("nobody can look this up here")}
		}
	}
	if o.Begin == nil {
		o.Begin = func(engine.Action) {}
	}
	if o.End == nil {
		o.End = func(string) {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Pause == nil {
		o.Pause = pause
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Workers <= 0 {
		o.Workers = defaultWorkers
	}
	if o.Waiting <= 0 {
		o.Waiting = defaultWaiting
	}
	o.Observers = o.Observers.complete()
	l := &Loop{o: o, edges: map[string]map[engine.Edge]bool{}, peers: map[string]*peers{}, actions: newActionLog()}
	for _, f := range o.Families {
		rows := map[engine.Edge]bool{}
		for _, e := range f.Machine.Edges() {
			rows[e] = true
		}
		l.edges[f.Layout.Name()] = rows
		if x := newPeers(l, f); x != nil {
			l.peers[f.Layout.Name()] = x
		}
		l.sparse = l.sparse || layout.IsSparse(f.Layout)
		if _, ok := f.Layout.(layout.Volatile); ok {
			l.volatile = append(l.volatile, f)
		}
	}
	return l
}

// Runs returns every run of the workspace, family by family, each sorted as its layout sorts.
// The error names folders that cannot be listed; the runs that were found are returned all the
// same.
func (l *Loop) Runs() ([]Found, error) {
	w := walk{list: l.o.Store.List}
	found := l.walk(&w)
	return found, w.err()
}

// Asking returns the runs in which Watch follows the folder of a request, because the request
// is open; none if Watch is not running.
func (l *Loop) Asking(request string) []Found {
	s := l.serving.Load()
	if s == nil {
		return nil
	}
	return s.registry.following("/" + layout.RequestsDir + "/" + request)
}

// Live returns the runs that can move, from the registry of Watch; none if Watch is not
// running.
func (l *Loop) Live() []Found {
	s := l.serving.Load()
	if s == nil {
		return nil
	}
	return s.registry.live()
}

// Summarize reads only a run's state document and returns its summary. A document that is
// absent, unsettled or unusable gives the zero Summary: the run must be looked at.
func (l *Loop) Summarize(f Found) engine.Summary {
	if p, ok := l.storedPeek(f); ok {
		return p
	}
	rel := strings.TrimPrefix(f.Run.State, f.Run.Dir+"/")
	file, ok := f.Family.Layout.File(f.Run, rel)
	if !ok {
		return engine.Summary{}
	}
	rec, sure := l.o.Store.RecordState(f.Run) // before the document is read
	state := l.o.Store.Read(f.Run.State, file)
	p := summarize(f, state)
	if state.Present() && sure {
		l.storePeek(f, rec, p)
	}
	return p
}

// summarize returns the summary of a run from its state document.
func summarize(f Found, state engine.Document) (p engine.Summary) {
	defer func() {
		// If Summarize panics, Step will report it.
		if recover() != nil {
			p = engine.Summary{}
		}
	}()
	if m, ok := f.Family.Machine.(engine.Classed); ok && !state.Unsettled() {
		if p, ok := m.SummarizeClass(f.Run.Class, state.Body); ok {
			return p
		}
	}
	if !state.Present() {
		return engine.Summary{}
	}
	return f.Family.Machine.Summarize(state.Body)
}

// Observer is notified of what a loop does. A nil function is not called, and no function may
// wait for anything.
type Observer struct {
	// Moved is called for every transition after its commit.
	Moved func(run layout.Run, t engine.Transition)
	// Committed is called for every plan that was made durable, with how long that took.
	Committed func(run layout.Run, plan engine.Plan, took time.Duration)
	// Progressed is called in Watch with the content of a volatile document after it changed: a
	// few times a second at most, and always with the last content. path is relative to the
	// workspace.
	Progressed func(run layout.Run, path string, p engine.Progress)
	// Passed is called in Watch after every pass over a run, with how long it took, including
	// the waits for locks.
	Passed func(run layout.Run, took time.Duration)
}

// Observers are notified in their order.
type Observers []Observer

// complete returns the observers with a function for every nil one.
func (all Observers) complete() Observers {
	all = slices.Clone(all)
	for i := range all {
		o := &all[i]
		if o.Moved == nil {
			o.Moved = func(layout.Run, engine.Transition) {}
		}
		if o.Committed == nil {
			o.Committed = func(layout.Run, engine.Plan, time.Duration) {}
		}
		if o.Progressed == nil {
			o.Progressed = func(layout.Run, string, engine.Progress) {}
		}
		if o.Passed == nil {
			o.Passed = func(layout.Run, time.Duration) {}
		}
	}
	return all
}

// Standing describes the runs that Watch serves at one moment.
type Standing struct {
	// Families has the counts of each family of the loop, by name.
	Families map[string]Count
	// Holding are the errors that hold runs up, one for each cause, and Unlisted says that some
	// folders in which there may be runs cannot be listed.
	Holding  []error
	Unlisted bool
}

// Count counts the runs of a family. Each run is counted in one of Waiting, HeldUp, Live and
// Final.
type Count struct {
	// HeldUp cannot continue because of an error; of the others Waiting wait for a person, and
	// Live for anything else.
	Waiting, HeldUp, Live, Final int
	// Requests is the number of open requests, Oldest when the oldest of them was made; zero if
	// there are none.
	Requests int
	Oldest   time.Time
}

// Standing counts the runs. It reads no file and delays no pass: it holds the registry for only
// a few runs at a time. The counts are zero if Watch is not running.
func (l *Loop) Standing() Standing {
	st := Standing{Families: map[string]Count{}}
	counts := make([]Count, len(l.o.Families))
	s := l.serving.Load()
	if s != nil {
		var held map[string]string
		held, st.Holding = l.errors.standing(math.MaxInt)
		_, st.Unlisted = held[walking]
		s.registry.tally(counts, held)
	}
	for i, f := range l.o.Families {
		st.Families[f.Layout.Name()] = counts[i]
	}
	return st
}

// HeldUp returns why runs cannot continue, by the path of their state document, for at most so
// many runs.
func (l *Loop) HeldUp(most int) map[string]string {
	held, _ := l.errors.standing(most)
	delete(held, walking)
	return held
}

// add counts one run; lv is nil if the run is final.
func (c *Count) add(lv *activeRun, held bool) {
	if lv == nil {
		c.Final++
		return
	}
	status := lv.status
	switch {
	case held:
		c.HeldUp++
	case status.Waiting:
		c.Waiting++
	default:
		c.Live++
	}
	c.Requests += status.Open
	if at := status.Asked; !at.IsZero() && (c.Oldest.IsZero() || at.Before(c.Oldest)) {
		c.Oldest = at
	}
}
