package reconcile

import (
	"container/heap"
	"sync"
	"time"
)

// timers say when runs are to be looked at, at the latest. A run has one timer
// at most, and setting it only ever moves it earlier.
type timers struct {
	mu sync.Mutex
	at map[string]time.Time
	// heap holds the timers by time, and some that are not set any more.
	heap alarms
	// earlier holds a token when the first timer has become an earlier one.
	earlier chan struct{}
}

func newTimers() *timers {
	return &timers{at: map[string]time.Time{}, earlier: make(chan struct{}, 1)}
}

// set has a run looked at no later than t. The zero time changes nothing.
func (t *timers) set(run string, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if old, ok := t.at[run]; at.IsZero() || ok && !at.Before(old) {
		return
	}
	t.at[run] = at
	heap.Push(&t.heap, alarm{at, run})
	t.compact()
	if t.heap[0].run == run {
		select {
		case t.earlier <- struct{}{}:
		default:
		}
	}
}

// fewStale is how many alarms of timers that are not set any more are never many.
const fewStale = 64

// compact makes the heap anew where most of it is of timers that are not set any more.
func (t *timers) compact() {
	if len(t.heap) <= 2*len(t.at)+fewStale {
		return
	}
	t.heap = t.heap[:0]
	for run, at := range t.at {
		t.heap = append(t.heap, alarm{at, run})
	}
	heap.Init(&t.heap)
}

// drop takes a run's timer away.
func (t *timers) drop(run string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.at, run)
}

// due takes the timers away that have passed, and returns their runs.
func (t *timers) due(now time.Time) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var runs []string
	for first, ok := t.first(); ok && !first.at.After(now); first, ok = t.first() {
		heap.Pop(&t.heap)
		delete(t.at, first.run)
		runs = append(runs, first.run)
	}
	return runs
}

// all takes every timer away, and returns the runs.
func (t *timers) all() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	runs := make([]string, 0, len(t.at))
	for run := range t.at {
		runs = append(runs, run)
	}
	t.at, t.heap = map[string]time.Time{}, nil
	return runs
}

// next is the first moment at which a timer passes; it is false if there is none.
func (t *timers) next() (time.Time, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	first, ok := t.first()
	return first.at, ok
}

// first returns the first alarm, without those of timers that are not set any more.
func (t *timers) first() (alarm, bool) {
	for len(t.heap) > 0 {
		first := t.heap[0]
		if at, ok := t.at[first.run]; ok && at.Equal(first.at) {
			return first, true
		}
		heap.Pop(&t.heap)
	}
	return alarm{}, false
}

type alarm struct {
	at  time.Time
	run string
}

// alarms is a heap of alarms; it implements [heap.Interface].
type alarms []alarm

func (a alarms) Len() int           { return len(a) }
func (a alarms) Less(i, j int) bool { return a[i].at.Before(a[j].at) }
func (a alarms) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }

// Push implements [heap.Interface].
func (a *alarms) Push(x any) { *a = append(*a, x.(alarm)) }

// Pop implements [heap.Interface].
func (a *alarms) Pop() any {
	last := (*a)[len(*a)-1]
	(*a)[len(*a)-1] = alarm{}
	*a = (*a)[:len(*a)-1]
	return last
}
