package loop

import (
	"container/heap"
	"context"
	"sync"
	"time"
)

// workqueue is the set of runs to look at, in the order in which they were marked. A run
// that is marked while it is being looked at is queued again afterwards; one that is marked
// many times is queued once.
type workqueue struct {
	mu     sync.Mutex
	filled *sync.Cond
	queue  []string
	in     map[string]place
	// whole holds the runs whose next look must read the whole run.
	whole  map[string]bool
	grown  bool // in has had many entries
	closed bool
}

// manyDirty is the size from which the map of runs is replaced once it is empty, because a
// map never shrinks.
const manyDirty = 256

// place says where a run is.
type place uint8

const (
	queued place = iota + 1
	taken
	again // taken, and marked since
)

func newWorkqueue() *workqueue {
	d := &workqueue{in: map[string]place{}, whole: map[string]bool{}}
	d.filled = sync.NewCond(&d.mu)
	return d
}

// mark queues a run and makes the next look read all of it.
func (d *workqueue) mark(run string) {
	d.distrust(run)
	d.markHeard(run)
}

// distrust makes the next look at a run read all of it.
func (d *workqueue) distrust(run string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.whole[run] = true
}

// trust undoes distrust for a run that gets no look.
func (d *workqueue) trust(run string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.whole, run)
}

// markHeard queues a run, for a look at only the folders that have changed.
func (d *workqueue) markHeard(run string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch d.in[run] {
	case 0:
		d.push(run)
	case taken:
		d.in[run] = again
	}
}

// markAll marks all of the runs.
func (d *workqueue) markAll(runs []string) {
	for _, run := range runs {
		d.mark(run)
	}
}

func (d *workqueue) push(run string) {
	d.in[run] = queued
	d.queue = append(d.queue, run)
	d.filled.Signal()
}

// wait waits for a run that can be taken; it returns false once the set is closed.
func (d *workqueue) wait() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.await()
}

func (d *workqueue) await() bool {
	for len(d.queue) == 0 && !d.closed {
		d.filled.Wait()
	}
	return !d.closed
}

// take waits for a run and takes it; ok is false once the set is closed. The caller must
// return the run with finish.
func (d *workqueue) take() (run string, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.await() {
		return "", false
	}
	run, d.queue = d.queue[0], d.queue[1:]
	if len(d.queue) == 0 {
		d.queue = nil // release the memory of a burst
	}
	d.in[run] = taken
	return run, true
}

// finish returns a run.
func (d *workqueue) finish(run string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.in[run] == again {
		d.push(run)
		return
	}
	d.grown = d.grown || len(d.in) >= manyDirty
	if delete(d.in, run); d.grown && len(d.in) == 0 {
		d.in, d.grown = map[string]place{}, false
		if len(d.whole) == 0 {
			d.whole = map[string]bool{}
		}
	}
}

// waiting reports whether the queue has a run that nobody has taken.
func (d *workqueue) waiting() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.queue) > 0
}

// beginLook clears the mark of a taken run that is about to be read, and reports whether it
// was marked, and whether the look must read all of it.
func (d *workqueue) beginLook(run string) (marked, whole bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if marked = d.in[run] == again; marked {
		d.in[run] = taken
	}
	whole = d.whole[run]
	delete(d.whole, run)
	return marked, whole
}

// marked reports whether a taken run was marked since.
func (d *workqueue) marked(run string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.in[run] == again
}

// close ends all waiting.
func (d *workqueue) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	d.filled.Broadcast()
}

// timers hold when runs must be looked at, at the latest. A run has at most one timer, and
// setting it can only move it earlier.
type timers struct {
	mu   sync.Mutex
	at   map[string]*alarm
	heap alarms
	// earlier holds a token when the first timer has been replaced by an earlier one.
	earlier chan struct{}
}

func newTimers() *timers {
	return &timers{at: map[string]*alarm{}, earlier: make(chan struct{}, 1)}
}

// set schedules a run for a time at the latest. The zero time changes nothing.
func (t *timers) set(run string, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.at[run]
	switch {
	case at.IsZero() || a != nil && !at.Before(a.at):
		return
	case a == nil:
		a = &alarm{at: at, run: run}
		t.at[run] = a
		heap.Push(&t.heap, a)
	default:
		a.at = at
		heap.Fix(&t.heap, a.index)
	}
	if t.heap[0] == a {
		select {
		case t.earlier <- struct{}{}:
		default:
		}
	}
}

// drop removes a run's timer.
func (t *timers) drop(run string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if a := t.at[run]; a != nil {
		heap.Remove(&t.heap, a.index)
		delete(t.at, run)
	}
}

// due removes the timers that have passed, and returns their runs.
func (t *timers) due(now time.Time) (runs []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.heap) > 0 && !t.heap[0].at.After(now) {
		a := heap.Pop(&t.heap).(*alarm)
		delete(t.at, a.run)
		runs = append(runs, a.run)
	}
	return runs
}

// all removes every timer, and returns the runs.
func (t *timers) all() (runs []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for run := range t.at {
		runs = append(runs, run)
	}
	t.at, t.heap = map[string]*alarm{}, nil
	return runs
}

// next returns the first time at which a timer passes; ok is false if there is none.
func (t *timers) next() (time.Time, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.heap) == 0 {
		return time.Time{}, false
	}
	return t.heap[0].at, true
}

type alarm struct {
	at    time.Time
	run   string
	index int // in the heap
}

// alarms is a heap of alarms by time; it implements [heap.Interface].
type alarms []*alarm

func (a alarms) Len() int           { return len(a) }
func (a alarms) Less(i, j int) bool { return a[i].at.Before(a[j].at) }

// Swap implements [heap.Interface].
func (a alarms) Swap(i, j int) {
	a[i], a[j] = a[j], a[i]
	a[i].index, a[j].index = i, j
}

// Push implements [heap.Interface].
func (a *alarms) Push(x any) {
	last := x.(*alarm)
	last.index = len(*a)
	*a = append(*a, last)
}

// Pop implements [heap.Interface].
func (a *alarms) Pop() any {
	last := (*a)[len(*a)-1]
	(*a)[len(*a)-1] = nil
	*a = (*a)[:len(*a)-1]
	return last
}

const (
	// clockPoll is how long the clock is trusted: within this time the loop notices that
	// the machine slept or that its clock was set.
	clockPoll = 2 * time.Second
	// clockJump is by how much the clock may differ from the time that passed.
	clockJump = time.Second
)

// keepTime marks the runs whose time has come. It compares times with the wall clock
// repeatedly and never sleeps for long, so that a deadline that passes while the machine
// sleeps is handled when it wakes.
func (s *session) keepTime(ctx context.Context) {
	wall, mono := s.l.o.Now().Round(0), time.Now()
	for ctx.Err() == nil {
		now := s.l.o.Now()
		if jumped(now.Round(0).Sub(wall), time.Since(mono)) {
			// A wait that was computed from a wrong clock may last for ever.
			s.queue.markAll(s.timers.all())
		}
		wall, mono = now.Round(0), time.Now()
		for _, state := range s.timers.due(now) {
			s.queue.markHeard(state)
		}
		s.timers.sleep(ctx, now)
	}
}

// jumped reports whether the clock was set, given how far it went and how much time passed.
func jumped(went, passed time.Duration) bool {
	return (went - passed).Abs() > clockJump
}

// sleep waits until a timer passes, an earlier one is set, the clock must be read again, or
// the context ends.
func (t *timers) sleep(ctx context.Context, now time.Time) {
	wait := clockPoll
	if next, ok := t.next(); ok {
		wait = min(max(next.Sub(now), 0), clockPoll)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-t.earlier:
	case <-timer.C:
	}
}

// semaphore limits how many passes do something in parallel. A pass that waits for the disk
// or for a lock releases the one for workers, so that others can get ready meanwhile and
// share its rounds of fsync. Passes acquire it in the order in which they ask, and only one
// new pass asks at a time: passes that come back from a wait do not wait for all that have
// not begun.
type semaphore chan struct{}

func (s semaphore) acquire() { s <- struct{}{} }

func (s semaphore) release() { <-s }
