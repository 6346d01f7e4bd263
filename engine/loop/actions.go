package loop

import (
	"crypto/sha256"
	"sync"

	"placet/engine"
	"placet/layout"
)

// actionLog remembers which actions this process has begun and which it has asked to end,
// for as long as the process runs: a run may vanish and come back with its folder, and its
// action must not begin a second time. The log keeps only half a digest for each action.
//
// It also keeps the runs of the actions without an outcome document: the end of such an
// action changes no file, so nothing else leads back to the run.
type actionLog struct {
	mu           sync.Mutex
	begun, ended map[actionID]bool
	runs         map[string]string // action → state document of its run, from begin to end
	// news are the runs of which an action ended while Watch was not running.
	news map[string]bool
}

type actionID [16]byte

func idOf(action string) actionID {
	sum := sha256.Sum256([]byte(action))
	return actionID(sum[:16])
}

func newActionLog() *actionLog {
	return &actionLog{begun: map[actionID]bool{}, ended: map[actionID]bool{}, runs: map[string]string{}, news: map[string]bool{}}
}

// begin records that an action of a run is about to begin, and reports whether it has not
// begun before.
func (a *actionLog) begin(action engine.Action, state string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	id := idOf(action.ID)
	if a.begun[id] {
		return false
	}
	a.begun[id] = true
	if action.Outcome == "" {
		a.runs[action.ID] = state
	}
	return true
}

// end records that an action is asked to end, and reports whether this is the first time.
func (a *actionLog) end(action string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	id := idOf(action)
	was := a.ended[id]
	a.ended[id] = true
	return !was
}

// hasBegun reports whether an action has begun.
func (a *actionLog) hasBegun(action string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.begun[idOf(action)]
}

// hasEnded reports whether an action was asked to end.
func (a *actionLog) hasEnded(action string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.ended[idOf(action)]
}

// forget records that the end of an action is no longer of interest.
func (a *actionLog) forget(action string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.runs, action)
}

// isUnderWay reports whether the run has an action without an outcome document that is
// under way, or that has ended and is not forgotten.
func (a *actionLog) isUnderWay(state string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, of := range a.runs {
		if of == state {
			return true
		}
	}
	return false
}

// takeNews returns the runs of which an action ended, for the next round of Once.
func (a *actionLog) takeNews() map[string]bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	news := a.news
	a.news = map[string]bool{}
	return news
}

// LookAgain makes Watch look at a run again although no change is known: the folders of
// ended runs are not watched.
func (l *Loop) LookAgain(run layout.Run) {
	s := l.serving.Load()
	if s == nil {
		return
	}
	if r, active := s.registry.get(run.State); r != nil && active == nil {
		s.activate(r)
		return
	}
	s.queue.mark(run.State)
}

// ActionEnded schedules the run of an action that ended without an outcome document: at
// once in Watch, in another round in Once. The facts must already hold the end. It ignores
// an action that this loop did not begin.
func (l *Loop) ActionEnded(id string) {
	l.actions.mu.Lock()
	defer l.actions.mu.Unlock()
	state := l.actions.runs[id]
	if state == "" {
		return
	}
	if s := l.serving.Load(); s != nil {
		s.queue.mark(state)
		return
	}
	l.actions.news[state] = true
}
