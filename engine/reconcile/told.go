package reconcile

import (
	"errors"
	"sync"
)

// told keeps errors from flooding the log: each cause is said when it comes
// and when it is over, however many runs it holds up and however often.
type told struct {
	mu     sync.Mutex
	causes map[string]string // run → its cause
	runs   map[string]int    // cause → how many runs it holds up
}

// cause is what an error has in common with others of its kind: the innermost
// error's words.
func cause(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
}

// fail notes what holds a run up, and reports whether that is news.
func (t *told) fail(run string, err error) (news bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.causes == nil {
		t.causes, t.runs = map[string]string{}, map[string]int{}
	}
	now := cause(err)
	if t.causes[run] == now {
		return false
	}
	t.drop(run)
	t.causes[run] = now
	t.runs[now]++
	return t.runs[now] == 1
}

// clear notes that nothing holds a run up, and returns the cause that is over
// for all runs, if one is.
func (t *told) clear(run string) (over string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.drop(run)
}

func (t *told) drop(run string) (over string) {
	old, ok := t.causes[run]
	if !ok {
		return ""
	}
	delete(t.causes, run)
	if t.runs[old]--; t.runs[old] > 0 {
		return ""
	}
	delete(t.runs, old)
	return old
}
