package store

import "sync"

// queue lets plans that are ready together share their rounds: whoever finds it
// idle leads, and takes along all who came while the rounds before were running.
type queue struct {
	mu      sync.Mutex
	waiting []*commit
	leading bool
}

// enter returns when the commit has gone through its rounds.
func (q *queue) enter(j *commit, rounds func([]*commit)) {
	q.mu.Lock()
	q.waiting = append(q.waiting, j)
	if q.leading {
		q.mu.Unlock()
		<-j.ready
		if j.through {
			return
		}
		q.mu.Lock() // the lead was handed over
	}
	q.leading = true
	batch := q.waiting
	q.waiting = nil
	q.mu.Unlock()
	rounds(batch)
	for _, other := range batch {
		other.through = true
		if other != j {
			close(other.ready)
		}
	}
	q.hand()
}

// hand gives the lead to the first who waits.
func (q *queue) hand() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		q.leading = false
		return
	}
	close(q.waiting[0].ready)
}
