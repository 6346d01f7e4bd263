package optimizer

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestScenario01FromInputsToTheReviewerInOnePass(t *testing.T) {
	tellWith(t, korean, func(d *desk) {
		d.assets(20)
		d.kpi(87)
		d.write("retrieved.jsonl", retrievedLines)
		d.write("suggestions.json", threeSuggestions)
		d.trigger()
		d.goes(triggered, collected, decided, retrieved, reported, recorded)
		d.status(Awaiting)
		d.holds("level20_report.md", "# Workflow Optimization Report (Level 20)\n", "\n## 실행 요약\n", "\n## 분석 결과 (스크립트 기반)\n", "\n### 트렌드\n", "\n### 패턴\n",
			"\n### 이상치\n", "\n## 개선 제안\n", "<!-- placet "+runA+" r5 -->")
		if rows := d.rows(auditLogs); len(rows) != 1 || rows[0]["status"] != "success" || rows[0]["action"] != "level20_report" || rows[0]["id"] != string(d.state().AuditID) {
			t.Errorf("the rows are %v", rows)
		}
		st := d.state()
		if at := st.Deadline.Time(); at.Sub(st.Last.At.Time()) != 48*time.Hour {
			t.Errorf("the deadline is %s after %s", st.Deadline, st.Last.At)
		}
		var asked struct{ Type, Deadline, Default string }
		d.decode(d.request(typeHITL, "request.json"), &asked)
		if asked.Type != typeHITL || asked.Deadline != string(st.Deadline) || asked.Default != "timeout_fallback" {
			t.Errorf("asked %+v", asked)
		}
		d.noted()
	})
}

// said is what a row of user_feedback says in its feedback_text.
type said struct {
	FeedbackType string   `json:"feedback_type"`
	WorkflowName string   `json:"workflow_name"`
	Before       int      `json:"level_before"`
	After        int      `json:"level_after"`
	Accepted     []string `json:"accepted_suggestions"`
	Rejected     []string `json:"rejected_suggestions"`
	FreeText     string   `json:"free_text"`
}

// feedback is the one row of user_feedback, and what it says.
func (d *desk) feedback() (row map[string]any, text said) {
	d.T.Helper()
	rows := d.rows(userFeedback)
	if len(rows) != 1 {
		d.T.Fatalf("there are %d rows of feedback: %v", len(rows), rows)
	}
	decodeAt(d.T, "feedback_text", rows[0]["feedback_text"].(string), &text)
	return rows[0], text
}

func TestScenario04RaiseWithASuggestionAndAComment(t *testing.T) {
	tellWith(t, korean, func(d *desk) {
		d.level20()
		d.tick("raise", "s1", "submit")
		d.comment("월말 자료를 더 보자")
		d.goes(answered)
		if diff := cmp.Diff(Goal{30, []string{"규칙 정리"}, []string{"월말 자료를 더 보자"}, byHuman}, d.goal()); diff != "" {
			t.Errorf("the goal (-want +got):\n%s", diff)
		}
		row, text := d.feedback()
		want := said{"level_adjustment", flow, 20, 30, []string{"규칙 정리"}, []string{"희귀 라벨 검사 추가", "로그 줄이기"}, "월말 자료를 더 보자"}
		if diff := cmp.Diff(want, text); diff != "" {
			t.Errorf("the feedback (-want +got):\n%s", diff)
		}
		st := d.state()
		if row["impact_summary"] != "Level 20 → 30, 1건 제안 수렴" || row["related_audit_id"] != string(st.AuditID) || row["id"] != string(st.FeedbackID) ||
			row["impact_domain"] != "workflow_optimization" || row["reversibility"] != "High" || row["source_ref_path"] != st.Report.Path {
			t.Errorf("the row is %v", row)
		}
		var result struct {
			TriggerType string `json:"trigger_type"`
			Goal        Goal   `json:"goal"`
			Metadata    struct {
				LevelBefore   int  `json:"level_before"`
				LevelAfter    int  `json:"level_after"`
				HITLResponded bool `json:"hitl_responded"`
			} `json:"metadata"`
		}
		d.decode("optimizer_result.json", &result)
		if result.Goal.NextAutomationLevel != 30 || result.Metadata.LevelBefore != 20 || result.Metadata.LevelAfter != 30 || !result.Metadata.HITLResponded || result.TriggerType != direct {
			t.Errorf("the result is %+v", result)
		}
		d.noted()
	})
}

// answers of a reviewer to three suggestions, and what they come to.
func TestScenario05WhatAnAnswerComesTo(t *testing.T) {
	for name, test := range map[string]struct {
		level  int
		ticks  []string
		words  string
		want   Goal
		kind   string
		fields []string
	}{
		"only s2":             {level: 20, ticks: []string{"s2"}, want: Goal{20, []string{"희귀 라벨 검사 추가"}, []string{}, byHuman}, kind: "suggestion_acceptance"},
		"lower at 10":         {level: 10, ticks: []string{"lower"}, want: Goal{10, []string{}, []string{}, byHuman}, kind: "free_text"},
		"raise at 30":         {level: 30, ticks: []string{"raise"}, want: Goal{30, []string{}, []string{}, byHuman}, kind: "free_text"},
		"lower at 30":         {level: 30, ticks: []string{"lower"}, want: Goal{20, []string{}, []string{}, byHuman}, kind: "level_adjustment"},
		"only a comment":      {level: 20, words: "  나중에 보자  ", want: Goal{20, []string{}, []string{"나중에 보자"}, byHuman}, kind: "free_text"},
		"only appropriate":    {level: 20, ticks: []string{"appropriate"}, want: Goal{20, []string{}, []string{}, byHuman}, kind: "free_text"},
		"all, in their order": {level: 20, ticks: []string{"s3", "s1", "s2"}, want: Goal{20, []string{"규칙 정리", "희귀 라벨 검사 추가", "로그 줄이기"}, []string{}, byHuman}, kind: "suggestion_acceptance"},
	} {
		t.Run(name, func(t *testing.T) {
			tell(t, func(d *desk) {
				d.assets(test.level)
				d.write("retrieved.jsonl", retrievedLines)
				d.write("suggestions.json", threeSuggestions)
				d.trigger()
				d.Settle()
				d.tick(append(test.ticks, "submit")...)
				if test.words != "" {
					d.comment(test.words)
				}
				d.goes(answered)
				if diff := cmp.Diff(test.want, d.goal()); diff != "" {
					t.Errorf("the goal (-want +got):\n%s", diff)
				}
				if _, text := d.feedback(); text.FeedbackType != test.kind || text.Before != test.level || text.After != test.want.NextAutomationLevel {
					t.Errorf("the feedback is %+v", text)
				}
				d.write("../manifest.json", "") // whatever: no run follows of itself
				d.goes()
			})
		})
	}
}

func TestScenario06AnswersThatCannotBe(t *testing.T) {
	for name, ticks := range map[string][]string{"two levels": {"raise", "lower", "submit"}, "submit alone": {"submit"}} {
		t.Run(name, func(t *testing.T) {
			tell(t, func(d *desk) {
				d.level20()
				form := d.read(d.request(typeHITL, "form.md"))
				d.tick(ticks...)
				d.goes()
				d.noted(d.request(typeHITL, "problem.md"), "tick a level, a suggestion, or write a comment")
				d.status(Awaiting)
				d.write(d.request(typeHITL, "form.md"), form)
				d.tick("appropriate", "submit")
				d.goes(answered)
				d.noted()
			})
		})
	}
	t.Run("saved without submit", func(t *testing.T) {
		tell(t, func(d *desk) {
			d.level20()
			d.tick("raise", "lower", "s1")
			before := d.Tree()
			d.goes()
			if diff := cmp.Diff(before, d.Tree()); diff != "" {
				t.Errorf("something happened (-before +after):\n%s", diff)
			}
		})
	})
}

func TestScenario07SilenceAndLateAnswers(t *testing.T) {
	t.Run("late", func(t *testing.T) {
		tellWith(t, korean, func(d *desk) {
			d.level20()
			d.pass(48 * time.Hour)
			d.goes(timedOut)
			if diff := cmp.Diff(Goal{20, []string{}, []string{"HITL 미응답 — 다음 주기에 재검토 필요"}, byTimeout}, d.goal()); diff != "" {
				t.Errorf("the goal (-want +got):\n%s", diff)
			}
			d.holds(d.request(typeHITL, "receipt.json"), `"result": "expired"`)
			if rows := d.rows(userFeedback); len(rows) != 0 {
				t.Errorf("nobody answered, and yet %v", rows)
			}
			goal, state := d.read("goal.json"), d.read("state.json")
			d.tick("raise", "s2", "submit")
			d.comment("늦었지만")
			d.goes()
			var late Late
			d.decode("requests/"+d.asked(typeHITL)+"/late.json", &late)
			if late.Response != "raise" || !slices.Equal(late.Selected, []string{"s2"}) || late.Comment != "늦었지만" || late.RequestID != d.asked(typeHITL) || late.ReceivedAt != seconds(d.Now()) {
				t.Errorf("kept %+v", late)
			}
			if row, text := d.feedback(); text.After != 30 || text.FreeText != "늦었지만" || row["related_audit_id"] != string(d.state().AuditID) {
				t.Errorf("the row says %+v: %v", text, row)
			}
			if d.read("goal.json") != goal || d.read("state.json") != state {
				t.Error("goal or state is another one")
			}
			d.noted(d.request(typeHITL, "problem.md"), "late.json")
		})
	})
	t.Run("an answer that came while placet was down", func(t *testing.T) {
		tell(t, func(d *desk) {
			d.level20()
			d.tick("lower", "submit")
			d.pass(72 * time.Hour)
			d.Restart()
			d.goes(answered)
			if d.goal().NextAutomationLevel != 10 {
				t.Errorf("the goal is %+v", d.goal())
			}
			d.holds(d.request(typeHITL, "receipt.json"), `"late": true`)
		})
	})
	t.Run("never", func(t *testing.T) {
		tellWith(t, func(c *Config) { c.HITLTimeout = never }, func(d *desk) {
			d.level20()
			d.pass(400 * 24 * time.Hour)
			d.goes()
			d.status(Awaiting)
			d.holds(d.request(typeHITL, "request.json"), `"deadline": null`, `"default": null`)
		})
	})
	t.Run("the deadline stays whatever the settings become", func(t *testing.T) {
		tell(t, func(d *desk) {
			d.level20()
			at := d.state().Deadline
			d.config(func(c *Config) { c.HITLTimeout = "1h" })
			d.Restart()
			d.pass(2 * time.Hour)
			d.goes()
			if d.state().Deadline != at {
				t.Errorf("the deadline moved to %s", d.state().Deadline)
			}
		})
	})
}

func TestScenario20TwoAnswers(t *testing.T) {
	t.Run("alike", func(t *testing.T) {
		tell(t, func(d *desk) {
			d.level20()
			d.tick("raise", "s1", "submit")
			d.respond(typeHITL, `"response": "상향 권장"`, `"selected": ["s1"]`)
			d.goes(answered)
			if g := d.goal(); g.NextAutomationLevel != 30 || len(g.OptimizationDirectives) != 1 {
				t.Errorf("the goal is %+v", g)
			}
		})
	})
	t.Run("different", func(t *testing.T) {
		tell(t, func(d *desk) {
			d.level20()
			d.tick("raise", "submit")
			d.respond(typeHITL, `"response": "lower"`)
			d.Lax = true
			d.goes()
			d.noted(d.request(typeHITL, "problem.md"), "response.json")
			d.unlink(d.request(typeHITL, "response.json"))
			d.goes(answered)
			d.noted()
			if d.goal().NextAutomationLevel != 30 {
				t.Errorf("the goal is %+v", d.goal())
			}
		})
	})
	t.Run("another request", func(t *testing.T) {
		tell(t, func(d *desk) {
			d.level20()
			d.write(d.request(typeHITL, "response.json"), `{"request_id": "hitl-00000000", "response": "raise", "provided_by": {"user": "kim", "source": "file"}}`)
			d.goes()
			d.status(Awaiting)
			d.noted(d.request(typeHITL, "problem.md"), "hitl-00000000")
		})
	})
}

// Words that count for the level in response.json, and those that do not.
func TestScenario20WordsForTheLevel(t *testing.T) {
	each(t, map[string]int{"appropriate": 20, "적절": 20, "raise": 30, "상향": 30, "상향 권장": 30, "lower": 10, "하향": 10, "하향 권장": 10}, func(d *desk, next int) {
		d.level20()
		word := d.T.Name()[strings.LastIndex(d.T.Name(), "/")+1:]
		d.respond(typeHITL, `"response": "`+strings.ReplaceAll(word, "_", " ")+`"`)
		d.goes(answered)
		if got := d.goal().NextAutomationLevel; got != next {
			d.T.Errorf("the next level is %d, expected %d", got, next)
		}
	})
	bad := map[string][]string{
		"approve": {`"response": "approve"`}, "a number": {`"response": "30"`}, "no such suggestion": {`"response": "raise"`, `"selected": ["s4"]`},
		"nothing": {`"response": ""`}, "nothing at all": {}, "a level selected": {`"selected": ["raise"]`},
	}
	for name, fields := range bad {
		t.Run(name, func(t *testing.T) {
			tell(t, func(d *desk) {
				d.level20()
				d.respond(typeHITL, fields...)
				d.goes()
				d.noted(d.request(typeHITL, "problem.md"), "")
				d.respond(typeHITL, `"selected": ["s3"]`)
				d.goes(answered)
				d.noted()
			})
		})
	}
}

func TestScenario22TheSameInEnglish(t *testing.T) {
	tree := func(lang string) (st State, d2 struct{ report, form, request string }) {
		tellWith(t, func(c *Config) { c.Language = lang }, func(d *desk) {
			d.level20()
			st = d.state()
			d2.report, d2.form, d2.request = d.read("level20_report.md"), d.read(d.request(typeHITL, "form.md")), d.read(d.request(typeHITL, "request.json"))
			d.pass(48 * time.Hour)
			d.goes(timedOut)
			want := "No HITL response — review again in the next cycle"
			if lang == "ko" {
				want = "HITL 미응답 — 다음 주기에 재검토 필요"
			}
			if got := d.goal().CarryOverIssues; len(got) != 1 || got[0] != want {
				t.Errorf("%s: the issues are %q", lang, got)
			}
		})
		return st, d2
	}
	ko, _ := tree("ko")
	en, words := tree("en")
	if ko.Lang != "ko" || en.Lang != "en" || ko.Decision.AutomationLevel != en.Decision.AutomationLevel || !cmp.Equal(ko.KPI, en.KPI) || !cmp.Equal(ko.Suggestions, en.Suggestions) || ko.RequestID != en.RequestID || ko.AuditID != en.AuditID {
		t.Errorf("more than words differs:\n%s", cmp.Diff(ko.KPI, en.KPI))
	}
	for _, heading := range []string{"## Run summary", "## Analysis (from scripts)", "### Trends", "### Patterns", "### Outliers", "## Improvement suggestions"} {
		if !strings.Contains(words.report, "\n"+heading+"\n") {
			t.Errorf("the report has no %q:\n%s", heading, words.report)
		}
	}
	block := "[Workflow optimization result]\n- Workflow: sop-masking-engine\n- Applied Automation Level: 20\n- Report path: .mso-context/active/20260302-msowd-sop-masking/optimizer/level20_report.md\n\n" +
		"[Review request]\n1. Was the Automation Level appropriate? (appropriate / raise / lower)\n2. Select the suggestions to take into the next cycle:\n" +
		"   - [ ] 규칙 정리\n   - [ ] 희귀 라벨 검사 추가\n   - [ ] 로그 줄이기\n3. Further comments (optional):"
	var asked struct{ Prompt string }
	if err := json.Unmarshal([]byte(words.request), &asked); err != nil || asked.Prompt != block {
		t.Errorf("the block, %v (-want +got):\n%s", err, cmp.Diff(block, asked.Prompt))
	}
	for _, line := range []string{"   - [ ] raise: raise → goes on at level 30\n", "   - [ ] s1: 규칙 정리\n", "2. Select the suggestions to take into the next cycle:\n"} {
		if !strings.Contains(words.form, line) {
			t.Errorf("the form has no %q:\n%s", line, words.form)
		}
	}
}
