package cli_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"placet/engine"
)

// mergedRun is a family's run that waits for a person, for the tests of merges.
type mergedRun struct {
	run, dir string
	// begin writes the run, up to its request.
	begin func(p *place)
	// approve and other are two answers to its request, and stop gives the run up.
	approve, other string
	stop           func(p *place)
}

var mergedRuns = map[string]mergedRun{
	"faber": {
		run: "faber", dir: ".fractary/faber/runs/acme/web/00001eef-0000-4000-8000-000000000001",
		begin: func(p *place) { newPlace(p.t, p.root, 1) }, approve: "approve", other: "request_changes",
		stop: func(p *place) {
			p.write(".fractary/faber/runs/acme/web/00001eef-0000-4000-8000-000000000001/cancel.json", `{"by": "kim", "reason": "no"}`)
		},
	},
	"afl": {
		run: "shop", dir: shop, approve: "approve", other: "request_changes",
		begin: func(p *place) {
			p.write(shop+"/specs/checkpoints.yaml", "checkpoints:\n  - {id: a, criteria: [it is well], validation: {command: make a}}\n")
		},
		stop: func(p *place) { p.must(0, "afl", "abort", "shop", "-m", "no") },
	},
	"optimizer": {
		run: "20260302-msowd-near", dir: path.Clean(nearRun), approve: "appropriate", other: "raise",
		begin: func(p *place) { p.newCycle(nearRun); p.trigger(nearRun, "near") },
		stop:  func(p *place) { p.must(0, "optimizer", "stop", "20260302-msowd-near", "-m", "no") },
	},
}

// mergeSettings let a run ask at once.
const mergeSettings = "[afl]\napproval_quiet = \"0s\"\n[optimizer]\nlanguage = \"en\"\ninputs_wait = \"0s\"\n"

// merge is a run on which two people work, each in a clone of the workspace, and the workspace
// of one of them, into which that of the other is merged.
type merge struct {
	*place
	mergedRun
	request string // folder of the request
}

// clone is the workspace of somebody else on another machine.
func (m merge) clone(name string) merge {
	m.t.Helper()
	m.place = newPlace(m.t, filepath.Join(filepath.Dir(m.root), name), 0)
	m.write("../home-"+name+"/placet/placet.toml", mergeSettings)
	return m
}

// mergeOf commits a run that asks, and returns two clones of it.
func mergeOf(t *testing.T, of mergedRun) (ours, theirs merge) {
	t.Helper()
	t.Parallel()
	m := merge{place: newPlace(t, filepath.Join(t.TempDir(), "base"), 0), mergedRun: of}.clone("base")
	m.write("placet.toml", "")
	m.begin(m.place)
	m.must(3, "once")
	requests, _ := filepath.Glob(filepath.Join(m.root, m.dir, "requests", "*"))
	if len(requests) != 1 {
		t.Fatalf("the run asks %q", requests)
	}
	m.request = m.dir + "/requests/" + filepath.Base(requests[0])
	m.gitHere("init", "-q")
	m.commit("base")
	ours, theirs = m.clone("ours"), m.clone("theirs")
	for _, side := range []merge{ours, theirs} {
		if out, err := exec.Command("git", "clone", "-q", m.root, side.root).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	return ours, theirs
}

func (m merge) commit(subject string) {
	m.t.Helper()
	m.gitHere("add", "-A")
	m.gitHere("commit", "-qm", subject)
}

// does answers the request with an option, or gives the run up for "", and commits the outcome.
func (m merge) does(option string) {
	m.t.Helper()
	if option == "" {
		m.stop(m.place)
	} else {
		// git wrote the artifacts of the clone anew, so the answer says what it was given to.
		m.write(m.request+"/response.json", fmt.Sprintf(`{"request_id": %q, "response": %q, "comment": "a word", "artifacts": %s, "provided_by": {"user": "lee", "source": "file"}}`, path.Base(m.request), option, m.artifacts()))
	}
	m.settles()
	m.must(0, "check")
	m.commit("side")
}

// artifacts returns the artifacts of the request, as an answer names them.
func (m merge) artifacts() []byte {
	m.t.Helper()
	var asked struct {
		Artifacts []struct {
			Path   string `json:"path"`
			SHA256 string `json:"sha256"`
		} `json:"artifacts"`
	}
	err := json.Unmarshal([]byte(m.read(m.request+"/request.json")), &asked)
	body, wrong := json.Marshal(asked.Artifacts)
	if err = cmp.Or(err, wrong); err != nil {
		m.t.Fatal(err)
	}
	return body
}

// settles runs placet until only answers are missing.
func (m merge) settles() {
	m.t.Helper()
	if out, code := m.placet("once"); code != 0 && code != 3 {
		m.t.Fatalf("once: %d: %s\n%s", code, out, m.read(m.request+"/problem.md"))
	}
}

// takes merges another clone: of all that both sides changed it keeps ours, except for the
// files named.
func (m merge) takes(from merge, theirs ...string) {
	m.t.Helper()
	for i, name := range theirs {
		theirs[i] = m.dir + "/" + name
		if name == "receipt.json" || name == "response.json" {
			theirs[i] = m.request + "/" + name
		}
	}
	m.gitHere("fetch", "-q", from.root, "HEAD:theirs")
	merging := exec.Command("git", "-C", m.root, "merge", "-q", "theirs")
	merging.Env = m.env()
	if out, err := merging.CombinedOutput(); err == nil {
		m.t.Fatalf("git merges the two by itself: %s", out)
	}
	m.gitHere("checkout", "-q", "--ours", "--", ".")
	m.gitHere(append([]string{"checkout", "-q", "theirs", "--"}, theirs...)...)
	m.commit("merge")
}

// contradicts checks that check names a contradiction, that explain says how to mend it, and
// that either side, taken as they say, mends it.
func (m merge) contradicts(all ...string) {
	m.t.Helper()
	all = append(all, "git log -- "+m.dir+" ", "git restore --source=COMMIT -- "+m.dir)
	m.says(m.must(1, "check"), append(all, "error  "+m.dir+"/state.json: ")...)
	m.says(m.must(0, "explain", m.run), all...)
	for _, side := range []string{"HEAD^1", "HEAD^2"} {
		m.says(m.git("-C", m.root, "log", "--format=%H", "--", m.dir), strings.TrimSpace(m.git("-C", m.root, "rev-parse", side)))
		m.gitHere("restore", "--source="+side, "--", m.dir)
		m.settles()
		m.must(0, "check")
	}
}

// A merge that took the state of one side and the receipt of the other once went unnoticed.
func TestAMergeOfTwoHistoriesIsNamed(t *testing.T) {
	t.Parallel()
	const receipt, state, journal = "receipt.json", "state.json", "events.jsonl"
	const adopt = "or, if it is right as it is, adopt it: placet doctor --fix "
	says := func(one, other string) string { return "/receipt.json says " + one + ", and state.json says " + other }
	for _, c := range []struct {
		family, ours, theirs string
		taken                []string // from theirs
		named                []string
	}{
		{"faber", "", "approve", []string{receipt}, []string{says("`approve` by lee (claimed)", "cancelled")}},
		{"faber", "approve", "request_changes", []string{receipt}, []string{says("`request_changes` by lee (claimed)", "`approve`")}},
		{"faber", "request_changes", "approve", []string{state}, []string{says("`request_changes` by lee (claimed)", "`approve`")}},
		{"afl", "", "approve", []string{receipt}, []string{says("`approve` by lee (claimed)", "cancelled")}},
		{"afl", "approve", "", []string{receipt}, []string{says("cancelled", "`approve` by lee (claimed)")}},
		{"afl", "approve", "request_changes", []string{receipt}, []string{says("`request_changes` by lee (claimed)", "`approve` by lee (claimed)")}},
		{"afl", "", "approve", []string{state}, []string{says("cancelled", "`approve` by lee (claimed)"), adopt}},
		{"afl", "", "approve", []string{state, journal}, []string{says("cancelled", "`approve` by lee (claimed)")}},
		{"optimizer", "", "appropriate", []string{receipt}, []string{says("`appropriate` by lee (claimed)", "cancelled")}},
		{"optimizer", "appropriate", "", []string{receipt}, []string{says("cancelled", "`appropriate` by lee (claimed)")}},
		{"optimizer", "appropriate", "raise", []string{receipt}, []string{says("`raise` by lee (claimed)", "`appropriate` by lee (claimed)")}},
		{"optimizer", "raise", "appropriate", []string{state}, []string{says("`raise` by lee (claimed)", "`appropriate` by lee (claimed)"), adopt}},
	} {
		t.Run(fmt.Sprintf("%s %q takes %q of %q", c.family, c.ours, c.taken, c.theirs), func(t *testing.T) {
			ours, theirs := mergeOf(t, mergedRuns[c.family])
			ours.does(c.ours)
			theirs.does(c.theirs)
			ours.takes(theirs, c.taken...)
			ours.contradicts(c.named...)
		})
	}
}

// A session that goes on while it asks may get the receipt of an answer that its state does not
// have.
func TestAMergeOfAnAnswerIntoARunThatStillAsksIsNamed(t *testing.T) {
	of := mergedRuns["afl"]
	of.begin = func(p *place) {
		p.write(shop+"/specs/checkpoints.yaml", "approved_at: 2026-01-19T10:30:00Z\ncheckpoints:\n  - {id: a, criteria: [it is well], validation: {command: make a}}\n")
		p.once(0)
		p.write(shop+"/delegations/a/pending-question.json", `{"timestamp": "2026-01-19T10:30:00Z", "checkpoint": "a", "question": "Which way?"}`)
	}
	of.stop = func(p *place) { p.must(0, "afl", "pause", "shop") }
	ours, theirs := mergeOf(t, of)
	ours.does("")
	theirs.does("answer")
	ours.takes(theirs, "receipt.json")
	for _, verb := range []string{"status", "inbox"} {
		ours.says(oneLine(ours.must(1, verb)), "/receipt.json says `answer` by lee (claimed), and state.json of revision ")
	}
	ours.contradicts("/receipt.json says `answer` by lee (claimed), and state.json of revision ", " still asks that request")
}

// oneLine returns what a verb printed in one line, wherever it was wrapped.
func oneLine(said string) string { return strings.Join(strings.Fields(said), " ") }

// The files of an answer contradict nothing, nor does a receipt that is missing or ahead of its
// state.
func TestNoAnswerContradictsItsRun(t *testing.T) {
	t.Parallel()
	for family, of := range mergedRuns {
		for _, option := range []string{of.approve, of.other, ""} {
			t.Run(fmt.Sprintf("%s %q", family, option), func(t *testing.T) {
				m, _ := mergeOf(t, of)
				m.does(option)
				m.drop(m.request + "/receipt.json")
				m.must(0, "check")
				m.settles()
				if !m.there(m.request + "/receipt.json") {
					t.Error("the receipt is not written again")
				}
				m.gitHere("checkout", "-q", "HEAD^", "--", ".") // all that the answer changed, not what it added
				m.must(0, "check")
				m.settles()
				m.must(0, "check")
			})
		}
	}
}

// A state that a person adopts counts, whatever the receipts say.
func TestAnAdoptedStateContradictsNothing(t *testing.T) {
	t.Parallel()
	for family, taken := range map[string][]string{
		"afl":       {"state.json", "response.json"},
		"optimizer": {"state.json", "response.json", "goal.json"},
	} {
		t.Run(family, func(t *testing.T) {
			of := mergedRuns[family]
			ours, theirs := mergeOf(t, of)
			ours.does(of.other)
			theirs.does(of.approve)
			ours.takes(theirs, taken...)
			ours.says(ours.must(1, "check"), "/receipt.json says `"+of.other+"` by lee (claimed), and state.json says `"+of.approve+"`")
			ours.must(0, "adopt", of.run+"@"+engine.Sum([]byte(ours.read(ours.dir+"/state.json"))).Hex())
			ours.settles()
			ours.must(0, "check")
		})
	}
}

// placet reports a run that somebody starts again after it was given up.
func TestARunThatIsRevivedIsNamed(t *testing.T) {
	t.Parallel()
	p := answeredPlace(t, 1, 1)
	p.write(p.request(0)+"/response.json", p.response(0, "reject", ""))
	p.must(0, "once")
	p.must(0, "check")
	run, state := p.runs[0], p.runs[0]+"/state.json"
	p.replace(state, strings.Replace(p.read(state), `"status": "cancelled"`, `"status": "in_progress"`, 1))
	for _, verb := range []string{"check", "inbox", "status"} {
		p.says(p.must(1, verb), "the run was cancelled by ")
	}
	p.says(p.must(1, "check"), "error  "+state+": ")
	p.says(p.must(0, "explain", "faber"), "and state.json says in_progress: somebody revived it", "git restore --source=COMMIT -- "+run)
}
