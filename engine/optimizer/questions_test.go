package optimizer

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/engine/gate"
	"placet/schemas"
)

// asked is a cycle whose report is being judged, of level 20, with two
// suggestions.
func asked(lang string) State {
	return State{
		SchemaVersion: 1, RunID: "20260302-msowd-sop-masking", WorkflowName: "sop-masking-engine", Status: Awaiting, Revision: 7, Lang: lang,
		BeganAt: "2026-03-02T09:12:00Z", Level: &Level{Current: 20}, trig: Trigger{WorkflowName: "sop-masking-engine", TriggerType: direct},
		Decision:    &Decision{AutomationLevel: 20, Rationale: []string{"Signal A: 20", "Signal B: 20", "Signal C: 0"}, Signals: Signals{A: 20, B: ptr(20)}, SignalLevel: 20},
		Report:      &Report{Path: ".mso-context/active/20260302-msowd-sop-masking/optimizer/level20_report.md", At: "2026-03-02T09:14:05Z"},
		Suggestions: []Suggestion{{"s1", "희귀 라벨 검사 추가", high}, {"s2", "Split the slow step", normal}},
		AuditID:     "TASK-20260302-9F3A61C2", RequestID: "hitl-3f9a12c4",
	}
}

// TestTheBlockIsThePages compares with the text of the page and of the seed.
func TestTheBlockIsThePages(t *testing.T) {
	for lang, want := range map[string]string{
		"ko": `[워크플로우 최적화 결과]
- 워크플로우: sop-masking-engine
- 적용된 Automation Level: 20
- 리포트 경로: .mso-context/active/20260302-msowd-sop-masking/optimizer/level20_report.md

[검토 요청]
1. Automation Level이 적절했습니까? (적절 / 상향 권장 / 하향 권장)
2. 개선 제안 중 다음 주기에 반영할 항목을 선택해주세요:
   - [ ] 희귀 라벨 검사 추가
   - [ ] Split the slow step
3. 추가 의견 (선택):`,
		"en": `[Workflow optimization result]
- Workflow: sop-masking-engine
- Applied Automation Level: 20
- Report path: .mso-context/active/20260302-msowd-sop-masking/optimizer/level20_report.md

[Review request]
1. Was the Automation Level appropriate? (appropriate / raise / lower)
2. Select the suggestions to take into the next cycle:
   - [ ] 희귀 라벨 검사 추가
   - [ ] Split the slow step
3. Further comments (optional):`,
	} {
		if diff := cmp.Diff(want, block(asked(lang))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", lang, diff)
		}
	}
}

func TestTheBlockWithoutSuggestions(t *testing.T) {
	for lang, want := range map[string]string{"ko": "\n   - (없음)\n3. ", "en": "\n   - (none)\n3. "} {
		st := asked(lang)
		st.Suggestions = nil
		if got := block(st); !strings.Contains(got, want) {
			t.Errorf("%s: no %q in\n%s", lang, want, got)
		}
	}
}

// TestTheFormTakesTheBlock: options and items can be asked, and the words of the
// seed answer.
func TestTheFormTakesTheBlock(t *testing.T) {
	for lang, want := range map[string][]string{
		"ko": {"   - [ ] appropriate: 적절 → 레벨 20(으)로 진행\n", "   - [ ] raise: 상향 권장 → 레벨 30(으)로 진행\n", "   - [ ] lower: 하향 권장 → 레벨 10(으)로 진행\n", "   - [ ] s1: 희귀 라벨 검사 추가\n"},
		"en": {"   - [ ] appropriate: appropriate → goes on at level 20\n", "   - [ ] raise: raise → goes on at level 30\n", "   - [ ] lower: lower → goes on at level 10\n", "   - [ ] s2: Split the slow step\n"},
	} {
		st := asked(lang)
		b := blockOf(st)
		r := gate.Request{RequestID: string(st.RequestID), Family: "optimizer", Run: st.RunID, Type: "hitl", Options: st.levelOptions(), Items: offered(st), Prompt: block(st), Block: &b}
		form, err := gate.Form(r, "sha256:00112233445566778899", gate.Texts{Lang: lang})
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range want {
			if !strings.Contains(string(form), line) {
				t.Errorf("%s: no %q in\n%s", lang, line, form)
			}
		}
		for word, id := range map[string]string{
			"적절": optAppropriate, "상향": optRaise, "상향 권장": optRaise, "하향": optLower, "하향 권장": optLower, "appropriate": optAppropriate, "RAISE": optRaise, "lower": optLower,
		} {
			if got, ok := gate.Match(r.Options, word); !ok || got != id {
				t.Errorf("%s: %q is %q, %t", lang, word, got, ok)
			}
		}
	}
}

// Every option says what it does, in both languages: for a level, the one that the
// goal takes with it.
func TestEveryOptionHasAnEffect(t *testing.T) {
	for _, lang := range []string{"en", "ko"} {
		for _, option := range []string{optContinue, optStop, optRetry, optDemote} {
			if words := phrase(lang, "effect."+option); words == "" || strings.Contains(words, "effect.") {
				t.Errorf("%s: %s has no effect: %q", lang, option, words)
			}
		}
	}
	if words := phrase("en", "effect."+optStop); !gate.Refuses(optStop) || words != "ends this cycle for good" {
		t.Errorf("stop is shown as %q", words)
	}
	st := asked("en")
	for cur, want := range map[int]string{10: "10 20 10", 20: "20 30 10", 30: "30 30 20"} {
		st.Level.Current = cur
		var got []string
		for _, o := range st.levelOptions() {
			got = append(got, strings.TrimPrefix(o.Effect, "goes on at level "))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("at level %d: %q, want %q", cur, got, want)
		}
	}
}

// hitlContext are the members of the context of a request hitl, in the page's order.
var hitlContext = []string{
	"escalation_needed", "recommended_level", "signal_level", "goal_level", "demotions", "open_issues", "late_answer", "warnings",
}

// A form shows the context where it is not empty; request.json has every member.
func TestAFormShowsTheContextWhereItIsNotEmpty(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(d *desk)
		events  []string
		shown   []string
	}{
		"little": {func(d *desk) { d.assets(10); d.kpi(95) }, []string{triggered, collected, decided, reported, recorded},
			[]string{"escalation_needed", "signal_level", "warnings"}},
		"demoted": {func(d *desk) {
			d.assets(20)
			d.kpi(75)
			d.write("inputs/level-error.json", `{"level": 20, "error": "no data"}`)
		}, []string{triggered, collected, decided, demoted, reported, recorded},
			[]string{"escalation_needed", "recommended_level", "signal_level", "demotions", "warnings"}},
	} {
		t.Run(name, func(t *testing.T) {
			tell(t, func(d *desk) {
				c.prepare(d)
				d.trigger()
				d.goes(c.events...)
				var request struct {
					Context schemas.Object `json:"context"`
				}
				if err := schemas.Decode("", "request.json", []byte(d.read(d.request(typeHITL, "request.json"))), &request); err != nil {
					t.Fatal(err)
				}
				var names []string
				for _, m := range request.Context {
					names = append(names, m.Name)
				}
				if !slices.Equal(names, hitlContext) {
					t.Errorf("the context of request.json has %q", names)
				}
				form := d.read(d.request(typeHITL, "form.md"))
				for _, member := range hitlContext {
					if got, want := strings.Contains(form, `"`+member+`"`), slices.Contains(c.shown, member); got != want {
						t.Errorf("the form shows %s: %t\n%s", member, got, form)
					}
				}
			})
		})
	}
}

// A request that cannot be made again holds its answers, and says so.
func TestARequestThatCannotBeMadeAgainHoldsItsAnswers(t *testing.T) {
	tell(t, func(d *desk) {
		d.level10()
		rel := d.request(typeHITL, "request.json")
		request, found := d.read(rel), d.read("context.json")
		d.unlink(rel)
		d.write("context.json", strings.Replace(found, `"warnings": [`, "\"warnings\": [\n    \"x\",", 1))
		d.write(strings.Replace(rel, "request.json", "response.json", 1), `{"request_id": "`+strings.Split(rel, "/")[1]+`", "response": "raise", "provided_by": {"user": "kim", "source": "file"}}`)
		d.goes()
		d.noted(rel+".problem.md", "restore")
		d.write(rel, request)
		d.goes(answered)
		d.noted()
	})
}

// A late answer whose comment is too long says so, as one in time does.
func TestALateCommentThatIsTooLongIsNoted(t *testing.T) {
	tell(t, func(d *desk) {
		d.level10()
		d.pass(49 * 60 * 60e9)
		d.goes(timedOut)
		d.respond(typeHITL, `"comment": "`+strings.Repeat("x", gate.LongestAnswer+1)+`"`)
		d.goes()
		d.noted(d.request(typeHITL, "problem.md"), "expected at most")
	})
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

func TestARequestThatWasChangedHoldsAnswers(t *testing.T) {
	tell(t, func(d *desk) {
		d.level20()
		rel := d.request(typeHITL, "request.json")
		good := d.read(rel)
		d.write(rel, strings.Replace(good, `"raise"`, `"rise"`, 1))
		d.tick("raise", "submit")
		d.goes()
		d.noted(rel+".problem.md", "held until it is restored")
		d.pass(100 * time.Hour)
		d.goes()
		d.unlink(rel)
		d.goes(answered)
		d.noted()
		if d.read(rel) != good {
			t.Error("the request is another one")
		}
	})
}

// A request that is gone and cannot be made again holds an answer over its deadline,
// and nothing where nobody answers.
func TestARequestThatCannotBeMadeAgain(t *testing.T) {
	for _, answer := range []bool{true, false} {
		tell(t, func(d *desk) {
			d.level20()
			rel := d.request(typeHITL, "request.json")
			good, found := d.read(rel), d.read("context.json")
			if answer {
				d.tick("raise", "submit")
			}
			d.write("context.json", strings.Replace(found, `"warnings": [`, `"warnings": ["more", `, 1))
			d.unlink(rel)
			d.pass(100 * time.Hour)
			d.Lax = true
			if !answer {
				d.goes(timedOut)
				return
			}
			d.goes()
			d.status(Awaiting)
			d.write(rel, good)
			d.write("context.json", found)
			d.goes(answered)
			d.noted()
		})
	}
}

func TestAnAnswerToWhatNobodyAsks(t *testing.T) {
	tell(t, func(d *desk) {
		d.level20()
		before := d.read("state.json")
		d.write("requests/hitl-00000000/response.json", `{"request_id": "hitl-00000000", "response": "raise", "provided_by": {"user": "kim", "source": "file"}}`)
		d.goes()
		if d.read("state.json") != before {
			t.Error("it moved something")
		}
	})
}
