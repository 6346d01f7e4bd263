package reconcile

import (
	"errors"
	"maps"
	"slices"
	"sync"
	"syscall"
)

// told keeps errors from flooding the log: each cause is said when it comes
// and when it is over, however many runs it holds up and however often.
//
// Of the runs that one cause holds up, the first is its canary. Where the cause
// is one that holds for all (the disk is full), the canary is tried again and
// again at short intervals, and when it goes on, so do the others.
type told struct {
	mu     sync.Mutex
	causes map[string]string              // run → its cause
	runs   map[string]map[string]struct{} // cause → the runs that it holds up
	canary map[string]string              // cause → its canary
	errs   map[string]error               // cause → an error of its kind
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

// common reports whether an error is about the machine, not about one run.
func common(err error) bool {
	var errno syscall.Errno
	return errors.As(err, &errno) && slices.Contains([]syscall.Errno{
		syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EIO,
		syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM,
	}, errno)
}

// fail notes what holds a run up. It reports whether that is news, and whether
// the run is the cause's canary.
func (t *told) fail(run string, err error) (news, canary bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.causes == nil {
		t.causes, t.runs, t.canary = map[string]string{}, map[string]map[string]struct{}{}, map[string]string{}
		t.errs = map[string]error{}
	}
	now := cause(err)
	if t.causes[run] != now {
		t.drop(run)
		t.causes[run] = now
		if t.runs[now] == nil {
			news = true
			t.runs[now], t.errs[now] = map[string]struct{}{}, err
		}
		t.runs[now][run] = struct{}{}
	}
	if t.canary[now] == "" {
		t.canary[now] = run
	}
	return news, t.canary[now] == run
}

// clear notes that nothing holds a run up. It returns the cause that is over for
// all runs, if one is, and the runs that may go on because their canary does.
func (t *told) clear(run string) (over string, others []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if was := t.causes[run]; was != "" && t.canary[was] == run {
		for other := range t.runs[was] {
			if other != run {
				others = append(others, other)
			}
		}
	}
	return t.drop(run), others
}

// drop takes a run off its cause; the next that fails of it is the canary then.
func (t *told) drop(run string) (over string) {
	old, ok := t.causes[run]
	if !ok {
		return ""
	}
	delete(t.causes, run)
	delete(t.runs[old], run)
	if t.canary[old] == run {
		delete(t.canary, old)
	}
	if len(t.runs[old]) > 0 {
		return ""
	}
	delete(t.runs, old)
	delete(t.errs, old)
	return old
}

// standing returns the runs that are held up, and one error of each cause.
func (t *told) standing() (runs map[string]bool, errs []error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	runs = make(map[string]bool, len(t.causes))
	for run := range t.causes {
		runs[run] = true
	}
	return runs, slices.Collect(maps.Values(t.errs))
}

// causesOf returns of so many runs at most what holds them up.
func (t *told) causesOf(most int) map[string]string {
	t.mu.Lock()
	defer t.mu.Unlock()
	some := map[string]string{}
	for run, why := range t.causes {
		if len(some) == most {
			break
		}
		some[run] = why
	}
	return some
}
