package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"placet/cmd/placet/console"
	"placet/cmd/placet/daemon"
	"placet/internal/await"
)

// clocked is a daemon in this process whose clock the test sets. placet asks for the time
// through one function, so that nothing is left out. Only durations (back-off, timers) use the
// machine's own clock.
type clocked struct {
	t     *testing.T
	root  string
	ahead atomic.Int64
	asked atomic.Int64 // how often the time was asked for
	kept  atomic.Int64 // how often of that by the check for deadlines that have passed
	out   lines
	runs  []string
}

// lines is what a daemon prints.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements io.Writer.
func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (c *clocked) now() time.Time {
	c.asked.Add(1)
	callers := make([]uintptr, 8)
	for frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers)]); ; {
		frame, more := frames.Next()
		if strings.HasSuffix(frame.Function, ".keepTime") {
			c.kept.Add(1)
		}
		if !more {
			break
		}
	}
	return time.Now().Round(0).Add(time.Duration(c.ahead.Load()))
}

const clockedState = `{"run_id": "acme/web/%[1]s", "work_id": "1", "status": "awaiting_feedback", "current_phase": "architect",
 "current_step": "review", "last_event_id": 0, "updated_at": "%[2]s",
 "phases": {"architect": {"status": "in_progress", "steps": [{"id": "review", "status": "in_progress"}]}},
 "feedback_request": {"request_id": "fr-20261120-%06[3]d", "type": "review", "prompt": "Good?", "requested_at": "%[2]s"},
 "resume_point": {"phase": "architect", "step": "review", "step_index": 0}}
`

// deadlineAfter is how long the clocked runs wait for an answer.
const deadlineAfter = 48 * time.Hour

// startClocked serves runs that wait for an answer until the test ends. Its clock starts ahead
// by an offset.
func startClocked(t *testing.T, ahead time.Duration, runs int) *clocked {
	t.Helper()
	top := t.TempDir()
	c := &clocked{t: t, root: filepath.Join(top, "workspace")}
	c.set(ahead)
	put(t, top, "config/placet/placet.toml", "[faber]\non_deadline = \"reject\"\ndeadline = { review = \"48h\" }\n")
	for i := range runs {
		uuid := fmt.Sprintf("%08x-0000-4000-8000-%012x", i+1, i+1)
		c.runs = append(c.runs, ".fractary/faber/runs/acme/web/"+uuid)
		put(t, c.root, c.runs[i]+"/state.json", fmt.Sprintf(clockedState, uuid, c.now().UTC().Format(time.RFC3339), i+1))
		put(t, c.root, c.runs[i]+"/events/.next-id", "1\n")
	}
	env := map[string]string{"HOME": top, "XDG_CONFIG_HOME": filepath.Join(top, "config"), "XDG_STATE_HOME": filepath.Join(top, "state")}
	w := &console.Env{
		In: strings.NewReader(""), Out: &c.out, Err: &c.out, Getenv: func(name string) string { return env[name] },
		Cwd: c.root, Now: c.now, Flags: console.Flags{Workspace: c.root},
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- daemon.Run(ctx, w, daemon.Options{Begun: hideScratch, Serves: noteSettings}) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the daemon ended with %v", err)
		}
	})
	for i := range runs {
		c.until("the form is written", func() bool { return c.read(c.request(i)+"/form.md") != "" && c.state(i).Revision > 0 })
	}
	return c
}

func (c *clocked) until(what string, ok func() bool) {
	c.t.Helper()
	defer func() {
		if c.t.Failed() {
			c.t.Log(&c.out)
		}
	}()
	await.Until(c.t, what, ok)
}

func (c *clocked) read(rel string) string {
	body, _ := os.ReadFile(filepath.Join(c.root, rel))
	return string(body)
}

func (c *clocked) request(i int) string {
	return fmt.Sprintf("%s/requests/fr-20261120-%06d", c.runs[i], i+1)
}

type clockedRun struct {
	Status   string
	Revision int
	History  []struct{ Response string } `json:"feedback_history"`
}

func (c *clocked) state(i int) (st clockedRun) {
	_ = json.Unmarshal([]byte(c.read(c.runs[i]+"/state.json")), &st)
	return st
}

// save saves an answer, as a tool does or as a person does.
func (c *clocked) save(i int) {
	c.t.Helper()
	if i%2 == 0 {
		put(c.t, c.root, c.request(i)+"/response.json", fmt.Sprintf(
			`{"request_id": "fr-20261120-%06d", "response": "approve", "provided_by": {"user": "t", "source": "file"}}`, i+1))
	} else {
		form := strings.Replace(c.read(c.request(i)+"/form.md"), "- [ ] approve", "- [x] approve", 1)
		put(c.t, c.root, c.request(i)+"/form.md", strings.Replace(form, "- [ ] submit", "- [x] submit", 1))
	}
}

// answer saves an answer, and waits until it is accepted.
func (c *clocked) answer(i int) {
	c.t.Helper()
	c.save(i)
	c.taken(i)
}

// taken waits until an answer is accepted.
func (c *clocked) taken(i int) {
	c.t.Helper()
	c.until("the answer is taken", func() bool { return len(c.state(i).History) > 0 })
	if st := c.state(i); len(st.History) != 1 || st.History[0].Response != "approve" {
		c.t.Errorf("run %d: %+v", i, st)
	}
}

// rests waits until the clock was read twice; meanwhile nothing may be decided, and little be
// done.
func (c *clocked) rests(waiting ...int) {
	c.t.Helper()
	before, kept := c.asked.Load(), c.kept.Load()
	c.until("the clock is looked at", func() bool { return c.kept.Load() >= kept+2 })
	if asked := c.asked.Load() - before; asked > 20_000 {
		c.t.Errorf("the time was asked for %d times while nothing happened", asked)
	}
	for _, i := range waiting {
		if st := c.state(i); st.Status != "awaiting_feedback" {
			c.t.Errorf("run %d is %+v before its deadline, by a clock %v ahead", i, st, time.Duration(c.ahead.Load()))
		}
	}
}

// expired waits until a run's deadline was handled.
func (c *clocked) expired(i int) {
	c.t.Helper()
	c.until("the deadline is handled", func() bool { return strings.Contains(c.read(c.request(i)+"/receipt.json"), `"expired"`) })
	c.until("the run is over", func() bool { return c.state(i).Status == "cancelled" })
}

// set moves the clock by an offset from its start.
func (c *clocked) set(ahead time.Duration) { c.ahead.Store(int64(ahead)) }

// After a clock is set back an hour or a day, or far ahead, no deadline passes early, none is
// lost, nothing happens twice, and answers are accepted as before.
func TestTortureClockJumps(t *testing.T) {
	t.Parallel()
	full := os.Getenv("PLACET_TORTURE") == "full"
	jumps := []time.Duration{-24 * time.Hour, 400 * 24 * time.Hour}
	if full {
		jumps = append(jumps, -time.Hour)
	}
	for _, jump := range jumps {
		t.Run(jump.String(), func(t *testing.T) {
			t.Parallel()
			c := startClocked(t, 0, 8)
			c.answer(0)
			c.save(1) // a form must settle, and the clock jumps during that wait
			c.set(jump)
			c.taken(1)
			if jump < 0 {
				c.answer(2)
				c.rests(3, 4, 5, 6, 7)
				c.set(deadlineAfter - time.Minute)
				c.answer(3)
				c.answer(4)
				c.rests(5, 6, 7)
				c.set(deadlineAfter + time.Second)
			}
			for i := range c.runs {
				if len(c.state(i).History) == 0 {
					c.expired(i)
				}
			}
			if c.set(0); full { // and back: a deadline that has passed stays so
				c.rests()
				c.set(jump)
				c.rests()
			}
			for i := range c.runs {
				c.once(i)
			}
		})
	}
}

// once checks that a run was decided once, also by what was printed.
func (c *clocked) once(i int) {
	c.t.Helper()
	if st := c.state(i); len(st.History) > 1 || st.Status == "awaiting_feedback" {
		c.t.Errorf("run %d: %+v", i, st)
	}
	c.until("the decision is told", func() bool { return c.told(i) > 0 })
	if n := c.told(i); n > 1 {
		c.t.Errorf("run %d was decided %d times:\n%s", i, n, &c.out)
	}
}

// told returns how often the daemon has printed that a run was decided.
func (c *clocked) told(i int) (n int) {
	for _, line := range strings.Split(c.out.String(), "\n") {
		if strings.Contains(line, filepath.Base(c.runs[i])[:8]) && strings.Contains(line, "awaiting_feedback → ") && !strings.Contains(line, "request_opened") {
			n++
		}
	}
	return n
}

// Work that waits for the clock is resumed when the clock was far ahead and is set right again:
// ages below .placet/, times that nothing may be older than, waits.
func TestTortureClockBackFromTheFuture(t *testing.T) {
	t.Parallel()
	c := startClocked(t, 400*24*time.Hour, 4)
	c.answer(0)
	c.answer(1)
	c.set(0)
	c.answer(2)
	c.answer(3)
	for i := range c.runs {
		c.once(i)
	}
}
