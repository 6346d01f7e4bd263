package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// An attempt of an AFL session costs the time between its result and the next
// attempt's prompt: three transitions, from the result found to the failure recorded
// to the next attempt begun.

// sessionDir is the folder of the session that is measured.
const sessionDir = ".afl/sessions/bench"

// sessionSettings make an attempt follow at once on the one before.
const sessionSettings = `[afl]
max_iterations = 50
auto_retry_delay = "0s"
parallel_workers = 8
escalate_on_pattern = false
`

// sessionPolicy lets an outside validator's results count. It is policy, so it is in
// the user's own configuration.
const sessionPolicy = "[afl]\nvalidation = \"result\"\n"

// tried is how many checkpoints are being worked on while attempts are measured, and
// mostTried is how many attempts each of them has for that.
const (
	tried     = 4
	mostTried = 45
)

// session is a workspace with one AFL session: all but the last few checkpoints
// have passed at their second attempt.
type session struct {
	workspace
	daemon *program
	cps    []string
	at     map[string]int // the current attempt, by checkpoint
}

// openSession makes a session of n checkpoints, lets placet begin it, and brings it
// to the point where attempts are measured.
func (b *bench) openSession(name string, n int) (*session, error) {
	w, err := b.fresh(name)
	if err != nil {
		return nil, err
	}
	s := &session{workspace: w, at: map[string]int{}}
	for i := range n {
		s.cps = append(s.cps, checkpointID(i))
	}
	if err := w.write("placet.toml", sessionSettings); err != nil {
		return nil, err
	}
	if err := w.configure(sessionPolicy); err != nil {
		return nil, err
	}
	if err := w.write(sessionDir+"/specs/checkpoints.yaml", specsText(n, true)); err != nil {
		return nil, err
	}
	if s.daemon, err = startServing(b.placet, w.root, attempted); err != nil {
		return nil, err
	}
	return s, s.history()
}

// checkpointID returns the id of a session's i-th checkpoint.
func checkpointID(i int) string { return fmt.Sprintf("cp-%03d", i) }

// specsText returns the specification that an architect leaves: so many checkpoints,
// which a person has approved or not.
func specsText(checkpoints int, approved bool) string {
	var specs strings.Builder
	if approved {
		specs.WriteString("approved_at: 2026-01-19T10:30:00Z\n")
	}
	specs.WriteString("checkpoints:\n")
	for i := range checkpoints {
		id := checkpointID(i)
		fmt.Fprintf(&specs, "  - id: %s\n    description: part %d of the whole\n    criteria: [it works, it is documented]\n", id, i)
		fmt.Fprintf(&specs, "    validation: {command: ./test.sh %s, expected: \"%s: 12 of 12\"}\n", id, id)
	}
	return specs.String()
}

// attempted selects the transitions that count here: an attempt begun, a checkpoint passed.
func attempted(t transition) (string, bool) {
	switch t.Event {
	case "start", "retry_due", "pass":
		return t.Subject, true
	}
	return "", false
}

// history makes every checkpoint but the last few fail once and then pass.
func (s *session) history() error {
	passing := len(s.cps) - tried
	for begun, passed := 0, 0; begun < len(s.cps) || passed < passing; {
		m, err := s.daemon.next()
		if err != nil {
			return err
		}
		if m.event == "pass" {
			passed++
			continue
		}
		s.at[m.run]++
		if s.at[m.run] == 1 {
			begun++
		}
		if m.run >= s.cps[passing] {
			continue
		}
		if err := s.report(m.run, s.at[m.run] > 1); err != nil {
			return err
		}
	}
	return nil
}

// iteration returns the folder of an attempt, relative to the session's.
func iteration(id string, n int) string { return fmt.Sprintf("delegations/%s/iterations/%d", id, n) }

// report submits the result of the current attempt.
func (s *session) report(id string, passed bool) error {
	from, to, err := s.stage(id, passed)
	if err != nil {
		return err
	}
	return os.Rename(from, to)
}

// stage writes the result of the current attempt under a name that nobody reads.
func (s *session) stage(id string, passed bool) (from, to string, err error) {
	n := s.at[id]
	dir := filepath.Join(s.root, sessionDir, iteration(id, n))
	from, to = filepath.Join(dir, ".result.json.tmp"), filepath.Join(dir, "result.json")
	return from, to, os.WriteFile(from, []byte(resultText(id, n, passed)), 0o644)
}

// resultText returns the report of an outside validator: twelve tests, of which
// one or none fails.
func resultText(id string, n int, passed bool) string {
	var out strings.Builder
	for i := range 11 {
		fmt.Fprintf(&out, "ok %d - %s does what criterion %d asks for\\n", i+1, id, i+1)
	}
	exit := 0
	if passed {
		fmt.Fprintf(&out, "ok 12 - %s adds up\\n%s: 12 of 12\\n", id, id)
	} else {
		exit = 1
		fmt.Fprintf(&out, "not ok 12 - %s adds up: expected 3 but got %d\\n%s: 11 of 12\\n", id, n+3, id)
	}
	return fmt.Sprintf("{\"iteration\": %d, \"exitCode\": %d, \"output\": \"%s\"}\n", n, exit, out.String())
}

// attempt makes the k-th measured attempt fail, and returns how long it took until
// the next one's prompt was durable.
func (s *session) attempt(k int, p *program) (time.Duration, error) {
	id := s.cps[len(s.cps)-tried+k%tried]
	from, to, err := s.stage(id, false)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	if err := os.Rename(from, to); err != nil {
		return 0, err
	}
	m, err := p.next()
	s.at[id]++
	return m.at.Sub(began), err
}

// learn makes an attempt fail and returns what its transitions put on disk, one
// shape each. For a file that all of them write it knows only the last size.
func (s *session) learn() ([]shape, error) {
	dir := filepath.Join(s.root, sessionDir)
	before, err := stamps(dir)
	if err != nil {
		return nil, err
	}
	id, n := s.cps[len(s.cps)-tried], s.at[s.cps[len(s.cps)-tried]]
	if _, err := s.attempt(0, s.daemon); err != nil {
		return nil, err
	}
	after, err := stamps(dir)
	if err != nil {
		return nil, err
	}
	all := written(before, after, iteration(id, n)+"/result.json")
	rounds := rounds(measured(id, n).general(all))
	if len(rounds[1]) == len(rounds[0]) || len(rounds[2]) == len(rounds[0]) {
		return nil, fmt.Errorf("cannot measure: after an attempt neither verdict nor prompt changed in %s", dir)
	}
	return rounds, nil
}

// measured returns an attempt in the form for the floor.
func measured(id string, n int) floorRun {
	return floorRun{
		Dir: sessionDir, Watch: sessionDir + "/" + iteration(id, n),
		Own: []string{iteration(id, n) + "/", "{attempt}", iteration(id, n+1) + "/", "{next}", "/" + id + "/", "{checkpoint}"},
	}
}

// rounds sorts the files that an attempt writes by the transition that writes them.
func rounds(all shape) []shape {
	list := make([]shape, 3)
	for _, p := range all {
		switch {
		case strings.HasPrefix(p.Path, "{attempt}"):
			list[1] = append(list[1], p)
		case strings.HasPrefix(p.Path, "{next}"):
			list[2] = append(list[2], p)
		case p.Path != "events.jsonl": // a journal is only appended to
			for i := range list {
				list[i] = append(list[i], p)
			}
		}
	}
	return list
}

func (s *session) close() error {
	s.daemon.stop()
	return os.RemoveAll(s.root)
}

// besideSession starts a floor that makes the same changes to the disk.
func (b *bench) besideSession(name string, s *session, attempts int, rounds []shape, whole bool) (*session, error) {
	w, err := b.fresh(name)
	if err != nil {
		return nil, err
	}
	r := &session{workspace: w, cps: s.cps, at: map[string]int{}}
	job := floorJob{Root: w.root, Answer: "result.json", Rounds: rounds, Syncfs: whole}
	for k := range attempts {
		id, n := s.cps[len(s.cps)-tried+k%tried], 1+k/tried
		r.at[id] = 1
		job.Runs = append(job.Runs, measured(id, n))
		for _, at := range []int{n, n + 1} {
			if err := w.write(sessionDir+"/"+iteration(id, at)+"/prompt.md", "# \n"); err != nil {
				return nil, err
			}
		}
	}
	r.daemon, err = startFloor(job)
	return r, err
}

// oneAttempt is A1, with few and with many checkpoints.
func (b *bench) oneAttempt() error {
	if b.attempts > tried*mostTried {
		return errors.New("more attempts than a checkpoint may have")
	}
	for _, n := range b.checkpoints {
		if err := b.attemptsOf(n); err != nil {
			return err
		}
	}
	return nil
}

// attemptsOf measures attempts in a session of n checkpoints, for each side in turn.
func (b *bench) attemptsOf(n int) error {
	s, err := b.openSession("placet", n)
	if err != nil {
		return err
	}
	shapes, err := s.learn()
	if err != nil {
		return err
	}
	sides := []*session{s, nil, nil}
	for i, name := range []string{"floor-fsync", "floor-syncfs"} {
		if sides[i+1], err = b.besideSession(name, s, b.attempts, shapes, i == 1); err != nil {
			return err
		}
	}
	took := make([]times, len(sides))
	for k := range b.attempts {
		for i, side := range sides {
			t, err := side.attempt(k, side.daemon)
			if err != nil {
				return err
			}
			took[i] = append(took[i], t)
		}
	}
	floor, kind := cheaper(took[1], took[2])
	files, bytes := 0, 0
	for _, s := range shapes {
		files, bytes = files+len(s), bytes+s.bytes()
	}
	b.table.note("A1", fmt.Sprintf("%d checkpoints: an attempt writes, in 3 commits", n), fmt.Sprintf("%d × %d B", files, bytes/files))
	b.table.ratio("A1", "result → next prompt durable, p50 (floor: "+kind+")", took[0].median(), floor.median(), 1.5)
	b.table.ratio("A1", "result → next prompt durable, p99", took[0].at(0.99), floor.at(0.99), 3)
	for _, side := range sides {
		if err := side.close(); err != nil {
			return err
		}
	}
	return nil
}
