package loop

import "sync"

// workqueue is the set of runs to look at, in the order in which they became so.
// A run that is marked while it is being looked at comes again afterwards; one
// that is marked many times comes once.
type workqueue struct {
	mu     sync.Mutex
	filled *sync.Cond
	queue  []string
	in     map[string]place
	// whole holds the runs of which the next look is not to be one at parts.
	whole  map[string]bool
	grown  bool // in has held many
	closed bool
}

// manyDirty is the number of runs from which the memory of those that were in the
// set is let go of when none is: a map keeps what it has grown to.
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

// mark has a run looked at, all of it.
func (d *workqueue) mark(run string) {
	d.distrust(run)
	d.markHeard(run)
}

// distrust has the next look at a run be one at all of it.
func (d *workqueue) distrust(run string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.whole[run] = true
}

// takeWhole reports whether the look at a run that is about to begin is to be one at all of
// it.
func (d *workqueue) takeWhole(run string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	whole := d.whole[run]
	delete(d.whole, run)
	return whole
}

// markHeard has a run looked at, but no further than where something was heard.
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

// markAll has runs looked at.
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

// wait waits for a run that can be taken; it is false once the set is closed.
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

// take waits for a run and takes it; it is false once the set is closed. The
// caller must give it back with finish.
func (d *workqueue) take() (run string, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.await() {
		return "", false
	}
	run, d.queue = d.queue[0], d.queue[1:]
	if len(d.queue) == 0 {
		d.queue = nil // let go of what a burst has grown
	}
	d.in[run] = taken
	return run, true
}

// finish gives a run back.
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

// waiting reports whether there is a run that nobody has taken.
func (d *workqueue) waiting() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.queue) > 0
}

// unmark forgets that a run that is taken was marked since, because it is about to be read,
// and reports whether it was.
func (d *workqueue) unmark(run string) (marked bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if marked = d.in[run] == again; marked {
		d.in[run] = taken
	}
	return marked
}

// marked reports whether a run that is taken was marked since.
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
