package exec

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

const (
	// linger is how long the output of a command's descendants is still read after
	// the command itself has ended.
	linger = 2 * time.Second
	// pollOrphans is the interval between two looks for members of an ended group.
	pollOrphans = 20 * time.Millisecond
)

// spec describes one program to start.
type spec struct {
	argv, env []string
	dir       string    // absolute
	stdin     *os.File  // nil for the null device
	stdout    io.Writer // a file, or nil to read the output through pipes
	stderr    io.Writer
	session   bool // a session of its own, otherwise only a process group
}

// process is a started program, the leader of its own group.
type process struct {
	pid  int
	cmd  *exec.Cmd
	once sync.Once

	mu     sync.Mutex
	reaped bool
}

// start starts a program.
func start(s spec) (*process, error) {
	if len(s.argv) == 0 || s.argv[0] == "" {
		return nil, errors.New("the command is empty")
	}
	cmd := exec.Command(s.argv[0], s.argv[1:]...)
	cmd.Env, cmd.Dir, cmd.WaitDelay = s.env, s.dir, pipeDelay
	cmd.Stdout, cmd.Stderr = s.stdout, s.stderr
	if s.stdin != nil { // a nil *os.File in an interface is not nil
		cmd.Stdin = s.stdin
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: !s.session, Setsid: s.session}
	if !s.session {
		setDeathSignal(cmd.SysProcAttr)
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &process{pid: cmd.Process.Pid, cmd: cmd}, nil
}

// signal sends sig to every member of the group. It does nothing after the process
// was reaped, because the ID may belong to another process.
func (p *process) signal(sig syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		_ = syscall.Kill(-p.pid, sig) // the group may just have ended
	}
}

// hasOrphans reports whether a member of the group runs.
func (p *process) hasOrphans() bool {
	_, runs := groupSession(p.pid)
	return runs
}

// wait waits for the process and reaps it. An exit code other than 0 is no error here.
func (p *process) wait() { p.once.Do(func() { _ = p.cmd.Wait() }) }

// reap reaps the process and puts into e how it ended. A judged command that ended by
// a signal, other than placet's, gets the exit code that a shell reports for the
// signal: a shell that replaced itself by its last command cannot report the code
// itself.
func (p *process) reap(e *exitResult, judged bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wait()
	p.reaped = true
	state := p.cmd.ProcessState
	if state == nil {
		e.reason = "its end could not be observed"
		return
	}
	code := state.ExitCode()
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		e.reason = "ended by signal: " + status.Signal().String()
		if code = 128 + int(status.Signal()); !judged || e.word != finished {
			return
		}
	}
	e.code = &code
}

// terms are the conditions under which a program runs.
type terms struct {
	// quit asks the program to end; leave asks to stop following it and let it
	// run.
	quit, leave <-chan struct{}
	// timeout is how long the program may still run, nil for ever.
	timeout *time.Duration
	// grace is how long the program may take to end after SIGTERM.
	grace time.Duration
	// started, if not nil, is called once with the process ID.
	started func(pid int)
}

// group is a process group that this process started or an earlier placet left.
type group interface {
	signal(syscall.Signal)
	// hasOrphans reports whether other members of the group run although the process
	// itself has ended.
	hasOrphans() bool
}

// follow waits until the group's process has ended, ends the group if it must, and
// returns the outcome's word. The word is "" if the program was left running.
func (t terms) follow(g group, ended <-chan struct{}) string {
	var due <-chan time.Time
	if t.timeout != nil {
		timer := time.NewTimer(*t.timeout)
		defer timer.Stop()
		due = timer.C
	}
	word := stopped
	select {
	case <-ended:
		return finished
	case <-t.leave:
		if !isClosed(t.quit) {
			return ""
		}
	case <-due:
		word = timedOut
	case <-t.quit:
	}
	if isClosed(ended) { // it ended just in time
		return finished
	}
	t.terminate(g, ended)
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

// terminate sends SIGTERM to the group and, after the grace, SIGKILL. It does not stop
// when the program itself has ended, because what the program started may go on.
func (t terms) terminate(g group, ended <-chan struct{}) {
	g.signal(syscall.SIGTERM)
	timer := time.NewTimer(t.grace)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
		g.signal(syscall.SIGKILL)
		<-ended
		return
	}
	ticker := time.NewTicker(pollOrphans)
	defer ticker.Stop()
	for g.hasOrphans() {
		select {
		case <-ticker.C:
		case <-timer.C:
			g.signal(syscall.SIGKILL)
			return
		}
	}
}

// run runs a program until it ends or is left running. If the outputs do not go to
// files, run reads them through pipes and kills what is left of the group at the end:
// what a check leaves behind would disturb the next one.
func run(s spec, keep retention, t terms) exitResult {
	var outputs []*capture
	if s.stdout == nil {
		outputs = keep.captures()
		s.stdout, s.stderr = outputs[0], outputs[len(outputs)-1]
	}
	p, err := start(s)
	if err != nil {
		return notStarted(err)
	}
	if t.started != nil {
		t.started(p.pid)
	}
	ended := make(chan struct{})
	go func() {
		p.awaitExit()
		close(ended)
	}()
	e := exitResult{word: t.follow(p, ended)}
	if e.word == "" {
		go p.wait()
		return e
	}
	if outputs != nil {
		awaitEOF(outputs)
		p.signal(syscall.SIGKILL)
	}
	p.reap(&e, keep.judge)
	if outputs != nil {
		keep.report(&e, outputs)
	}
	return e
}

// awaitEOF waits until every output is at its end, at most for linger.
func awaitEOF(outputs []*capture) {
	timer := time.NewTimer(linger)
	defer timer.Stop()
	for _, c := range outputs {
		select {
		case <-c.eof:
		case <-timer.C:
			return
		}
	}
}
