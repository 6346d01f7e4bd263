package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// longRun is a workspace in which runs are made, answered, ended and removed all
// the time, under one daemon that is never restarted.
type longRun struct {
	*place
	d *daemon
	// made counts the runs so far, removed those that are gone again.
	made, removed atomic.Int64

	mu    sync.Mutex
	ended []string // folders of final runs that lie there, oldest first
}

const (
	longFaber = ".fractary/faber/runs/acme/web/"
	longAFL   = ".afl/sessions/"
)

// newLongRun makes the workspace and starts the daemon.
func newLongRun(t *testing.T) *longRun {
	t.Helper()
	l := &longRun{place: newPlace(t, filepath.Join(t.TempDir(), "workspace"), 0)}
	l.write("placet.toml", "")
	l.write("../home-workspace/placet/placet.toml", "[afl]\nshell = [\"sh\", \"-c\"]\n")
	l.d = l.measured()
	l.await(l.d)
	t.Cleanup(func() { l.d.stop(syscall.SIGTERM) })
	return l
}

// saved writes a file as an agent does, beside and then over.
func (l *longRun) saved(rel, body string) {
	full := filepath.Join(l.root, rel)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		l.t.Error(err)
	}
	if err := replaced("NAME.tmp")(full, body); err != nil {
		l.t.Error(err)
	}
}

// within waits for something; actors must not end the test themselves.
func (l *longRun) within(what string, ok func() bool) bool {
	for deadline := time.Now().Add(2 * time.Minute); !ok(); {
		if time.Now().After(deadline) {
			l.t.Errorf("not within two minutes: %s\n%s", what, l.d.said())
			return false
		}
		time.Sleep(5 * time.Millisecond)
	}
	return true
}

// faber plays one FABER run: it asks, somebody answers, its agent completes it.
func (l *longRun) faber(n int) {
	uuid := fmt.Sprintf("%08x-0000-4000-8000-%012x", uint32(n*7919), n)
	dir, request := longFaber+uuid, fmt.Sprintf("fr-20261120-%06d", n)
	l.saved(dir+"/metadata.json", fmt.Sprintf(`{"run_id": "acme/web/%s", "workflow_id": "none"}`, uuid))
	l.saved(dir+"/events/001-step_start.json", fmt.Sprintf(`{"event_id": 1, "type": "step_start", "timestamp": "2026-11-20T09:59:00.000Z", "run_id": "acme/web/%s", "phase": "architect", "step": "design-review"}`, uuid))
	l.saved(dir+"/events/.next-id", "2\n")
	l.saved(dir+"/state.json", fmt.Sprintf(waitingState, uuid, n))
	at := dir + "/requests/" + request
	if !l.within(at+" is open", func() bool { return l.read(at+"/form.md") != "" }) {
		return
	}
	if n%3 == 0 { // somebody mistypes first
		l.saved(at+"/response.json", fmt.Sprintf(`{"request_id": %q, "response": "perhaps"}`+"\n", request))
		l.within("a note stands", func() bool { return l.read(at+"/problem.md") != "" })
	}
	l.saved(at+"/response.json", fmt.Sprintf(`{"request_id": %q, "response": "approve", "provided_by": {"user": "tester", "source": "file"}}`+"\n", request))
	if l.within(dir+" goes on", func() bool { return l.statusOf(dir) == "in_progress" }) {
		l.completed(dir)
	}
}

// completed has a run's agent say that it is finished. placet may write beside
// it: what it wrote is kept as the agent must.
func (l *longRun) completed(dir string) {
	l.within(dir+" is completed", func() bool {
		if l.statusOf(dir) == "completed" {
			return true
		}
		l.saved(dir+"/state.json", strings.Replace(l.read(dir+"/state.json"), `"status": "in_progress"`, `"status": "completed"`, 1))
		return false
	})
	l.final(dir)
}

// statusOf is a run's status as its state document has it.
func (l *longRun) statusOf(dir string) string {
	var st struct {
		Status string `json:"status"`
	}
	_ = json.Unmarshal([]byte(l.read(dir+"/state.json")), &st)
	return st.Status
}

// afl plays one AFL session: a checkpoint is handed in, validated and reviewed.
func (l *longRun) afl(n int) {
	dir := fmt.Sprintf("%slong-%06d", longAFL, n)
	l.saved(dir+"/specs/checkpoints.yaml", `approved_at: 2026-01-19T10:30:00Z
checkpoints:
  - id: only
    criteria: [it is well]
    validation: {command: "echo all is well", expected: "all is well"}
`)
	at := dir + "/delegations/only/iterations/1"
	if !l.within(at+" is asked for", func() bool { return l.read(at+"/prompt.md") != "" }) {
		return
	}
	if n == 0 {
		l.trust()
	}
	l.saved(at+"/worker.json", `{"checkpoint": "only", "iteration": 1, "status": "completed", "changed_files": []}`+"\n")
	l.within(dir+" is completed", func() bool {
		l.accept(dir)
		return l.statusOf(dir) == "completed"
	})
	l.final(dir)
}

// trust agrees to the validation, which is the same for all sessions.
func (l *longRun) trust() {
	if out, code := l.placet("trust", "--yes"); code != 0 {
		l.t.Errorf("trust: %d: %s", code, out)
	}
}

// accept answers the open requests of a session.
func (l *longRun) accept(dir string) {
	entries, _ := os.ReadDir(filepath.Join(l.root, dir, "requests"))
	for _, e := range entries {
		at := dir + "/requests/" + e.Name()
		if l.read(at+"/request.json") != "" && l.read(at+"/response.json") == "" {
			l.saved(at+"/response.json", fmt.Sprintf(`{"request_id": %q, "response": "accept", "provided_by": {"user": "tester", "source": "file"}}`+"\n", e.Name()))
		}
	}
}

// final notes that a run is over.
func (l *longRun) final(dir string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = append(l.ended, dir)
}

// remove takes final runs away until no more than some are left.
func (l *longRun) remove(left int) {
	l.mu.Lock()
	n := max(len(l.ended)-left, 0)
	gone := l.ended[:n]
	l.ended = append([]string(nil), l.ended[n:]...)
	l.mu.Unlock()
	for _, dir := range gone {
		if err := os.RemoveAll(filepath.Join(l.root, dir)); err != nil {
			l.t.Error(err)
		}
		l.removed.Add(1)
	}
}

// play has actors make run after run while more says so; every fifth run is a
// session.
func (l *longRun) play(actors int, more func(n int64) bool) {
	var wg sync.WaitGroup
	for range actors {
		wg.Go(func() {
			for !l.t.Failed() {
				n := l.made.Add(1)
				if !more(n) {
					l.made.Add(-1)
					return
				}
				if n%5 == 0 {
					l.afl(int(n))
				} else {
					l.faber(int(n))
				}
			}
		})
	}
	wg.Wait()
}

// holdings are what a daemon holds that must not grow with the runs it has seen, but
// for the one watch that it keeps of each of the newest that have ended.
type holdings struct{ descriptors, watches, goroutines int }

func (l *longRun) holdings() holdings {
	r := l.scrape(l.d)
	l.mu.Lock()
	kept := min(len(l.ended), 1000)
	l.mu.Unlock()
	return holdings{int(r["process_open_fds"]), l.watches() - kept, int(r["go_goroutines"])}
}

// steady is what the daemon holds once that is the same for a while: what is on its
// way out, a connection or a command's last goroutine, takes a moment.
func (l *longRun) steady() holdings {
	now, same := l.holdings(), 0
	l.until("what the daemon holds stays the same", 30*time.Second, func() bool {
		time.Sleep(50 * time.Millisecond)
		before := now
		if now = l.holdings(); now == before {
			same++
		} else {
			same = 0
		}
		return same == 10
	})
	return now
}

// watches counts the daemon's inotify watches by the kernel's own word.
func (l *longRun) watches() (n int) {
	infos, err := filepath.Glob("/proc/" + strconv.Itoa(l.d.pid()) + "/fdinfo/*")
	if err != nil || len(infos) == 0 {
		l.t.Skip("descriptors cannot be looked at here")
	}
	for _, name := range infos {
		body, _ := os.ReadFile(name)
		n += strings.Count(string(body), "inotify wd:")
	}
	return n
}

// pid is the daemon's process: the shell that began it has become it.
func (d *daemon) pid() int { return d.cmd.Process.Pid }

// rests waits until all runs that lie there are final.
func (l *longRun) rests() {
	l.mu.Lock()
	lie := map[string]int{"faber": 0, "afl": 0}
	for _, dir := range l.ended {
		if strings.HasPrefix(dir, longAFL) {
			lie["afl"]++
		} else {
			lie["faber"]++
		}
	}
	l.mu.Unlock()
	want := readings{}
	for family, n := range lie {
		want[fmt.Sprintf("placet_runs{family=%q,standing=%q}", family, "final")] = float64(n)
		for _, standing := range []string{"waiting", "live", "held_up"} {
			want[fmt.Sprintf("placet_runs{family=%q,standing=%q}", family, standing)] = 0
		}
	}
	l.reads(l.d, want)
}

// returns waits until the daemon holds what it held before.
func (l *longRun) returns(before holdings) {
	l.t.Helper()
	var now holdings
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		now = l.holdings()
		if now.descriptors == before.descriptors && now.watches == before.watches && now.goroutines <= before.goroutines {
			return
		}
		if time.Now().After(deadline) {
			l.t.Fatalf("before %+v, after %d runs %+v", before, l.made.Load(), now)
		}
	}
}

// Runs are made, answered, ended and removed: nothing that the daemon holds grows
// with them. PLACET_TORTURE=full does so for ten minutes, and looks at memory and
// idleness too.
func TestLongRun(t *testing.T) {
	l := newLongRun(t)
	l.afl(0)
	l.faber(0)
	l.rests()
	before := l.steady()
	if os.Getenv("PLACET_TORTURE") == "full" {
		l.whole(10 * time.Minute)
	} else {
		l.play(6, func(n int64) bool { return n <= 100 })
	}
	l.rests()
	l.returns(before)
	if os.Getenv("PLACET_TORTURE") == "full" {
		l.idles()
	}
	l.remove(0)
	l.rests()
	l.returns(before)
	t.Logf("%d runs, %+v before and after", l.made.Load(), before)
}

const (
	// lying is how many final runs lie there while others are made, and lyingIdle
	// how many when the daemon has nothing to do.
	lying, lyingIdle = 500, 2000
	// What was checked and decoded once is remembered, within bounds that some
	// 5,000 runs reach. remembered is how many MiB more may be resident for it in
	// the last minute than in the second. memoryGrowth is by how much more the last
	// third may grow.
	remembered, memoryGrowth = 16, 1.1
	// idleShare is how much of a processor an idle daemon may take.
	idleShare = 0.002
)

// whole plays for a length of time and compares the memory of the second minute,
// and that of a late one, with the last's.
func (l *longRun) whole(length time.Duration) {
	end := time.Now().Add(length)
	over := make(chan struct{})
	var minutes []usage
	var wg sync.WaitGroup
	wg.Go(func() { minutes = l.sample(over) })
	wg.Go(func() {
		for tick := time.NewTicker(5 * time.Second); ; l.remove(lying) {
			select {
			case <-over:
				return
			case <-tick.C:
			}
		}
	})
	l.play(6, func(int64) bool { return time.Now().Before(end) })
	close(over)
	wg.Wait()
	for i, u := range minutes {
		l.t.Logf("minute %2d: %s", i+1, u)
	}
	if len(minutes) < 4 {
		l.t.Fatalf("%d minutes are too few", len(minutes))
	}
	second, late, last := minutes[1].resident, minutes[len(minutes)*2/3].resident, minutes[len(minutes)-1].resident
	if last > second+remembered || last > late*memoryGrowth {
		l.t.Errorf("%.1f MiB resident in the second minute, %.1f later, %.1f in the last", second, late, last)
	}
	l.t.Logf("%d runs made, %d removed", l.made.Load(), l.removed.Load())
	l.play(6, func(int64) bool { return l.lie() < lyingIdle })
}

// lie is how many final runs lie there.
func (l *longRun) lie() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.ended)
}
