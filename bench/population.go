package main

import "fmt"

// population is what a workspace holds after months: nearly all runs have ended,
// a few wait, and few have a long history.
type population struct {
	ended, waiting int
	// longest is the number of events of the run with the longest history.
	longest int
}

// grown is a population of so many runs of which one in a hundred waits.
func grown(runs, longest int) population {
	waiting := (runs + 99) / 100
	return population{ended: runs - waiting, waiting: waiting, longest: longest}
}

// history is how many events the n-th run has: three to ten, but one in a hundred
// has ten times as many, and one in ten thousand the longest history.
func (p population) history(n int) int {
	events := 3 + int(uint32(n)*2654435761>>29)
	switch {
	case n%10000 == 9999:
		return max(p.longest, events)
	case n%100 == 99:
		return min(10*events, max(p.longest, events))
	}
	return events
}

// String says how large the population is.
func (p population) String() string {
	return fmt.Sprintf("%d runs, %d of them waiting", p.ended+p.waiting, p.waiting)
}

// populate makes the runs of a population, in any order.
func (w workspace) populate(p population) error {
	err := many(p.ended, func(n int) error { return w.completedAfter(n, p.history(n)) })
	if err != nil {
		return err
	}
	return many(p.waiting, func(n int) error { return w.waiting(n, p.history(n)) })
}

// grow makes a workspace with a population whose requests are open.
func (b *bench) grow(name string, p population) (workspace, error) {
	w, err := b.fresh(name)
	if err != nil {
		return w, err
	}
	if err := w.populate(p); err != nil {
		return w, err
	}
	return w, b.once(w)
}
