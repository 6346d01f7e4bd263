package reconcile

import (
	"sync"

	"placet/engine"
)

// ends keeps whose the actions are that end as facts: such an end changes no file,
// so nothing else leads back to the run.
type ends struct {
	mu sync.Mutex
	of map[string]string // action → state document of its run, from begin to end
	// open counts the actions of a run that are not forgotten yet.
	open map[string]int
	// news are the runs of which an action ended while nobody watched.
	news map[string]bool
}

// expect notes an action that is about to begin. It must be called before.
func (e *ends) expect(a engine.Action, state string) {
	if a.Outcome != "" {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.of == nil {
		e.of, e.open, e.news = map[string]string{}, map[string]int{}, map[string]bool{}
	}
	e.of[a.ID] = state
	e.open[state]++
}

// forget notes that nobody wants to know of an end any more.
func (e *ends) forget(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	state, ok := e.of[id]
	if !ok {
		return
	}
	delete(e.of, id)
	if e.open[state]--; e.open[state] == 0 {
		delete(e.open, state)
	}
}

// due reports whether an action of the run is under way whose end is a fact of this
// process, or has ended so and is not forgotten.
func (e *ends) due(state string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.open[state] > 0
}

// run returns the run of an action, "" where nobody waits for its end.
func (e *ends) run(id string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.of[id]
}

// note keeps a run for the next round of Once.
func (e *ends) note(state string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.news[state] = true
}

// take returns the runs that were noted.
func (e *ends) take() map[string]bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.news) == 0 {
		return nil // what is noted from now on is written into the map
	}
	news := e.news
	e.news = map[string]bool{}
	return news
}

// Told has the run looked at again whose action ended as a fact: at once in Watch,
// in another round in Once. The facts must hold the end by then. An action that
// this loop did not begin means nothing to it.
func (l *Loop) Told(id string) {
	state := l.ends.run(id)
	if state == "" {
		return
	}
	if s := l.serving.Load(); s != nil {
		s.queue.mark(state)
		return
	}
	l.ends.note(state)
}
