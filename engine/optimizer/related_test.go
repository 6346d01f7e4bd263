package optimizer

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"placet/engine"
	"placet/engine/run"
	"placet/layout"
)

func TestChainIsToldBothWays(t *testing.T) {
	cycle := func(root, run, last, began string, archived bool, status string) Entry {
		e := Entry{Key: run, Root: root, RunID: run, LastRunID: text(last), Triggered: true, Workflow: "w", BeganAt: text(began), Archived: archived}
		e.Status = map[string]Entry{"goal": {Status: Reached}, "waits": {Status: Awaiting}, "": {}}[status].Status
		if archived {
			e.Key += "@2026-03"
		}
		return e
	}
	all := []Entry{
		cycle("r", "20260301-msowd-a", "", "1", true, "goal"),
		cycle("r", "20260302-msowd-b", "20260301-msowd-a", "2", true, "waits"),
		cycle("r", "20260303-msowd-c", "20260302-msowd-b", "3", false, "goal"),
		cycle("r", "20260304-msowd-d", "20260303-msowd-c", "4", false, "waits"),
		cycle("r", "20260305-msowd-e", "20260303-msowd-c", "", false, ""),
		cycle("s", "20260306-msowd-f", "20260303-msowd-c", "6", false, "goal"),
	}
	var got []string
	for _, n := range Chain(all, "20260303-msowd-c") {
		mark := ""
		if n.Current {
			mark = " here"
		}
		if n.Gate {
			mark += " asks"
		}
		got = append(got, fmt.Sprintf("%s %s after %v%s", n.ID, n.Status, n.After, mark))
	}
	want := []string{
		"20260301-msowd-a@2026-03 goal after []",
		"20260302-msowd-b@2026-03 cut off in archive after [20260301-msowd-a@2026-03]",
		"20260303-msowd-c goal after [20260302-msowd-b@2026-03] here",
		"20260304-msowd-d awaiting_human after [20260303-msowd-c] asks",
		"20260305-msowd-e new after [20260303-msowd-c]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	circle := []Entry{cycle("r", "20260301-msowd-a", "20260302-msowd-b", "1", false, "goal"), cycle("r", "20260302-msowd-b", "20260301-msowd-a", "2", false, "goal")}
	if n := len(Chain(circle, "20260301-msowd-a")); n != 2 {
		t.Errorf("a circle has %d cycles", n)
	}
	if n := Chain(all, "20260309-msowd-none"); n != nil {
		t.Errorf("no cycle: %v", n)
	}
}

// A chain has no bound, unlike the search for open issues.
func TestALongChainIsTold(t *testing.T) {
	var all []Entry
	for i := range 65 {
		e := Entry{Key: fmt.Sprintf("k%02d", i), RunID: fmt.Sprintf("r%02d", i), Triggered: true, Status: Reached}
		if i > 0 {
			e.LastRunID = text(all[i-1].RunID)
		}
		all = append(all, e)
	}
	nodes := Chain(all, "k32")
	if len(nodes) != 65 || nodes[0].ID != "k00" || nodes[64].ID != "k64" || nodes[7].After[0] != "k06" {
		t.Errorf("%d cycles", len(nodes))
	}
}

const (
	unansweredKo = "HITL 미응답 — 다음 주기에 재검토 필요"
	unansweredEn = "No HITL response — review again in the next cycle"
)

// behind returns a link of the chain.
func behind(by string, issues ...string) link {
	return link{Goal: &Goal{NextAutomationLevel: 20, CarryOverIssues: issues, ApprovedBy: by}, State: &State{WorkflowName: "w"}}
}

func TestOpenIssues(t *testing.T) {
	other := behind(byHuman, "of another workflow")
	other.State.WorkflowName = "v"
	stateless := behind(byTimeout, unansweredEn, "without a state")
	stateless.State = nil
	for _, c := range []struct {
		name  string
		chain []link
		want  []string
	}{
		{"no cycle before", nil, []string{}},
		{"a person's goal ends it", []link{behind(byHuman, "a", "b"), behind(byHuman, "c")}, []string{"a", "b"}},
		{"a timeout looks further", []link{behind(byTimeout, unansweredKo), behind(byTimeout, unansweredEn, "Level 30 failed: x"), behind(byHuman, "a"), behind(byHuman, "b")}, []string{"Level 30 failed: x", "a"}},
		{"no doubles", []link{behind(byTimeout, "a", "a"), behind(byHuman, "b", "a")}, []string{"a", "b"}},
		{"the sentence of a passed deadline is no issue, whoever says it", []link{behind(byHuman, unansweredKo, unansweredEn, "a")}, []string{"a"}},
		{"a person without issues", []link{behind(byHuman), behind(byHuman, "a")}, []string{}},
		{"a goal that is missing", []link{behind(byTimeout, "a"), {State: &State{WorkflowName: "w"}}, behind(byHuman, "b")}, []string{"a"}},
		{"another workflow", []link{behind(byTimeout, "a"), other}, []string{"a"}},
		{"a goal without our state counts", []link{stateless, behind(byTimeout, "b"), other}, []string{"without a state", "b"}},
	} {
		if diff := cmp.Diff(c.want, openIssues(c.chain)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestOpenIssuesAreThoseOfTheChainOnce(t *testing.T) {
	issue := rapid.SampledFrom([]string{"a", "b", "c", unansweredKo, unansweredEn})
	links := rapid.Custom(func(t *rapid.T) link {
		return behind(rapid.SampledFrom([]string{byHuman, byTimeout, byTimeout}).Draw(t, "by"), rapid.SliceOfN(issue, 0, 4).Draw(t, "issues")...)
	})
	rapid.Check(t, func(t *rapid.T) {
		chain := rapid.SliceOfN(links, 0, 14).Draw(t, "chain")
		got := openIssues(chain)
		reach := slices.IndexFunc(chain, func(l link) bool { return l.Goal.ApprovedBy == byHuman })
		if reach < 0 {
			reach = len(chain) - 1
		}
		want := map[string]bool{}
		for i, l := range chain {
			for _, s := range l.Goal.CarryOverIssues {
				if i <= reach && i < 10 && len(s) == 1 {
					want[s] = true
				}
			}
		}
		if len(got) != len(want) || slices.ContainsFunc(got, func(s string) bool { return !want[s] }) {
			t.Fatalf("%q, want %v", got, want)
		}
	})
}

// A cycle takes up the newest issues as far as one request can show them, and counts the others.
func TestIssuesBeyondWhatARequestShowsAreCounted(t *testing.T) {
	many, long := make([]string, mostIssues+7), []string{"a", strings.Repeat("x", mostOffered), "b"}
	for i := range many {
		many[i] = fmt.Sprint("issue ", i)
	}
	for _, c := range []struct {
		issues      []string
		taken, left int
	}{{nil, 0, 0}, {many[:mostIssues], mostIssues, 0}, {many, mostIssues, 7}, {long, 1, 2}} {
		if taken, left := carried(c.issues); !slices.Equal(taken, c.issues[:c.taken]) || left != c.left {
			t.Errorf("of %d issues %d are taken up, and %d left out", len(c.issues), len(taken), left)
		}
	}
}

func TestTheRunBefore(t *testing.T) {
	ours := &State{trig: Trigger{LastRunID: "20260301-msowd-x"}}
	theirs := &Trigger{LastRunID: "20260228-msowd-x"}
	for want, l := range map[string]link{
		"20260301-msowd-x": {State: ours, Trigger: theirs}, "20260228-msowd-x": {Trigger: theirs}, "": {},
	} {
		if got := l.before(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestWhereARunCannotBeReadNoneTakesUpAGoal checks that an unreadable run, which may have taken up
// any goal, keeps the others of its root from taking one up, but not those of another root.
func TestWhereARunCannotBeReadNoneTakesUpAGoal(t *testing.T) {
	goal := func(root, workflow string) Entry {
		return Entry{
			Root: root, RunID: "20260101-msowd-" + workflow, Triggered: true, Workflow: workflow, Status: Reached, BeganAt: "2026-01-01T00:00:00Z",
			MovedAt: "2026-01-01T01:00:00Z", Goal: &Goal{CarryOverIssues: []string{"i"}},
		}
	}
	ran := func(root, workflow string) Entry {
		return Entry{Root: root, RunID: "20260102-msowd-" + workflow, Manifest: &Manifest{Status: "completed", CompletedAt: "2026-01-02T00:00:00Z", Tags: []string{"workflow:" + workflow}}}
	}
	const a, b = ".mso-context", "workspace/.mso-context"
	entries := map[string][]byte{
		"20260101-msowd-one": run.Encoded(goal(a, "one")), "20260102-msowd-one": run.Encoded(ran(a, "one")),
		"workspace/20260101-msowd-two": run.Encoded(goal(b, "two")), "workspace/20260102-msowd-two": run.Encoded(ran(b, "two")),
	}
	if got := New().Relate(entries); got["20260102-msowd-one"] == nil || got["workspace/20260102-msowd-two"] == nil {
		t.Fatalf("without a run that cannot be read: %s", got)
	}
	key := "20260103-msowd-three"
	entries[key] = New().Refused(engine.Snapshot{Dir: a + "/active/" + key + "/optimizer"})
	got := New().Relate(entries)
	if got["20260102-msowd-one"] != nil || got["workspace/20260102-msowd-two"] == nil {
		t.Errorf("beside a run that cannot be read: %s", got)
	}
	for _, g := range NextCycles(Entries(entries), true) {
		if held := g.Root == a; held != (g.HeldBy == key) || held != (g.Taken == "") || len(g.Candidates) != 1 {
			t.Errorf("%+v", g)
		}
	}
	entries[key] = New().Refused(engine.Snapshot{Dir: a + "/active/x/optimizer", Class: layout.OptimizerMisnamed})
	if got := New().Relate(entries); got["20260102-msowd-one"] == nil {
		t.Error("a folder that is no run holds the others")
	}
}

// A cycle with an unknown workflow gets the newest names of its own root, without its own.
func TestTheNewestOtherWorkflowsAreOffered(t *testing.T) {
	cycle := func(root, run, workflow string, status string) Entry {
		return Entry{Root: root, RunID: run, Workflow: workflow, Status: engine.Status(status), BeganAt: text("2026-03-0" + run)}
	}
	all := []Entry{
		cycle("a", "1", "oldest", "goal"), cycle("a", "5", "new", "goal"), cycle("a", "3", "twice", "goal"), cycle("a", "4", "twice", "failed"),
		cycle("a", "2", "old", "goal"), cycle("a", "9", "no cycle", ""), cycle("b", "7", "elsewhere", "goal"),
	}
	for own, want := range map[string][]string{"slip": {"new", "twice", "old"}, "twice": nil, "new": nil, "elsewhere": {"new", "twice", "old"}} {
		of, begins := relation{}, cycle("a", "6", own, string(Context))
		begins.Key = own
		of.others(append(all, begins))
		if got := of.at(own).Others; !slices.Equal(got, want) {
			t.Errorf("besides %s: %q, want %q", own, got, want)
		}
	}
}

// What runs need to know of one another is computed anew whenever one of them moves, in time linear
// in their number.
func BenchmarkRelate(b *testing.B) {
	for _, n := range []int{100, 1000, 10000} {
		entries := map[string][]byte{}
		for i := range n {
			id := fmt.Sprintf("20260301-msowd-w%d", i)
			entries[id] = run.Encoded(Entry{
				Root: ".mso-context", RunID: id, Workflow: fmt.Sprint("w", i), Triggered: true, Status: Context, BeganAt: "2026-03-01T09:00:00Z",
			})
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				New().Relate(entries)
			}
		})
	}
}

// A workflow continues however many cycles it has had: the search for open issues goes ten cycles
// back, however few rounds the loop allows for needs.
func TestACycleBeginsBehindAChainOfManyOthers(t *testing.T) {
	tell(t, func(d *desk) {
		last := ""
		for i := range 12 {
			id := fmt.Sprintf("202601%02d-msowd-sop-masking", i+1)
			g := Goal{NextAutomationLevel: 10, ApprovedBy: byTimeout, CarryOverIssues: []string{fmt.Sprintf("issue %d", i+1)}}
			archived := ".mso-context/archive/2026-01/" + id + "/optimizer/"
			d.Put(archived+"goal.json", string(run.Encoded(g)))
			d.Put(archived+"trigger.json", triggerOf(flow))
			if last != "" {
				d.Put(archived+"trigger.json", triggerOf(flow, fmt.Sprintf(`"last_run_id": %q`, last)))
			}
			last = id
		}
		d.level10(fmt.Sprintf(`"last_run_id": %q`, last))
		var f Findings
		d.decode("context.json", &f)
		if len(f.OpenIssues) != mostLinks || f.OpenIssues[0] != "issue 12" || f.OpenIssues[9] != "issue 3" {
			t.Errorf("the open issues are %q", f.OpenIssues)
		}
	})
}

// ran writes upstream's manifest of a run that completed so long after the test began.
func (d *desk) ran(id string, after time.Duration, tags string) {
	at := storyNow.Add(after).Format(time.RFC3339)
	d.Put(layout.OptimizerManifest(dirOf(id)), fmt.Sprintf(`{"run_id": %q, "status": "completed", "tags": [%s], "completed_at": %q}`, id, tags, at))
}

// openGoal makes the run end with a goal that has an issue.
func (d *desk) openGoal() {
	d.T.Helper()
	d.level10()
	d.respond(typeHITL, `"comment": "an issue"`)
	d.Settle()
	d.status(Reached)
}

// The run that completed first takes up the goal, whichever rule makes it a run of the workflow:
// tags alone, or slugs, too.
func TestTheFirstRunToCompleteTakesTheGoalUp(t *testing.T) {
	const ours, tagged = "workflow:" + flow, "20260301-msowd-other"
	failed, elsewhere, undated, updated := completedRun(runB, "10:00", ours), completedRun(runB, "10:00", ours), completedRun(runB, "10:00", ours), completedRun(runB, "10:00", ours)
	failed.Manifest.Status, elsewhere.Root, undated.Manifest.CompletedAt = "failed", "workspace/.mso-context", ""
	updated.Manifest.CompletedAt, updated.Manifest.UpdatedAt = "", "2026-03-02T10:00:00Z"
	byHand := Entry{Root: ".mso-context", RunID: runC, Triggered: true, LastRunID: runA}
	newer := Entry{Root: ".mso-context", RunID: runC, Triggered: true, Workflow: flow, Status: Context, BeganAt: "2026-03-02T09:30:00Z"}
	for name, c := range map[string]struct {
		runs         []Entry
		bySlug, want string // the run by slugs, and by tags alone
	}{
		"by the tag of ours":             {[]Entry{completedRun(runB, "10:00", ours)}, runB, runB},
		"by the workflow's name":         {[]Entry{completedRun(runB, "10:00", "x", flow)}, runB, runB},
		"by the slug":                    {[]Entry{completedRun(runB, "10:00")}, runB, ""},
		"another slug":                   {[]Entry{completedRun("20260303-msowd-other", "10:00")}, "", ""},
		"another key":                    {[]Entry{completedRun("20260303-msoed-sop-masking", "10:00")}, "", ""},
		"of another workflow by its tag": {[]Entry{completedRun(runB, "10:00", "workflow:other", flow)}, "", ""},
		"it failed":                      {[]Entry{failed}, "", ""},
		"it completed before":            {[]Entry{completedRun(runB, "08:30", ours)}, "", ""},
		"nobody knows when":              {[]Entry{undated}, "", ""},
		"it was updated last":            {[]Entry{updated}, runB, runB},
		"another root":                   {[]Entry{elsewhere}, "", ""},
		"taken up by hand":               {[]Entry{byHand, completedRun(runB, "10:00", ours)}, "", ""},
		"a newer cycle of the workflow":  {[]Entry{newer, completedRun(runB, "10:00", ours)}, "", ""},
		"the earliest of several":        {[]Entry{completedRun(runB, "10:01", ours), completedRun(runC, "10:00", ours)}, runC, runC},
		"the earliest by any rule":       {[]Entry{completedRun(tagged, "10:01", ours), completedRun(runB, "10:00")}, runB, tagged},
	} {
		all := append([]Entry{openEntry(runA, flow)}, c.runs...)
		for bySlug, want := range map[bool]string{true: c.bySlug, false: c.want} {
			got := ""
			for _, g := range NextCycles(all, bySlug) {
				got = g.Taken
			}
			if got != want {
				t.Errorf("%s, slugs count: %t: taken up by %q, expected %q", name, bySlug, got, want)
			}
		}
	}
	without := openEntry(runA, flow)
	without.Goal.CarryOverIssues = nil
	if open := OpenGoals([]Entry{without}); len(open) != 0 {
		t.Errorf("a goal without issues is open: %+v", open)
	}
}

// A run of two workflows takes up nothing, even if it completed before one of the two goals was
// reached.
func TestARunOfTwoWorkflowsTakesUpNothing(t *testing.T) {
	for _, at := range []string{"08:30", "10:00"} {
		other := openEntry("20260302-msowd-another", "another")
		other.MovedAt = "2026-03-02T08:00:00Z"
		all := []Entry{openEntry(runA, flow), other, completedRun(runC, at, "workflow:"+flow, "workflow:another")}
		if matches := Matches(all, OpenGoals(all), true); len(matches) != 1 || len(matches[0].Goals) != 2 {
			t.Errorf("the matches are %+v", matches)
		}
		for _, g := range NextCycles(all, true) {
			if g.Taken != "" {
				t.Errorf("it took one of them up: %+v", g)
			}
		}
	}
}

// A run with a state, even an unusable one, has a cycle: it does not keep another from taking up
// the goal.
func TestARunWithABrokenStateTakesUpNothing(t *testing.T) {
	tell(t, func(d *desk) {
		d.openGoal()
		d.on(runB).write("state.json", "{}")
		d.ran(runB, time.Hour, "")
		d.ran(runC, 2*time.Hour, "")
		d.pass(3 * time.Hour)
		d.Settle()
		if d.on(runB).there("trigger.json") || !d.on(runC).there("trigger.json") {
			t.Errorf("the goal was not taken up by %s", runC)
		}
	})
}

// A run has taken up a goal for good, even if its trigger.json is gone.
func TestAGoalStaysTakenWhenTheTriggerGoes(t *testing.T) {
	taker := openEntry(runB, "another")
	taker.LastRunID, taker.Status = runA, Running
	if open := OpenGoals([]Entry{openEntry(runA, flow), taker}); len(open) != 0 {
		t.Errorf("%+v is open", open)
	}
}

// manifest writes upstream's manifest of the run; completed is how long before now it completed.
func (d *desk) manifest(status string, completed time.Duration, tags ...string) {
	d.T.Helper()
	at := d.Now().Add(-completed).UTC().Format(time.RFC3339)
	body, err := json.Marshal(map[string]any{
		"run_id": d.run, "status": status, "tags": append([]string{}, tags...), "updated_at": at,
		"completed_at": map[bool]any{true: at, false: nil}[status == "completed"],
	})
	if err != nil {
		d.T.Fatal(err)
	}
	d.write("../manifest.json", string(body))
}

// issue makes the cycle of the run reach a goal with an issue.
func (d *desk) issue(workflow string) {
	d.T.Helper()
	d.assets(20)
	d.write("retrieved.jsonl", retrievedLines)
	d.write("suggestions.json", threeSuggestions)
	d.write("trigger.json", triggerOf(workflow))
	d.Settle()
	d.tick("raise", "s1", "submit")
	d.comment("월말 자료")
	d.goes(answered)
	d.pass(time.Minute)
}

func TestScenario14TheNextRunTakesTheGoalUp(t *testing.T) {
	tell(t, func(d *desk) {
		d.issue(flow)
		next, third := d.on(runB), d.on(runC)
		next.manifest("active", 0, "workflow:"+flow)
		d.goes()
		next.manifest("completed", time.Second, "workflow:"+flow)
		third.manifest("completed", 0, "workflow:"+flow)
		d.pass(time.Minute)
		d.goes(triggered, collected)
		next.holds("trigger.json", `"last_run_id": "`+runA+`"`, `"current_level": 30`, "규칙 정리", "월말 자료")
	})
}

// Cycles that nobody answers are counted along the chain; a person's answer restarts the count.
func TestScenario15SilenceAfterSilence(t *testing.T) {
	tell(t, func(d *desk) {
		d.assets(10)
		d.trigger()
		d.Settle()
		run := func(i int) *desk { return d.on(fmt.Sprintf("202603%02d-msowd-sop-masking", i+2)) }
		for i := range 4 {
			d.pass(49 * time.Hour)
			d.goes(timedOut)
			d.pass(time.Minute)
			run(i + 1).assets(10)
			run(i+1).manifest("completed", 0, "workflow:"+flow)
			d.Settle()
			run(i+1).holds("trigger.json", fmt.Sprintf(`"timeout_reentries": %d`, i+1))
		}
		d.pass(400 * 24 * time.Hour)
		d.goes()
		run(4).respond(typeCap, `"response": "continue"`)
		d.goes(continued, decided, reported, recorded)
		d.pass(49 * time.Hour)
		d.goes(timedOut)
		d.pass(time.Minute)
		run(5).manifest("completed", 0, "workflow:"+flow)
		d.Settle()
		run(5).holds("trigger.json", `"timeout_reentries": 1`)
	})
}

func TestScenario07TheNextCycleHearsALateAnswer(t *testing.T) {
	tell(t, func(d *desk) {
		d.level20()
		d.pass(49 * time.Hour)
		d.goes(timedOut)
		d.respond(typeHITL, `"response": "raise"`, `"comment": "늦게"`)
		d.goes()
		b := d.on(runB)
		b.assets(20)
		b.trigger(`"last_run_id": "` + runA + `"`)
		d.goes(triggered, collected, decided)
		b.holds("context.json", "늦게")
		if got := b.state().Decision; got.Signals.C != 10 || got.AutomationLevel != 30 {
			t.Errorf("decided %+v", got)
		}
	})
}

// A name that no other cycle has may be a misspelling: the three newest known ones are offered.
func TestAnUnknownWorkflowIsAWarning(t *testing.T) {
	tellWith(t, func(c *Config) { c.Language = "en"; c.Workflows = map[string]Workflow{"named": {}} }, func(d *desk) {
		for i, name := range []string{"one", "two", "three", "four", "four", "fuor", "named", "one"} {
			run := d.on(fmt.Sprintf("202603%02d-msowd-x", i+1))
			run.assets(10)
			run.write("trigger.json", triggerOf(name))
			d.pass(time.Minute)
			d.Settle()
			var f Findings
			run.decode("context.json", &f)
			offered := ""
			for _, w := range f.Warnings {
				if _, names, ok := strings.Cut(w, "the newest known ones are "); ok {
					offered = names
				}
			}
			if want := []string{"", "one", "two, one", "three, two, one", "", "four, three, two", "", ""}[i]; offered != want {
				t.Errorf("%s: offered are %q, expected %q", name, offered, want)
			}
		}
	})
}

// If no re-entry by silence may follow another, the first one asks.
func TestTheCapMayBeZero(t *testing.T) {
	tellWith(t, func(c *Config) { c.MaxTimeoutReentries = 0 }, func(d *desk) {
		d.level10()
		d.pass(49 * time.Hour)
		d.goes(timedOut)
		d.pass(time.Minute)
		b := d.on(runB)
		b.assets(10)
		b.manifest("completed", 0, "workflow:"+flow)
		d.goes(triggered)
		b.asked(typeCap)
	})
}

// Two roots are independent, even if a run has the same id in both.
func TestTheRootsAreNeverMixed(t *testing.T) {
	tell(t, func(d *desk) {
		other := d.on("workspace/" + runA)
		d.level20()
		other.level10()
		if len(d.Rows(theDB)) != 1 || len(d.Rows("workspace/"+theDB)) != 1 {
			t.Errorf("the rows are %v, %v", d.Rows(theDB), d.Rows("workspace/"+theDB))
		}
		d.tick("raise", "submit")
		d.goes(answered)
		next := d.on("workspace/" + runB)
		next.assets(10)
		next.trigger(`"last_run_id": "` + runA + `"`)
		next.Settle()
		var f Findings
		next.decode("context.json", &f)
		if f.PreviousGoal != nil || len(f.Feedback) != 0 {
			t.Errorf("it knows of the other root: %+v, %+v", f.PreviousGoal, f.Feedback)
		}
	})
}

// A goal may hold as many issues as fit: the cost is proportional to its text.
func BenchmarkOpenIssues(b *testing.B) {
	g := &Goal{}
	for i := range 100_000 {
		g.CarryOverIssues = append(g.CarryOverIssues, strconv.Itoa(i), strconv.Itoa(i/2))
	}
	for b.Loop() {
		openIssues([]link{{Goal: g}})
	}
}

func TestScenario14TheGoalOfAnArchivedRun(t *testing.T) {
	tell(t, func(d *desk) {
		d.issue(flow)
		d.Move(".mso-context/active/"+runA, ".mso-context/archive/2026-03/"+runA)
		d.on(runB).manifest("completed", 0, "workflow:"+flow)
		d.pass(time.Minute)
		d.Settle()
		d.on(runB).holds("context.json", `"archived": true`)
	})
}

func TestScenario14AStateThatSomebodyElseWrote(t *testing.T) {
	tell(t, func(d *desk) {
		d.issue(flow)
		good := d.read("state.json")
		d.write("state.json", good+"\n")
		d.on(runB).manifest("completed", 0, "workflow:"+flow)
		d.Settle()
		if d.on(runB).there("trigger.json") {
			t.Error("the goal of a cycle that stands still was taken up")
		}
		d.write("state.json", good)
		d.Settle()
		if !d.on(runB).there("trigger.json") {
			t.Error("it was restored, and its goal is not taken up")
		}
	})
}

// completedRun returns a run without a cycle that upstream completed at a time of that day.
func completedRun(run, at string, tags ...string) Entry {
	return Entry{Root: ".mso-context", RunID: run, Key: run, Manifest: &Manifest{Status: "completed", CompletedAt: text("2026-03-02T" + at + ":00Z"), Tags: tags}}
}

// openEntry returns a cycle of a workflow that reached a goal with an issue at 09:00.
func openEntry(run, workflow string) Entry {
	return Entry{
		Root: ".mso-context", RunID: run, Key: run, Triggered: true, Workflow: workflow, Status: Reached, BeganAt: "2026-03-02T08:00:00Z", MovedAt: "2026-03-02T09:00:00Z",
		Goal: &Goal{NextAutomationLevel: 10, CarryOverIssues: []string{"x"}, ApprovedBy: byHuman},
	}
}
