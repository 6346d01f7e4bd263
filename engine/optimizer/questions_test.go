package optimizer

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/engine/gate"
)

// asked returns a cycle at level 20 whose report, with two suggestions, a person is judging.
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
		if diff := cmp.Diff(want, blockOf(asked(lang)).Prompt(offered(asked(lang)))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", lang, diff)
		}
	}
}

// A late answer with a comment that is too long gets the same note as one in time.
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

func TestARequestThatWasChangedHoldsAnswers(t *testing.T) {
	tell(t, func(d *desk) {
		d.level20()
		rel := d.request(typeHITL, "request.json")
		d.write(rel, strings.Replace(d.read(rel), `"raise"`, `"rise"`, 1))
		d.tick("raise", "submit")
		d.goes()
		d.noted(rel+".problem.md", "held until it is restored")
		d.pass(100 * time.Hour)
		d.goes()
		d.unlink(rel)
		d.goes(answered)
	})
}

// A request that is gone and cannot be made again keeps an answer beyond its deadline, and keeps
// nothing if nobody answers.
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
			d.noted(rel+".problem.md", "restore")
			d.write(rel, good)
			d.write("context.json", found)
			d.goes(answered)
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

// The words of the seed answer in both languages, whatever the form's language.
func TestTheWordsForTheLevel(t *testing.T) {
	for _, lang := range []string{"ko", "en"} {
		for word, id := range map[string]string{
			"적절": optAppropriate, "상향": optRaise, "상향 권장": optRaise, "하향": optLower, "하향 권장": optLower, "appropriate": optAppropriate, "RAISE": optRaise, "lower": optLower,
		} {
			if got, ok := gate.Match(asked(lang).levelOptions(), word); !ok || got != id {
				t.Errorf("%s: %q is %q, %t", lang, word, got, ok)
			}
		}
	}
	if !gate.Refuses(optStop) {
		t.Error("to stop is not to refuse")
	}
}

func TestScenario20TwoAnswersAlike(t *testing.T) {
	tell(t, func(d *desk) {
		d.level20()
		d.tick("raise", "s1", "submit")
		d.respond(typeHITL, `"response": "상향 권장"`, `"selected": ["s1"]`)
		d.goes(answered)
	})
}

func TestScenario06SubmitAlone(t *testing.T) {
	tell(t, func(d *desk) {
		d.level20()
		form := d.read(d.request(typeHITL, "form.md"))
		d.tick("submit")
		d.goes()
		d.noted(d.request(typeHITL, "problem.md"), "tick a level, a suggestion, or write a comment")
		d.write(d.request(typeHITL, "form.md"), form)
		d.tick("appropriate", "submit")
		d.goes(answered)
	})
}

func TestScenario20TwoAnswersThatDiffer(t *testing.T) {
	tell(t, func(d *desk) {
		d.level20()
		d.tick("raise", "submit")
		d.respond(typeHITL, `"response": "lower"`)
		d.Lax = true
		d.goes()
		d.noted(d.request(typeHITL, "problem.md"), "response.json")
		d.unlink(d.request(typeHITL, "response.json"))
		d.goes(answered)
	})
}

func TestScenario20AnswersThatCannotBe(t *testing.T) {
	each(t, map[string][]string{
		"no such suggestion": {`"response": "raise"`, `"selected": ["s4"]`}, "nothing at all": {}, "a level selected": {`"selected": ["raise"]`},
	}, func(d *desk, fields []string) {
		d.level20()
		d.respond(typeHITL, fields...)
		d.goes()
		d.noted(d.request(typeHITL, "problem.md"), "")
		d.respond(typeHITL, `"selected": ["s3"]`)
		d.goes(answered)
	})
}
