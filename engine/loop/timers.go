package loop

import (
	"container/heap"
	"context"
	"sync"
	"time"
)

// timers say when runs are to be looked at, at the latest. A run has one timer
// at most, and setting it only ever moves it earlier.
type timers struct {
	mu   sync.Mutex
	at   map[string]*alarm
	heap alarms
	// earlier holds a token when the first timer has become an earlier one.
	earlier chan struct{}
}

func newTimers() *timers {
	return &timers{at: map[string]*alarm{}, earlier: make(chan struct{}, 1)}
}

// set has a run looked at no later than at a moment. The zero time changes nothing.
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

// drop takes a run's timer away.
func (t *timers) drop(run string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if a := t.at[run]; a != nil {
		heap.Remove(&t.heap, a.index)
		delete(t.at, run)
	}
}

// due takes the timers away that have passed, and returns their runs.
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

// all takes every timer away, and returns the runs.
func (t *timers) all() (runs []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for run := range t.at {
		runs = append(runs, run)
	}
	t.at, t.heap = map[string]*alarm{}, nil
	return runs
}

// next is the first moment at which a timer passes; it is false if there is none.
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
	// clockPoll is how long the clock is trusted: a machine that slept or
	// whose clock was set notices within this time.
	clockPoll = 2 * time.Second
	// clockJump is by how much the clock may differ from the time that passed.
	clockJump = time.Second
)

// keepTime marks the runs whose moment has come. Moments are compared with the
// wall clock time and again, never slept for in one piece: a deadline that
// passes while the machine sleeps is handled when it wakes.
func (s *session) keepTime(ctx context.Context) {
	wall, mono := s.l.o.Now().Round(0), time.Now()
	for ctx.Err() == nil {
		now := s.l.o.Now()
		if jumped(now.Round(0).Sub(wall), time.Since(mono)) {
			// A wait counted from the wrong hour may be for ever.
			s.queue.markAll(s.timers.all())
		}
		wall, mono = now.Round(0), time.Now()
		for _, state := range s.timers.due(now) {
			s.queue.markHeard(state)
		}
		s.timers.sleep(ctx, now)
	}
}

// jumped reports whether the clock was set, given how far it went and how much
// time passed.
func jumped(went, passed time.Duration) bool {
	return (went - passed).Abs() > clockJump
}

// sleep waits until a timer passes, an earlier one is set, the clock is to be looked at
// again, or the context ends.
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
