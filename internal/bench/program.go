package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// patience is how long a program may be silent.
const patience = 2 * time.Minute

// program is a program under measurement: placet's daemon, or the floor.
type program struct {
	cmd *exec.Cmd
	// moved receives the run folder or id of every run that moved, at the moment
	// its line was read.
	moved chan move
	ready chan struct{}
	began time.Time
	after time.Duration // from the start to ready
	said  []string      // the last lines on stderr
	url   string        // its address, after it is ready; "" for none
}

// move is a run, or a part of one, that moved, with the time at which its line was read.
type move struct {
	run, event string
	at         time.Time
}

// startPlacet starts the daemon and waits until it is ready. Answers count as moves.
func startPlacet(binary, root string) (*program, error) { return startServing(binary, root, answered) }

// startServing starts the daemon and waits until it is ready. counts says which
// transitions are moves, and whose.
func startServing(binary, root string, counts func(transition) (string, bool)) (*program, error) {
	return startVerb(binary, root, counts, "watch")
}

// startVerb does the same as startServing with the daemon's verb.
func startVerb(binary, root string, counts func(transition) (string, bool), verb ...string) (*program, error) {
	p := newProgram(exec.Command(binary, append(verb, "--log", "json")...))
	p.cmd.Dir = root
	p.cmd.Env = quietEnv(root)
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	errs, err := p.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := p.start(); err != nil {
		return nil, err
	}
	go p.read(out, func(line string) { p.told(line, counts) })
	go p.read(errs, p.hear)
	return p, p.await()
}

// quietEnv returns an environment without the settings of the user who runs the bench.
func quietEnv(root string) []string {
	return append(os.Environ(), "XDG_CONFIG_HOME="+configHome(root), "XDG_STATE_HOME="+stateHome(root), "NO_COLOR=1")
}

// stateHome returns the folder for placet's state of a workspace, which is beside it.
func stateHome(root string) string { return filepath.Clean(root) + ".state" }

// configHome returns the folder of the user's own configuration for a
// workspace, if it has one.
func configHome(root string) string { return filepath.Join(stateHome(root), "config") }

// configure writes the user's own configuration for a workspace.
func (w workspace) configure(text string) error {
	dir := filepath.Join(configHome(w.root), "placet")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "placet.toml"), []byte(text), 0o600)
}

// remembered returns the files with a name in the workspace's state folder.
func remembered(root, name string) []string {
	found, _ := filepath.Glob(filepath.Join(stateHome(root), "placet", "workspaces", "*", name))
	return found
}

// startFloor starts this program as the floor and waits until it is ready.
func startFloor(job floorJob) (*program, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	in, err := json.Marshal(job)
	if err != nil {
		return nil, err
	}
	p := newProgram(exec.Command(self, "-floor"))
	p.cmd.Stdin = strings.NewReader(string(in))
	p.cmd.Stderr = os.Stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.start(); err != nil {
		return nil, err
	}
	go p.read(out, func(line string) {
		if line == "ready" {
			p.isReady()
			return
		}
		p.moved <- move{run: line, at: time.Now()}
	})
	return p, p.await()
}

func newProgram(cmd *exec.Cmd) *program {
	return &program{cmd: cmd, moved: make(chan move, 1<<16), ready: make(chan struct{})}
}

func (p *program) start() error {
	p.began = time.Now()
	return p.cmd.Start()
}

func (p *program) isReady() {
	p.after = time.Since(p.began)
	close(p.ready)
}

// await waits until the program says that it is ready.
func (p *program) await() error {
	select {
	case <-p.ready:
		return nil
	case <-time.After(patience):
		p.stop()
		return fmt.Errorf("cannot measure: %s is not ready after %s; it said %q", p.cmd.Path, patience, p.said)
	}
}

func (p *program) read(r io.Reader, line func(string)) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line(lines.Text())
	}
}

// transition is a line of placet's transition log.
type transition struct{ Run, Of, Subject, Event string }

// answered selects the transitions that an answer causes. The opening of a
// request is another transition.
func answered(t transition) (string, bool) {
	return strings.TrimPrefix(t.Run, "faber/"), t.Of == "run" && strings.HasPrefix(t.Event, "answered_")
}

// told reads a line of placet's transition log.
func (p *program) told(line string, counts func(transition) (string, bool)) {
	at := time.Now()
	var t transition
	if json.Unmarshal([]byte(line), &t) != nil {
		return
	}
	if run, ok := counts(t); ok {
		p.moved <- move{run: run, event: t.Event, at: at}
	}
}

// hear waits for the line that reports that the daemon is ready.
func (p *program) hear(line string) {
	if strings.Contains(line, "placet: watching ") {
		p.isReady()
		return
	}
	if _, at, ok := strings.Cut(line, "placet: serving on "); ok {
		p.url = at
	}
	p.said = append(p.said, line)
	if len(p.said) > 20 {
		p.said = p.said[1:]
	}
}

// next waits for the next run that moves.
func (p *program) next() (move, error) {
	select {
	case m := <-p.moved:
		return m, nil
	case <-time.After(patience):
		return move{}, errors.New("cannot measure: no run moved for " + patience.String())
	}
}

// stop asks the program to end, and waits for it.
func (p *program) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	ended := make(chan struct{})
	go func() {
		_ = p.cmd.Wait() // its exit status is not measured
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		_ = p.cmd.Process.Kill()
		<-ended
	}
}

// resident returns how much memory the program uses, in KiB.
func (p *program) resident() (int, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			return strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
		}
	}
	return 0, errors.New("cannot find VmRSS in /proc/<pid>/status")
}

// processor returns how much processor time the program has used.
func (p *program) processor() (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(stat)[strings.LastIndexByte(string(stat), ')')+1:])
	if len(fields) < 13 {
		return 0, errors.New("cannot read /proc/<pid>/stat")
	}
	user, err := strconv.Atoi(fields[11])
	if err != nil {
		return 0, err
	}
	system, err := strconv.Atoi(fields[12])
	// The kernel counts in hundredths of a second here, whatever its clock.
	return time.Duration(user+system) * 10 * time.Millisecond, err
}
