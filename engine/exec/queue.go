package exec

import (
	"path"

	"placet/engine"
)

// queue has an action for a database carried out after those that began before. A
// database gets a goroutine of its own while there is something to do.
func (r *Runner) queue(t *attempt) {
	at := path.Clean(t.action.Database.Path)
	r.mu.Lock()
	defer r.mu.Unlock()
	waiting, atWork := r.queues[at]
	r.queues[at] = append(waiting, t)
	if !atWork {
		go r.serve(at)
	}
}

// serve carries out what waits for a database, until nothing does.
func (r *Runner) serve(at string) {
	r.mu.Lock()
	said := r.trouble[at]
	r.mu.Unlock()
	for t := r.next(at); t != nil; t = r.next(at) {
		began := r.o.Now()
		e := r.o.Database(*t.action.Database)
		if r.idle(at) {
			r.o.Rested(at)
		}
		e.Began, e.At = began, r.o.Now()
		said = r.say(at, t, e, said)
		alike := []*attempt{t}
		if e.Result == failed {
			// What keeps one from a database keeps all: those that waited meanwhile
			// have waited for the same lock.
			alike = append(alike, r.waiting(at)...)
		}
		for _, t := range alike {
			r.tell(t, e)
		}
	}
}

// say says once why a database cannot be used, and what it refuses.
func (r *Runner) say(at string, t *attempt, e engine.Ended, said string) string {
	if e.Reason != "" && (e.Result != failed || e.Reason != said) {
		r.o.Log.Info("a database was asked in vain", "path", at, "action", t.action.ID, "outcome", e.Result, "reason", e.Reason)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if e.Result == failed {
		r.trouble[at] = e.Reason
	} else {
		delete(r.trouble, at)
	}
	return r.trouble[at]
}

// waiting takes out what waits for a database.
func (r *Runner) waiting(at string) []*attempt {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.queues[at]
	r.queues[at] = nil
	return all
}

// idle reports whether nothing more will be asked of a database for now.
func (r *Runner) idle(at string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stopped || len(r.queues[at]) == 0
}

// next takes the next action for a database, nil where there is none. While placet
// stops those that wait are dropped: nothing of them was done.
func (r *Runner) next(at string) *attempt {
	r.mu.Lock()
	waiting := r.queues[at]
	if r.stopped || len(waiting) == 0 {
		delete(r.queues, at)
		r.mu.Unlock()
		for _, t := range waiting {
			r.drop(t)
		}
		return nil
	}
	defer r.mu.Unlock()
	r.queues[at] = waiting[1:]
	return waiting[0]
}
