package cli_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"placet/engine/pal"
	"placet/layout"
)

// orchestra is an orchestration whose workers and reviewer the test plays, while the daemon
// is killed all the time.
type orchestra struct {
	*place
	dir  string
	ids  []string
	rng  *rand.Rand
	most int // ports at once

	mu sync.Mutex
	// worth is what each hand-in says, by its path below the run: a status or "true", "false".
	worth map[string]string
	// answered are the options of answers, by request.
	answered map[string]string
	broken   []string // what must never be seen
}

// An orchestration of many ports comes to its end while the daemon is killed every second:
// never more ports run than may, each hand-in is counted once, nothing is asked twice.
// PLACET_SOAK=full takes 500 ports.
func TestTortureOrchestrationSurvivesKillNine(t *testing.T) {
	n, limit := tortured(25, 50), 3*time.Minute
	if os.Getenv("PLACET_SOAK") == "full" {
		n, limit = 500, 30*time.Minute
	}
	o := newOrchestra(t, n)
	began := time.Now()
	kills := o.run(began.Add(limit))
	o.settle()
	o.verify()
	t.Logf("%d ports, %d hand-ins, %d answers, %d kills in %v", n, len(o.worth), len(o.answered), kills, time.Since(began).Round(time.Millisecond))
}

func newOrchestra(t *testing.T, n int) *orchestra {
	t.Helper()
	o := &orchestra{
		place: newPlace(t, filepath.Join(t.TempDir(), "workspace"), 0), dir: ".pal/orchestrations/soak", rng: rand.New(rand.NewPCG(5, 11)), most: 6,
		worth: map[string]string{}, answered: map[string]string{},
	}
	var ports []string
	for i := range n {
		id := fmt.Sprintf("p%03d", i)
		var after []string
		recent := o.ids[max(0, len(o.ids)-12):]
		for _, k := range o.rng.Perm(len(recent))[:min(len(recent), o.rng.IntN(3))] {
			after = append(after, fmt.Sprintf("%q", recent[k]))
		}
		ports = append(ports, fmt.Sprintf(`{"port_id": %q, "depends_on": [%s], "body": "do it"}`, id, strings.Join(after, ", ")))
		o.ids = append(o.ids, id)
	}
	o.write(o.dir+"/orchestration.json", fmt.Sprintf(`{"title": "Soak", "max_concurrency": %d, "max_retries": 2, "timeout_per_port": "20m", "ports": [%s]}`, o.most, strings.Join(ports, ",\n")))
	return o
}

// state is where the orchestration stands; ok is false before it has begun.
func (o *orchestra) state() (st pal.State, ok bool) {
	body := o.read(o.dir + "/state.json")
	if body == "" {
		return st, false
	}
	st, err := pal.ReadState("state.json", []byte(body))
	if err != nil {
		o.t.Errorf("state.json: %v", err)
	}
	return st, err == nil
}

func (o *orchestra) isOver() bool {
	st, ok := o.state()
	return ok && (st.Status == pal.Complete || st.Status == pal.Failed)
}

// run lets workers and reviewer work and kills the daemon every second, until the
// orchestration has ended. It returns how often.
func (o *orchestra) run(deadline time.Time) (kills int) {
	over := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { play(over, o.work) })
	wg.Go(func() { play(over, o.review) })
	defer wg.Wait()
	defer close(over)
	for ; time.Now().Before(deadline); kills++ {
		d := o.start()
		if kills%8 == 7 { // so that a slow machine gets on, too
			o.await(d)
		}
		killed := time.After(time.Second)
		for alive := true; alive; {
			select {
			case <-killed:
				alive = false
			case <-time.After(50 * time.Millisecond):
				alive = !o.isOver()
			}
		}
		d.stop(syscall.SIGKILL)
		if o.isOver() {
			return kills
		}
	}
	o.t.Errorf("the orchestration is not over after %d kills", kills)
	return kills
}

// work hands in what running ports wait for. Each hand-in is written once.
func (o *orchestra) work() {
	st, ok := o.state()
	if !ok {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	running := 0
	for _, id := range o.ids {
		p := st.Ports[id]
		if p.Status != pal.Running {
			continue
		}
		running++
		l := st.Loops[fmt.Sprintf("%s.r%d", id, p.Round)]
		rel, body, worth := o.handIn(id, p.LastTry, string(l.Awaiting))
		if o.worth[rel] == "" {
			o.worth[rel] = worth
			o.saved(o.dir+"/"+rel, body)
		}
	}
	if running > o.most {
		o.broken = append(o.broken, fmt.Sprintf("%d ports run at once", running))
	}
}

// handIn is what a worker hands in: one in four tries fails.
func (o *orchestra) handIn(id string, try int, awaits string) (rel, body, worth string) {
	fails := o.rng.IntN(4) == 0
	switch {
	case awaits == "result" && fails && o.rng.IntN(2) == 0:
		return layout.PalResultFile(id, try), `{"status": "failed", "summary": "no way"}`, "failed"
	case awaits == "result":
		return layout.PalResultFile(id, try), fmt.Sprintf(`{"status": "ready", "summary": "done", "changed_files": ["src/%s.go"]}`, id), "ready"
	case fails:
		return layout.PalFeedbackFile(id, try), `{"success": false, "failed_tests": [{"name": "TestTotal"}]}`, "false"
	}
	return layout.PalFeedbackFile(id, try), `{"success": true, "metrics": {"total": 3, "passed": 3}}`, "true"
}

// review answers every request with an option that it may have.
func (o *orchestra) review() {
	st, ok := o.state()
	if !ok {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, q := range st.Requests {
		at := o.dir + "/requests/" + q.ID + "/"
		if q.Status != "open" || o.answered[q.ID] != "" || !o.there(at+"form.md") {
			continue
		}
		option := []string{"retry", "retry", "skip", "take_over", "abort_port"}[o.rng.IntN(5)]
		o.answered[q.ID] = option
		o.saved(at+"response.json", fmt.Sprintf(`{"request_id": %q, "response": %q, "comment": "so be it", "provided_by": {"user": "reviewer", "source": "file"}}`, q.ID, option))
	}
}

// settle lets placet finish what the last kill left, and ends it in good order.
func (o *orchestra) settle() {
	d := o.start()
	o.await(d)
	d.stop(syscall.SIGTERM)
	o.until("temporary files are gone", 20*time.Second, func() bool {
		o.placet("once")
		return len(o.leftOvers()) == 0
	})
}

// verify compares the history with what the workers and the reviewer did.
func (o *orchestra) verify() {
	for _, b := range o.broken {
		o.t.Error(b)
	}
	st, _ := o.state()
	counted := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(st.Loops)) {
		l := st.Loops[name]
		failed := 0
		for i, try := range l.History {
			if try.Try != l.FirstTry+i {
				o.t.Errorf("%s: try %d stands at place %d", name, try.Try, i)
			}
			o.counts(counted, layout.PalResultFile(l.PortID, try.Try), map[bool]string{true: "failed", false: "ready"}[try.Cause == "impl_failed"])
			if try.FeedbackDigest != "" {
				o.counts(counted, layout.PalFeedbackFile(l.PortID, try.Try), fmt.Sprint(try.Success))
			}
			if try.Cause != "" {
				failed++
			}
		}
		if l.CurrentTry != failed || failed > l.MaxRetries {
			o.t.Errorf("%s counts %d failed tries of %d, there are %d", name, l.CurrentTry, l.MaxRetries, failed)
		}
	}
	for rel := range o.worth {
		if counted[rel] == "" {
			o.t.Errorf("%s was handed in, and is not in the history", rel)
		}
	}
	for _, q := range st.Requests {
		if option := o.answered[q.ID]; q.Status == "accepted" && string(q.Response) != option {
			o.t.Errorf("%s: %s, the reviewer said %q", q.ID, q.Response, option)
		}
	}
	if out, code := o.placet("check"); code != 0 {
		o.t.Errorf("check: %d\n%s", code, out)
	}
}

// counts checks that a hand-in counts once, for what it says.
func (o *orchestra) counts(counted map[string]string, rel, worth string) {
	if counted[rel] != "" || o.worth[rel] != worth {
		o.t.Errorf("%s counts as %q (before: %q), it says %q", rel, worth, counted[rel], o.worth[rel])
	}
	counted[rel] = worth
}
