package optimizer

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"placet/engine/gate"
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
