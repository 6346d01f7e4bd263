package optimizer

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
)

// manifest puts upstream's manifest of the run in hand into place; completed is
// how long before now it completed.
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

// issue has the cycle of the run in hand reach a goal with an issue.
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

// triggered is what the run in hand was triggered with, nil where it was not.
func (d *desk) triggered() *Trigger {
	d.T.Helper()
	if !d.there("trigger.json") {
		return nil
	}
	t, err := decodeTrigger("trigger.json", []byte(d.read("trigger.json")))
	if err != nil {
		d.T.Fatal(err)
	}
	return &t
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
		want := &Trigger{
			WorkflowName: flow, TriggerType: external, LastRunID: text(runA), CurrentLevel: ptr(30), OptimizationDirectives: []string{"규칙 정리"},
			CarryOverIssues: []string{"월말 자료"}, CreatedBy: "placet",
		}
		got := next.triggered()
		if got == nil {
			t.Fatal("it was not taken up")
		}
		want.CreatedAt = got.CreatedAt
		if diff := cmp.Diff(want, got); diff != "" || got.CreatedAt.Time().IsZero() {
			t.Errorf("the trigger (-want +got):\n%s", diff)
		}
		if third.triggered() != nil {
			t.Error("two runs take up one goal")
		}
		f := next.state()
		if f.trig.LastRunID != text(runA) {
			t.Errorf("the state is %+v", f)
		}
		next.holds("context.json", `"run_id": "`+runA+`"`, `"archived": false`, "월말 자료")
	})
}

func TestScenario14WhoTakesAGoalUp(t *testing.T) {
	for name, test := range map[string]struct {
		prepare func(d *desk)
		taken   bool
	}{
		"by the tag of ours":      {func(d *desk) { d.on(runB).manifest("completed", 0, "workflow:"+flow) }, true},
		"by the workflow's name":  {func(d *desk) { d.on(runB).manifest("completed", 0, "x", flow) }, true},
		"by the slug":             {func(d *desk) { d.on(runB).manifest("completed", 0) }, true},
		"another slug":            {func(d *desk) { d.on("20260303-msowd-other").manifest("completed", 0) }, false},
		"another key":             {func(d *desk) { d.on("20260303-msoed-sop-masking").manifest("completed", 0) }, false},
		"by the slug, not wanted": {func(d *desk) { d.config(func(c *Config) { c.MatchSlug = false }); d.on(runB).manifest("completed", 0) }, false},
		"it failed":               {func(d *desk) { d.on(runB).manifest("failed", 0, "workflow:"+flow) }, false},
		"it completed before":     {func(d *desk) { d.on(runB).manifest("completed", time.Hour, "workflow:"+flow) }, false},
		"another root":            {func(d *desk) { d.on("workspace/"+runB).manifest("completed", 0, "workflow:"+flow) }, false},
		"a torn manifest": {func(d *desk) {
			d.on(runB).write("../manifest.json", `{"status": "completed", "tags": ["workflow:`+flow)
		}, false},
		"an empty manifest": {func(d *desk) { d.on(runB).write("../manifest.json", "") }, false},
		"taken up by hand": {func(d *desk) {
			d.on(runC).trigger(`"last_run_id": "` + runA + `"`)
			d.on(runB).manifest("completed", 0, "workflow:"+flow)
		}, false},
		"a newer cycle of the workflow": {func(d *desk) { d.on(runC).trigger(); d.Settle(); d.on(runB).manifest("completed", 0, "workflow:"+flow) }, false},
		"its goal's run was archived": {func(d *desk) {
			d.Move(".mso-context/active/"+runA, ".mso-context/archive/2026-03/"+runA)
			d.on(runB).manifest("completed", 0, "workflow:"+flow)
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			tell(t, func(d *desk) {
				d.issue(flow)
				test.prepare(d)
				d.pass(time.Minute)
				d.Settle()
				b := d.on(runB)
				if got := b.triggered(); (got != nil && got.LastRunID == text(runA)) != test.taken {
					t.Errorf("taken up: %+v", got)
				}
				if test.taken && strings.HasPrefix(name, "its goal") {
					b.holds("context.json", `"archived": true`)
				}
				d.noted()
			})
		})
	}
	t.Run("no issues", func(t *testing.T) {
		tell(t, func(d *desk) {
			d.level20()
			d.tick("raise", "s1", "submit")
			d.goes(answered)
			d.pass(time.Minute)
			d.on(runB).manifest("completed", 0, "workflow:"+flow)
			d.goes()
			if d.on(runB).triggered() != nil {
				t.Error("a goal without issues was taken up")
			}
		})
	})
	t.Run("the earliest of several", func(t *testing.T) {
		tell(t, func(d *desk) {
			d.issue(flow)
			d.on(runB).manifest("completed", 0, "workflow:"+flow)
			d.on(runC).manifest("completed", time.Second, "workflow:"+flow)
			d.Settle()
			if d.on(runB).triggered() != nil || d.on(runC).triggered() == nil {
				t.Error("not the earliest took it up")
			}
		})
	})
	t.Run("a state that somebody else wrote", func(t *testing.T) {
		tell(t, func(d *desk) {
			d.issue(flow)
			good := d.read("state.json")
			d.write("state.json", good+"\n")
			d.on(runB).manifest("completed", 0, "workflow:"+flow)
			d.Settle()
			if d.on(runB).triggered() != nil {
				t.Error("the goal of a cycle that stands still was taken up")
			}
			d.write("state.json", good)
			d.Settle()
			if d.on(runB).triggered() == nil {
				t.Error("it was restored, and its goal is not taken up")
			}
		})
	})
	t.Run("two open workflows", func(t *testing.T) {
		tell(t, func(d *desk) {
			d.issue(flow)
			d.on("20260302-msowd-other").issue("other-engine")
			d.on(runB).manifest("completed", 0, "workflow:"+flow, "workflow:other-engine")
			d.Settle()
			if d.on(runB).triggered() != nil {
				t.Error("one of two was guessed")
			}
			entries := map[string][]byte{}
			for _, run := range []string{runA, "20260302-msowd-other", runB} {
				entries[run] = d.entry(run)
			}
			all := Entries(entries)
			matches := Matches(all, OpenGoals(all), true)
			if len(matches) != 1 || len(matches[0].Goals) != 2 {
				t.Errorf("the matches are %+v", matches)
			}
		})
	})
}

// entry is what others must know of a run.
func (d *desk) entry(run string) []byte {
	r := d.on(run)
	s := engine.Snapshot{Dir: dirOf(run), Key: engine.Key{Family: "optimizer", ID: run}}
	for _, rel := range []string{"../manifest.json", "audit.json", "events.jsonl", "goal.json", "state.json", "trigger.json"} {
		if p := r.in(rel); d.Has(p) {
			body := []byte(d.Read(p))
			s.Docs = append(s.Docs, engine.Document{Path: p, Body: body, Sum: engine.Sum(body)})
		}
	}
	return New().Entry(s)
}

func TestScenario15SilenceAfterSilence(t *testing.T) {
	for _, word := range []string{optContinue, optStop} {
		t.Run(word, func(t *testing.T) {
			tell(t, func(d *desk) {
				d.assets(10)
				d.trigger()
				d.Settle()
				run := func(i int) *desk { return d.on(fmt.Sprintf("202603%02d-msowd-sop-masking", i+2)) }
				for i := 0; i < 4; i++ {
					run(i).status(Awaiting)
					d.pass(49 * time.Hour)
					d.goes(timedOut)
					d.pass(time.Minute)
					run(i + 1).assets(10)
					run(i+1).manifest("completed", 0, "workflow:"+flow)
					d.Settle()
					if got := run(i + 1).triggered(); got == nil || got.TimeoutReentries != i+1 || got.LastRunID != text(run(i).run) {
						t.Fatalf("re-entry %d: %+v", i+1, got)
					}
				}
				last := run(4)
				last.status(Context)
				d.pass(400 * 24 * time.Hour)
				d.goes()
				last.respond(typeCap, `"response": "`+word+`"`)
				if word == optContinue {
					d.goes(continued, decided, reported, recorded)
					if st := last.state(); st.TimeoutReentries != 0 {
						t.Errorf("the counter is %d", st.TimeoutReentries)
					}
					d.pass(49 * time.Hour)
					d.goes(timedOut)
					d.pass(time.Minute)
					run(5).manifest("completed", 0, "workflow:"+flow)
					d.Settle()
					if got := run(5).triggered(); got == nil || got.TimeoutReentries != 1 {
						t.Errorf("after a person's word: %+v", got)
					}
					return
				}
				d.goes(declined)
				last.status(Failed)
				d.pass(time.Minute)
				run(5).manifest("completed", 0, "workflow:"+flow)
				d.goes()
				if run(5).triggered() != nil {
					t.Error("it goes on all the same")
				}
			})
		})
	}
}

// A person's words survive cycles that nobody answered.
func TestScenario15OpenIssuesTravel(t *testing.T) {
	tell(t, func(d *desk) {
		d.issue(flow)
		b := d.on(runB)
		b.assets(10)
		b.write("retrieved.jsonl", retrievedLines)
		b.write("suggestions.json", threeSuggestions)
		b.manifest("completed", 0, "workflow:"+flow)
		d.Settle()
		d.pass(49 * time.Hour)
		d.goes(timedOut)
		d.pass(time.Minute)
		c := d.on(runC)
		c.assets(10)
		c.write("retrieved.jsonl", retrievedLines)
		c.write("suggestions.json", threeSuggestions)
		c.manifest("completed", 0, "workflow:"+flow)
		d.Settle()
		var f Findings
		c.decode("context.json", &f)
		if diff := cmp.Diff([]string{"월말 자료"}, f.OpenIssues); diff != "" {
			t.Errorf("the open issues (-want +got):\n%s", diff)
		}
		c.holds("level20_report.md", "월말 자료")
		c.holds(c.request(typeHITL, "request.json"), "월말 자료")
	})
}

// A chain may be longer than the rounds in which a machine may ask for more, and
// than what is followed of it.
func TestScenario15ALongChain(t *testing.T) {
	tellWith(t, func(c *Config) { c.MaxTimeoutReentries = 1000 }, func(d *desk) {
		d.Lax = true // a workspace of fifteen cycles: the laws of rests were held elsewhere
		run := func(i int) *desk { return d.on(fmt.Sprintf("202603%02d-msowd-sop-masking", i+2)) }
		d.assets(10)
		d.trigger()
		d.Settle()
		d.comment("아직 열려 있음")
		d.tick("submit")
		d.goes(answered)
		for i := 1; i <= mostLinks+2; i++ {
			d.pass(time.Minute)
			run(i).assets(10)
			run(i).manifest("completed", 0, "workflow:"+flow)
			d.Settle()
			var f Findings
			run(i).decode("context.json", &f)
			if kept := len(f.OpenIssues) == 1 && f.OpenIssues[0] == "아직 열려 있음"; kept != (i <= mostLinks) {
				t.Errorf("%d cycles on the open issues are %q", i, f.OpenIssues)
			}
			d.pass(49 * time.Hour)
			d.goes(timedOut)
		}
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
		var f Findings
		b.decode("context.json", &f)
		if f.LateAnswer == nil || f.LateAnswer.Comment != "늦게" || len(f.Feedback) != 1 || f.Feedback[0].LevelAfter != 30 {
			t.Errorf("it heard %+v, %+v", f.LateAnswer, f.Feedback)
		}
		if got := b.state().Decision; got.Signals.C != 10 || got.AutomationLevel != 30 {
			t.Errorf("decided %+v", got)
		}
	})
}

func TestScenario11TheDatabaseCannotBeUsed(t *testing.T) {
	t.Run("locked for four minutes", func(t *testing.T) {
		tell(t, func(d *desk) {
			d.assets(10)
			d.trigger()
			d.goes(triggered, collected, decided, reported, recorded)
			d.tick("raise", "submit")
			d.Lock(theDB, true)
			d.goes(answered)
			for _, wait := range []time.Duration{time.Second, 5 * time.Second, 25 * time.Second, 2 * time.Minute} {
				if d.there("audit-pending.jsonl") {
					t.Fatal("it is called pending too early")
				}
				d.pass(wait)
				d.goes()
			}
			d.holds("audit-pending.jsonl", `"table":"user_feedback"`, `"last_error":"the database is locked`, string(d.state().FeedbackID))
			var a Audit
			d.decode("audit.json", &a)
			if a.Rows[1].Outcome != rowPending || a.Rows[1].Tries != 5 {
				t.Errorf("the row is %+v", a.Rows[1])
			}
			d.Lock(theDB, false)
			d.pass(10 * time.Minute)
			d.goes()
			if d.there("audit-pending.jsonl") || len(d.rows(userFeedback)) != 1 {
				t.Errorf("the rows are %v", d.rows(userFeedback))
			}
		})
	})
	t.Run("the cycle goes on", func(t *testing.T) {
		tell(t, func(d *desk) {
			at[Reporting](d)
			var a Audit
			for range 5 {
				d.decode("audit.json", &a)
				if a.Rows[0].Outcome != rowOwed {
					break
				}
				d.status(Reporting)
				d.PassUntil(a.Rows[0].NextTryAt.Time())
				d.Settle()
			}
			d.status(Awaiting)
			d.decode("audit.json", &a)
			if a.Rows[0].Outcome != rowPending || a.Rows[0].Tries != 5 {
				t.Errorf("the row is %+v", a.Rows[0])
			}
			d.tick("raise", "submit")
			d.goes(answered)
			d.Restart()
			d.Lock(theDB, false)
			d.goes()
			if len(d.rows(auditLogs)) != 0 {
				t.Error("it is tried too early")
			}
			d.config(func(c *Config) { c.TryNow = d.Now() })
			d.goes()
			if len(d.rows(auditLogs)) != 1 || len(d.rows(userFeedback)) != 1 || d.there("audit-pending.jsonl") {
				t.Errorf("the rows are %v, %v", d.rows(auditLogs), d.rows(userFeedback))
			}
		})
	})
	t.Run("refused", func(t *testing.T) {
		tell(t, func(d *desk) {
			d.db.forbids = []string{auditLogs}
			d.level10()
			d.noted("audit.json.problem.md", "CHECK constraint failed")
			d.tick("raise", "submit")
			d.goes(answered)
			if rows := d.rows(userFeedback); len(rows) != 1 || rows[0]["related_audit_id"] != nil {
				t.Errorf("the rows are %v", rows)
			}
		})
	})
	t.Run("no database at all", func(t *testing.T) {
		tell(t, func(d *desk) {
			d.db.fails = theDB + " is not a database"
			d.assets(10)
			d.trigger()
			d.goes(triggered)
			for _, wait := range []time.Duration{time.Second, 5 * time.Second, 25 * time.Second} {
				d.pass(wait)
				d.goes()
			}
			d.pass(2 * time.Minute)
			d.goes(collected, decided, reported)
			d.holds("context.json", `"available": false`, "is not a database")
		})
	})
}

// A name that no other cycle has may be a slip: the three newest known are offered.
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
