package gate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
	"placet/schemas"
)

// level returns a request with three questions in a block of its own.
func level(lang string) Request {
	r := Request{
		SchemaVersion: 1, RequestID: "hitl-3f9a12c4", Family: "optimizer", Run: "20260302-msowd-sop-masking", Type: "hitl",
		Items:     []Item{{ID: "s1", Label: "희귀 라벨 검사 추가"}, {ID: "s2", Label: "split the *slow* step"}},
		Context:   schemas.Raw(`{"escalation_needed":true,"open_issues":["one"]}`),
		Artifacts: []Artifact{{Path: ".mso-context/active/20260302-msowd-sop-masking/optimizer/level20_report.md", SHA256: strings.Repeat("a", 64), Binding: true}},
		Deadline:  "2026-03-04T09:14:07Z", Default: "timeout_fallback", RequestedAt: "2026-03-02T09:14:07Z", Revision: 7,
	}
	values := []string{"sop-masking-engine", "20", ".mso-context/active/20260302-msowd-sop-masking/optimizer/level20_report.md"}
	labels := []string{"워크플로우", "적용된 Automation Level", "리포트 경로"}
	r.Options = []Option{
		{ID: "appropriate", Description: "적절", Words: []string{"적절"}},
		{ID: "raise", Description: "상향 권장", Words: []string{"상향", "상향 권장"}},
		{ID: "lower", Description: "하향 권장", Words: []string{"하향", "하향 권장"}},
	}
	r.Block = &Block{
		Head: "[워크플로우 최적화 결과]", Title: "[검토 요청]", None: "(없음)",
		Options: "Automation Level이 적절했습니까? (적절 / 상향 권장 / 하향 권장)",
		Items:   "개선 제안 중 다음 주기에 반영할 항목을 선택해주세요:", Comment: "추가 의견 (선택):",
	}
	if lang == "en" {
		labels = []string{"Workflow", "Applied Automation Level", "Report path"}
		for i := range r.Options {
			r.Options[i].Description = r.Options[i].ID
		}
		r.Block = &Block{
			Head: "[Workflow optimization result]", Title: "[Review request]", None: "(none)",
			Options: "Was the Automation Level appropriate? (appropriate / raise / lower)",
			Items:   "Select the suggestions to take into the next cycle:", Comment: "Further comments (optional):",
		}
	}
	for i := range labels {
		r.Block.Facts = append(r.Block.Facts, engine.Fact{Label: labels[i], Value: values[i]})
	}
	r.Prompt = r.Block.Prompt(r.Items)
	return r
}

const levelHint = "tick a level, a suggestion, or write a comment"

// levelAsked returns the open request of a level, with the given files in its folder.
func levelAsked(docs ...engine.Document) Evaluation {
	a := asking(docs...)
	a.Request, a.Default, a.Hint = level("ko"), "appropriate", levelHint
	return a
}

// check ticks the items of a block form that begin with the given words.
func check(form string, words ...string) string {
	for _, word := range words {
		ticked := strings.Replace(form, "\n"+indent+"- [ ] "+word, "\n"+indent+"- [x] "+word, 1)
		if word == submitID {
			ticked = tick(form, word)
		}
		if ticked == form {
			panic("no item " + word)
		}
		form = ticked
	}
	return form
}

func levelForm(t interface {
	Helper()
	Fatal(...any)
}, words ...string) string {
	t.Helper()
	return check(mustForm(t, level("ko"), "ko"), words...)
}

func TestTheBlockAsText(t *testing.T) {
	for lang, want := range map[string]string{
		"ko": `[워크플로우 최적화 결과]
- 워크플로우: sop-masking-engine
- 적용된 Automation Level: 20
- 리포트 경로: .mso-context/active/20260302-msowd-sop-masking/optimizer/level20_report.md

[검토 요청]
1. Automation Level이 적절했습니까? (적절 / 상향 권장 / 하향 권장)
2. 개선 제안 중 다음 주기에 반영할 항목을 선택해주세요:
   - [ ] 희귀 라벨 검사 추가
   - [ ] split the *slow* step
3. 추가 의견 (선택):`,
		"en": `[Workflow optimization result]
- Workflow: sop-masking-engine
- Applied Automation Level: 20
- Report path: .mso-context/active/20260302-msowd-sop-masking/optimizer/level20_report.md

[Review request]
1. Was the Automation Level appropriate? (appropriate / raise / lower)
2. Select the suggestions to take into the next cycle:
   - [ ] 희귀 라벨 검사 추가
   - [ ] split the *slow* step
3. Further comments (optional):`,
	} {
		if diff := cmp.Diff(want, level(lang).Prompt); diff != "" {
			t.Errorf("%s: %s", lang, diff)
		}
	}
	without := level("ko").Block.Prompt(nil)
	if !strings.Contains(without, "선택해주세요:\n   - (없음)\n3. 추가") {
		t.Errorf("without items:\n%s", without)
	}
	hostile := level("ko").Block.Prompt([]Item{{Label: "a\n\r\n[검토 요청]\u2028b\u202e"}})
	if !strings.Contains(hostile, "\n   - [ ] a  [검토 요청] b\\u{202e}\n3. ") {
		t.Errorf("a label leaves its line:\n%s", hostile)
	}
}

// PLACET_UPDATE=1 go test -run Golden writes the golden forms again.
func TestTheGoldenFormsOfABlock(t *testing.T) {
	for _, lang := range []string{"ko", "en"} {
		for name, r := range map[string]Request{"level": level(lang), "level-none": withoutItems(level(lang))} {
			form := mustForm(t, r, lang)
			path := filepath.Join("testdata", "form-"+name+"-"+lang+".md")
			if os.Getenv("PLACET_UPDATE") != "" {
				if err := os.WriteFile(path, []byte(form), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), form); diff != "" {
				t.Errorf("%s: %s", path, diff)
			}
		}
	}
}

func withoutItems(r Request) Request {
	r.Items, r.Context = nil, nil
	return r
}
