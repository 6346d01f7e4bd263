package exec

import "syscall"

// ending is how a command ended.
type ending struct {
	word   string
	code   *int
	reason string // what no output says
	cwd    string // where it ran, relative to the workspace; "" where nobody knows
	stdout Output // both outputs, where they were heard as one
	stderr Output
	// What the judge says of the whole output, nil where it says nothing.
	matched *bool
	marker  *string
}

// notStarted is the ending of a command that never ran.
func notStarted(err error) ending { return ending{word: unstarted, reason: err.Error()} }

// reaped puts into an ending how its process ended. A judged command that a
// signal ended, and not placet, has the code that a shell reports of one: a
// shell that became its last command cannot report it itself.
func (e *ending) reaped(p *process, h hearing) {
	code, by, why := p.reap()
	if h.judge && e.word == finished && by > 0 {
		code = new(int)
		*code = 128 + int(by)
	}
	e.code, e.reason = code, why
}

// run carries out a command whose output is read through pipes. When it has
// ended nothing of its group is left: what a check leaves behind would disturb
// the next one.
func run(s spec, t terms) ending {
	drains, err := s.hearing.drains()
	if err != nil {
		return notStarted(err)
	}
	s.stdout, s.stderr = drains[0].w, drains[len(drains)-1].w
	p, err := start(s)
	if err != nil {
		abandon(drains)
		return notStarted(err)
	}
	for _, d := range drains {
		d.begin()
	}
	e := p.attend(t)
	quiet(drains)
	p.signal(syscall.SIGKILL)
	var heard []sound
	for _, d := range drains {
		heard = append(heard, d.end())
	}
	s.hearing.tell(&e, heard)
	e.reaped(p, s.hearing)
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
	t.orphans = func() bool {
		_, runs := groupSession(p.pid)
		return runs
	}
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
	e.reaped(p, s.hearing)
	return e
}
