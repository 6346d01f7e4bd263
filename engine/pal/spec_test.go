package pal

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"placet/schemas"
)

const koreanTable = "# Port: L1-auto-checklist\n\n> 자동 체크리스트 검증\n\n---\n\n## 메타데이터\n\n| 항목 | 값 |\n|------|-----|\n| ID | L1-auto-checklist |\n" +
	"| 타입 | atomic |\n| 레이어 | L1 (Core) |\n| 상태 | pending |\n| 우선순위 | high |\n| 의존성 | `LM-mcp-tools`, api |\n| 예상 토큰 | 6,000 |\n\n## 산출물\n\n" +
	"| 산출물 | 타입 | 의존성 |\n|---|---|---|\n| x | y | z |\n"

const koreanQuote = "# Phase 3: 명세\n\n> Port ID: agent-workflow\n> 상태: draft\n> 우선순위: medium\n> 의존성: hook, context\n\n---\n\n## 개요\n\n> 의존성: nothing\n"

func TestReadSpec(t *testing.T) {
	none := []string{}
	for name, c := range map[string]struct {
		body string
		want Spec
	}{
		"a Korean table": {koreanTable, Spec{ID: "L1-auto-checklist", DependsOn: []string{"LM-mcp-tools", "api"}, Title: "L1-auto-checklist", Type: "atomic", Priority: "high", Status: "pending"}},
		"an English table with more columns": {"# Orchestration Port: shop\n| Item | Note | Value |\n|:--|---|--:|\n| **Port ID** | | `shop` |\n| Depends on | n | a,,`b` , a |\n| Agent | | x \\| y |\nText | Status | done |\n",
			Spec{ID: "shop", DependsOn: []string{"a", "b"}, Title: "shop", Agent: "x | y"}},
		"a quoted block":             {koreanQuote, Spec{ID: "agent-workflow", DependsOn: []string{"hook", "context"}, Title: "Phase 3: 명세", Status: "draft", Priority: "medium"}},
		"an English quoted block":    {"# T\r\n\r\n> See https://example.com\r\n\r\n> Depends: a, b\r\n> owner: x\r\n> type: orchestration\r\n", Spec{DependsOn: []string{"a", "b"}, Title: "T", Type: "orchestration"}},
		"the table before the block": {"> ID: a\n> Dependencies: x\n\n| Item | Value |\n|---|---|\n| ID | b |\n", Spec{ID: "b", DependsOn: none}},
		"an empty table":             {"> ID: a\n\n| Item | Value |\n|---|---|\n\n| Item | Value |\n|---|---|\n| ID | b |\n", Spec{DependsOn: none}},
		"no metadata":                {"Text\n\n| 산출물 | 타입 |\n|---|---|\n| ID | x |\n\n- ID: y\nID: z\n", Spec{DependsOn: none}},
		"a block of other keys":      {"> owner: x\n> see: y\n\n> ID: a\n", Spec{ID: "a", DependsOn: none}},
		"a block after the heading":  {"## Section\n> ID: a\n", Spec{DependsOn: none}},
		"a block that text ends":     {"> ID: a\n> some text\n> Status: done\n", Spec{ID: "a", DependsOn: none}},
		"no delimiter":               {"| Item | Value |\n| ID | a |\n", Spec{DependsOn: none}},
		"code":                       {"```md\n# Not\n| Item | Value |\n|---|---|\n| ID | a |\n```\n~~~~\n~~~\n> ID: b\n~~~~ x\n> ID: c\n~~~~\n# Title\n> ID: d\n", Spec{ID: "d", DependsOn: none, Title: "Title"}},
		"code that does not end":     {"  ```go\n> ID: b\n", Spec{DependsOn: none}},
		"code in a line":             {"```x``` is code\n> ID: b\n", Spec{ID: "b", DependsOn: none}},
		"none, in three ways":        {"> 선행: 없음, None, -, \n", Spec{DependsOn: none}},
		"a status that stands twice": {"> ID: a\n> Status: draft\n> 상태: done\n", Spec{ID: "a", DependsOn: none, Status: "draft"}},
		"the same id twice":          {"> ID: a\n> Port ID: `a`\n", Spec{ID: "a", DependsOn: none}},
		"nothing":                    {"", Spec{DependsOn: none}},
	} {
		got, err := ReadSpec([]byte(c.body))
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

func TestSpecsThatCannotBeUsed(t *testing.T) {
	ids := make([]string, 501)
	for i := range ids {
		ids[i] = strings.Repeat("x", i+1)
	}
	for want, body := range map[string]string{
		"the file is not valid UTF-8: expected UTF-8":                                   "# T\xff",
		"the file is larger than 1 MiB: expected less":                                  strings.Repeat("x", 1<<20+1),
		`line 3, column 1: 선행 says "b", and line 2 says "a": expected one of them`:      "# T\n> 의존성: a\n> 선행: b\n",
		`line 4, column 1: Port ID says "b", and line 3 says "a": expected one of them`: "| Item | Value |\n|---|---|\n| ID | a |\n| Port ID | b |\n",
		"line 1, column 1: Depends lists 501 ports: expected at most 500":               "> Depends: " + strings.Join(ids, ",") + "\n",
	} {
		_, err := ReadSpec([]byte(body))
		var e *schemas.Error
		if !errors.As(err, &e) || err.Error() != want {
			t.Errorf("%v, expected %s", err, want)
		}
	}
}

// FuzzReadSpec checks that the result for any spec is well formed and follows from the text outside
// of fenced code.
func FuzzReadSpec(f *testing.F) {
	for _, body := range []string{koreanTable, koreanQuote, "", "|", "||\n|-|", "> :", "> a:", "```", "~~~\n```", "| Item | Value |\n|---|---|\n|\n| ID |", "> ID: \x00|*`", "# \n#  Port: "} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		s, err := ReadSpec([]byte(body))
		if err != nil {
			return
		}
		for i, id := range s.DependsOn {
			if id == "" || id == "-" || strings.Trim(id, " `*\n") != id || strings.Contains(id, ",") || slices.Index(s.DependsOn, id) != i {
				t.Fatalf("dependencies %q", s.DependsOn)
			}
		}
		for _, text := range []string{s.ID, s.Title, s.Type, s.Priority, s.Agent, s.Status} {
			if strings.Contains(text, "\n") || strings.TrimSpace(text) != text {
				t.Fatalf("%+q of %+v", text, s)
			}
		}
		again, err := ReadSpec([]byte("~~~~~~~~~~\n> ID: x\n# X\n~~~~~~~~~~\n" + body))
		if diff := cmp.Diff(s, again); diff != "" || err != nil {
			t.Fatalf("fenced code changes what is read: %v\n%s", err, diff)
		}
	})
}
