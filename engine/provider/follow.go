package provider

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
}

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
		return ""
	case <-due:
		word = timedOut
	case <-t.quit:
		word = stopped
	}
	select {
	case <-ended: // it was just in time
		return finished
	default:
	}
	t.end(ended, signal)
	return word
}

// end asks the group to end and, after the grace, no longer asks.
func (t terms) end(ended <-chan struct{}, signal func(syscall.Signal)) {
	signal(syscall.SIGTERM)
	timer := time.NewTimer(t.grace)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
		signal(syscall.SIGKILL)
		<-ended
	}
}
