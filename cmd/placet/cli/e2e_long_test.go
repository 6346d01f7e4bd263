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
)

// longRun is a workspace in which runs are made, answered, ended and removed again and again,
// under one daemon that is never restarted.
type longRun struct {
	*place
	d *daemon
	// made counts the runs so far, removed those that were removed again.
	made, removed atomic.Int64

	mu    sync.Mutex
	ended []string // folders of the present final runs, oldest first
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

// faber plays one FABER run: it asks, somebody answers, its agent completes it.
func (l *longRun) faber(n int) {
	uuid := fmt.Sprintf("%08x-0000-4000-8000-%012x", uint32(n*7919), n)
	dir, request := longFaber+uuid, fmt.Sprintf("fr-20261120-%06d", n)
	l.saved(dir+"/metadata.json", fmt.Sprintf(`{"run_id": "acme/web/%s", "workflow_id": "none"}`, uuid))
	l.saved(dir+"/events/001-step_start.json", fmt.Sprintf(`{"event_id": 1, "type": "step_start", "timestamp": "2026-11-20T09:59:00.000Z", "run_id": "acme/web/%s", "phase": "architect", "step": "design-review"}`, uuid))
	l.saved(dir+"/events/.next-id", "2\n")
	l.saved(dir+"/state.json", fmt.Sprintf(waitingState, uuid, n))
	at := dir + "/requests/" + request
	l.until(at+" is open", func() bool { return l.read(at+"/form.md") != "" })
	if n%3 == 0 { // somebody mistypes first
		l.saved(at+"/response.json", fmt.Sprintf(`{"request_id": %q, "response": "perhaps"}`+"\n", request))
		l.until("a note stands", func() bool { return l.read(at+"/problem.md") != "" })
	}
	l.saved(at+"/response.json", fmt.Sprintf(`{"request_id": %q, "response": "approve", "provided_by": {"user": "tester", "source": "file"}}`+"\n", request))
	l.until(dir+" goes on", func() bool { return l.statusOf(dir) == "in_progress" })
	l.completed(dir)
}

// completed makes a run's agent say that it is finished. placet may write at the same time, and
// the agent must keep what placet wrote.
func (l *longRun) completed(dir string) {
	l.until(dir+" is completed", func() bool {
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
	l.until(at+" is asked for", func() bool { return l.read(at+"/prompt.md") != "" })
	if n == 0 {
		l.trust()
	}
	l.saved(at+"/worker.json", `{"checkpoint": "only", "iteration": 1, "status": "completed", "changed_files": []}`+"\n")
	l.until(dir+" is completed", func() bool {
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

// final records that a run is over.
func (l *longRun) final(dir string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = append(l.ended, dir)
}

// remove removes final runs until no more than a number are left.
func (l *longRun) remove(left int) {
	l.mu.Lock()
	n := max(len(l.ended)-left, 0)
	gone := l.ended[:n]
	l.ended = append([]string(nil), l.ended[n:]...)
	l.mu.Unlock()
	for _, dir := range gone {
		// placet may be writing into the folder for a last time.
		l.until(dir+" is removed", func() bool { return os.RemoveAll(filepath.Join(l.root, dir)) == nil })
		l.removed.Add(1)
	}
}

// play makes actors play n runs; every fifth run is a session.
func (l *longRun) play(actors, runs int) {
	most := l.made.Load() + int64(runs)
	var wg sync.WaitGroup
	for range actors {
		wg.Go(func() {
			for !l.t.Failed() {
				n := l.made.Add(1)
				if n > most {
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

// holdings are the resources of a daemon that must not grow with the runs it has seen, except
// for the one watch that it keeps on each of the newest runs that have ended.
type holdings struct{ descriptors, watches, goroutines int }

func (l *longRun) holdings() holdings {
	r := l.scrape(l.d)
	l.mu.Lock()
	kept := min(len(l.ended), 1000)
	l.mu.Unlock()
	return holdings{int(r["process_open_fds"]), l.watches() - kept, int(r["go_goroutines"])}
}

// steady returns the daemon's resources once they have stayed the same for a while: a
// connection, or a command's last goroutine, takes a moment to end.
func (l *longRun) steady() holdings {
	now, same := l.holdings(), 0
	l.until("what the daemon holds stays the same", func() bool {
		before := now
		if now = l.holdings(); now == before {
			same++
		} else {
			same = 0
		}
		return same == 50
	})
	return now
}

// watches counts the daemon's inotify watches as the kernel reports them.
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

// pid returns the daemon's process, which the shell that started it has become.
func (d *daemon) pid() int { return d.cmd.Process.Pid }

// rests waits until all present runs are final.
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

// returns waits until the daemon has only the resources that it had before.
func (l *longRun) returns(before holdings) {
	l.t.Helper()
	var now holdings
	defer func() {
		if l.t.Failed() {
			l.t.Logf("before %+v, after %d runs %+v", before, l.made.Load(), now)
		}
	}()
	l.until("the daemon holds what it held before", func() bool {
		now = l.holdings()
		return now.descriptors == before.descriptors && now.watches == before.watches && now.goroutines <= before.goroutines
	})
}

// Runs are made, answered, ended and removed, and the daemon's resources do not grow with them.
// PLACET_TORTURE=full does so with many runs, and compares memory, too.
func TestTortureLongRun(t *testing.T) {
	t.Parallel()
	l := newLongRun(t)
	l.afl(0)
	l.faber(0)
	l.rests()
	before := l.steady()
	if os.Getenv("PLACET_TORTURE") == "full" {
		l.whole()
	} else {
		l.play(6, 20)
	}
	l.rests()
	l.returns(before)
	l.remove(0)
	l.rests()
	l.returns(before)
	t.Logf("%d runs, %+v before and after", l.made.Load(), before)
}

const (
	// lying is how many final runs stay in the workspace while others are made.
	lying = 500
	// Documents that were checked and decoded once are cached, within bounds that some 5,000
	// runs reach. remembered is how many MiB more may be resident for the cache in the last
	// part than in the second. memoryGrowth is by how much more the last third may grow.
	remembered, memoryGrowth = 16, 1.1
	// Parts of that many runs each are compared.
	parts, runsInPart = 10, 600
)

// whole makes many runs in parts, and compares the memory of the second part, and of a late
// one, with that of the last.
func (l *longRun) whole() {
	var resident []float64 // MiB, by part
	for part := range parts {
		sum := 0.0
		const samples = 20
		for range samples {
			l.play(6, runsInPart/samples)
			l.remove(lying)
			sum += l.scrape(l.d)["process_resident_memory_bytes"] / (1 << 20)
		}
		resident = append(resident, sum/samples)
		l.t.Logf("part %2d: %.2f MiB resident", part+1, resident[part])
	}
	second, late, last := resident[1], resident[len(resident)*2/3], resident[len(resident)-1]
	if last > second+remembered || last > late*memoryGrowth {
		l.t.Errorf("%.1f MiB resident in the second part, %.1f later, %.1f in the last", second, late, last)
	}
	l.t.Logf("%d runs made, %d removed", l.made.Load(), l.removed.Load())
}
