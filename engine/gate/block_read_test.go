package gate

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// said3 returns what a form of the level says, once it is sent.
func said3(a formAnswer) formAnswer {
	a.RequestID, a.Digest, a.Submitted = level("").RequestID, view, true
	return a
}

func TestABlockFormSurvivesItsEditor(t *testing.T) {
	for name, edit := range map[string]func(string) string{
		"untouched":        func(s string) string { return s },
		"CRLF":             replace("\n", "\r\n"),
		"trailing blanks":  replace("\n", "  \n"),
		"no final newline": func(s string) string { return strings.TrimRight(s, "\n") },
		"capital X":        replace("- [x]", "- [X]"),
	} {
		form := edit(comment(levelForm(t, "raise", "s2", submitID), "Use UTF-8"))
		a := mustRead(t, form, level("ko"))
		a.Comment = strings.TrimSpace(a.Comment)
		if diff := cmp.Diff(said3(formAnswer{Ticked: []string{"raise"}, Items: []string{"s2"}, Comment: "Use UTF-8"}), a); diff != "" {
			t.Errorf("%s: %s\n%s", name, diff, form)
		}
		if v := judge(levelAsked(file("form.md", form))); v.Answer == nil || v.Problem != "" {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

func TestAnythingElseThatDiffersVoidsABlockForm(t *testing.T) {
	whole := comment(levelForm(t, "raise", "s2", submitID), "Use UTF-8")
	for name, edit := range map[string]func(string) string{
		"blank lines above":        replace("\n1. ", "\n\n1. "),
		"nested by four":           replace("\n   - [", "\n    - ["),
		"nested by a tab":          replace("\n   - [", "\n\t- ["),
		"not nested":               replace("\n   - [", "\n- ["),
		"as Typora saves it":       replace("\n1. ", "\n1.  ", "\n   - [", "\n    *   ["),
		"all numbered one":         replace("\n2. ", "\n1. ", "\n3. ", "\n1. "),
		"questions as headings":    replace("\n1. ", "\n### 1. "),
		"no descriptions":          replace(": 하향 권장", ""),
		"the word alone":           replace("[x] raise: 상향 권장", "[x] 상향 권장"),
		"words exchanged":          replace("raise: 상향 권장", "raise: 하향 권장", "lower: 하향 권장", "lower: 상향 권장"),
		"an option deleted":        func(s string) string { return dropLines(s, "   - [ ] lower") },
		"marks lost":               func(s string) string { return dropLines(s, "<!-- placet answer", "<!-- placet comment") },
		"questions lost":           func(s string) string { return dropLines(s, "1. ", "2. ", "3. ") },
		"words behind a question":  replace("선택해주세요:", "선택해주세요: 상향"),
		"a comment behind a third": replace("의견 (선택):", "의견 (선택): 좋습니다"),
		"a tick in a quote":        replace("   - [ ] lower", "> - [x] lower"),
		"a tick in code":           replace("   - [ ] lower", "           - [x] lower"),
		"a tick without its dash":  replace("   - [ ] lower", "   [x] lower"),
		"an item more":             replace("   - [ ] lower", "   - [x] keep\n   - [ ] lower"),
	} {
		form := edit(whole)
		if v := judge(levelAsked(file("form.md", form))); form == whole || v.Answer != nil || v.Problem == "" {
			t.Errorf("%s: %+v\n%s", name, v, form)
		}
	}
}

func TestABlocksCommentIsReturnedByteForByte(t *testing.T) {
	for name, text := range map[string]string{
		"a list":                   "- one\n- two\n  - three",
		"a numbered list":          "3. one\n4. two",
		"a code block":             "```go\nfunc f() {}\n```",
		"headings":                 "### Reasons\n\ntext\n\nTitle\n---",
		"the third question again": "3. 추가 의견 (선택): none\n\nmore",
		"indented":                 "    four blanks\n\ttab",
	} {
		t.Run(name, func(t *testing.T) {
			form := comment(levelForm(t, "raise", submitID), text)
			want := said3(formAnswer{Ticked: []string{"raise"}, Comment: strings.TrimRight(text, "\n")})
			if diff := cmp.Diff(want, mustRead(t, form, level("ko"))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestABlockFormThatCannotBeRead(t *testing.T) {
	form := comment(levelForm(t, "raise", submitID), "text")
	for _, c := range []struct{ name, form, want string }{
		{"first mark lost", dropLines(form, "<!-- placet answer"), "its answer line is missing"},
		{"second mark lost", dropLines(form, "<!-- placet comment"), "its comment line is missing"},
		{"marks of another view", strings.ReplaceAll(form, nonce(view), "00000000"), "its answer line is missing"},
		{"submit lost", dropLines(form, "- [x] submit"), "its submit line is missing"},
		{"HTML below it", form + "\n<details>\n", "which may hide what stands below"},
	} {
		c.form = strings.Replace(c.form, "sha256:00000000", "sha256:"+nonce(view), 1)
		if _, err := readFormAt("form.md", []byte(c.form), level("ko")); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
