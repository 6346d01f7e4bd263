package faber_test

import (
	"encoding/json"
	"fmt"
	"os/user"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
	"placet/engine/faber"
	"placet/internal/enginetest"
	"placet/layout"
)

const coordDir = ".fractary/faber/coordinators/coord-20251206-a1b2c3"

// memberID returns the id of the run number n.
func memberID(n int) string {
	return fmt.Sprintf("acme/web/%08x-9a4d-4c57-8e21-6b0f5d7a9c34", 0x3f2b8c00+n)
}

func memberDir(n int) string { return ".fractary/faber/runs/" + memberID(n) }

// memberState is the state.json of a run. ask is what follows the request's id, "" for none.
func memberState(status, work, branch, ask string) string {
	if ask != "" {
		ask = `,
  "feedback_request": {"request_id": "fr-1", ` + ask + `, "requested_at": "2025-12-06T18:00:00Z"}`
	}
	return fmt.Sprintf(`{
  "status": %q,
  "work_id": %q,
  "current_phase": "build",
  "current_step": "make",
  "updated_at": "2025-12-06T18:00:00Z",
  "phases": {"build": {"status": "in_progress", "steps": [{"id": "make", "status": "in_progress"}, {"id": "after", "status": "pending"}]}},
  "artifacts": {"branch_name": %q}%s
}
`, status, work, branch, ask)
}

// coordinated returns the coordinator.json of the first n runs.
func coordinated(n int) string {
	var ids []string
	for i := range n {
		ids = append(ids, memberID(i))
	}
	body, _ := json.Marshal(map[string]any{"coordinator_id": "coord-20251206-a1b2c3", "runs": ids})
	return string(body)
}

// members returns a workspace with runs and their coordinator.
func members(states ...string) enginetest.Tree {
	t := enginetest.Tree{coordDir + "/coordinator.json": coordinated(len(states))}
	for i, state := range states {
		t[memberDir(i)+"/state.json"] = state
		t[memberDir(i)+"/metadata.json"] = fmt.Sprintf(`{"run_id": %q}`, memberID(i))
	}
	return t
}

const (
	askApproval = `"type": "approval", "prompt": "Approve design for CSV export feature?", "options": ["approve", "request_changes", "reject"]`
	askError    = `"type": "error_resolution", "prompt": "Tests failed (3 failures)"`
	askWords    = `"type": "clarification", "prompt": "Which name?"`
)

func waiting(work, ask string) string { return memberState("awaiting_feedback", work, "", ask) }

// atCoordinator runs a scenario of a coordinator on a workspace.
func atCoordinator(t *testing.T, files enginetest.Tree, config func(*engine.Config), story func(*enginetest.Desk)) {
	t.Helper()
	enginetest.AtDesk(t, laws(), enginetest.Case{Name: t.Name(), Files: files, Now: lawNow, Config: config, Notes: true}, story)
}

// submit writes answers into a prompt and ticks its box.
func submit(d *enginetest.Desk, name, answers string) {
	d.T.Helper()
	file := coordDir + "/" + name
	body := strings.Replace(d.Read(file), "- [ ] submit", "- [x] submit", 1)
	head, tail, _ := strings.Cut(body, "### Your answers\n")
	_, tail, _ = strings.Cut(tail, "- [x] submit")
	d.Put(file, head+"### Your answers\n\n"+answers+"\n\n- [x] submit"+tail)
}

func unsubmit(d *enginetest.Desk, name string) {
	file := coordDir + "/" + name
	d.Put(file, strings.Replace(d.Read(file), "- [x] submit", "- [ ] submit", 1))
}

// moved returns the events of the transitions of coordinators.
func moved(taken []engine.Transition) (events []string) {
	for _, t := range taken {
		if t.Of == "coordinator" {
			events = append(events, t.Event)
		}
	}
	return events
}

// wants checks the moves of the coordinator.
func wants(d *enginetest.Desk, taken []engine.Transition, want ...string) {
	d.T.Helper()
	if got := moved(taken); !slices.Equal(got, want) {
		d.T.Fatalf("the coordinator moved %q, want %q\n%s", got, want, d.Notes())
	}
}

// history returns the newest answer in a run's history, as "response comment by user (source)".
func history(d *enginetest.Desk, n int) string {
	d.T.Helper()
	var st struct {
		History []struct {
			Response, Comment string
			By                struct{ User, Source string } `json:"provided_by"`
		} `json:"feedback_history"`
	}
	if err := json.Unmarshal([]byte(d.Read(memberDir(n)+"/state.json")), &st); err != nil {
		d.T.Fatal(err)
	}
	if len(st.History) == 0 {
		return ""
	}
	h := st.History[len(st.History)-1]
	return fmt.Sprintf("%s|%s|%s|%s", h.Response, h.Comment, h.By.User, h.By.Source)
}

func login(t testing.TB) string {
	u, err := user.LookupId("0")
	if err != nil {
		t.Fatal(err)
	}
	return u.Username
}

// says checks the coordinator's note of the round.
func says(d *enginetest.Desk, note string, want ...string) {
	d.T.Helper()
	body := d.Read(coordDir + "/" + note)
	for _, w := range want {
		if !strings.Contains(body, w) {
			d.T.Errorf("%s lacks %q:\n%s", note, w, body)
		}
	}
}

// seedPrompt is the aggregated prompt of the guide. Its third run is counted and not shown.
const seedPrompt = `## Parallel Workflow Status

5 workflow runs completed initial execution:
- 2 completed successfully
- 2 awaiting feedback (see below)
- 1 failed with error (see below)

### Feedback Needed

**Run #124** (feat/124-add-csv-export):
- Type: Approval
- Question: Approve design for CSV export feature?
- Options: [1] approve [2] request_changes [3] reject

**Run #125** (fix/125-auth-bug):
- Type: Error Resolution
- Error: Tests failed (3 failures)
- Options: [1] retry [2] skip [3] abort
@@@
### Provide Feedback

Example format:
#124: approve
#125: retry
`

// F18: the seed's prompt to the byte, with the failed run that it counts; then the forms of C.2.
func TestScenarioF18TheSeedsPrompt(t *testing.T) {
	files := members(
		memberState("completed", "122", "", ""), memberState("completed", "123", "", ""),
		memberState("awaiting_feedback", "124", "feat/124-add-csv-export", askApproval),
		memberState("awaiting_feedback", "125", "fix/125-auth-bug", askError),
		memberState("failed", "126", "", ""),
	)
	atCoordinator(t, files, nil, func(d *enginetest.Desk) {
		wants(d, d.Settle(), "adopted", "all_stopped")
		first, rest, _ := strings.Cut(d.Read(coordDir+"/prompt-001.md"), "\n")
		if !regexp.MustCompile(`^<!-- placet coordinator coord-20251206-a1b2c3 001 sha256:[0-9a-f]{64} -->$`).MatchString(first) {
			t.Errorf("first line: %s", first)
		}
		failed := regexp.MustCompile(`\n\*\*Run #126\*\* \(3f2b8c04\):\n- Type: Error Resolution\n- Error: .+\n- Options: \[1\] retry \[2\] abort\n`).FindString(rest)
		want := strings.Replace(seedPrompt, "@@@\n", failed+"\n", 1) + "\n### Your answers\n\n- [ ] submit these answers\n"
		if failed == "" || rest != want {
			t.Error(cmp.Diff(want, rest))
		}
		var agg struct {
			Status  string
			All     bool `json:"all_stopped"`
			Summary map[string]int
			Runs    []map[string]any
			Asked   []struct {
				Run     string `json:"run_id"`
				Request struct{ Options []string }
			} `json:"feedback_requests"`
		}
		if err := json.Unmarshal([]byte(d.Read(coordDir+"/aggregations/001.json")), &agg); err != nil {
			t.Fatal(err)
		}
		if agg.Status != "success" || !agg.All || agg.Summary["total"] != 5 || agg.Summary["error"] != 1 || agg.Summary["awaiting_feedback"] != 2 || len(agg.Runs) != 5 || len(agg.Asked) != 3 || !slices.Equal(agg.Asked[2].Request.Options, []string{"retry", "abort"}) {
			t.Errorf("aggregations/001.json: %+v", agg)
		}
	})
	files = members(
		waiting("124", `"type": "clarification", "prompt": "Which\nname <!-- hidden\u202e?", "context": {"artifact_path": "specs/x.md"}`), memberState("cancelled", "125", "", ""), memberState("paused", "126", "", ""),
		`{"status": "thinking"}`, waiting("", askApproval), waiting("127", askError), waiting("127", `"type": "confirmation", "prompt": "Delete?"`),
	)
	files["specs/x.md"] = "# One\n"
	gate := func(c *engine.Config) {
		c.Gates = map[string]engine.Gate{"faber/confirmation": {Level: "signed"}}
	}
	atCoordinator(t, files, gate, func(d *enginetest.Desk) {
		d.Lax = true
		d.Settle()
		_, rest, _ := strings.Cut(d.Read(coordDir+"/prompt-001.md"), "\n")
		const want = `## Parallel Workflow Status

7 workflow runs completed initial execution:
- 4 awaiting feedback (see below)
- 1 cancelled (#125)
- 1 paused (#126)
- 1 could not be read (see below)

### Feedback Needed

**Run #124** (3f2b8c00):
- Type: Clarification
- Question: Which name \<!-- hidden\u{202e}?
- Look at: ` + "`specs/x.md`" + `
- Options: your own words

**Run 3f2b8c04** (3f2b8c04):
- Type: Approval
- Question: Approve design for CSV export feature?
- Options: [1] approve [2] request_changes [3] reject

**Run #127@3f2b8c05** (3f2b8c05):
- Type: Error Resolution
- Error: Tests failed (3 failures)
- Options: [1] retry [2] skip [3] abort

**Run #127@3f2b8c06** (3f2b8c06):
- Type: Confirmation
- Question: Delete?
- Options: answer in .fractary/faber/runs/acme/web/3f2b8c06-9a4d-4c57-8e21-6b0f5d7a9c34/requests/fr-1/form.md

**Run 3f2b8c03**:
- Error: cannot use state.json: /status: unknown word "thinking": expected one of pending, in_progress, awaiting_feedback, paused, failed, completed, cancelled

### Provide Feedback

Example format:
#124: your words
3f2b8c04: approve

### Your answers

- [ ] submit these answers
`
		if rest != want {
			t.Error(cmp.Diff(want, rest))
		}
	})
}

// F19 is scenario 22: twelve runs, lines in every form, good ones taken once and others named; then
// the rest, the next round, and the end.
func TestScenarioF19TwelveRuns(t *testing.T) {
	var states []string
	for n := range 12 {
		work := fmt.Sprint(120 + n)
		if n >= 10 {
			work = "130" // shared with the eleventh
		}
		states = append(states, waiting(work, askApproval))
	}
	states[9] = waiting("129", askWords)
	atCoordinator(t, members(states...), nil, func(d *enginetest.Desk) {
		d.Lax = true
		wants(d, d.Settle(), "adopted", "all_stopped")
		submit(d, "prompt-001.md", "Before the first answer: nothing.\n- #120: approve\n* **121**: [1]\nRun #122: **reject**\n3. `#123`: 2\n"+
			"#124: request_changes: Use UTF-8\n  in all files, for example:\n  note: not a run\n125: lgtm\n#130: approve\n#130@3f2b8c0b: Approve!\n#999: approve\n#126: approve\n#126: reject\n"+
			"#129: Call it csv.\nReally.")
		wants(d, d.Settle(), "answers_taken")
		says(d, "problem-001.md", `"lgtm" is no option of #125: expected one of [1] approve [2] request_changes [3] reject`, `"130" is the work id of several runs: write one of #130@3f2b8c0a, #130@3f2b8c0b`,
			`"999" is no run of this coordinator`, "#126 is answered in two ways", "comment missing: write `#123: request_changes: …`")
		by := "|" + login(t) + "|parallel_coordination"
		for n, want := range map[int]string{0: "approve|", 1: "approve|", 2: "reject|", 3: "", 4: "request_changes|Use UTF-8\n  in all files, for example:\n  note: not a run", 5: "", 6: "", 9: "Call it csv.\nReally.|", 10: "", 11: "approve|"} {
			if want != "" {
				want += by
			}
			if got := history(d, n); got != want {
				t.Errorf("run %d: %q, want %q", n, got, want)
			}
		}
		if before := d.Read(coordDir + "/state.json"); d.Settle() != nil || d.Read(coordDir+"/state.json") != before {
			t.Error("what was taken is taken again")
		}
		submit(d, "prompt-001.md", "#123: request_changes: smaller\n#125: reject\n#126: approve\n#127: approve\n#128: approve\n#130@3f2b8c0a: approve")
		taken := d.Settle()
		wants(d, taken, "answers_taken", "round_over")
		if d.Has(coordDir + "/problem-001.md") {
			t.Errorf("a note without a cause:\n%s", d.Notes())
		}
		var receipt struct{ Answers []faber.TakenAnswer }
		if err := json.Unmarshal([]byte(d.Read(coordDir+"/receipt-001.json")), &receipt); err != nil || len(receipt.Answers) != 12 {
			t.Errorf("receipt-001.json: %d answers, %v", len(receipt.Answers), err)
		}
		for n := range 12 {
			d.Put(memberDir(n)+"/state.json", memberState("completed", "1", "", ""))
		}
		d.Put(memberDir(0)+"/state.json", strings.Replace(waiting("120", askApproval), "fr-1", "fr-2", 1))
		wants(d, d.Settle(), "all_stopped")
		if body := d.Read(coordDir + "/prompt-002.md"); !strings.Contains(body, "\n12 workflow runs stopped again:\n- 11 completed successfully\n- 1 awaiting feedback") {
			t.Errorf("prompt-002.md:\n%s", body)
		}
		d.Put(coordDir+"/replies/002.txt", "#120: 3")
		wants(d, d.Settle(), "answers_taken", "all_final")
		if !d.Has(coordDir + "/receipt-002.json") {
			t.Error("no receipt of the second round")
		}
	})
}

// F20: what a person may change in a prompt, replies, and which options a number means.
func TestScenarioF20WhatCountsInAPrompt(t *testing.T) {
	two := func() enginetest.Tree { return members(waiting("124", askApproval), waiting("125", askError)) }
	atCoordinator(t, two(), nil, func(d *enginetest.Desk) {
		d.Settle()
		file := coordDir + "/prompt-001.md"
		issued := d.Read(file)
		for _, change := range [][2]string{
			{"Approve design", "Approve the design"},
			{"[1] approve [2] request_changes", "[1] request_changes [2] approve"},
			{"coord-20251206-a1b2c3 001", "coord-20251206-a1b2c3 002"},
			{"### Provide Feedback\n", "### Provide Feedback\n\nanything\n"},
			{"submit these answers", "submit"},
		} {
			d.Put(file, issued)
			submit(d, "prompt-001.md", "#124: approve")
			d.Put(file, strings.Replace(d.Read(file), change[0], change[1], 1))
			wants(d, d.Settle())
			if note := d.Read(coordDir + "/problem-001.md"); !regexp.MustCompile(`line \d+ was changed: restore it: `).MatchString(note) {
				t.Errorf("%q: %s", change[1], note)
			}
		}
		d.Put(file, issued)
		submit(d, "prompt-001.md", "#124: approve")
		d.Put(file, strings.ReplaceAll(strings.Replace(d.Read(file), "### Feedback Needed\n", "### Feedback Needed  \n", 1), "\n", "\r\n"))
		unsubmit(d, "prompt-001.md")
		wants(d, d.Settle())
		d.Put(file, strings.Replace(d.Read(file), "- [ ] submit", "- [X] submit", 1))
		wants(d, d.Settle(), "answers_taken")
		d.Put(coordDir+"/replies/001-kim.md", "\ufeff#124: reject\r\n#125: 2.\r\n")
		wants(d, d.Settle(), "answers_taken", "round_over")
		if got := history(d, 1); !strings.HasPrefix(got, "skip|") {
			t.Errorf("#125: %s", got)
		}
		if got := history(d, 0); !strings.HasPrefix(got, "approve|") {
			t.Errorf("#124: %s", got)
		}
	})
	atCoordinator(t, two(), nil, func(d *enginetest.Desk) {
		d.Settle()
		d.Put(coordDir+"/replies/001.md", "#124: reject")
		d.Put(coordDir+"/replies/0011.md", "#125: retry") // of another round
		d.Put(coordDir+"/replies/002.md", "#125: retry")
		d.Put(coordDir+"/replies/001.json", "#125: retry")
		wants(d, d.Settle(), "answers_taken")
		submit(d, "prompt-001.md", "#124: approve")
		wants(d, d.Settle())
		says(d, "problem-001.md", `#124 was answered already, with "reject"`)
	})
}

// F21: a stricter gate, a changed artifact, a new request, an answer elsewhere.
func TestScenarioF21ChangedOrAnsweredElsewhere(t *testing.T) {
	files := members(
		waiting("124", askApproval+`, "context": {"artifact_path": "specs/x.md"}`), waiting("125", askError),
		waiting("126", `"type": "confirmation", "prompt": "Delete?"`), waiting("127", askApproval), waiting("128", askApproval),
	)
	files["specs/x.md"] = "# One\n"
	gates := func(c *engine.Config) {
		c.Gates = map[string]engine.Gate{"faber/confirmation": {Level: "signed"}, "faber/error_resolution": {Level: "file", Approvers: []string{"owner:nobody-else"}}}
	}
	atCoordinator(t, files, gates, func(d *enginetest.Desk) {
		d.Lax = true
		wants(d, d.Settle(), "adopted", "all_stopped")
		submit(d, "prompt-001.md", "#126: confirm\n#125: retry")
		wants(d, d.Settle(), "answers_taken")
		says(d, "problem-001.md", "#126 is not answered here, because its gate asks for more: answer in .fractary", "#125: ")
		if got := history(d, 1) + history(d, 2); got != "" {
			t.Errorf("against the gates: %s", got)
		}
		d.Put("specs/x.md", "# Two\n")
		d.Put(memberDir(3)+"/state.json", strings.NewReplacer("fr-1", "fr-2", "CSV", "XML").Replace(waiting("127", askApproval)))
		d.Pass(5 * time.Second)
		taken := d.Settle()
		if got := moved(taken); len(got) == 0 || slices.ContainsFunc(got, func(e string) bool { return e != "prompt_renewed" }) {
			t.Fatalf("the coordinator moved %q\n%s", got, d.Notes())
		}
		newest := ""
		for _, p := range d.Tree().Paths() {
			if ok, _ := path.Match(coordDir+"/prompt-001-*.md", p); ok && strings.Contains(d.Read(p), "XML") {
				newest = path.Base(p)
			}
		}
		if newest == "" {
			t.Fatalf("no prompt shows the new view: %q", d.Tree().Paths())
		}
		submit(d, "prompt-001.md", "#124: approve\n#127: approve\n#128: approve")
		wants(d, d.Settle(), "answers_taken")
		says(d, "problem-001.md", "#124 changed since this prompt was written", "#127 changed since this prompt was written")
		if !strings.HasPrefix(history(d, 4), "approve|") || history(d, 0)+history(d, 3) != "" {
			t.Errorf("#128 %q, #124 %q, #127 %q", history(d, 4), history(d, 0), history(d, 3))
		}
		unsubmit(d, "prompt-001.md")
		d.Put(memberDir(3)+"/requests/fr-2/response.json", `{"request_id": "fr-2", "response": "reject", "provided_by": {"user": "kim", "source": "file"}}`)
		d.Settle()
		submit(d, newest, "#124: approve\n#127: approve")
		wants(d, d.Settle(), "answers_taken")
		says(d, "problem-001.md", `#127 was answered already, with "reject"`)
		if !strings.HasPrefix(history(d, 0), "approve|") || !strings.HasPrefix(history(d, 3), "reject|") {
			t.Errorf("#124 %q, #127 %q", history(d, 0), history(d, 3))
		}
	})
}

// F22: sixty runs that ask make two rounds.
func TestScenarioF22SixtyRunsTwoRounds(t *testing.T) {
	var states []string
	for n := range 60 {
		states = append(states, waiting(fmt.Sprint(100+n), askApproval))
	}
	atCoordinator(t, members(states...), nil, func(d *enginetest.Desk) {
		d.Settle()
		body := d.Read(coordDir + "/prompt-001.md")
		if !strings.Contains(body, "\n- 60 awaiting feedback (see below)\n- 10 more follow in the next round\n\n### Feedback Needed") || strings.Count(body, "**Run #") != 50 || strings.Contains(body, "#150") {
			t.Fatalf("prompt-001.md:\n%s", body)
		}
		var lines []string
		for n := range 50 {
			lines = append(lines, fmt.Sprintf("#%d: reject", 100+n))
		}
		submit(d, "prompt-001.md", strings.Join(lines, "\n"))
		wants(d, d.Settle(), "answers_taken", "round_over", "all_stopped")
		if body := d.Read(coordDir + "/prompt-002.md"); strings.Count(body, "**Run #") != 10 || !strings.Contains(body, "\n60 workflow runs stopped again:\n- 10 awaiting feedback (see below)\n- 50 cancelled (#100, #101,") {
			t.Fatalf("prompt-002.md:\n%s", body)
		}
	})
}

// A failed run of an open coordinator is asked about whatever the settings say, and not without one.
func TestCoordinatedFailedRunIsAsked(t *testing.T) {
	none := func(c *engine.Config) {
		f := c.Family.(faber.Config)
		f.AskFailed = "none"
		c.Family = f
	}
	files := members(memberState("failed", "124", "", ""))
	atCoordinator(t, files, none, func(d *enginetest.Desk) {
		wants(d, d.Settle(), "adopted", "all_stopped")
		if body := d.Read(coordDir + "/prompt-001.md"); !strings.Contains(body, "\n1 workflow run completed initial execution:\n- 1 failed with error (see below)\n") {
			t.Errorf("prompt-001.md:\n%s", body)
		}
		submit(d, "prompt-001.md", "#124: abort")
		wants(d, d.Settle(), "answers_taken", "all_final")
	})
	delete(files, coordDir+"/coordinator.json")
	atCoordinator(t, files, none, func(d *enginetest.Desk) {
		if taken := d.Settle(); len(taken) > 0 || d.Has(memberDir(0)+"/requests") {
			t.Errorf("it moves without a coordinator: %+v", taken)
		}
	})
}

// Bad input of section F: a note, and everything else counts.
func TestCoordinatorsBadInput(t *testing.T) {
	for name, c := range map[string]struct{ body, note string }{
		"not JSON":   {"runs: all\n", "cannot read coordinator.json"},
		"no runs":    {`{"runs": []}`, "/runs"},
		"runs wrong": {`{"runs": [1]}`, "/runs"},
	} {
		t.Run(name, func(t *testing.T) {
			atCoordinator(t, enginetest.Tree{coordDir + "/coordinator.json": c.body}, nil, func(d *enginetest.Desk) {
				d.Pass(time.Minute)
				wants(d, d.Settle())
				says(d, "problem-001.md", c.note)
				d.Put(coordDir+"/coordinator.json", coordinated(1))
				wants(d, d.Settle(), "adopted")
				if d.Has(coordDir + "/problem-001.md") {
					t.Error("the note stays")
				}
			})
		})
	}
	files := members(waiting("124", askApproval))
	files[coordDir+"/coordinator.json"] = strings.Replace(coordinated(1), `"runs":[`, `"runs":["acme/web/unknown","../x",`, 1)
	atCoordinator(t, files, nil, func(d *enginetest.Desk) {
		wants(d, d.Settle(), "adopted", "all_stopped")
		if body := d.Read(coordDir + "/prompt-001.md"); !strings.Contains(body, "- 2 could not be read (see below)") || !strings.Contains(body, "- Error: there is no such run\n") {
			t.Errorf("prompt-001.md:\n%s", body)
		}
		d.Put(coordDir+"/replies/001-a.md", "#124: \xff")
		d.Put(coordDir+"/replies/001-b.md", strings.Repeat("x", layout.LimitText+1))
		d.Put(coordDir+"/replies/001-c.md", "")
		wants(d, d.Settle())
		says(d, "problem-001.md", "replies/001-a.md: this is not UTF-8 text", "replies/001-b.md: ")
		d.Put(coordDir+"/replies/001-d.md", "#124: approve")
		if got := moved(d.Settle()); !slices.Contains(got, "answers_taken") {
			t.Errorf("a good reply beside bad ones: %q", got)
		}
	})
}

// coordinatorSuite holds the laws of coordinators: the table is that of the family, the scenarios are
// those of a coordinator with two runs.
func coordinatorSuite() enginetest.Suite {
	s := laws()
	s.Asks, s.Cases = nil, nil
	s.Fault = func(t enginetest.Tree) enginetest.Tree {
		// Good lines are taken at once, so a run that cannot be read for a moment is answered later.
		for _, name := range []string{"state.json", "receipt-001.json"} {
			if _, there := t[coordDir+"/"+name]; there {
				t[coordDir+"/"+name] = ""
			}
		}
		return t
	}
	one := func(name string, steps ...enginetest.Step) {
		files := members(waiting("124", askApproval), waiting("125", askError))
		begin := enginetest.Write(coordDir+"/coordinator.json", files[coordDir+"/coordinator.json"])
		delete(files, coordDir+"/coordinator.json") // a run that is not there yet would count as unknown
		s.Cases = append(s.Cases, enginetest.Case{Name: name, Files: files, Now: lawNow, Steps: append([]enginetest.Step{begin}, steps...)})
	}
	answers := func(lines string) enginetest.Step {
		return enginetest.Step{Name: "submit " + lines, Do: func(t enginetest.Tree) {
			file := coordDir + "/prompt-001.md"
			t[file] = strings.Replace(t[file], "\n- [ ] submit", "\n"+lines+"\n\n- [x] submit", 1)
		}}
	}
	one("answered in the prompt", answers("#124: approve\n#125: 1"))
	one("answered by replies, one after the other", enginetest.Write(coordDir+"/replies/001.md", "#124: request_changes: smaller"), enginetest.Write(coordDir+"/replies/001-b.txt", "#125: skip"))
	one("given up", answers("#124: reject\n#125: abort"))
	return s
}

func TestCoordinatorLaws(t *testing.T)      { enginetest.Run(t, coordinatorSuite()) }
func TestCoordinatorCrash(t *testing.T)     { enginetest.Crash(t, coordinatorSuite()) }
func TestCoordinatorErrors(t *testing.T)    { enginetest.Errors(t, coordinatorSuite()) }
func TestCoordinatorOrders(t *testing.T)    { enginetest.Metamorphic(t, coordinatorSuite()) }
func TestCoordinatorLanguages(t *testing.T) { enginetest.Languages(t, coordinatorSuite()) }

// Words that go on from an option and take it back answer nothing; a comment behind a mark, or on a
// line of its own, is a comment.
func TestAnOptionThatIsTakenBackIsNoAnswer(t *testing.T) {
	for line, want := range map[string]string{
		"approve not yet": "", "approve only if the tests pass": "", "approve?": "", "approve or not?": "", "Approve wait for kim": "",
		"approve looks good": "approve|looks good|", "approve: not the last word, but fine": "approve|not the last word, but fine|", "approve\nbut see the note": "approve|but see the note|",
	} {
		atCoordinator(t, members(waiting("124", askApproval)), nil, func(d *enginetest.Desk) {
			d.Lax = true
			d.Settle()
			submit(d, "prompt-001.md", "#124: "+line)
			d.Settle()
			if want != "" {
				want += login(t) + "|parallel_coordination"
			}
			if got := history(d, 0); got != want {
				t.Errorf("%q: %q, want %q", line, got, want)
			}
		})
	}
}

// FuzzReplies puts any text in the place of answers: nothing is taken that no line says, nothing else
// is touched, and what is taken is an option of the run that the line names.
func FuzzReplies(f *testing.F) {
	for _, text := range []string{
		"#124: approve\n#125: retry", "- **#124**: `approve`.\nRun 125: [2]", "#124: request_changes: Use UTF-8\n#125@3f2b8c01: abort", "124: approve\n124: reject", "__124__: 9\n#999: 1", ": approve\n#: x",
		"#124: approve_with\nnote: x\n#124 : Approve", "#126: some words\nmore", "\ufeff3f2b8c00: reject", "#124:request changes — now",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		run, _ := layout.Faber{}.At(coordDir + "/state.json")
		s := enginetest.NewStage(t, faber.New(), layout.Faber{}, run, engine.Config{Language: "en", Family: faber.DefaultConfig()})
		for p, body := range opened(t) {
			s.Put(p, body)
		}
		fuzzed := enginetest.Fuzzed(t, s, laws())
		fuzzed.Settle()
		if !s.Has("prompt-001.md") {
			t.Fatal("no prompt")
		}
		s.Write("replies/001.md", text)
		before := enginetest.Tree(s.Files).Clone()
		fuzzed.Settle()
		for p, body := range s.Files {
			old, was := before[p]
			switch {
			case was && old == body, strings.HasPrefix(p, coordDir+"/") && p != coordDir+"/prompt-001.md" && p != coordDir+"/replies/001.md":
				continue
			case was || path.Base(p) != "response.json":
				t.Fatalf("%s was changed:\n%s", p, body)
			}
			var said struct{ Response string }
			if err := json.Unmarshal([]byte(body), &said); err != nil {
				t.Fatal(err)
			}
			if said.Response == "" || !strings.HasPrefix(p, memberDir(2)) && !slices.Contains([]string{"approve", "request_changes", "reject", "retry", "skip", "abort"}, said.Response) {
				t.Fatalf("%s says %q", p, said.Response)
			}
		}
	})
}

// opened returns a workspace with three runs whose requests are open.
func opened(t testing.TB) enginetest.Tree {
	all := members(waiting("124", askApproval), waiting("125", askError), waiting("126", askWords))
	for n := range 3 {
		run, _ := layout.Faber{}.At(memberDir(n) + "/state.json")
		s := enginetest.NewStage(t, faber.New(), layout.Faber{}, run, engine.Config{Language: "en", Family: faber.DefaultConfig()})
		for _, name := range []string{"state.json", "metadata.json"} {
			s.Write(name, all[memberDir(n)+"/"+name])
		}
		s.Settle()
		for p, body := range s.Files {
			all[p] = body
		}
	}
	return all
}
