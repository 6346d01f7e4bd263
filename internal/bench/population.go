package main

import (
	"fmt"
	"math/rand/v2"
	"strconv"
)

// population is the content of a workspace after months: nearly all runs have
// ended, a few wait, and few have a long history. Equal populations have the same
// runs with the same histories; times and digests in their documents differ.
type population struct {
	ended, waiting int
	// sessions is how many of a hundred runs are AFL sessions, and cycles is
	// about how many are optimisation cycles; the others are FABER runs.
	sessions, cycles int
	// shortest and longest are the numbers of events of FABER runs; for every ten
	// thousand ended runs, one has the longest history.
	shortest, longest int
	seed              uint64
}

// sessionShare is the default of how many of a hundred runs are AFL sessions.
const sessionShare = 10

// cycleShare is the default of about how many of a hundred runs of a generated
// workspace are optimisation cycles. The workspaces that are measured have none.
const cycleShare = 5

// grown returns a population of so many runs, of which one in a hundred waits.
func grown(runs, longest int) population {
	waiting := (runs + 99) / 100
	return population{ended: runs - waiting, waiting: waiting, sessions: sessionShare, shortest: 1, longest: longest}
}

// crowd returns a population of runs that all wait.
func crowd(waiting int) population {
	return population{waiting: waiting, sessions: sessionShare, shortest: 3, longest: 10}
}

// dice returns the random numbers of the n-th run.
func (p population) dice(n int) *rand.Rand { return rand.New(rand.NewPCG(p.seed, uint64(n))) }

// history returns how many events the n-th run has: at most ten, but one run in a
// hundred has ten times as many, and one in ten thousand has the longest history.
func (p population) history(n int) int {
	low, high := max(p.shortest, 1), min(max(p.longest, 1), 10)
	events := low + p.dice(n).IntN(max(high-low, 0)+1)
	switch {
	case n%10000 == 9999:
		return max(p.longest, events)
	case n%100 == 99:
		return max(min(10*events, p.longest), events)
	}
	return events
}

// isSession reports whether the n-th run is an AFL session.
func (p population) isSession(n int) bool { return n%100*p.sessions%100 < p.sessions }

// isCycle reports whether the n-th run is an optimisation cycle.
func (p population) isCycle(n int) bool {
	return p.cycles > 0 && !p.isSession(n) && (n%100+50)*p.cycles%100 < p.cycles
}

// String returns the size of the population.
func (p population) String() string {
	return fmt.Sprintf("%d runs, %d of them waiting", p.ended+p.waiting, p.waiting)
}

// waitingFrom begins the numbers of waiting runs, which distinguish them
// from ended ones.
const waitingFrom = 1 << 30

// populate makes the runs of a population, in any order.
func (w workspace) populate(p population, m moulds) error {
	c := casting{w, p, m, newLedger(w)}
	defer c.rows.rest()
	if err := many(p.ended, c.ended); err != nil {
		return err
	}
	return many(p.waiting, c.waiting)
}

// casting is a workspace that is being filled.
type casting struct {
	workspace
	population
	moulds
	rows *ledger
}

// ended makes the n-th run that has ended.
func (c casting) ended(n int) error {
	if c.isSession(n) {
		return c.endedSession(n)
	}
	if c.isCycle(n) {
		return c.endedCycle(n)
	}
	events, dir := c.history(n), c.run("completed", n)
	m := c.approved
	if c.dice(n).IntN(20) == 0 {
		m = c.rejected
	}
	if events < m.events {
		return c.completedAfter(n, events) // one that asked nothing
	}
	who := particulars{"run": runID(dir), "request": requestID(n), "n": strconv.Itoa(n), "events": strconv.Itoa(events)}
	for _, of := range m.keys {
		who[of] = eventKey(who["run"], of)
	}
	if err := c.cast(m, dir, who); err != nil {
		return err
	}
	return c.eventsFrom(dir, m.events+1, events, "workflow_complete")
}

// endedSession makes the n-th run an ended AFL session; one in ten has more than
// a checkpoint or two.
func (c casting) endedSession(n int) error {
	m := c.endedSessions[0]
	if k := c.dice(n).IntN(30); k < 3 {
		m = c.endedSessions[2]
	} else if k < 12 {
		m = c.endedSessions[1]
	}
	id := sessionID(n)
	return c.cast(m, ".afl/sessions/"+id, particulars{"session": id})
}

// waiting makes the n-th waiting run: a session that waits for its approval, a cycle
// that waits for the judgement of its report, or a FABER run that waits for an answer.
func (c casting) waiting(n int) error {
	if c.isSession(n) {
		return c.write(".afl/sessions/"+sessionID(waitingFrom+n)+"/specs/checkpoints.yaml", specsText(2, false))
	}
	if c.isCycle(n) {
		return c.asksForCycle(waitingFrom + n)
	}
	return c.workspace.waiting(n, c.history(waitingFrom+n))
}

// sessionID returns the id of the n-th run if it is an AFL session.
func sessionID(n int) string { return fmt.Sprintf("s-%08x-%x", uint32(n)*2654435761, n) }

// grow makes a workspace with a population whose requests are open.
func (b *bench) grow(name string, p population) (workspace, error) {
	w, err := b.fresh(name)
	if err != nil {
		return w, err
	}
	if b.moulds.endedSessions == nil {
		if b.moulds, err = makeMoulds(); err != nil {
			return w, err
		}
	}
	if err := w.populate(p, b.moulds); err != nil {
		return w, err
	}
	return w, b.once(w)
}
