package loop

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"syscall"
)

// errorLog keeps errors from flooding the log: it logs each cause when it begins and when
// it ends, for any number of runs and repetitions.
//
// The first run that a cause holds up is its probe. If the cause affects all runs (the disk
// is full), the probe is tried again at short intervals, and when it succeeds, the other
// runs continue too.
type errorLog struct {
	mu     sync.Mutex
	causes map[string]*trouble // by run
	open   map[string]*trouble // by cause
}

// trouble is one cause and the runs that it holds up.
type trouble struct {
	cause string
	err   error // one error with this cause
	runs  map[string]bool
	probe string // "" until one of the runs fails again
}

// cause returns what an error has in common with others of its kind: the text of the
// innermost error.
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

// fail records what holds a run up. It reports whether the cause is new, and whether the
// run is the cause's probe.
func (l *errorLog) fail(run string, err error) (news, probe bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.causes == nil {
		l.causes, l.open = map[string]*trouble{}, map[string]*trouble{}
	}
	now := cause(err)
	t := l.causes[run]
	if t == nil || t.cause != now {
		l.drop(run)
		if t = l.open[now]; t == nil {
			news = true
			t = &trouble{cause: now, err: err, runs: map[string]bool{}}
			l.open[now] = t
		}
		t.runs[run], l.causes[run] = true, t
	}
	if t.probe == "" {
		t.probe = run
	}
	return news, t.probe == run
}

// clear records that nothing holds a run up. It returns the cause if this was its last run,
// and the runs that may continue because their probe does.
func (l *errorLog) clear(run string) (over string, others []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := l.causes[run]; t != nil && t.probe == run {
		for other := range t.runs {
			if other != run {
				others = append(others, other)
			}
		}
	}
	return l.drop(run), others
}

// drop removes a run from its cause; the next run that fails for this cause is then the
// probe.
func (l *errorLog) drop(run string) (over string) {
	t := l.causes[run]
	if t == nil {
		return ""
	}
	delete(l.causes, run)
	if delete(t.runs, run); t.probe == run {
		t.probe = ""
	}
	if len(t.runs) > 0 {
		return ""
	}
	delete(l.open, t.cause)
	return t.cause
}

// standing returns what holds runs up, for at most so many runs, and one error for each
// cause.
func (l *errorLog) standing(most int) (causes map[string]string, errs []error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	causes = make(map[string]string, min(most, len(l.causes)))
	for run, t := range l.causes {
		if len(causes) == most {
			break
		}
		causes[run] = t.cause
	}
	for _, t := range l.open {
		errs = append(errs, t.err)
	}
	return causes, errs
}

// Persist tries a step of the start until it succeeds, the context ends, or ends returns
// that waiting does not help against its error. It logs each cause once, and again when it
// is over.
func Persist(ctx context.Context, log *slog.Logger, try func() error, ends func(error) bool) error {
	var wait backoff
	said := ""
	for {
		err := try()
		switch {
		case err == nil && said != "":
			log.Info("going on", "over", said)
			return nil
		case err == nil || ends(err):
			return err
		}
		if now := cause(err); now != said {
			log.Warn("cannot begin; trying again until it can", "err", err)
			said = now
		}
		// Nothing else runs during the start, so this step is the probe of its cause.
		if err := pause(ctx, min(wait.next(err), probeWait)); err != nil {
			return err
		}
	}
}

// OfMachine reports whether an error is about the machine (a full disk, too many open
// files), so that the same operation may succeed later.
func OfMachine(err error) bool { return common(err) }
