package gate

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// said3 is what a form of the level says, once it is sent.
func said3(a FormAnswer) FormAnswer {
	a.RequestID, a.Digest, a.Submitted = level("").RequestID, view, true
	return a
}

func replaced(pairs ...string) func(string) string { return strings.NewReplacer(pairs...).Replace }

// withoutMark drops the mark of a part.
func withoutMark(part string) func(string) string {
	return func(s string) string { return dropLines(s, "<!-- placet "+part) }
}

func TestABlockFormSurvivesItsEditor(t *testing.T) {
	both := func(s string) string { return dropLines(s, "<!-- placet answer", "<!-- placet comment") }
	for name, edit := range map[string]func(string) string{
		"untouched":              func(s string) string { return s },
		"CRLF":                   replaced("\n", "\r\n"),
		"trailing blanks":        replaced("\n", "  \n"),
		"no final newline":       func(s string) string { return strings.TrimRight(s, "\n") },
		"blank lines between":    replaced("\n   - [", "\n\n   - [", "\n2. ", "\n\n2. ", "\n3. ", "\n\n3. "),
		"a blank line after all": replaced("\n", "\n\n"),
		"tight":                  func(s string) string { return strings.ReplaceAll(s, "\n\n", "\n") },
		"nested by two":          replaced("\n   - [", "\n  - ["),
		"nested by four":         replaced("\n   - [", "\n    - ["),
		"nested by five":         replaced("\n   - [", "\n     - ["),
		"nested by a tab":        replaced("\n   - [", "\n\t- ["),
		"not nested":             replaced("\n   - [", "\n- ["),
		"not nested, apart":      replaced("\n   - [", "\n\n- [", "\n2. ", "\n\n2. ", "\n3. ", "\n\n3. "),
		"stars":                  replaced("- [", "* ["),
		"pluses, capital X":      replaced("- [", "+ [", "[x]", "[X]"),
		"as Typora saves it":     replaced("\n1. ", "\n1.  ", "\n2. ", "\n2.  ", "\n3. ", "\n3.  ", "\n   - [", "\n    *   [", "\n- [", "\n*   ["),
		"all numbered one":       replaced("\n2. ", "\n1. ", "\n3. ", "\n1. "),
		"numbers in parentheses": replaced("\n1. ", "\n1) ", "\n2. ", "\n2) ", "\n3. ", "\n3) "),
		"questions as headings":  replaced("\n1. ", "\n### 1. ", "\n2. ", "\n### 2. ", "\n3. ", "\n### 3. "),
		"no descriptions":        replaced(": 적절", "", ": 상향 권장", "", ": 하향 권장", "", ": 희귀 라벨 검사 추가", ""),
		"translated":             replaced("raise: 상향 권장", "raise: 上げる", "s2: split", "s2: 分ける"),
		"the word alone":         replaced("[x] raise: 상향 권장", "[x] 상향 권장"),
		"the short word":         replaced("[x] raise: 상향 권장", "[x] 상향"),
		"the word spelled":       replaced("[x] raise: 상향 권장", "[x]  상향_권장 : raise"),
		"other options deleted":  func(s string) string { return dropLines(s, "   - [ ] appropriate", "   - [ ] lower", "   - [ ] s1") },
		"answer mark lost":       withoutMark("answer"),
		"comment mark lost":      withoutMark("comment"),
		"both marks lost":        both,
		"both lost, renumbered":  func(s string) string { return both(replaced("\n2. ", "\n1. ", "\n3. ", "\n1. ")(s)) },
		"both lost, CRLF":        func(s string) string { return replaced("\n", "\r\n")(both(s)) },
		"both lost, as headings": func(s string) string {
			return both(replaced("\n1. ", "\n### 1. ", "\n3. ", "\n### 3. ")(s))
		},
		"both lost, escaped":      func(s string) string { return both(replaced("\n1. ", "\n\n1\\. ", "\n3. ", "\n\n3\\. ")(s)) },
		"both lost, not numbered": func(s string) string { return both(replaced("\n1. ", "\n\n", "\n3. ", "\n\n")(s)) },
		"questions lost":          func(s string) string { return dropLines(s, "1. ", "2. ", "3. ") },
		"wrapped marks":           replaced(" -->", "\n-->"),
		"all above lost": func(s string) string {
			first, rest, _ := strings.Cut(s, "\n")
			return first + "\n" + rest[strings.Index(rest, "<!-- placet answer"):]
		},
	} {
		t.Run(name, func(t *testing.T) {
			form := edit(comment(levelForm(t, "raise", "s2", submitID), "Use UTF-8"))
			a := mustRead(t, form, level("ko"))
			a.Comment = strings.TrimSpace(a.Comment)
			if diff := cmp.Diff(said3(FormAnswer{Ticked: []string{"raise"}, Items: []string{"s2"}, Comment: "Use UTF-8"}), a); diff != "" {
				t.Errorf("%s\n%s", diff, form)
			}
		})
	}
}

func TestABlocksCommentIsReturnedByteForByte(t *testing.T) {
	for name, text := range map[string]string{
		"a list":                     "- one\n- two\n  - three",
		"a numbered list":            "3. one\n4. two",
		"an option's item":           "   - [x] lower: 하향 권장\n- [x] s1",
		"a code block":               "```go\nfunc f() {}\n```",
		"a code block never closed":  "see\n```\n- [x] submit this answer",
		"headings":                   "### Reasons\n\ntext\n\nTitle\n---",
		"all of the form":            levelForm(t),
		"the form, answered":         levelForm(t, "lower", "s1", submitID),
		"the third question again":   "3. 추가 의견 (선택): none\n\nmore",
		"indented":                   "    four blanks\n\ttab",
		"a line that hides the mark": "<!-- why\n- [x] lower",
	} {
		t.Run(name, func(t *testing.T) {
			form := comment(levelForm(t, "raise", submitID), text)
			want := said3(FormAnswer{Ticked: []string{"raise"}, Comment: strings.TrimRight(text, "\n")})
			if diff := cmp.Diff(want, mustRead(t, form, level("ko"))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestACommentBehindTheThirdQuestionIsOne(t *testing.T) {
	behind := func(form, text string) string {
		return strings.Replace(form, "3. 추가 의견 (선택):", "3. 추가 의견 (선택):"+text, 1)
	}
	form := levelForm(t, "raise", submitID)
	for name, c := range map[string]struct{ form, want string }{
		"on its line":              {behind(form, " 좋습니다"), "좋습니다"},
		"below it, above the mark": {behind(form, "\n   - a\n   - [x] lower"), "- a\n   - [x] lower"},
		"and below the mark":       {behind(comment(form, "more\n  text"), " 좋습니다"), "좋습니다\nmore\n  text"},
		"its mark lost":            {dropLines(behind(comment(form, "more"), " 좋습니다"), "<!-- placet comment"), "좋습니다\n\n\nmore"},
		"without its colon":        {strings.Replace(form, "(선택):", "(선택) 네", 1), "네"},
	} {
		want := said3(FormAnswer{Ticked: []string{"raise"}, Comment: c.want})
		if diff := cmp.Diff(want, mustRead(t, c.form, level("ko"))); diff != "" {
			t.Errorf("%s: %s\n%s", name, diff, c.form)
		}
	}
}

func TestATickThatABlockFormHidesIsAskedNotPassedOver(t *testing.T) {
	form := levelForm(t, "s1", submitID)
	for name, lines := range map[string]string{
		"indented as code":     "           - [x] raise: 상향 권장",
		"in code":              "```\n- [x] raise: 상향 권장\n```",
		"in a quote":           "> - [x] raise: 상향 권장",
		"without its dash":     "   [x] raise: 상향 권장",
		"with another dash":    "   • [x] raise: 상향 권장",
		"with a wrong tick":    "> - [v] raise: 상향 권장",
		"with its box escaped": "   * \\[x\\] raise: 상향 권장",
		"unknown":              "   - [x] keep",
		"two on one line":      "   - [x] raise: 상향 권장 - [ ] lower: 하향 권장",
		"a tick that is not":   "   - [ x] raise: 상향 권장",
	} {
		form := strings.Replace(form, "   - [ ] raise: 상향 권장", lines, 1)
		if a := mustRead(t, form, level("ko")); len(a.Unknown) == 0 || len(a.Ticked) > 0 || len(a.Items) != 1 {
			t.Errorf("%s: %+v\n%s", name, a, form)
		}
		if v := Judge(levelAsked(file("form.md", form))); v.Answer != nil || !strings.Contains(v.Problem, "ticks that name nothing") {
			t.Errorf("%s counts: %+v", name, v)
		}
	}
	prose := strings.Replace(form, "   - [ ] raise: 상향 권장", "[why](http://a) and [1] and\n[ok] not\n\n- \\[x\\] is a tick\n- \\[ \\] raise", 1)
	if a := mustRead(t, prose, level("ko")); len(a.Unknown) > 0 {
		t.Errorf("prose is asked about: %q", a.Unknown)
	}
}

func TestWordsBehindAQuestionAreAskedAbout(t *testing.T) {
	for _, question := range []string{"(적절 / 상향 권장 / 하향 권장)", "선택해주세요:"} {
		form := strings.Replace(levelForm(t, "s1", submitID), question, question+" 상향", 1)
		v := Judge(levelAsked(file("form.md", form)))
		if v.Answer != nil || !strings.Contains(v.Problem, "text stands behind a question, where it is not read: 상향: expected a ticked item below it") {
			t.Errorf("%s: %+v", question, v)
		}
	}
}

func TestABlockFormThatCannotBeRead(t *testing.T) {
	form := comment(levelForm(t, "raise", submitID), "text")
	for _, c := range []struct{ name, form, want string }{
		{"mark and first question lost", dropLines(form, "<!-- placet answer", "1. "), "its answer line is missing"},
		{"mark and third question lost", dropLines(form, "<!-- placet comment", "3. "), "its comment line is missing"},
		{"mark lost, the question there twice", strings.Replace(dropLines(form, "<!-- placet comment"), "\ntext\n", "\n3. 추가 의견 (선택): x\n", 1), "its comment line is missing"},
		{"marks of another view", strings.ReplaceAll(form, nonce(view), "00000000"), "its answer line is missing"},
		{"submit lost", dropLines(form, "- [x] submit"), "its submit line is missing"},
		{"text below it", form + "\nP.S.\n", "text stands below the last item"},
	} {
		c.form = strings.Replace(c.form, "sha256:00000000", "sha256:"+nonce(view), 1)
		if _, err := ReadForm("form.md", []byte(c.form), level("ko")); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
