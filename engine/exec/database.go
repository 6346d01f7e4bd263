package exec

import (
	"path"

	"placet/engine"
)

// failed is the result of an action for a database that may be tried again.
const failed = "failed"

// queue holds the actions for one database, which run one at a time.
type queue struct {
	waiting []*attempt
	busy    bool   // a goroutine serves the queue
	problem string // why the last attempt could not use the database
}

// enqueue runs an action for a database after those that began before it.
func (r *Runner) enqueue(t *attempt) {
	at := path.Clean(t.action.Database.Path)
	r.mu.Lock()
	defer r.mu.Unlock()
	q := r.queues[at]
	if q == nil {
		q = &queue{}
		r.queues[at] = q
	}
	q.waiting = append(q.waiting, t)
	if !q.busy {
		q.busy = true
		go r.serve(at, q)
	}
}

// serve runs the actions that wait for a database until none waits.
func (r *Runner) serve(at string, q *queue) {
	for t := r.dequeue(q); t != nil; t = r.dequeue(q) {
		from := r.o.Now()
		e := r.o.Database(*t.action.Database)
		e.Began, e.At = from, r.o.Now()
		done, idle, news := r.settle(q, t, e)
		if idle {
			r.o.OnIdle(at)
		}
		if news {
			r.o.Log.Info("cannot use a database", "path", at, "action", t.action.ID, "outcome", e.Result, "reason", e.Reason)
		}
		for _, t := range done {
			r.publish(t, e)
		}
	}
}

// dequeue returns the next action for a database, or nil if none waits. While
// placet stops, it releases those that wait: none of them has started.
func (r *Runner) dequeue(q *queue) *attempt {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		for _, t := range q.waiting {
			r.remove(t)
		}
		q.waiting = nil
	}
	if len(q.waiting) == 0 {
		q.busy = false
		return nil
	}
	t := q.waiting[0]
	q.waiting = q.waiting[1:]
	return t
}

// settle returns the actions that have ended with t. If the database could not be
// used, all waiting actions fail with t, because they waited for the same lock. idle
// says that no action waits any more, news that the reason has not been logged yet.
func (r *Runner) settle(q *queue, t *attempt, e engine.Ended) (done []*attempt, idle, news bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	done, problem := []*attempt{t}, ""
	news = e.Reason != "" && (e.Result != failed || e.Reason != q.problem)
	if e.Result == failed {
		done, problem = append(done, q.waiting...), e.Reason
		q.waiting = nil
	}
	q.problem = problem
	return done, r.stopped || len(q.waiting) == 0, news
}
