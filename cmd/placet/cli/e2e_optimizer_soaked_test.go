package cli_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
	"placet/engine/optimizer"
)

// These are the laws of cycles that were soaked.

// unansweredIssue is the issue that a passed deadline leaves to the next cycle.
const unansweredIssue = "No HITL response — review again in the next cycle"

// cycleEvent is a line of events.jsonl.
type cycleEvent struct {
	Seq  int    `json:"seq"`
	Edge string `json:"edge"`
	From string `json:"from"`
	To   string `json:"to"`
}

// goalFile is goal.json.
type goalFile struct {
	Next       int      `json:"next_automation_level"`
	Directives []string `json:"optimization_directives"`
	Issues     []string `json:"carry_over_issues"`
	ApprovedBy string   `json:"approved_by"`
}

func (c *cycles) verify() {
	c.t.Helper()
	if diff := cmp.Diff(c.lateNotes(), c.notes()); diff != "" {
		c.t.Errorf("problem notes (-want +got):\n%s", diff)
	}
	c.takeBack()
	for _, ch := range c.chains {
		second := c.taken(ch)
		c.verifyCycle(ch, 0, ch.ways[0])
		c.verifyCycle(ch, second, ch.ways[1])
		c.verifyTakenUp(ch, second)
	}
	for _, root := range []string{".mso-context", "workspace/.mso-context"} {
		dirs := slices.DeleteFunc(c.folders(), func(dir string) bool { return !strings.HasPrefix(dir, root) })
		c.verifyDatabase(root+"/audit_global.db", dirs)
		db := c.database(root + "/audit_global.db")
		if got := c.ask(db, "SELECT count(*) FROM document_references")[0][0]; got != fmt.Sprint(c.wrote[root]) {
			c.t.Errorf("%s: %s rows of others, they wrote %d", root, got, c.wrote[root])
		}
		db.Close()
	}
	if out, code := c.placet("check"); code != 0 || len(c.notes()) > 0 {
		c.t.Errorf("check: %d: %s", code, out)
	}
}

// verifyCycle checks one cycle: its history, its level and its result.
func (c *cycles) verifyCycle(ch *chain, k int, w way) {
	c.t.Helper()
	st := c.cycle(ch.at(k, "state.json"))
	c.verifyWalk(ch.at(k, ""), st)
	if first := map[bool]int{true: 10, false: 20}[ch.kind == levelTen]; k == 0 && st.Decision.AutomationLevel != first {
		c.t.Errorf("%s: level %d, expected %d", ch.run(k), st.Decision.AutomationLevel, first)
	}
	if got, want := c.goal(ch, k), c.due(st, judgements[w], w); !cmp.Equal(want, got) {
		c.t.Errorf("%s (-answered +goal.json):\n%s", ch.run(k), cmp.Diff(want, got))
	}
	rows := c.audit(ch.at(k, ""))
	if len(rows) != 2 || rows[0].ID != st.AuditID || (w != bySilence) != (rows[1].ID == st.FeedbackID) {
		c.t.Errorf("%s: rows %v, state.json names %s and %s", ch.run(k), rows, st.AuditID, st.FeedbackID)
	}
}

func (c *cycles) goal(ch *chain, k int) (g goalFile) {
	_ = json.Unmarshal([]byte(c.read(ch.at(k, "goal.json"))), &g)
	return g
}

// due returns the goal that follows from an answer.
func (c *cycles) due(st cycle, j judgement, w way) goalFile {
	level := st.Level.Current
	if w == bySilence {
		return goalFile{level, []string{}, []string{unansweredIssue}, "timeout_fallback"}
	}
	g := goalFile{level, []string{}, []string{}, "human_feedback"}
	switch j.level {
	case "raise":
		g.Next = min(level+10, 30)
	case "lower":
		g.Next = max(level-10, 10)
	}
	for _, s := range st.Suggestions {
		if s.ID == j.item {
			g.Directives = append(g.Directives, s.Text)
		}
	}
	if j.comment != "" {
		g.Issues = append(g.Issues, j.comment)
	}
	for _, issue := range st.Issues { // no answer settles one
		if !slices.Contains(g.Issues, issue) {
			g.Issues = append(g.Issues, issue)
		}
	}
	return g
}

// verifyWalk checks that the journal is whole, and that its transitions are in the table.
func (p *place) verifyWalk(dir string, st cycle) {
	p.t.Helper()
	at, seq, took := "", 0, map[string]bool{}
	for l := range strings.Lines(p.read(dir + "events.jsonl")) {
		var e cycleEvent
		if err := json.Unmarshal([]byte(l), &e); err != nil {
			p.t.Fatalf("%sevents.jsonl: %q: %v", dir, l, err)
		}
		if seq++; e.Seq != seq || e.From != at {
			p.t.Errorf("%sevents.jsonl: line %d is %+v, after %q", dir, seq, e, at)
		}
		row := engine.Edge{Of: "cycle", From: engine.Status(e.From), Event: e.Edge, To: engine.Status(e.To)}
		if !slices.Contains(optimizer.New().Edges(), row) {
			p.t.Errorf("%sevents.jsonl: %+v is no row of the table", dir, row)
		}
		if took[e.Edge] && e.Edge != "retried" {
			p.t.Errorf("%sevents.jsonl: %s is taken again", dir, e.Edge)
		}
		at, took[e.Edge] = e.To, true
	}
	if seq != st.Revision || at != st.Status {
		p.t.Errorf("%sevents.jsonl ends with %d, in %s; state.json is of revision %d, in %s", dir, seq, at, st.Revision, st.Status)
	}
}

// verifyTakenUp checks that only one run took the goal up, as a person left it.
func (c *cycles) verifyTakenUp(ch *chain, k int) {
	c.t.Helper()
	var trigger struct {
		Last       string   `json:"last_run_id"`
		Level      int      `json:"current_level"`
		Directives []string `json:"optimization_directives"`
		Issues     []string `json:"carry_over_issues"`
		Timeouts   int      `json:"timeout_reentries"`
	}
	if err := json.Unmarshal([]byte(c.read(ch.at(k, "trigger.json"))), &trigger); err != nil {
		c.t.Errorf("%s: %v", ch.at(k, "trigger.json"), err)
	}
	g := c.goal(ch, 0)
	got := goalFile{trigger.Level, trigger.Directives, trigger.Issues, g.ApprovedBy}
	if trigger.Last != ch.run(0) || !cmp.Equal(g, got) || (g.ApprovedBy == "timeout_fallback") != (trigger.Timeouts == 1) {
		c.t.Errorf("%s took up %+v of %s", ch.run(k), trigger, cmp.Diff(g, got))
	}
	var heard struct {
		Late *struct{} `json:"late_answer"`
	}
	if err := json.Unmarshal([]byte(c.read(ch.at(k, "context.json"))), &heard); err != nil {
		c.t.Errorf("%s: %v", ch.at(k, "context.json"), err)
	}
	// The signals hear a late answer; without one, the level is that of the goal.
	late := g.ApprovedBy == "timeout_fallback" && heard.Late != nil
	if level := c.cycle(ch.at(k, "state.json")).Decision.AutomationLevel; level != g.Next && !late {
		c.t.Errorf("%s: level %d, the goal says %d", ch.run(k), level, g.Next)
	}
	for _, name := range []string{"trigger.json", "state.json", "events.jsonl"} {
		if c.there(ch.at(3-k, name)) {
			c.t.Errorf("%s is there, although %s took the goal up", ch.at(3-k, name), ch.run(k))
		}
	}
}

// takeBack removes the late answers, as their notes ask. Their texts stay recorded.
func (c *cycles) takeBack() {
	c.t.Helper()
	for _, note := range c.lateNotes() {
		if err := os.Remove(filepath.Join(c.root, filepath.Dir(note), "response.json")); err != nil {
			c.t.Error(err)
		}
	}
	if out, code := c.placet("once"); code != 0 {
		c.t.Errorf("once: %d: %s", code, out)
	}
}

// lateNotes returns the notes that must exist: one for a late answer, and one about an attempt
// whose data were found before it was read.
func (c *cycles) lateNotes() (list []string) {
	for _, ch := range c.chains {
		for step, k := range []int{0, c.taken(ch)} {
			if ch.ways[step] == bySilence {
				list = append(list, ch.at(k, "requests/"+c.cycle(ch.at(k, "state.json")).RequestID+"/problem.md"))
			}
		}
	}
	for _, dir := range c.folders() {
		receipts, _ := filepath.Glob(filepath.Join(c.root, dir, "requests/attempt_unknown-*/receipt.json"))
		for _, name := range receipts {
			folder := dir + "requests/" + filepath.Base(filepath.Dir(name)) + "/"
			if strings.Contains(c.read(folder+"receipt.json"), `"result": "superseded"`) && c.there(folder+"response.json") {
				list = append(list, folder+"problem.md")
			}
		}
	}
	slices.Sort(list)
	return list
}

// notes are the problem notes of the workspace.
func (p *place) notes() (list []string) {
	p.t.Helper()
	err := filepath.WalkDir(p.root, func(name string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, "problem.md") {
			rel, _ := filepath.Rel(p.root, name)
			list = append(list, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	slices.Sort(list)
	return list
}
