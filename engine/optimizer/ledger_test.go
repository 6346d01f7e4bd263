package optimizer

import (
	"path"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/schemas"
)

// audit.json says where the rows are, and cannot redirect a row into another file.
func TestRowsGoWhereTheSettingSays(t *testing.T) {
	tell(t, func(d *desk) {
		d.Lock(theDB, true)
		d.level10WhileLocked()
		d.write("audit.json", strings.Replace(d.read("audit.json"), theDB, "elsewhere.db", 1))
		d.Settle()
		d.holds("audit.json", theDB)
	})
}

// audit returns audit.json of the run.
func (d *desk) audit() (a Audit) {
	d.T.Helper()
	d.decode("audit.json", &a)
	return a
}

// A row is tried again in the same process whatever others write into audit.json: the database
// knows what it has.
func TestRowsAreTriedAgainWhateverBecomesOfAuditJSON(t *testing.T) {
	for name, spoil := range map[string]func(d *desk, first string){
		"deleted":        func(d *desk, _ string) { d.unlink("audit.json") },
		"as it once was": func(d *desk, first string) { d.write("audit.json", first) },
	} {
		t.Run(name, func(t *testing.T) {
			tell(t, func(d *desk) {
				d.level20()
				first := strings.Replace(d.read("audit.json"), `"inserted"`, `"owed"`, 1)
				for range 3 {
					d.pass(time.Minute)
					spoil(d, first)
					d.goes()
					d.pass(slowTry)
					d.goes()
					d.holds("audit.json", `"outcome": "present"`)
				}
				d.tick("raise", "submit")
				d.goes(answered)
			})
		})
	}
}

// level10WhileLocked brings the run to its reviewer while nothing gets into the database.
func (d *desk) level10WhileLocked() {
	d.T.Helper()
	d.assets(10)
	d.trigger()
	for range 8 {
		d.Settle()
		d.pass(3 * time.Minute)
	}
	d.status(Awaiting)
}

// A row that must wait for another one is not in the database either.
func TestARowBehindAPendingOneIsListedToo(t *testing.T) {
	tell(t, func(d *desk) {
		d.Lock(theDB, true)
		d.level10WhileLocked()
		d.tick("raise", "submit")
		d.goes(answered)
		if listed := strings.Count(d.read("audit-pending.jsonl"), "\n"); listed != 2 {
			t.Errorf("%d rows are listed", listed)
		}
		d.Lock(theDB, false)
		d.pass(slowTry)
		d.goes()
		if audits, rows := d.rows(auditLogs), d.rows(userFeedback); len(audits) != 1 || len(rows) != 1 || rows[0]["related_audit_id"] != audits[0]["id"] {
			t.Errorf("the database has %v and %v", audits, rows)
		}
	})
}

// A request for a try now gives one try, not as many as fit into the second.
func TestAskedForNowARowIsTriedOnce(t *testing.T) {
	tell(t, func(d *desk) {
		d.Lock(theDB, true)
		d.level10WhileLocked()
		tries := d.audit().Rows[0].Tries
		d.pass(500 * time.Millisecond)
		asked := d.Now().Add(3*time.Second + 200*time.Millisecond) // when it has settled
		d.config(func(c *Config) { c.TryNow = asked })
		d.pass(300 * time.Millisecond)
		d.goes()
		if got := d.audit().Rows[0].Tries; got != tries+1 {
			t.Errorf("%d tries after %d", got, tries)
		}
	})
}

// A running try continues while the clock is set back: it is not forgotten.
func TestATryUnderWayIsNotGivenUpWhenTheClockIsSetBack(t *testing.T) {
	tell(t, func(d *desk) {
		d.assets(10)
		d.Lock(theDB, true)
		d.trigger()
		for d.pass(time.Second); !d.there("audit.json"); d.pass(time.Minute) {
			d.Settle()
		}
		s := d.snapshot(nil)
		s.Now = d.audit().Rows[0].NextTryAt.Time()
		due, err := New().Step(s)
		if err != nil || len(due.Actions) != 1 {
			t.Fatalf("%+v, %v", due, err)
		}
		s.Facts.Alive = map[string]bool{due.Actions[0].ID: true}
		s.Now = s.Now.Add(-time.Hour)
		if back, err := New().Step(s); err != nil || len(back.Ends) != 0 || len(back.Actions) != 1 {
			t.Errorf("%q ends, %d actions, %v", back.Ends, len(back.Actions), err)
		}
	})
}

// A row that follows others goes where the setting says from its first try on, after the rows that
// it names.
func TestALaterRowGoesWhereTheSettingSays(t *testing.T) {
	const moved = ".mso-context/moved.db"
	for name, c := range map[string]struct {
		change func(d *desk)
		want   string
	}{
		"audit.json says otherwise": {func(d *desk) { d.write("audit.json", strings.Replace(d.read("audit.json"), theDB, "elsewhere.db", 1)) }, theDB},
		"the setting was changed":   {func(d *desk) { d.config(func(c *Config) { c.AuditDB = moved }) }, moved},
	} {
		t.Run(name, func(t *testing.T) {
			tell(t, func(d *desk) {
				d.level10()
				c.change(d)
				d.goes()
				d.tick("raise", "submit")
				d.goes(answered)
				if got := d.Rows("elsewhere.db"); len(got) != 0 {
					t.Errorf("a row went elsewhere: %+v", got)
				}
				if got := d.Rows(c.want); len(got) != 2 || got[0].Table != auditLogs || got[1].Table != userFeedback {
					t.Errorf("%s has %+v", c.want, got)
				}
			})
		})
	}
}

const askedDir = ".mso-context/active/20260302-msowd-sop-masking/optimizer"

func TestRowIDs(t *testing.T) {
	const run = "workspace/20260302-msowd-x"
	at := text("2026-03-02T23:59:59Z")
	audit := rowID(auditPrefix, run, 6, purposeAudit, at)
	if want := "TASK-20260302-" + strings.ToUpper(id(run, 6, "audit")); audit != want || len(audit) != 22 {
		t.Errorf("%s, want %s", audit, want)
	}
	seen := map[string]bool{}
	for _, other := range []string{
		audit, rowID(auditPrefix, run, 7, purposeAudit, at), rowID(auditPrefix, "20260302-msowd-x", 6, purposeAudit, at),
		rowID(auditPrefix, run, 6, purposeFeedback, at), rowID(auditPrefix, run, 6, purposeLate, at), rowID(auditPrefix, run, 6, purposeAudit, "2026-03-03T00:00:00Z"),
	} {
		if seen[other] {
			t.Errorf("%s is there twice", other)
		}
		seen[other] = true
	}
	// The day is the day in UTC.
	if got := rowID(feedbackPrefix, run, 1, purposeLate, "2026-03-02T08:00:00+09:00"); !strings.HasPrefix(got, "FB-20260301-") {
		t.Error(got)
	}
}

// column returns a column of a row; missing stands for one that the row does not have.
func column(r Row, name string) any {
	for _, m := range r.Row {
		if m.Name == name {
			return m.Value
		}
	}
	return "missing"
}

func TestTheAuditRowOfAReport(t *testing.T) {
	st := asked("ko")
	st.trig.OptimizationGoal = "fewer \"misses\""
	st.Decision.RecommendedLevel, st.Decision.EscalationNeeded = ptr(30), true
	got := auditRow(st, "TASK-20260302-9F3A61C2", askedDir, "2026-03-02T09:14:05Z")
	want := Row{ID: "TASK-20260302-9F3A61C2", Table: "audit_logs", Outcome: "owed", Row: schemas.Object{
		{Name: "id", Value: "TASK-20260302-9F3A61C2"},
		{Name: "date", Value: "2026-03-02"},
		{Name: "task_name", Value: "optimizer/sop-masking-engine"},
		{Name: "mode", Value: "workflow_optimization"},
		{Name: "action", Value: "level20_report"},
		{Name: "input_path", Value: askedDir + "/trigger.json"},
		{Name: "output_path", Value: askedDir + "/level20_report.md"},
		{Name: "status", Value: "success"},
		{Name: "notes", Value: nil},
		{Name: "context_for_next", Value: `{"run_id":"20260302-msowd-sop-masking","workflow_name":"sop-masking-engine","automation_level":20,"applied_level":20,` +
			`"rationale":["Signal A: 20","Signal B: 20","Signal C: 0"],"escalation_needed":true,"recommended_level":30}`},
		{Name: "continuation_hint", Value: nil},
		{Name: "work_type", Value: "review"},
		{Name: "triggered_by", Value: "user_request"},
		{Name: "duration_sec", Value: 125.0},
		{Name: "files_affected", Value: `["` + askedDir + `/level20_report.md"]`},
		{Name: "pattern_tag", Value: "workflow_optimization"},
		{Name: "session_id", Value: "20260302-msowd-sop-masking"},
		{Name: "intent", Value: `fewer "misses"`},
		{Name: "created_at", Value: "2026-03-02 09:14:05"},
		{Name: "updated_at", Value: "2026-03-02 09:14:05"},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// A cycle that is stopped later keeps its row.
	st.Status = Failed
	if diff := cmp.Diff(want, auditRow(st, "TASK-20260302-9F3A61C2", askedDir, "2026-03-02T09:14:05Z")); diff != "" {
		t.Errorf("stopped (-want +got):\n%s", diff)
	}
}

// The trees show the rows of failed cycles. This one failed before it began, because the clock was
// set back.
func TestTheAuditRowOfAFailedCycle(t *testing.T) {
	st := asked("en")
	st.Status, st.Report, st.Level.Current, st.trig.TriggerType = Failed, nil, 10, milestone
	row := auditRow(st, "TASK-20260302-00000000", askedDir, "2026-03-02T09:11:00Z")
	for name, want := range map[string]any{
		"action": "level10_failed", "status": "fail", "output_path": nil, "files_affected": nil, "triggered_by": "auto", "intent": nil, "duration_sec": 0.0,
		"script_path": "missing", "transition_decision": "missing", "sprint": "missing",
	} {
		if got := column(row, name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func TestTheFeedbackRow(t *testing.T) {
	st := asked("ko")
	st.Answer = &Given{Response: optRaise, Selected: []string{"s1"}, Comment: " 더\n자주 "}
	got := feedbackRow(st, "FB-20260303-0A1B2C3D", "min", "2026-03-03T10:00:00Z", false, *st.Answer)
	want := Row{ID: "FB-20260303-0A1B2C3D", Table: "user_feedback", Outcome: "owed", Row: schemas.Object{
		{Name: "id", Value: "FB-20260303-0A1B2C3D"},
		{Name: "date", Value: "2026-03-03"},
		{Name: "user_id", Value: "min"},
		{Name: "feedback_text", Value: `{"feedback_type":"level_adjustment","workflow_name":"sop-masking-engine","level_before":20,"level_after":30,` +
			`"accepted_suggestions":["희귀 라벨 검사 추가"],"rejected_suggestions":["Split the slow step"],"free_text":"더\n자주"}`},
		{Name: "source_ref_path", Value: askedDir + "/level20_report.md"},
		{Name: "impact_domain", Value: "workflow_optimization"},
		{Name: "impact_summary", Value: "Level 20 → 30, 1건 제안 수렴"},
		{Name: "reversibility", Value: "High"},
		{Name: "related_audit_id", Value: "TASK-20260302-9F3A61C2"},
		{Name: "created_at", Value: "2026-03-03 10:00:00"},
		{Name: "updated_at", Value: "2026-03-03 10:00:00"},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTheTypeOfAFeedback(t *testing.T) {
	for _, c := range []struct {
		level               int
		given               Given
		want, ko, inEnglish string
	}{
		{20, Given{Response: optLower, Selected: []string{"s1", "s2"}, Comment: "c"}, "level_adjustment", "Level 20 → 10, 2건 제안 수렴", "Level 20 → 10, 2 suggestions accepted"},
		{30, Given{Response: optAppropriate, Selected: []string{"s2"}}, "suggestion_acceptance", "Level 30 → 30, 1건 제안 수렴", "Level 30 → 30, 1 suggestions accepted"},
		{30, Given{Response: optRaise, Selected: []string{"s2"}}, "level_adjustment", "Level 30 → 30, 1건 제안 수렴", "Level 30 → 30, 1 suggestions accepted"},
		{10, Given{Response: optLower}, "level_adjustment", "Level 10 → 10, 0건 제안 수렴", "Level 10 → 10, 0 suggestions accepted"},
		{10, Given{Response: optAppropriate, Comment: "c"}, "free_text", "Level 10 → 10, 0건 제안 수렴", "Level 10 → 10, 0 suggestions accepted"},
	} {
		for lang, summary := range map[string]string{"ko": c.ko, "en": c.inEnglish} {
			st := asked(lang)
			st.Level.Current = c.level
			row := feedbackRow(st, "FB-20260303-0A1B2C3D", "", "2026-03-03T10:00:00Z", false, c.given)
			if got := column(row, "impact_summary"); got != summary {
				t.Errorf("%+v: %v, want %s", c.given, got, summary)
			}
			if said, _ := column(row, "feedback_text").(string); !strings.HasPrefix(said, `{"feedback_type":"`+c.want+`",`) {
				t.Errorf("%+v: %s", c.given, said)
			}
		}
	}
}

func TestUserOf(t *testing.T) {
	for _, c := range []struct {
		by    *By
		known []string
		want  string
	}{
		{&By{User: "min"}, []string{"committed:ha <ha@example.com>"}, "min"},
		{&By{}, []string{"owner:root", "committed:ha <ha@example.com>", "committed:other"}, "ha <ha@example.com>"},
		{&By{User: "root", Source: "form"}, []string{"owner:root"}, "root"},
		{&By{Source: "form"}, []string{"committed:ha <ha@example.com>"}, "ha <ha@example.com>"},
		{nil, []string{"owner:root"}, ""},
		{nil, nil, ""},
	} {
		if got := userOf(c.by, c.known); got != c.want {
			t.Errorf("%v, %q: %q, want %q", c.by, c.known, got, c.want)
		}
	}
}

func TestScenario11TheDatabaseCannotBeUsed(t *testing.T) {
	t.Run("the cycle goes on", func(t *testing.T) {
		tell(t, func(d *desk) {
			d.reporting()
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
			if len(d.rows(auditLogs)) != 1 || len(d.rows(userFeedback)) != 1 {
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
			d.holds("context.json", `"available": false`)
		})
	})
}

func TestTheDatabaseLiesWhereTheSettingSays(t *testing.T) {
	tellWith(t, func(c *Config) { c.AuditDB = "{root}/{run_id}/50_audit/agent_log.db" }, func(d *desk) {
		d.level20()
		if at := path.Join(".mso-context", runA, "50_audit/agent_log.db"); len(d.Rows(at)) != 1 || len(d.Rows(theDB)) != 0 {
			t.Errorf("in %s are %v, in the root's %v", at, d.Rows(at), d.Rows(theDB))
		}
	})
}

// Nothing is inserted while audit.json is bad; inserting continues once it is restored.
func TestABadAuditHoldsTheRows(t *testing.T) {
	tell(t, func(d *desk) {
		d.level20()
		good := d.read("audit.json")
		d.write("audit.json", `{"db": 7}`)
		d.tick("raise", "submit")
		d.pass(15 * time.Second)
		d.goes(answered)
		d.noted("audit.json.problem.md", "/db")
		d.write("audit.json", good)
		d.goes()
		if len(d.rows(auditLogs)) != 1 || len(d.rows(userFeedback)) != 1 {
			t.Errorf("the rows are %v", d.Rows(theDB))
		}
	})
}
