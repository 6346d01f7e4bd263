package provider

import "syscall"

// ending is how a command ended.
type ending struct {
	word   string
	code   *int
	reason string // what no output says
	stdout Output
	stderr Output
}

// notStarted is the ending of a command that never ran.
func notStarted(err error) ending { return ending{word: unstarted, reason: err.Error()} }

// run carries out a command whose output is read through pipes. When it has
// ended nothing of its group is left: what a check leaves behind would disturb
// the next one.
func run(s spec, t terms) ending {
	out, err := newDrain()
	if err != nil {
		return notStarted(err)
	}
	errs, err := newDrain()
	if err != nil {
		out.abandon()
		return notStarted(err)
	}
	s.stdout, s.stderr = out.w, errs.w
	p, err := start(s)
	if err != nil {
		out.abandon()
		errs.abandon()
		return notStarted(err)
	}
	out.begin()
	errs.begin()
	e := p.attend(t)
	quiet(out, errs)
	p.signal(syscall.SIGKILL)
	e.stdout, e.stderr = out.end(), errs.end()
	e.code, e.reason = p.reap()
	return e
}

// attend follows a program that was just started.
func (p *process) attend(t terms) ending {
	if t.began != nil {
		t.began(p.pid)
	}
	ended := make(chan struct{})
	go func() {
		p.exited()
		close(ended)
	}()
	return ending{word: t.follow(ended, p.signal)}
}

// runApart carries out a command whose output goes to the files in s and which
// is left running when t.leave says so.
func runApart(s spec, t terms) ending {
	p, err := start(s)
	if err != nil {
		return notStarted(err)
	}
	e := p.attend(t)
	if e.word == "" {
		go p.reap()
		return e
	}
	e.code, e.reason = p.reap()
	return e
}
