package cli_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"placet/cmd/placet/cli"
	"placet/cmd/placet/console"
	"placet/internal/await"
	"placet/internal/leftovers"
)

// These tests drive the real binary on real files: what a reviewer, an editor
// and a crash do to it.

var (
	buildOnce sync.Once
	binary    string
	buildErr  error
)

// placetBinary builds the program once for all end-to-end tests.
func placetBinary(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("-short is for the race detector, which does not look into another program")
	}
	buildOnce.Do(func() {
		binary = filepath.Join(leftovers.Dir, "placet")
		out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", binary, "..").CombinedOutput()
		if err != nil {
			buildErr = fmt.Errorf("%w: %s", err, out)
		}
	})
	if buildErr != nil {
		t.Fatal(buildErr)
	}
	return binary
}

// place is a workspace on disk with runs that wait for an approval.
type place struct {
	t    *testing.T
	root string
	runs []string // folders of the runs, relative to root
	vars []string // of the environment of what runs in it
}

const waitingState = `{
  "run_id": "acme/web/%[1]s",
  "work_id": "%[2]d",
  "status": "awaiting_feedback",
  "current_phase": "architect",
  "current_step": "design-review",
  "last_event_id": 1,
  "updated_at": "2026-11-20T10:00:00Z",
  "phases": {
    "architect": {"status": "in_progress", "steps": [{"id": "design-review", "status": "in_progress"}]}
  },
  "feedback_request": {
    "request_id": "fr-20261120-%06[2]d",
    "type": "review",
    "prompt": "Is the design of item %[2]d good?",
    "requested_at": "2026-11-20T10:00:00Z"
  },
  "resume_point": {"phase": "architect", "step": "design-review", "step_index": 0}
}
`

// newPlace makes a workspace of n runs for the real program. It skips the test under -short, which
// is for the race detector: that would learn nothing of another process.
func newPlace(t *testing.T, root string, n int) *place {
	t.Helper()
	if testing.Short() {
		t.Skip("-short leaves the real program to the ordinary run")
	}
	p := &place{t: t, root: root}
	for i := 1; i <= n; i++ {
		uuid := fmt.Sprintf("%08x-0000-4000-8000-%012x", i*7919, i)
		dir := ".fractary/faber/runs/acme/web/" + uuid
		p.runs = append(p.runs, dir)
		p.write(dir+"/state.json", fmt.Sprintf(waitingState, uuid, i))
		p.write(dir+"/metadata.json", fmt.Sprintf(`{"run_id": "acme/web/%s", "workflow_id": "none"}`, uuid))
		p.write(dir+"/events/001-step_start.json", fmt.Sprintf(`{"event_id": 1, "type": "step_start", "timestamp": "2026-11-20T09:59:00.000Z", "run_id": "acme/web/%s", "phase": "architect", "step": "design-review"}`, uuid))
		p.write(dir+"/events/.next-id", "2\n")
	}
	return p
}

func (p *place) write(rel, body string) {
	p.t.Helper()
	full := filepath.Join(p.root, rel)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(body), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) read(rel string) string {
	body, _ := os.ReadFile(filepath.Join(p.root, rel))
	return string(body)
}

// request is the folder of a run's request, by the run's number from 0.
func (p *place) request(i int) string {
	return fmt.Sprintf("%s/requests/fr-20261120-%06d", p.runs[i], i+1)
}

func (p *place) requestID(i int) string { return fmt.Sprintf("fr-20261120-%06d", i+1) }

func (p *place) response(i int, option, comment string) string {
	return fmt.Sprintf(`{"request_id": %q, "response": %q, "comment": %q, "provided_by": {"user": "tester", "source": "file"}}`+"\n", p.requestID(i), option, comment)
}

// ticked is the run's form with an option and submit ticked.
func (p *place) ticked(i int, option string) string {
	body := p.read(p.request(i) + "/form.md")
	for _, item := range []string{option, "submit"} {
		body = strings.Replace(body, "- [ ] "+item, "- [x] "+item, 1)
	}
	return body
}

// env keeps the tests away from the user's own configuration and trust.
func (p *place) env() []string {
	home := filepath.Join(p.root, "..", "home-"+filepath.Base(p.root))
	return slices.Concat(os.Environ(), p.vars, []string{"HOME=" + home, "XDG_CONFIG_HOME=" + home, "XDG_STATE_HOME=" + home, "NO_COLOR=1",
		"GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.invalid", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.invalid"})
}

func (p *place) placet(args ...string) (string, int) {
	p.t.Helper()
	return p.typed("", args...)
}

// typed runs placet in this process, without a terminal, with a standard input.
func (p *place) typed(text string, args ...string) (string, int) {
	p.t.Helper()
	if testing.Short() {
		p.t.Skip("-short leaves the real program to the ordinary run")
	}
	environ := p.env()
	values := map[string]string{}
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		values[name] = value
	}
	getenv := func(name string) string { return values[name] }
	cwd, err := os.Getwd()
	if err != nil {
		p.t.Fatal(err)
	}
	var out syncedBuffer
	code := cli.Run(await.Context(p.t), &console.Env{
		In: strings.NewReader(text), Out: &out, Err: &out, Getenv: getenv, Environ: environ, Cwd: cwd, Now: time.Now, Lang: console.Locale(getenv),
	}, append([]string{"-C", p.root}, args...))
	return out.String(), code
}

// syncedBuffer is a buffer that several goroutines may write into.
type syncedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *syncedBuffer) Write(text []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(text)
}

func (b *syncedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// program is placet, which ends with the test at the latest.
func (p *place) program(args ...string) *exec.Cmd {
	p.t.Helper()
	cmd := command(p.t, placetBinary(p.t), args...)
	cmd.Env = p.env()
	return cmd
}

// command returns a program that ends with the test at the latest, and with the test binary even if
// that is killed. The thread that starts the program must live as long as the process, because the
// signal would also come with its end; it does, because no goroutine here ends while it is locked to
// a thread.
func command(t testing.TB, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(await.Context(t), name, args...)
	cmd.SysProcAttr = endingWithTests(&syscall.SysProcAttr{})
	return cmd
}

// daemon is a running placet watch.
type daemon struct {
	cmd   *exec.Cmd
	mu    sync.Mutex
	log   bytes.Buffer
	ready chan struct{}
	ended chan struct{}
	told  atomic.Bool // to end
}

// withFiles returns the words before a program that limits its open files to n; those that the tests
// were started with do not count.
func withFiles(n int) []string {
	return []string{"sh", "-c", fmt.Sprintf(`exec 3<&- 4<&- 5<&- 6<&- 7<&- 8<&- 9<&-; ulimit -n %d && exec "$@"`, n), "sh"}
}

func (p *place) start(wrap ...string) *daemon {
	p.t.Helper()
	return p.startTo(nil, wrap...)
}

// startTo starts a daemon that prints its transitions to a file.
func (p *place) startTo(out *os.File, wrap ...string) *daemon {
	p.t.Helper()
	return p.launch(out, append(wrap, placetBinary(p.t), "-C", p.root, "watch"))
}

// launch starts a program that watches the workspace.
func (p *place) launch(out *os.File, argv []string) *daemon {
	p.t.Helper()
	d := &daemon{cmd: exec.Command(argv[0], argv[1:]...), ready: make(chan struct{}), ended: make(chan struct{})}
	d.cmd.Env, d.cmd.SysProcAttr = p.env(), endingWithTests(&syscall.SysProcAttr{Setpgid: true})
	if out != nil {
		d.cmd.Stdout = out
	}
	pipe, err := d.cmd.StderrPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := d.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	launched.add(p.t, d)
	go d.follow(bufio.NewScanner(pipe))
	p.t.Cleanup(func() { // a test that fails in the middle leaves none
		if d.cmd.ProcessState == nil {
			_ = syscall.Kill(-d.cmd.Process.Pid, syscall.SIGKILL) // and the program that wraps it
			d.stop(syscall.SIGKILL)
		}
		if p.t.Failed() {
			p.t.Logf("the daemon said:\n%s", d.said())
		}
	})
	return d
}

// stopAfter stops the daemon at the end of a test. If the test has failed, the daemon dumps what it
// was doing.
func (d *daemon) stopAfter(t *testing.T) {
	if t.Failed() {
		d.stop(syscall.SIGQUIT)
		return
	}
	d.stop(syscall.SIGTERM)
}

func (d *daemon) follow(lines *bufio.Scanner) {
	defer close(d.ended)
	ready := d.ready
	for lines.Scan() {
		d.mu.Lock()
		d.log.WriteString(lines.Text() + "\n")
		d.mu.Unlock()
		if ready != nil && strings.HasPrefix(lines.Text(), "placet: watching ") {
			close(ready)
			ready = nil
		}
	}
}

// isReady reports whether the daemon has said that it watches.
func (d *daemon) isReady() bool {
	select {
	case <-d.ready:
		return true
	default:
		return false
	}
}

// isOver reports whether the daemon has closed its standard error.
func (d *daemon) isOver() bool {
	select {
	case <-d.ended:
		return true
	default:
		return false
	}
}

func (d *daemon) said() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.log.String()
}

func (p *place) await(d *daemon) {
	p.t.Helper()
	select {
	case <-d.ready:
	case <-d.ended:
		p.t.Fatalf("the daemon ended: %s", d.said())
	case <-await.Context(p.t).Done():
		p.t.Fatalf("the daemon is not ready: %s", d.said())
	}
}

func (d *daemon) stop(sig syscall.Signal) {
	d.told.Store(true)
	_ = d.cmd.Process.Signal(syscall.SIGCONT)
	_ = d.cmd.Process.Signal(sig)
	<-d.ended
	_ = d.cmd.Wait()
}

// until polls the workspace, because the daemon is another process. It does not wait for a daemon
// that has ended by itself.
func (p *place) until(what string, ok func() bool) {
	p.t.Helper()
	await.Until(p.t, what, func() bool {
		if ok() {
			return true
		}
		for _, d := range launched.by(p.t) {
			if d.isDead() && !ok() {
				p.t.Fatalf("waited in vain: %s: the daemon has ended:\n%s", what, d.said())
			}
		}
		return false
	})
}

// launched are the daemons that the tests have started.
var launched = daemons{of: map[*testing.T][]*daemon{}}

type daemons struct {
	mu sync.Mutex
	of map[*testing.T][]*daemon
}

func (l *daemons) add(t *testing.T, d *daemon) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of[t] == nil {
		t.Cleanup(func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			delete(l.of, t)
		})
	}
	l.of[t] = append(l.of[t], d)
}

func (l *daemons) by(t *testing.T) []*daemon {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.of[t])
}

// isDead reports whether the daemon has ended by itself.
func (d *daemon) isDead() bool {
	return hasEnded(d.cmd.Process.Pid) && d.isOver() && !d.told.Load()
}

type stateFile struct {
	Status   string `json:"status"`
	Revision int    `json:"revision"`
	History  []struct {
		RequestID string `json:"request_id"`
		Response  string `json:"response"`
	} `json:"feedback_history"`
}

func (p *place) state(i int) (st stateFile) {
	_ = json.Unmarshal([]byte(p.read(p.runs[i]+"/state.json")), &st)
	return st
}

func (p *place) answered(i int) bool {
	st := p.state(i)
	return st.Status != "awaiting_feedback" && st.Status != ""
}

// opened reports whether every run's form is written.
func (p *place) opened() bool {
	for i := range p.runs {
		if p.state(i).Revision < 1 || p.read(p.request(i)+"/form.md") == "" {
			return false
		}
	}
	return true
}

// verify checks that a run was answered as intended, once: one history entry, one event, one
// accepted receipt, event numbers without gap or double.
func (p *place) verify(i int, option string) {
	p.t.Helper()
	st := p.state(i)
	if len(st.History) != 1 || st.History[0].Response != option {
		p.t.Errorf("run %d: history %+v, expected one %s; problem: %s", i, st.History, option, p.read(p.request(i)+"/problem.md"))
	}
	if r := p.read(p.request(i) + "/receipt.json"); !strings.Contains(r, `"result": "accepted"`) {
		p.t.Errorf("run %d: receipt %s", i, r)
	}
	p.verifyEvents(i)
}

func (p *place) verifyEvents(i int) {
	p.t.Helper()
	entries, err := os.ReadDir(filepath.Join(p.root, p.runs[i], "events"))
	if err != nil {
		p.t.Error(err)
	}
	var names []string
	received := 0
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".json") {
			names = append(names, e.Name())
		}
		if strings.HasSuffix(e.Name(), "-feedback_received.json") {
			received++
		}
	}
	sort.Strings(names)
	for n, name := range names {
		if !strings.HasPrefix(name, fmt.Sprintf("%03d-", n+1)) {
			p.t.Errorf("run %d: event numbers %v", i, names)
			break
		}
	}
	if received != 1 {
		p.t.Errorf("run %d: %d feedback_received events", i, received)
	}
}
