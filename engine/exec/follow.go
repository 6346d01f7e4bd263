package exec

import (
	"syscall"
	"time"
)

// terms are the conditions under which a program runs.
type terms struct {
	// quit asks to end it; leave asks to go away and let it run.
	quit, leave <-chan struct{}
	// due is how long it may still run, nil for ever.
	due *time.Duration
	// grace is how long it may take to end after SIGTERM.
	grace time.Duration
	// began, if not nil, is called once with the process id.
	began func(pid int)
	// orphans reports whether others of its group run when it has ended.
	orphans func() bool
}

// pollOrphans is how often those are looked for.
const pollOrphans = 20 * time.Millisecond

// follow waits until the program has ended, ending it if it must, and says
// which outcome that is. It is "" where the program was left running. signal
// reaches its whole group.
func (t terms) follow(ended <-chan struct{}, signal func(syscall.Signal)) string {
	var due <-chan time.Time
	if t.due != nil {
		timer := time.NewTimer(*t.due)
		defer timer.Stop()
		due = timer.C
	}
	word := ""
	select {
	case <-ended:
		return finished
	case <-t.leave:
		if !isClosed(t.quit) {
			return ""
		}
		word = stopped // nobody wants it: it is not left behind
	case <-due:
		word = timedOut
	case <-t.quit:
		word = stopped
	}
	if isClosed(ended) { // it was just in time
		return finished
	}
	t.end(ended, signal)
	return word
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// end asks the group to end and, after the grace, no longer asks. That the
// program itself has ended is not enough: what it started may go on.
func (t terms) end(ended <-chan struct{}, signal func(syscall.Signal)) {
	signal(syscall.SIGTERM)
	timer := time.NewTimer(t.grace)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
		signal(syscall.SIGKILL)
		<-ended
		return
	}
	ticker := time.NewTicker(pollOrphans)
	defer ticker.Stop()
	for t.orphans() {
		select {
		case <-ticker.C:
		case <-timer.C:
			signal(syscall.SIGKILL)
			return
		}
	}
}
