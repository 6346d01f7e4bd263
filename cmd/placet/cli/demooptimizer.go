package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"placet/cmd/placet/console"
	"placet/engine"
	"placet/engine/optimizer"
	"placet/engine/sqlite"
	"placet/schemas"
)

// The third story of the demo: one cycle of the optimizer, and the next one, which
// it begins. The demo plays the reviewer, and the tool that ends a run.

// Runs of the story, by their folders; the second takes up what the first leaves.
const (
	demoActive = ".mso-context/active/"
	demoCycle  = "20261120-msowd-nightly-import"
	demoNext   = "20261121-msowd-nightly-import"
)

// cycleFile is a file of the story's cycle.
func cycleFile(name string) string { return demoActive + demoCycle + "/optimizer/" + name }

func (d *demo) measure(context.Context) error {
	d.tale("Last an optimisation cycle, in %s: how well does a workflow do, and what is to change? An agent left what it knows:", d.dir)
	if err := d.unpack("demo/optimizer"); err != nil {
		return err
	}
	for _, name := range []string{"inputs/kpi.json", "suggestions.json"} {
		if err := d.cat(cycleFile(name), "", ""); err != nil {
			return err
		}
	}
	return nil
}

// trustAnalysis agrees to the level's command.
func (d *demo) trustAnalysis(ctx context.Context) error {
	d.tale("The settings name a command that analyses the workflow. It runs once you have agreed to it:")
	d.prompt("placet trust --yes")
	return d.placet(ctx, "trust", "--yes")
}

// triggerCycle begins the cycle.
func (d *demo) triggerCycle(ctx context.Context) error {
	args := []string{"optimizer", "trigger", "nightly-import", "--run", demoCycle, "--goal", "no night without a shop"}
	d.tale("You ask for a look at the workflow:")
	d.prompt("placet optimizer trigger nightly-import --run " + demoCycle + " --goal 'no night without a shop'")
	if err := d.placet(ctx, args...); err != nil {
		return err
	}
	if err := d.cycleTook(ctx, demoCycle, "recorded"); err != nil {
		return err
	}
	d.tale("placet decided on level 20, ran the analysis, and wrote a report. It found:")
	return d.cat(cycleFile("level20_report.md"), "### Trends", "## Improvement")
}

// cycleTook waits until a cycle has taken an edge.
func (d *demo) cycleTook(ctx context.Context, cycle, edge string) error {
	return d.await(ctx, "what follows "+edge, func() bool {
		body, err := os.ReadFile(filepath.Join(d.dir, demoActive, cycle, "optimizer/events.jsonl"))
		return err == nil && strings.Contains(string(body), `"edge":"`+edge+`"`)
	})
}

// judge answers the three questions in the form, as an editor does.
func (d *demo) judge(ctx context.Context) error {
	forms, err := filepath.Glob(filepath.Join(d.dir, cycleFile("requests/hitl-*/form.md")))
	if err != nil || len(forms) != 1 {
		return fmt.Errorf("no form asks about the report: %v", err)
	}
	rel, err := filepath.Rel(d.dir, forms[0])
	if err != nil {
		return err
	}
	d.tale("A person answers three questions in one form: the level was right, a suggestion is taken up, and something is left to do.")
	d.prompt("$EDITOR " + rel)
	const comment = "Ask the shop of night 6 why it was closed."
	body, err := os.ReadFile(forms[0])
	if err != nil {
		return err
	}
	text := string(body)
	for _, edit := range [][2]string{
		{"- [ ] appropriate", "- [x] appropriate"}, {"- [ ] s1", "- [x] s1"}, {"\n\n- [ ] submit", "\n" + comment + "\n\n- [x] submit"},
	} {
		edited := strings.Replace(text, edit[0], edit[1], 1)
		if edited == text {
			return fmt.Errorf("the form has no %q", edit[0])
		}
		text = edited
	}
	_, questions, _ := strings.Cut(text, "[Review request]\n")
	for l := range strings.Lines(questions) {
		if l = strings.TrimRight(l, "\n"); l != "" && !strings.HasPrefix(l, "<!--") {
			d.Say("    %s", console.OneLine(l))
		}
	}
	if err := d.save(rel, text); err != nil {
		return err
	}
	if err := d.cycleTook(ctx, demoCycle, "answered"); err != nil {
		return err
	}
	goal := filepath.Join(d.dir, cycleFile("goal.json"))
	if err := d.await(ctx, "the goal", func() bool { return exists(goal) }); err != nil {
		return err
	}
	d.tale("The answer is the goal of the next cycle:")
	return d.cat(cycleFile("goal.json"), "{", "")
}

// record shows what the audit database holds.
func (d *demo) record(ctx context.Context) error {
	const database = ".mso-context/audit_global.db"
	databases := sqlite.New(d.dir)
	defer databases.Rest(database)
	look := engine.Database{Path: database, Schema: optimizer.AuditSchema, Select: []engine.Query{
		{Name: "rows", SQL: "SELECT 'audit_logs' AS t, action AS what, status AS how FROM audit_logs UNION ALL" +
			" SELECT 'user_feedback', impact_summary, impact_domain FROM user_feedback UNION ALL SELECT 'decisions', title, approved_by FROM decisions"},
	}}
	var found struct {
		Rows []struct {
			Table string `json:"t"`
			What  string `json:"what"`
			How   string `json:"how"`
		} `json:"rows"`
	}
	err := d.await(ctx, "the rows of "+database, func() bool {
		end := databases.Do(look)
		return end.Result == "done" && schemas.Decode("", database, end.Output, &found) == nil && len(found.Rows) == 3
	})
	if err != nil {
		return err
	}
	d.tale("%s, a SQLite database that others read, has it, too:", database)
	t := &console.Table{}
	for _, row := range found.Rows {
		t.Add("    "+row.Table, console.OneLine(row.What), console.OneLine(row.How))
	}
	t.Print(d.Env, d.Out)
	return nil
}

// follow ends another run of the workflow, which begins the next cycle.
func (d *demo) follow(ctx context.Context) error {
	d.tale("Something was left to do. When the workflow has run again, that begins the next cycle:")
	d.prompt("placet optimizer next")
	if err := d.placet(ctx, "optimizer", "next"); err != nil {
		return err
	}
	manifest, err := schemas.Encode(schemas.Object{
		{Name: "run_id", Value: demoNext}, {Name: "status", Value: "completed"}, {Name: "tags", Value: []string{}},
		{Name: "completed_at", Value: d.Now().Add(time.Second).UTC().Format(time.RFC3339)},
	})
	if err != nil {
		return err
	}
	if err := d.save(demoActive+demoNext+"/manifest.json", string(manifest)); err != nil {
		return err
	}
	trigger := demoActive + demoNext + "/optimizer/trigger.json"
	if err := d.await(ctx, trigger, func() bool { return exists(filepath.Join(d.dir, trigger)) }); err != nil {
		return err
	}
	// The cycle's own agent has nothing to suggest, so that it comes to its request at
	// once: what the daemon says of it falls into nothing that is shown next.
	if err := d.save(demoActive+demoNext+"/optimizer/suggestions.json", `{"suggestions": []}`+"\n"); err != nil {
		return err
	}
	if err := d.cycleTook(ctx, demoNext, "recorded"); err != nil {
		return err
	}
	if err := d.cat(trigger, "{", ""); err != nil {
		return err
	}
	d.prompt("placet graph " + demoNext)
	return d.placet(ctx, "graph", demoNext)
}
