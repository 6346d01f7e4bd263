package cli_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"placet/engine/afl"
	"placet/internal/await"
	"placet/layout"
)

// These are the outcomes of an attempt of a soaked checkpoint. Its worker writes a script with
// that outcome, and the validation runs it.
type fate int

const (
	passes fate = iota
	fails
	hangs
)

// soakLimit is the validation's timeout of the checkpoints that hang once.
const soakLimit = 700 * time.Millisecond

// soak is a session with scripted workers and a scripted reviewer, both played by the test, and
// a daemon that is killed again and again.
type soak struct {
	*place
	dir  string // of the session
	ids  []string
	deps map[string][]string
	// fates are the outcomes of the first attempts. After them a checkpoint passes, unless it
	// never does.
	fates map[string]fate
	never map[string]bool

	mu sync.Mutex
	// handed is the last attempt of each checkpoint that its worker handed in,
	// answered the options of its escalations.
	handed   map[string]int
	answered map[string][]string
}

// checkScript validates a checkpoint. Its first line of output says which run of which attempt
// it is: every run before has left its outcome. The shell that placet starts reads it, and that
// shell does not outlive placet.
const checkScript = `set -- .afl/sessions/soak/delegations/$AFL_CHECKPOINT/iterations/$AFL_ITERATION/validation*.json
k=1; if [ -e "$1" ]; then k=$(($#+1)); fi
echo "$AFL_CHECKPOINT $AFL_ITERATION $k" >> executions.log
. "./src/$AFL_CHECKPOINT.sh"
`

var soakScripts = map[fate]string{
	passes: `echo "$AFL_CHECKPOINT: all is well"`,
	fails:  `echo "--- FAIL: TestTotal"; echo "expected 3 but got 2"; exit 1`,
	hangs:  `sleep 30`,
}

// A session of many checkpoints comes to its end while the daemon is killed again and again:
// every attempt is judged once, nothing starts early, nothing is lost.
func TestTortureSessionSurvivesKillNine(t *testing.T) {
	t.Parallel()
	n := tortured(8, 60)
	rng := rand.New(rand.NewPCG(3, 7))
	s := newSoak(t, n, rng)
	kills := s.run(rng)
	s.settle()
	s.verify()
	t.Logf("%d checkpoints, %s; %d attempts, %d validations, %d kills",
		n, s.progress(), s.attempts(), len(s.executions()), kills)
}

// newSoak makes a workspace with an approved session, whose validation command
// is trusted.
func newSoak(t *testing.T, n int, rng *rand.Rand) *soak {
	t.Helper()
	s := &soak{
		place: newPlace(t, filepath.Join(t.TempDir(), "workspace"), 0), dir: ".afl/sessions/soak",
		deps: map[string][]string{}, fates: map[string]fate{}, never: map[string]bool{},
		handed: map[string]int{}, answered: map[string][]string{},
	}
	s.write("placet.toml", "")
	s.write("../home-workspace/placet/placet.toml", `[afl]
max_iterations = 3
auto_retry_delay = "0s"
parallel_workers = 10
interrupted = "rerun"
shell = ["sh", "-c"]
`)
	s.write("check.sh", checkScript)
	s.write("src/keep", "")
	for i := range n {
		s.define(fmt.Sprintf("cp-%03d", i), rng)
	}
	s.write(s.dir+"/specs/checkpoints.yaml", s.specs())
	d := s.start()
	s.await(d)
	s.until("every checkpoint is defined", func() bool { return s.status() == "delegating" })
	if out, code := s.placet("trust", "--yes"); code != 0 {
		t.Fatalf("trust: %d: %s", code, out)
	}
	d.stop(syscall.SIGTERM)
	return s
}

// define adds a checkpoint that depends on some of the last before it.
func (s *soak) define(id string, rng *rand.Rand) {
	recent := s.ids[max(0, len(s.ids)-25):]
	for _, i := range rng.Perm(len(recent))[:min(len(recent), rng.IntN(4))] {
		s.deps[id] = append(s.deps[id], recent[i])
	}
	switch x := rng.IntN(100); {
	case x < 2 || len(s.ids) == 5: // in a small session, too
		s.never[id] = true
	case x < 7 || len(s.ids) == 6:
		s.fates[id] = hangs
	case x < 37:
		s.fates[id] = fails
	}
	s.ids = append(s.ids, id)
}

func (s *soak) specs() string {
	var b strings.Builder
	b.WriteString("approved_at: 2026-01-19T10:30:00Z\ncheckpoints:\n")
	for _, id := range s.ids {
		fmt.Fprintf(&b, "  - id: %s\n    dependencies: [%s]\n    criteria: [it is well]\n", id, strings.Join(s.deps[id], ", "))
		fmt.Fprintf(&b, "    validation: {command: . ./check.sh, expected: \"%s: all is well\"", id)
		if s.fates[id] == hangs {
			fmt.Fprintf(&b, ", timeout: %d", soakLimit.Milliseconds())
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// fateOf returns the outcome of the n-th attempt of a checkpoint.
func (s *soak) fateOf(id string, n int) fate {
	switch {
	case s.never[id]:
		return fails
	case n == 1:
		return s.fates[id]
	}
	return passes
}

// run makes workers and reviewer work, and kills the daemon whenever the session has moved on
// by some revisions or validations, until it is final. It returns how often.
func (s *soak) run(rng *rand.Rand) (kills int) {
	return s.killed(rng, []func(){s.work, s.review}, func() int { return s.cycle(s.dir+"/state.json").Revision + len(s.lines("executions.log")) },
		func() bool { status := s.status(); return status == "completed" || status == "aborted" })
}

// killed starts a daemon and kills it as soon as a count of its work has grown by a few, again
// and again until all is over, while others play their parts.
func (p *place) killed(rng *rand.Rand, parts []func(), count func() int, isOver func() bool) (kills int) {
	p.t.Helper()
	over := make(chan struct{})
	var wg sync.WaitGroup
	for _, part := range parts {
		wg.Go(func() { play(p.t, over, part) })
	}
	defer wg.Wait()
	defer close(over)
	for {
		d, more := p.start(), count()+1+rng.IntN(12)
		p.until("something moves: "+p.root, func() bool { return count() >= more || isOver() })
		jitter(time.Duration(rng.IntN(300)) * time.Millisecond)
		d.stop(syscall.SIGKILL)
		if isOver() {
			return kills
		}
		kills++
	}
}

// play repeats a part until it is over.
func play(t *testing.T, over <-chan struct{}, part func()) {
	await.Until(t, "it is over", func() bool {
		select {
		case <-over:
			return true
		default:
			part()
			return false
		}
	})
}

// work hands in every attempt that has its prompt.
func (s *soak) work() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range s.ids {
		n := s.handed[id] + 1
		at := fmt.Sprintf("%s/delegations/%s/iterations/%d/", s.dir, id, n)
		if !s.there(at + "prompt.md") {
			continue
		}
		s.saved("src/"+id+".sh", soakScripts[s.fateOf(id, n)]+"\n")
		s.saved(at+"worker.json", fmt.Sprintf(`{"checkpoint": %q, "iteration": %d, "status": "completed", "changed_files": ["src/%s.sh"]}`+"\n", id, n, id))
		s.handed[id] = n
	}
}

// review answers every request: the first escalation of a checkpoint gives it
// one more attempt, the next ends it.
func (s *soak) review() {
	entries, _ := os.ReadDir(filepath.Join(s.root, s.dir, "requests"))
	for _, e := range entries {
		at := s.dir + "/requests/" + e.Name() + "/"
		var req struct {
			ID         string `json:"request_id"`
			Type       string `json:"type"`
			Checkpoint string `json:"checkpoint"`
		}
		if s.there(at+"response.json") || json.Unmarshal([]byte(s.read(at+"request.json")), &req) != nil {
			continue
		}
		option := "accept"
		if req.Type == "escalation" {
			option = s.decide(req.Checkpoint)
		}
		s.saved(at+"response.json", fmt.Sprintf(`{"request_id": %q, "response": %q, "comment": "go on", "attempts": 1, "provided_by": {"user": "reviewer", "source": "file"}}`+"\n", req.ID, option))
	}
}

func (s *soak) decide(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	option := "retry_more"
	if len(s.answered[id]) > 0 {
		option = s.ending(id)
	}
	s.answered[id] = append(s.answered[id], option)
	return option
}

// ending returns how a checkpoint that never passes is given up: its dependents go on without
// it, unless they are few.
func (s *soak) ending(id string) string {
	lost := map[string]bool{id: true}
	for _, other := range s.ids {
		if slices.ContainsFunc(s.deps[other], func(dep string) bool { return lost[dep] }) {
			lost[other] = true
		}
	}
	if len(lost) <= 1+len(s.ids)/10 {
		return "skip"
	}
	return "skip_forced"
}

// saved writes a file as an agent does, beside and then over.
func (p *place) saved(rel, body string) {
	if err := replaced("NAME.tmp")(filepath.Join(p.root, rel), body); err != nil {
		p.t.Error(err)
	}
}

func (p *place) there(rel string) bool {
	_, err := os.Lstat(filepath.Join(p.root, rel))
	return err == nil
}

// status is the session's as state.json has it.
func (s *soak) status() string {
	var st struct {
		Status string `json:"status"`
	}
	_ = json.Unmarshal([]byte(s.read(s.dir+"/state.json")), &st)
	return st.Status
}

func (s *soak) state() afl.State {
	s.t.Helper()
	st, err := afl.DecodeState("state.json", []byte(s.read(s.dir+"/state.json")))
	if err != nil {
		s.t.Fatal(err)
	}
	return st
}

// progress returns how far the checkpoints have come.
func (s *soak) progress() string {
	count := map[string]int{}
	for _, c := range s.state().Checkpoints {
		count[string(c.Status)]++
	}
	return fmt.Sprint(count)
}

func (s *soak) attempts() (n int) {
	for _, k := range s.handed {
		n += k
	}
	return n
}

// settle lets placet finish the work that the last kill left, and ends it in good order.
func (s *soak) settle() {
	d := s.start()
	s.await(d)
	d.stop(syscall.SIGTERM)
	s.until("temporary files are gone", func() bool {
		s.placet("once")
		return len(s.leftOvers()) == 0
	})
}

// leftOvers returns placet's temporary files, and the remains of its commands.
func (p *place) leftOvers() (left []string) {
	p.t.Helper()
	err := filepath.WalkDir(p.root, func(name string, d fs.DirEntry, err error) error {
		if err == nil && (layout.IsTemp(d.Name()) || path.Base(path.Dir(name)) == "actions") {
			left = append(left, name)
		}
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return left
}
