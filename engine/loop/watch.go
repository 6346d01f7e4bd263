package loop

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"placet/engine/watch"
)

// manyRuns is the number of runs above which the memory of the first looks is returned to
// the system at once.
const manyRuns = 2000

// session is one call of Watch, or of Once, which gets no events.
type session struct {
	l        *Loop
	w        *watch.Watcher // nil in Once
	registry *registry
	queue    *workqueue
	timers   *timers
	// working limits how many passes look and decide, underWay how many there are in all,
	// including those that wait for the disk or for a lock.
	working, underWay semaphore
	// progress reads volatile documents; nil if there are none.
	progress *progress
	// rescans holds the requested rescans.
	rescans rescans

	// epoch counts how often an error that held up many runs ended.
	epoch atomic.Uint64
	// moved counts the passes that moved a run.
	moved atomic.Uint64
	// pending counts the first passes that are not over, and the first scan.
	pending atomic.Int64
	// allPassed is closed when every first pass is over.
	allPassed chan struct{}
	// starting is true while what is seen is stored for the next start.
	starting atomic.Bool
	tell     func()
}

// Watch serves the workspace until the context ends: it looks at every run that can move,
// and again whenever something happens to the run, a time that its machine named has come,
// or a scan finds it changed. It calls ready once, when every run that existed had its first
// pass (or cannot have it, because git is rewriting the tree), with the number of runs and
// of those that wait for a person. Passes that are under way finish their commit; then Watch
// returns nil. The caller must close the watcher.
func (l *Loop) Watch(ctx context.Context, w *watch.Watcher, ready func(runs, waiting int)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := newSession(l, w, ready)
	l.serving.Store(s)
	defer l.serving.Store(nil)
	var wg sync.WaitGroup
	s.begin(ctx, &wg)
	wg.Go(func() { (&scanner{session: s}).run(ctx) })
	err := s.feed(ctx)
	cancel()
	s.queue.close()
	wg.Wait()
	return errors.Join(err, l.o.Store.Flush())
}

func newSession(l *Loop, w *watch.Watcher, ready func(runs, waiting int)) *session {
	s := &session{
		l: l, w: w, registry: newRegistry(l.o.Families), queue: newWorkqueue(), timers: newTimers(),
		working: make(semaphore, l.o.Workers), underWay: make(semaphore, l.o.Workers+l.o.Waiting), rescans: newRescans(), allPassed: make(chan struct{}),
	}
	s.tell = sync.OnceFunc(func() {
		if ready != nil {
			ready(s.registry.count())
		}
	})
	s.progress = newProgress(s)
	s.pending.Store(1)
	s.starting.Store(l.o.Cache != nil)
	return s
}

// begin starts the goroutines that look at marked runs, keep the time, receive changed
// facts, and read volatile documents.
func (s *session) begin(ctx context.Context, wg *sync.WaitGroup) {
	wg.Go(func() { s.work(ctx, wg) })
	wg.Go(func() { s.keepTime(ctx) })
	wg.Go(func() { s.facts(ctx) })
	if s.progress != nil {
		wg.Go(func() { s.progress.read(ctx) })
	}
	for _, x := range s.l.peers {
		wg.Go(func() { x.run(ctx) })
	}
}

// facts marks every live run when the facts have changed, because what held a run up may be
// over.
func (s *session) facts(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.l.o.Changed:
			s.queue.markAll(s.registry.states(func(*activeRun) bool { return true }))
		}
	}
}

const (
	// floodBatches is how many batches of events may come in quick succession before feed
	// pauses to collect the next one.
	floodBatches = 32
	floodWait    = 20 * time.Millisecond
)

// feed marks the runs that the watcher reports. It returns an error if the watcher fails
// before the context ends.
func (s *session) feed(ctx context.Context) error {
	var moved uint64
	for batches := 0; ; batches++ {
		if now := s.moved.Load(); now != moved {
			batches, moved = 0, now // runs move, so the events are useful
		}
		if batches >= floodBatches && pause(ctx, floodWait) != nil {
			return nil
		}
		asked := time.Now()
		b, err := s.w.Next(ctx)
		if time.Since(asked) > floodWait {
			batches = 0
		}
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		if b.Lost {
			s.l.o.Store.Invalidate()
		}
		for _, x := range s.l.peers {
			if x.mark(b.Owners...); b.Lost {
				x.markAll()
			}
		}
		for _, e := range b.Edits {
			s.l.o.Store.Suspect(e.Owner, e.Path)
		}
		if len(b.Volatile) > 0 {
			s.progress.changed(b.Volatile...)
		}
		if b.Lost {
			s.progress.pollAll()
		}
		s.markHeard(b)
		if b.Rescan {
			s.rescans.ask(b.Dirs...)
		}
	}
}

// markHeard marks the runs to which something happened.
func (s *session) markHeard(b watch.Batch) {
	for _, state := range b.Owners {
		if dirs, known := b.Heard[state]; known && s.l.sparse && s.registry.hear(state, dirs) {
			s.queue.markHeard(state)
			continue
		}
		s.queue.mark(state)
	}
}

// passed records that a run's first pass, or the first scan, is over. After the last of them
// it tells the store that whatever appears from now on is new, and calls ready.
func (s *session) passed() {
	if s.pending.Add(-1) != 0 {
		return
	}
	s.l.o.Store.Watching()
	s.tell()
	close(s.allPassed)
	runs, _ := s.registry.count()
	giveBack(runs)
}

// giveBack returns the memory of many runs to the system at once.
func giveBack(runs int) {
	if runs > manyRuns {
		debug.FreeOSMemory()
	}
}
