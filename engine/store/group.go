package store

import (
	"sync"
	"sync/atomic"

	"placet/engine"
	"placet/layout"
)

// queue makes commits that are ready together share their rounds. The leader takes all
// commits that arrived during the rounds before.
type queue struct {
	mu      sync.Mutex
	waiting []*commit
	leading chan struct{} // holds a token while somebody leads
}

func newQueue() queue { return queue{leading: make(chan struct{}, 1)} }

// enter returns when the commits have gone through their rounds, together with all others
// in the batch.
func (q *queue) enter(commits []*commit, rounds func([]*commit)) {
	q.mu.Lock()
	q.waiting = append(q.waiting, commits...)
	q.mu.Unlock()
	select {
	case <-commits[0].done: // another leader has included them
		return
	case q.leading <- struct{}{}:
	}
	defer func() { <-q.leading }()
	select {
	case <-commits[0].done: // done already; those that still wait lead at once
		return
	default:
	}
	q.mu.Lock()
	batch := q.waiting
	q.waiting = nil
	q.mu.Unlock()
	rounds(batch)
	for _, j := range batch {
		close(j.done)
	}
}

// Ready is a plan of a run that is ready to be committed.
type Ready struct {
	Run    layout.Run
	Family layout.Family
	Plan   engine.Plan
}

// CommitTogether is Commit for plans of several runs that are ready at the same moment:
// they share their rounds, in the given order. It returns one error for each plan.
func (s *Store) CommitTogether(plans []Ready) []error {
	commits := make([]*commit, len(plans))
	for i, p := range plans {
		commits[i] = newCommit(p.Run, p.Family, p.Plan)
	}
	return s.committer.commit(commits...)
}

// each calls do for every item, at most width at a time, and waits for all.
func each[T any](width int, items []T, do func(T)) {
	eachIndex(width, len(items), func(i int) { do(items[i]) })
}

// eachIndex calls do for the numbers below n, at most width at a time, and waits for all.
func eachIndex(width, n int, do func(int)) {
	var next atomic.Int64
	work := func() {
		for i := int(next.Add(1)); i <= n; i = int(next.Add(1)) {
			do(i - 1)
		}
	}
	var workers sync.WaitGroup
	for range min(width, n) - 1 {
		workers.Go(work)
	}
	work()
	workers.Wait()
}
