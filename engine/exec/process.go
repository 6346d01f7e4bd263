package exec

import (
	"errors"
	"os"
	"os/exec"
	"sync"
	"syscall"
)

// spec is one program to start.
type spec struct {
	argv, env []string
	dir       string // absolute
	stdin     *os.File
	stdout    *os.File
	stderr    *os.File
	hearing   hearing // what is listened to through pipes
	// session asks for a session of its own, else for a process group.
	session bool
}

// process is a started program, the leader of its own group.
type process struct {
	pid  int
	cmd  *exec.Cmd
	once sync.Once

	mu     sync.Mutex
	reaped bool
}

// start begins a program. Files are handed over as they are: no goroutine
// copies, so waiting for the program never waits for its descendants.
func start(s spec) (*process, error) {
	if len(s.argv) == 0 || s.argv[0] == "" {
		return nil, errors.New("the command is empty")
	}
	cmd := exec.Command(s.argv[0], s.argv[1:]...)
	cmd.Env, cmd.Dir = s.env, s.dir
	// A nil *os.File in an interface is not nil.
	if s.stdin != nil {
		cmd.Stdin = s.stdin
	}
	if s.stdout != nil {
		cmd.Stdout = s.stdout
	}
	if s.stderr != nil {
		cmd.Stderr = s.stderr
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: !s.session, Setsid: s.session}
	if !s.session {
		tie(cmd.SysProcAttr)
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &process{pid: cmd.Process.Pid, cmd: cmd}, nil
}

// signal sends sig to every member of the group. After the process was reaped
// it does nothing: the id may be somebody else's by then.
func (p *process) signal(sig syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		_ = syscall.Kill(-p.pid, sig) // nobody left to hear it: that is what was wanted
	}
}

// reap takes the process out of the process table and says how it ended: its
// exit code, or the signal that ended it, 0 for none, and that in words.
func (p *process) reap() (code *int, by syscall.Signal, why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wait()
	p.reaped = true
	state := p.cmd.ProcessState
	if state == nil {
		return nil, 0, "its end could not be observed"
	}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return nil, status.Signal(), "ended by signal: " + status.Signal().String()
	}
	n := state.ExitCode()
	return &n, 0, ""
}

// wait waits and reaps. An exit code other than 0 is no error here.
func (p *process) wait() { p.once.Do(func() { _ = p.cmd.Wait() }) }
