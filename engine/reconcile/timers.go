package reconcile

import (
	"container/heap"
	"sync"
	"time"
)

// timers say when runs are to be looked at, at the latest. A run has one timer
// at most, and setting it only ever moves it earlier.
type timers struct {
	mu   sync.Mutex
	heap alarms
	// earlier holds a token when the first alarm has become an earlier one.
	earlier chan struct{}
}

func newTimers() *timers {
	return &timers{heap: alarms{at: map[string]int{}}, earlier: make(chan struct{}, 1)}
}

// set has a run looked at no later than t. The zero time changes nothing.
func (t *timers) set(run string, at time.Time) {
	if at.IsZero() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	i, ok := t.heap.at[run]
	switch {
	case !ok:
		heap.Push(&t.heap, alarm{at, run})
	case at.Before(t.heap.all[i].at):
		t.heap.all[i].at = at
		heap.Fix(&t.heap, i)
	default:
		return
	}
	if t.heap.all[0].run == run {
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
	if i, ok := t.heap.at[run]; ok {
		heap.Remove(&t.heap, i)
	}
}

// due takes the timers away that have passed, and returns their runs.
func (t *timers) due(now time.Time) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var runs []string
	for t.heap.Len() > 0 && !t.heap.all[0].at.After(now) {
		runs = append(runs, heap.Pop(&t.heap).(alarm).run)
	}
	return runs
}

// all takes every timer away, and returns the runs.
func (t *timers) all() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	runs := make([]string, 0, t.heap.Len())
	for _, a := range t.heap.all {
		runs = append(runs, a.run)
	}
	t.heap = alarms{at: map[string]int{}}
	return runs
}

// next is the first moment at which a timer passes; it is false if there is none.
func (t *timers) next() (time.Time, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.heap.Len() == 0 {
		return time.Time{}, false
	}
	return t.heap.all[0].at, true
}

type alarm struct {
	at  time.Time
	run string
}

// alarms is a heap of alarms that knows where each run's is.
type alarms struct {
	all []alarm
	at  map[string]int
}

func (a *alarms) Len() int           { return len(a.all) }
func (a *alarms) Less(i, j int) bool { return a.all[i].at.Before(a.all[j].at) }
func (a *alarms) Swap(i, j int) {
	a.all[i], a.all[j] = a.all[j], a.all[i]
	a.at[a.all[i].run], a.at[a.all[j].run] = i, j
}

// Push implements [heap.Interface].
func (a *alarms) Push(x any) {
	al := x.(alarm)
	a.at[al.run] = len(a.all)
	a.all = append(a.all, al)
}

// Pop implements [heap.Interface].
func (a *alarms) Pop() any {
	al := a.all[len(a.all)-1]
	a.all[len(a.all)-1] = alarm{}
	a.all = a.all[:len(a.all)-1]
	delete(a.at, al.run)
	return al
}
