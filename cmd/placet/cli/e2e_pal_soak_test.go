package cli_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"placet/engine"
	"placet/engine/pal"
	"placet/layout"
	"placet/schemas"
)

// palWorker is the command of all workers. It does what a file of the test says, by port, role
// and try; when it is started again, it succeeds. It records what it has begun and handed in;
// while it works, a file with its process id is in work/live.
const palWorker = `#!/bin/sh
key=$PLACET_PORT-$PLACET_ROLE-$PLACET_TRY
echo "$key $$" >> work/runs.log
mark=work/live/$PLACET_PORT.$$
: > "$mark"
fate=$(cat "work/fates/$key" 2>/dev/null || echo well)
[ "$(grep -c "^$key " work/runs.log)" -gt 1 ] && fate=well
progress() {
	printf '{"progress": %s, "current_task": "%s", "tokens_used": 10}' "$1" "$key" > "$PLACET_PROGRESS.tmp.$$" && mv "$PLACET_PROGRESS.tmp.$$" "$PLACET_PROGRESS"
}
hand() {
	rm -f "$mark"
	printf '%s' "$1" > "$PLACET_OUT.$$.tmp" && mv "$PLACET_OUT.$$.tmp" "$PLACET_OUT"
	echo "$key" >> work/handed.log
}
files() {
	printf '{"type": "%s", "title": "%s"}' "$1" "$key" > "$(dirname "$PLACET_OUT")/escalation-$PLACET_TRY.json"
}
progress 0.2
sleep 0.05
progress 0.9
files=src/$PLACET_PORT.go
case $fate in
none) rm -f "$mark"; exit 0 ;;
hang) sleep 300; exit 0 ;;
asks) files question; sleep 300; exit 0 ;;
tells) files general ;;
shares) files=src/shared.go ;;
half) hand '{"status": "partial", "summary": "half"}'; sleep 0.2 ;;
wrong) hand '{"success": true, "failed_tests": [{"name": "T"}]}'; sleep 0.4 ;;
esac
case $PLACET_ROLE-$fate in
impl-fails) hand '{"status": "failed", "summary": "no way"}' ;;
impl-*) hand '{"status": "ready", "summary": "'"$key"'", "changed_files": ["'"$files"'"], "tokens_used": 20}' ;;
test-fails) hand '{"success": false, "failed_tests": [{"name": "Test'"$key"'"}], "metrics": {"total": 9, "passed": 8}}' ;;
test-*) hand '{"success": true, "metrics": {"total": 9, "passed": 9}}' ;;
esac
`

// palSoak is an orchestration whose workers are scripts and whose reviewer is the test, and a
// daemon that is killed again and again.
type palSoak struct {
	orchestrated
	ids  []string
	most int // ports that may run

	mu       sync.Mutex
	answered map[string]int // requests, by port
	asked    map[string]bool
}

// TestTortureOrchestrationSurvivesKillNine brings an orchestration of many ports to its end
// while the daemon is killed again and again: each hand-in of a worker is counted once, no
// command begins twice, no more ports run than may, and nobody is asked twice for one cause.
func TestTortureOrchestrationSurvivesKillNine(t *testing.T) {
	t.Parallel()
	n := tortured(6, 60)
	rng := rand.New(rand.NewPCG(24, 11))
	s := newPalSoak(t, n, rng)
	kills := s.killed(rng, []func(){s.review, s.watchSlots}, func() int { return s.cycle(s.dir + "/state.json").Revision }, s.isOver)
	s.settle()
	st := s.state()
	s.verify(st)
	tries := 0
	for _, l := range st.Loops {
		tries += len(l.History)
	}
	t.Logf("%d ports, %s; %d tries, %d commands, %d escalations, %d revisions, %d kills",
		n, s.counts(st), tries, len(s.lines("work/runs.log")), len(st.Escalations), st.Revision, kills)
}

// newPalSoak makes a workspace with an orchestration whose commands are trusted.
func newPalSoak(t *testing.T, n int, rng *rand.Rand) *palSoak {
	t.Helper()
	s := &palSoak{orchestrated: newOrchestration(t, ""), most: 8, answered: map[string]int{}, asked: map[string]bool{}}
	s.write("work/worker.sh", palWorker)
	if err := os.Chmod(filepath.Join(s.root, "work/worker.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"work/live/.keep", "work/fates/.keep", "work/handed.log", "work/runs.log"} {
		s.write(dir, "")
	}
	var ports []string
	for i := range n {
		ports = append(ports, s.define(fmt.Sprintf("p%03d", i), rng))
	}
	s.write(s.dir+"/orchestration.json", fmt.Sprintf(`{"title": "soak", "max_concurrency": %d, "max_retries": 2, "timeout_per_port": "0s", "workers": {"impl": ["work/worker.sh"], "test": ["work/worker.sh"]}, "ports": [%s]}`, s.most, strings.Join(ports, ", ")))
	s.placet("once")
	if out, code := s.placet("trust", "--yes"); code != 0 {
		t.Fatalf("trust: %d: %s", code, out)
	}
	return s
}

// define adds a port that depends on some of the last before it, and sets the outcomes of its
// first tries.
func (s *palSoak) define(id string, rng *rand.Rand) string {
	var deps []string
	recent := s.ids[max(0, len(s.ids)-20):]
	for _, i := range rng.Perm(len(recent))[:min(len(recent), rng.IntN(3))] {
		deps = append(deps, fmt.Sprintf("%q", recent[i]))
	}
	s.ids = append(s.ids, id)
	timeout := "0s"
	fate := func(role string, try int, fate string) {
		s.write(fmt.Sprintf("work/fates/%s-%s-%d", id, role, try), fate)
	}
	switch k := rng.IntN(20); {
	case k < 4:
		fate("test", 1, "fails")
	case k < 6: // twice: it is asked about
		fate("impl", 1, "fails")
		fate("test", 2, "fails")
	case k < 7: // round after round
		for try := 1; try < 9; try++ {
			fate("test", try, "fails")
		}
	case k < 9:
		fate([]string{"impl", "test"}[k%2], 1, "none")
	case k < 10:
		fate("impl", 1, "hang")
		timeout = "4s"
	case k < 12:
		fate([]string{"impl", "test"}[k%2], 1, "asks")
	case k < 13:
		fate("test", 1, "tells")
	case k < 15:
		fate("impl", 1, "shares")
	case k < 16:
		fate("impl", 1, "half")
	case k < 17:
		fate("test", 1, "wrong")
	}
	return fmt.Sprintf(`{"port_id": %q, "depends_on": [%s], "timeout": %q}`, id, strings.Join(deps, ", "), timeout)
}

func (s *palSoak) isOver() bool {
	var st struct{ Status engine.Status }
	_ = json.Unmarshal([]byte(s.read(s.dir+"/state.json")), &st)
	return st.Status == pal.Complete || st.Status == pal.Failed || st.Status == pal.Cancelled
}

// review answers every open request: the first about a port lets it try again or go on, the
// next ends it.
func (s *palSoak) review() {
	var st struct {
		Requests    []struct{ ID, Status string }
		Escalations map[string]*pal.Escalation
	}
	if json.Unmarshal([]byte(s.read(s.dir+"/state.json")), &st) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, q := range st.Requests {
		at := s.dir + "/requests/" + q.ID + "/"
		e := st.Escalations[q.ID]
		if q.Status != "open" || s.asked[q.ID] || !s.there(at+"form.md") {
			continue
		}
		s.asked[q.ID] = true
		port := string(e.PortID)
		s.answered[port]++
		option := "retry"
		switch n, k := s.answered[port], slices.Index(s.ids, port); {
		case e.Type == "general", e.Type == "conflict" && k%2 == 0:
			option = "dismiss"
		case e.Type == "timeout" && k%2 == 0, e.Type == "decision" && k%2 == 0:
			option = "dismiss"
		case e.Type == "dependency":
		case n > 1 && k%5 == 0:
			option = "abort_port"
		case n > 1 && k%2 == 0:
			option = "skip"
		case n > 1:
			option = "take_over"
		}
		s.saved(at+"response.json", fmt.Sprintf(`{"request_id": %q, "response": %q, "comment": "go on", "provided_by": {"user": "reviewer", "source": "file"}}`+"\n", q.ID, option))
	}
}

// watchSlots checks that no more ports run now than may, and no more commands for them.
func (s *palSoak) watchSlots() {
	var st struct {
		Ports map[string]struct {
			Status engine.Status `json:"status"`
		}
	}
	before := s.read(s.dir + "/state.json")
	live := s.live()
	if body := s.read(s.dir + "/state.json"); body != before || json.Unmarshal([]byte(body), &st) != nil {
		return // the commands are of another state
	}
	running, working := 0, 0
	for id, p := range st.Ports {
		if p.Status == pal.Running {
			running++
			working += len(live[id])
			if len(live[id]) > 1 {
				s.t.Errorf("%d commands work at port %s: %q of %q", len(live[id]), id, live[id], s.lines("work/runs.log"))
			}
		}
	}
	if running > s.most || working > s.most {
		s.t.Errorf("%d ports run with %d commands, and %d may", running, working, s.most)
	}
}

// live returns the processes of the commands that run, by port.
func (s *palSoak) live() map[string][]string {
	pids := map[string][]string{}
	entries, _ := os.ReadDir(filepath.Join(s.root, "work/live"))
	for _, e := range entries {
		port, pid, _ := strings.Cut(e.Name(), ".")
		cmdline, err := os.ReadFile("/proc/" + pid + "/cmdline")
		if err == nil && strings.Contains(string(cmdline), "worker.sh") && s.there("work/live/"+e.Name()) {
			pids[port] = append(pids[port], pid)
		}
	}
	return pids
}

func (s *palSoak) counts(st pal.State) string {
	count := map[string]int{}
	for _, p := range st.Ports {
		count[string(p.Status)]++
	}
	return fmt.Sprintf("%s: %v", st.Status, count)
}

// settle lets placet finish the work that the last kill left, and ends it in good order.
func (s *palSoak) settle() {
	d := s.start()
	s.await(d)
	s.until("no command is at work", func() bool { return len(s.live()) == 0 })
	d.stop(syscall.SIGTERM)
	s.until("temporary files are gone", func() bool {
		s.placet("once")
		return len(s.leftOvers()) == 0
	})
}

// lines are those of a file.
func (p *place) lines(rel string) (list []string) {
	for line := range strings.Lines(p.read(rel)) {
		list = append(list, strings.TrimSpace(line))
	}
	return list
}

// verify checks the laws of a run that was soaked.
func (s *palSoak) verify(st pal.State) {
	s.t.Helper()
	if st.Status != pal.Complete && st.Status != pal.Failed {
		s.t.Errorf("the run is %s", st.Status)
	}
	ran := map[string]int{}
	for _, line := range s.lines("work/runs.log") {
		key, _, _ := strings.Cut(line, " ")
		ran[key]++
	}
	handed := s.lines("work/handed.log")
	for _, id := range s.ids {
		s.verifyPort(st, id, ran, handed)
	}
	s.verifyAsked(st)
	out, _ := s.placet("check")
	for line := range strings.Lines(out) {
		// Only messages that came too late have notes, and nothing else is wrong.
		if strings.HasPrefix(line, "error") && !strings.Contains(line, "not counted: ") && !strings.Contains(line, "moves nothing") {
			s.t.Errorf("check: %s", line)
		}
	}
}

// verifyPort checks that the history of a port agrees with the work of its workers.
func (s *palSoak) verifyPort(st pal.State, id string, ran map[string]int, handed []string) {
	t, p := s.t, st.Ports[id]
	t.Helper()
	counted := map[string]bool{} // files
	count := func(rel string, sum schemas.OrNull) {
		if sum == "" {
			return
		}
		if counted[rel] {
			t.Errorf("%s was counted twice", rel)
		}
		counted[rel] = true
		if got := engine.Sum([]byte(s.read(s.dir + "/" + rel))); string(got) != string(sum) {
			t.Errorf("%s has the digest %s, and %s was counted", rel, got, sum)
		}
	}
	next := 1
	for round := 1; round <= p.Round; round++ {
		l := st.Loops[fmt.Sprintf("%s.r%d", id, round)]
		failed := 0
		for _, try := range l.History {
			if next = max(next, l.FirstTry); try.Try != next {
				t.Errorf("%s: try %d stands where %d ought to", id, try.Try, next)
			}
			next++
			count(layout.PalResultFile(id, try.Try), try.ResultDigest)
			count(layout.PalFeedbackFile(id, try.Try), try.FeedbackDigest)
			if !try.Success && try.Cause != "" {
				failed++
			}
			s.verifyTry(id, try)
		}
		if failed != l.CurrentTry || failed > l.MaxRetries || (l.Status == pal.Escalated) != (failed == l.MaxRetries) || l.Status == pal.Running {
			t.Errorf("%s: %d tries failed of %d; the loop says %d, and is %s", id, failed, l.MaxRetries, l.CurrentTry, l.Status)
		}
	}
	for _, role := range []string{"impl", "test"} {
		s.verifyCommands(id, role, ran)
	}
	for _, key := range handed {
		var try int
		port, rest, _ := strings.Cut(key, "-")
		role, number, _ := strings.Cut(rest, "-")
		if _, err := fmt.Sscan(number, &try); err != nil || port != id {
			continue
		}
		file := layout.PalResultFile(id, try)
		if role == "test" {
			file = layout.PalFeedbackFile(id, try)
		}
		if !counted[file] && !s.there(s.dir+"/"+file+layout.ProblemSuffix) {
			t.Errorf("%s was handed in, not counted, and nobody is told", file)
		}
	}
}

// verifyTry checks one try against the files.
func (s *palSoak) verifyTry(id string, try pal.Try) {
	var res struct{ Status string }
	var fb struct{ Success bool }
	_ = json.Unmarshal([]byte(s.read(s.dir+"/"+layout.PalResultFile(id, try.Try))), &res)
	_ = json.Unmarshal([]byte(s.read(s.dir+"/"+layout.PalFeedbackFile(id, try.Try))), &fb)
	cause := map[bool]string{true: "impl_failed"}[res.Status == "failed"]
	if try.FeedbackDigest != "" && !fb.Success {
		cause = "tests"
	}
	if string(try.Cause) != cause || try.Success != (try.FeedbackDigest != "" && fb.Success) {
		s.t.Errorf("%s: try %d is %+v; the result says %s, the feedback %t", id, try.Try, try, res.Status, fb.Success)
	}
}

// verifyCommands checks that no command began without a record, or twice for one, and that
// each has an end.
func (s *palSoak) verifyCommands(id, role string, ran map[string]int) {
	t := s.t
	t.Helper()
	dir := s.dir + "/" + layout.PalMember(id, role)
	entries, _ := os.ReadDir(filepath.Join(s.root, dir))
	attempts := map[string]int{}
	for _, e := range entries {
		name, isAttempt := strings.CutPrefix(strings.TrimSuffix(e.Name(), ".json"), "attempt-")
		if !isAttempt || strings.Contains(name, ".") {
			continue
		}
		try, _, _ := strings.Cut(name, "-")
		attempts[id+"-"+role+"-"+try]++
		if !s.there(dir + "/outcome-" + name + ".json") {
			t.Errorf("%s/attempt-%s.json has no outcome", dir, name)
		}
	}
	for key, n := range ran {
		if strings.HasPrefix(key, id+"-"+role+"-") && n > attempts[key] {
			t.Errorf("%s began %d times, with %d attempts", key, n, attempts[key])
		}
	}
}

// verifyAsked checks the journal, and that it has each escalation once, with its record and a
// receipt.
func (s *palSoak) verifyAsked(st pal.State) {
	t := s.t
	t.Helper()
	opened, resolved := map[string]int{}, map[string]int{}
	seq, revision := 0, 0
	for _, line := range s.lines(s.dir + "/events.jsonl") {
		var e struct {
			Seq, Revision int
			Type          string
			Data          struct {
				ID         string `json:"id"`
				Escalation string `json:"escalation_id"`
			}
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("events.jsonl: %q: %v", line, err)
		}
		if seq++; e.Seq != seq || e.Revision < revision || e.Revision > revision+1 {
			t.Fatalf("events.jsonl: line %d has seq %d and revision %d after %d", seq, e.Seq, e.Revision, revision)
		}
		revision = e.Revision
		switch e.Type {
		case "escalation.new":
			opened[e.Data.ID]++
		case "escalation.resolved":
			resolved[e.Data.Escalation]++
		}
	}
	if revision != st.Revision {
		t.Errorf("events.jsonl ends with revision %d, the state is of %d", revision, st.Revision)
	}
	for id := range st.Escalations {
		if opened[id] != 1 || resolved[id] != 1 || !s.there(s.dir+"/escalations/"+id+".json") || !s.there(path.Join(s.dir, "requests", id, "receipt.json")) {
			t.Errorf("%s opened %d times, and was resolved %d times", id, opened[id], resolved[id])
		}
	}
	if len(opened) != len(st.Escalations) {
		t.Errorf("the journal has %d escalations, the state %d", len(opened), len(st.Escalations))
	}
}
