package cli_test

import (
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"placet/engine"
)

// These rows are about the state documents that only placet writes, and about the journals
// beside them.
var journalAttacks = []attack{
	{"a checkpoint is set to completed", "An agent sets a checkpoint to completed in an AFL session's state.json, so that what depends on it starts.", completedByHand},
	{"a session is set to completed", "An agent sets a whole AFL session to completed in state.json, so that nobody looks at it any more.", finalByHand},
	{"the next revision is made by hand", "An agent writes the state.json of an AFL session's next revision, as if placet had been killed before the line of its journal.", nextByHand},
	{"a digest is taken out of the journal", "An agent changes an AFL session's state.json and takes the digest out of the journal's last line.", digestTakenOut},
	{"a state is adopted", "An agent changes the state.json that a person is about to adopt.", changedBeforeAdoption},
	{"a level is raised by hand", "An agent raises the level in an optimisation cycle's state.json before a person answers.", levelByHand},
}

const shop = ".afl/sessions/shop"

const shopCheckpoints = `approved_at: 2026-01-19T10:30:00Z
checkpoints:
  - {id: first, criteria: [it is well], validation: {command: make first}}
  - {id: second, dependencies: [first], criteria: [it is well], validation: {command: make second}}
`

// shopSession begins a session of two checkpoints, the second of which waits for the
// first.
func (p *place) shopSession() {
	p.t.Helper()
	p.write("placet.toml", "")
	p.write(shop+"/specs/checkpoints.yaml", shopCheckpoints)
	p.once(0)
	if !p.there(shop+"/delegations/first/iterations/1/prompt.md") || p.secondStarts() {
		p.t.Fatalf("the session has not begun as it should: %s", p.read(shop+"/state.json"))
	}
}

// secondStarts reports whether the checkpoint that depends on the first has started.
func (p *place) secondStarts() bool {
	return p.there(shop + "/delegations/second/iterations/1/prompt.md")
}

// firstOf is the status of the first checkpoint as state.json has it.
var firstOf = regexp.MustCompile(`("first": \{\s*"status": )"in_progress"`)

// completed is the session's state with its first checkpoint set to completed.
func (p *place) completed() string {
	p.t.Helper()
	state := p.read(shop + "/state.json")
	if !firstOf.MatchString(state) {
		p.t.Fatalf("the first checkpoint is not in progress: %s", state)
	}
	return firstOf.ReplaceAllString(state, `$1"completed"`)
}

// standsStill checks that a run whose state.json somebody else has written does not move, and
// that every verb says so.
func (p *place) standsStill(dir, run string) {
	p.t.Helper()
	before, journal := p.read(dir+"/state.json"), p.read(dir+"/events.jsonl")
	p.once(1)
	if p.read(dir+"/state.json") != before || p.read(dir+"/events.jsonl") != journal || p.secondStarts() {
		p.t.Errorf("the run moves: %s", p.read(dir+"/state.json"))
	}
	adopt := "placet doctor --fix " + run + "@" + engine.Sum([]byte(before)).Hex()
	if note := p.read(dir + "/state.json.problem.md"); !strings.Contains(note, "cannot use state.json") || !strings.Contains(note, adopt) {
		p.t.Errorf("the note: %s", note)
	}
	for _, verb := range [][]string{{"explain", run}, {"check", run}, {"status"}, {"inbox"}} {
		if out, _ := p.placet(verb...); !strings.Contains(out, "cannot use state.json") {
			p.t.Errorf("%q does not say that the run stands still: %s", verb, out)
		}
	}
}

// goesOn checks that a session has no note, and moves when a person answers.
func (p *place) goesOn() {
	p.t.Helper()
	for _, verb := range []string{"pause", "resume"} {
		if out, code := p.placet("afl", verb, "shop"); code != 0 {
			p.t.Errorf("%s: %d: %s", verb, code, out)
		}
		p.once(0)
		if paused := strings.Contains(p.read(shop+"/state.json"), `"status": "paused"`); paused != (verb == "pause") {
			p.t.Errorf("after %s: %s", verb, p.read(shop+"/state.json"))
		}
	}
	if p.there(shop + "/state.json.problem.md") {
		p.t.Errorf("the note still stands: %s", p.read(shop+"/state.json.problem.md"))
	}
}

func completedByHand(t *testing.T, p *place) {
	p.shopSession()
	good := p.read(shop + "/state.json")
	p.write(shop+"/state.json", p.completed())
	p.standsStill(shop, "afl/shop")
	p.write(shop+"/state.json", good)
	p.goesOn()
	// A session goes on after git has brought both files together from another machine.
	p.gitHere("init", "-q")
	p.gitHere("add", "-A")
	p.gitHere("commit", "-qm", "all")
	q := newPlace(t, filepath.Join(filepath.Dir(p.root), "elsewhere"), 0)
	if out, err := exec.Command("git", "clone", "-q", p.root, q.root).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	q.goesOn()
	q.gitHere("add", "-A")
	q.gitHere("commit", "-qm", "further")
	p.gitHere("pull", "-q", q.root, "HEAD")
	p.once(0)
	if state := p.read(shop + "/state.json"); state != q.read(shop+"/state.json") || p.there(shop+"/state.json.problem.md") {
		t.Errorf("what git brought does not go on: %s", state)
	}
	p.goesOn()
	// It also goes on after a checkout of an earlier commit.
	p.gitHere("checkout", "-q", "HEAD~1", "--", shop+"/state.json", shop+"/events.jsonl")
	p.once(0)
	p.goesOn()
}

// gitHere runs git in the workspace.
func (p *place) gitHere(args ...string) {
	p.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", p.root}, args...)...)
	cmd.Env = p.env()
	if out, err := cmd.CombinedOutput(); err != nil {
		p.t.Fatalf("git %q: %v: %s", args, err, out)
	}
}

func finalByHand(t *testing.T, p *place) {
	p.shopSession()
	p.write(shop+"/state.json", strings.ReplaceAll(strings.Replace(p.completed(), `"status": "delegating"`, `"status": "completed"`, 1), `"status": "pending"`, `"status": "completed"`))
	p.standsStill(shop, "afl/shop")
	if p.there(shop + "/report.md") {
		t.Error("the session is reported as completed")
	}
	// A person may end such a session all the same, also beside a daemon that knows it only
	// from an earlier look.
	d := p.start()
	defer d.stop(syscall.SIGTERM)
	p.await(d)
	if out, code := p.placet("adopt", "shop@"+engine.Sum([]byte(p.read(shop+"/state.json"))).Hex()); code != 0 {
		t.Fatalf("adopt: %d: %s", code, out)
	}
	p.until("the session ends", func() bool {
		return p.there(shop+"/report.md") && !p.there(shop+"/state.json.problem.md")
	})
}

func nextByHand(t *testing.T, p *place) {
	p.shopSession()
	good, journal := p.read(shop+"/state.json"), p.read(shop+"/events.jsonl")
	revision := regexp.MustCompile(`"revision": (\d+),\s*"status": "delegating"`).FindStringSubmatch(good)
	if revision == nil {
		t.Fatalf("no revision: %s", good)
	}
	next := strings.Replace(p.completed(), `"revision": `+revision[1], `"revision": `+increment(revision[1]), 1)
	p.write(shop+"/state.json", next)
	p.standsStill(shop, "afl/shop")
	// A placet that was killed before it wrote the line of its own state writes it later.
	lines := strings.SplitAfter(strings.TrimSuffix(journal, "\n"), "\n")
	p.write(shop+"/state.json", good)
	p.write(shop+"/events.jsonl", strings.Join(lines[:len(lines)-1], ""))
	p.once(0)
	if got := p.read(shop + "/events.jsonl"); got != journal {
		t.Errorf("after a crash the journal is:\n%s\nbefore:\n%s", got, journal)
	}
	p.goesOn()
}

// increment is the number after a number.
func increment(number string) string {
	n, _ := strconv.Atoi(number)
	return strconv.Itoa(n + 1)
}

// digestOf is a journal line's member with the digest of the state.
var digestOf = regexp.MustCompile(`,"state":"sha256:[0-9a-f]{64}"`)

func digestTakenOut(t *testing.T, p *place) {
	p.shopSession()
	good, journal := p.read(shop+"/state.json"), p.read(shop+"/events.jsonl")
	at := strings.LastIndex(journal, `,"state":"sha256:`)
	if at < 0 {
		t.Fatalf("the journal has no digests: %s", journal)
	}
	p.write(shop+"/events.jsonl", journal[:at]+digestOf.ReplaceAllString(journal[at:], ""))
	p.write(shop+"/state.json", p.completed())
	p.standsStill(shop, "afl/shop")
	// A session of the version before, whose journal has no digests, goes on, and has digests
	// from then on.
	p.write(shop+"/state.json", good)
	p.write(shop+"/events.jsonl", digestOf.ReplaceAllString(journal, ""))
	p.goesOn()
	if n := strings.Count(p.read(shop+"/events.jsonl"), `"state":"sha256:`); n != 2 {
		t.Errorf("%d lines of two later transitions say which state they belong to", n)
	}
}

func changedBeforeAdoption(t *testing.T, p *place) {
	p.shopSession()
	merged := p.completed()
	p.write(shop+"/state.json", merged)
	p.standsStill(shop, "afl/shop")
	shown := "shop@" + engine.Sum([]byte(merged)).Hex()
	p.write(shop+"/state.json", strings.Replace(merged, `"max_iterations": `, `"max_iterations": 9`, 1))
	for _, args := range [][]string{{"adopt", shown}, {"adopt", "shop"}, {"adopt", "shop@000000000000"}, {"adopt", "shop@"}} {
		if out, code := p.placet(args...); code == 0 {
			t.Errorf("%q: %d: %s", args, code, out)
		}
	}
	p.standsStill(shop, "afl/shop")
	// A person adopts the state that was shown, and a daemon goes on from there.
	p.write(shop+"/state.json", merged)
	d := p.start()
	defer d.stop(syscall.SIGTERM)
	p.await(d)
	if out, code := p.placet("adopt", shown, "--as", "kim", "-m", "checked by hand"); code != 0 {
		t.Fatalf("adopt: %d: %s", code, out)
	}
	p.until("what depends on the checkpoint starts", func() bool {
		return p.secondStarts() && !p.there(shop+"/state.json.problem.md")
	})
	if out, _ := p.placet("log", "shop"); !strings.Contains(out, "state_adopted") || !strings.Contains(out, "person:kim") || !strings.Contains(out, "checked by hand") {
		t.Errorf("the log does not say who adopted it: %s", out)
	}
	if out, code := p.placet("adopt", shown); code == 0 {
		t.Errorf("there is nothing to adopt: %s", out)
	}
}

func levelByHand(t *testing.T, p *place) {
	p.write("placet.toml", "[optimizer]\nlanguage = \"en\"\n")
	p.newCycle(nearRun)
	p.write(nearRun+"trigger.json", `{"workflow_name": "masking"}`)
	p.once(3)
	folder, id := p.asked(nearRun)
	good := p.read(nearRun + "state.json")
	level := regexp.MustCompile(`("level": \{\s*"current": )10`)
	if !level.MatchString(good) {
		t.Fatalf("no level: %s", good)
	}
	p.write(nearRun+"state.json", level.ReplaceAllString(good, "${1}30"))
	p.write(folder+"response.json", `{"request_id": "`+id+`", "response": "appropriate", "provided_by": {"user": "kim", "source": "file"}}`)
	dir := path.Clean(nearRun)
	p.standsStill(dir, "optimizer/"+path.Base(path.Dir(dir)))
	if p.there(nearRun + "goal.json") {
		t.Errorf("the cycle has a goal: %s", p.read(nearRun+"goal.json"))
	}
	p.write(nearRun+"state.json", good)
	p.once(0)
	if goal := p.read(nearRun + "goal.json"); !strings.Contains(goal, `"next_automation_level": 10`) {
		t.Errorf("the goal: %s", goal)
	}
}
