package gate

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
	"placet/schemas"
	"placet/templates"
)

// tick ticks the items of a form that begin with the given words.
func tick(form string, words ...string) string {
	for _, word := range words {
		ticked := strings.Replace(form, "\n- [ ] "+word, "\n- [x] "+word, 1)
		if ticked == form {
			panic("no item " + word)
		}
		form = ticked
	}
	return form
}

// comment writes a text into the comment section of an unsubmitted or
// submitted form.
func comment(form, text string) string {
	at := strings.Index(form, "\n<!-- placet comment "+nonce(view)+": ") + 1
	at += strings.IndexByte(form[at:], '\n') + 1
	end := strings.LastIndex(form, "\n- [") + 1
	return form[:at] + "\n" + text + "\n\n" + form[end:]
}

func mustRead(t *testing.T, form string, r Request) FormAnswer {
	t.Helper()
	a, err := ReadForm("form.md", []byte(form), r)
	if err != nil {
		t.Fatalf("%v\n%s", err, form)
	}
	return a
}

// answered is what a form of the review says.
func answered(a FormAnswer) FormAnswer {
	a.RequestID, a.Digest, a.Submitted = review().RequestID, view, true
	return a
}

func TestAFormIsReadAsItWasTicked(t *testing.T) {
	form := mustForm(t, review())
	for _, c := range []struct {
		name string
		form string
		want FormAnswer
	}{
		{"an option", tick(form, "approve", submitID), FormAnswer{Ticked: []string{"approve"}}},
		{"another option with a comment", comment(tick(form, "request_changes", submitID), "Use UTF-8"),
			FormAnswer{Ticked: []string{"request_changes"}, Comment: "Use UTF-8"}},
		{"none", tick(form, submitID), FormAnswer{}},
		{"two", tick(form, "reject", "approve", submitID), FormAnswer{Ticked: []string{"approve", "reject"}}},
		{"an unknown word", strings.Replace(tick(form, submitID), "- [ ] reject:", "- [x] refuse:", 1), FormAnswer{Unknown: []string{"[x] refuse: Cancel this workflow run"}}},
		{"an item of one's own", strings.Replace(tick(form, "approve", submitID), "- [ ] reject", "- [x] maybe\n- [ ] reject", 1),
			FormAnswer{Ticked: []string{"approve"}, Unknown: []string{"[x] maybe"}}},
		{"words after an option", strings.Replace(tick(form, submitID), "- [ ] approve:", "- [x] approve, but later:", 1),
			FormAnswer{Unknown: []string{"[x] approve, but later: Continue to Build phase"}}},
		{"an option twice", strings.Replace(tick(form, "approve", submitID), "- [ ] reject", "- [x] Approve\n- [ ] reject", 1), FormAnswer{Ticked: []string{"approve"}}},
		{"other letters", strings.Replace(tick(form, submitID), "- [ ] request_changes:", "- [x] Request Changes :", 1), FormAnswer{Ticked: []string{"request_changes"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(answered(c.want), mustRead(t, c.form, review())); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNothingCountsBeforeSubmitIsTicked(t *testing.T) {
	a := mustRead(t, comment(tick(mustForm(t, review()), "approve"), "half an ans"), review())
	if a.Submitted {
		t.Errorf("%+v counts", a)
	}
}

func TestItemsAreReadInTheRequestsOrder(t *testing.T) {
	r := review()
	r.Items = []Item{{ID: "s1", Label: "one"}, {ID: "s2", Label: "two"}, {ID: "s11", Label: "eleven"}}
	a := mustRead(t, tick(mustForm(t, r), "s11", "s1", "approve", submitID), r)
	if diff := cmp.Diff(answered(FormAnswer{Ticked: []string{"approve"}, Items: []string{"s1", "s11"}}), a); diff != "" {
		t.Error(diff)
	}
}

func TestAFreeTextAnswerIsTheComment(t *testing.T) {
	r := review()
	r.Options = nil
	text := "Three lines\n\n1. of\n2. text"
	if a := mustRead(t, comment(tick(mustForm(t, r), submitID), text), r); a.Comment != text || len(a.Ticked) > 0 {
		t.Errorf("%+v", a)
	}
}

func TestAFormInAnyLanguageIsReadAlike(t *testing.T) {
	for _, lang := range templates.Languages() {
		form := comment(tick(mustForm(t, review(), lang), "reject", submitID), "아니요 いいえ")
		for name, form := range map[string]string{
			"whole":         form,
			"without marks": dropLines(form, "<!-- placet answer", "<!-- placet comment"),
		} {
			a := mustRead(t, form, review())
			a.Comment = strings.TrimSpace(a.Comment)
			if diff := cmp.Diff(answered(FormAnswer{Ticked: []string{"reject"}, Comment: "아니요 いいえ"}), a); diff != "" {
				t.Errorf("%s %s: %s", lang, name, diff)
			}
		}
	}
}

// dropLines drops the lines that begin with one of the texts.
func dropLines(form string, texts ...string) string {
	var kept []string
	for _, line := range strings.Split(form, "\n") {
		drop := false
		for _, text := range texts {
			drop = drop || strings.HasPrefix(line, text)
		}
		if !drop {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

func TestAFormSurvivesItsEditor(t *testing.T) {
	// Each edit changes how the form is written, not what it says.
	replace := func(pairs ...string) func(string) string {
		return strings.NewReplacer(pairs...).Replace
	}
	for name, edit := range map[string]func(string) string{
		"CRLF":                        replace("\n", "\r\n"),
		"CR":                          replace("\n", "\r"),
		"byte order mark":             func(s string) string { return "\ufeff" + s },
		"trailing blanks":             replace("\n", "  \n"),
		"no final newline":            func(s string) string { return strings.TrimRight(s, "\n") },
		"many final newlines":         func(s string) string { return s + "\n\n \t\n" },
		"capital X":                   replace("[x]", "[X]"),
		"stars":                       replace("- [", "* ["),
		"pluses":                      replace("- [", "+ ["),
		"numbers":                     replace("- [", "1. ["),
		"numbers with parentheses":    replace("- [", "7) ["),
		"three blanks before":         replace("- [", "   - ["),
		"three blanks behind":         replace("- [", "-   ["),
		"a tab behind":                replace("- [", "-\t["),
		"loose lists":                 replace("\n- [", "\n\n- ["),
		"tight document":              func(s string) string { return strings.ReplaceAll(s, "\n\n", "\n") },
		"escaped underscores":         replace("request_changes", `request\_changes`),
		"nested":                      replace("- [ ] approve", "- answers\n  - [ ] approve", "- [x] request", "  - [x] request", "- [ ] reject", "  - [ ] reject"),
		"wrapped text":                replace("Provide feedback for revision", "Provide\nfeedback\n  for revision"),
		"wrapped marks":               replace(" -->", "\n-->", ": write", ":\nwrite"),
		"wrapped first line":          replace(" sha256:", "\nsha256:"),
		"added prose":                 replace("- [ ] reject", "\nI thought about it.\n\n- [ ] reject", "## Comment", "And then I decided.\n\n## Comment"),
		"added prose without a blank": replace("- [ ] reject", "because\n- [ ] reject"),
		"added headings":              replace("Tick one", "### Options\n\nTick one", "## Comment", "### Note\n\n## Comment"),
		"other descriptions":          replace("Continue to Build phase", "no such thing `x` <b>"),
		"no descriptions":             replace(": Continue to Build phase", "", ": Provide feedback for revision (needs a comment)", ""),
		"answer mark lost":            func(s string) string { return dropLines(s, "<!-- placet answer") },
		"comment mark lost":           func(s string) string { return dropLines(s, "<!-- placet comment") },
		"headings lost":               func(s string) string { return dropLines(s, "## ") },
		"setext headings":             replace("## Your answer", "Your answer\n---", "## Comment", "Comment\n-------"),
		"setext headings, marks lost": func(s string) string {
			s = replace("## Your answer", "Your answer\n---", "## Comment", "Comment\n-------")(s)
			return dropLines(s, "<!-- placet answer", "<!-- placet comment")
		},
		"closed headings, marks lost": func(s string) string {
			return dropLines(replace("## Your answer", "##  Your  Answer ##", "## Comment", "## COMMENT ##")(s), "<!-- placet answer", "<!-- placet comment")
		},
		"everything above the answer lost": func(s string) string {
			first, rest, _ := strings.Cut(s, "\n")
			return first + "\n" + rest[strings.Index(rest, "<!-- placet answer"):]
		},
		"a comment of an editor at the end": func(s string) string { return s + "<!-- vim: set ft=markdown: -->\n" },
		"submit nested below the comment":   replace("- [x] submit", "- last\n    - [x] submit"),
		"submit in other letters":           replace("submit this answer", "Submit this Answer"),
	} {
		t.Run(name, func(t *testing.T) {
			form := edit(comment(tick(mustForm(t, review()), "request_changes", submitID), "Use UTF-8"))
			a := mustRead(t, form, review())
			a.Comment = strings.TrimSpace(a.Comment)
			a.Comment = strings.TrimSuffix(a.Comment, "\n\n- last") // of "submit nested"
			if diff := cmp.Diff(answered(FormAnswer{Ticked: []string{"request_changes"}, Comment: "Use UTF-8"}), a); diff != "" {
				t.Errorf("%s\n%s", diff, form)
			}
		})
	}
}

func TestWhatAnEditorPutOnOneLineIsAskedNotGuessed(t *testing.T) {
	form := tick(mustForm(t, review()), submitID)
	for _, lines := range []string{
		"- [x] approve: go on - [ ] reject: stop",
		"- [ ] approve: go on - [x] reject: stop",
		"- [ ] approve: go on 2. [X] reject: stop",
		"- [ ] approve: go on * [x] reject",
	} {
		form := strings.Replace(form, "- [ ] approve: Continue to Build phase", lines, 1)
		if a := mustRead(t, form, review()); len(a.Unknown) != 1 || len(a.Ticked) != 0 {
			t.Errorf("%q is read as %+v", lines, a)
		}
	}
}

func TestABoxThatLooksTickedIsAskedNotGuessed(t *testing.T) {
	for _, box := range []string{"[ x]", "[x ]", "[✓]", "[v]", "[xx]", "[*]"} {
		form := strings.Replace(tick(mustForm(t, review()), submitID), "- [ ] approve", "- "+box+" approve", 1)
		a := mustRead(t, form, review())
		if want := box + " approve: Continue to Build phase"; len(a.Ticked) > 0 || len(a.Unknown) != 1 || a.Unknown[0] != want {
			t.Errorf("%s: %+v", box, a)
		}
		form = strings.Replace(tick(mustForm(t, review()), "approve"), "- [ ] submit", "- "+box+" submit", 1)
		if _, err := ReadForm("form.md", []byte(form), review()); err == nil || !strings.Contains(err.Error(), box+" submit this answer") {
			t.Errorf("%s before submit: %v", box, err)
		}
	}
}

func TestABoxWithoutContentIsNotTicked(t *testing.T) {
	for _, box := range []string{"[]", "[  ]", "[\t]", "[ ]"} {
		form := strings.NewReplacer("- [ ] approve", "- "+box+" approve", "- [ ] submit", "- "+box+" submit").Replace(mustForm(t, review()))
		if a := mustRead(t, form, review()); a.Submitted || len(a.Ticked)+len(a.Unknown) > 0 {
			t.Errorf("%q: %+v", box, a)
		}
	}
}

func TestWhatLooksLikeAnItemAndIsNone(t *testing.T) {
	form := tick(mustForm(t, review()), "reject", submitID)
	for name, lines := range map[string]string{
		"a quote":            "> - [x] approve\n",
		"a quote in a list":  "- > - [x] approve\n",
		"fenced code":        "```\n- [x] approve\n```\n",
		"tilde fence":        "~~~\n- [x] approve\n~~~\n",
		"indented code":      "text\n\n    - [x] approve\n",
		"code in a list":     "- text\n\n      - [x] approve\n",
		"an HTML comment":    "<!--\n- [x] approve\n-->\n",
		"an HTML block":      "<div>\n- [x] approve\n</div>\n",
		"no list":            "[x] approve\n",
		"inside a paragraph": "text - [x] approve\n",
		"escaped":            `\- [x] approve` + "\n",
		"escaped box":        `- \[x] approve` + "\n",
		"a link":             "- [x](http://approve)\n",
		"a heading":          "- # [x] approve\n",
	} {
		t.Run(name, func(t *testing.T) {
			form := strings.Replace(form, "## Comment", lines+"\n## Comment", 1)
			if a := mustRead(t, form, review()); len(a.Unknown) > 0 || len(a.Ticked) != 1 || a.Ticked[0] != "reject" {
				t.Errorf("%+v\n%s", a, form)
			}
		})
	}
}

func TestACommentIsReturnedByteForByte(t *testing.T) {
	for name, text := range map[string]string{
		"blanks inside":               "one\n\n\n  two  \n\tthree",
		"a list":                      "- one\n- two\n  - three",
		"a numbered list":             "1. one\n2. two",
		"an option's item":            "- [x] approve: Continue to Build phase",
		"all of a form":               mustForm(t, review()),
		"a form ticked":               tick(mustForm(t, review()), "approve", submitID),
		"a submit item":               "- [x] submit this answer\n\nbut not really",
		"a code block":                "```go\nfunc f() {}\n```",
		"a code block never closed":   "see\n```\n- [x] submit this answer",
		"a submit item before one":    "- [x] submit this answer\n```",
		"an HTML comment never ended": "<!-- why\n- [x] approve",
		"an HTML block never ended":   "<pre>\n<script>",
		"headings":                    "### Reasons\n\ntext\n\nTitle\n---\n\n## Comment\n\n# One",
		"a quote":                     "> - [x] reject\nlazy",
		"marks":                       "<!-- placet answer " + nonce(view) + " -->\n<!-- placet comment " + nonce(view) + " -->",
		"a table":                     "| a |\n|---|\n| - [x] b |",
		"entities and escapes":        `&lt; \* \[x] <b> "quoted" {{.}}`,
		"characters that hide":        "a\u200bb\u202ec\x1bd",
		"a long line":                 strings.Repeat("word ", 20000),
		"deep quotes":                 strings.Repeat(">", 5000) + " x",
		"deep lists":                  strings.Repeat("- ", 5000) + "x",
	} {
		t.Run(name, func(t *testing.T) {
			form := comment(tick(mustForm(t, review()), "reject", submitID), text)
			want := strings.TrimRight(text, "\n")
			if diff := cmp.Diff(answered(FormAnswer{Ticked: []string{"reject"}, Comment: want}), mustRead(t, form, review())); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestACommentMayBeginOnTheLineOfItsMark(t *testing.T) {
	form := strings.Replace(tick(mustForm(t, review()), "reject", submitID), "the last one -->\n", "the last one -->Because\nof it.", 1)
	if a := mustRead(t, form, review()); a.Comment != "Because\nof it." {
		t.Errorf("comment %q", a.Comment)
	}
}

func TestAnUnsubmittedCommentWithASubmitItemSendsNothing(t *testing.T) {
	for _, text := range []string{"- [x] submit this answer", "- [x] submit this answer\n\n```", "<!--\n- [x] submit this answer"} {
		if a := mustRead(t, comment(tick(mustForm(t, review()), "approve"), text), review()); a.Submitted {
			t.Errorf("%q sends the form", text)
		}
	}
}

func TestFormsThatCannotBeRead(t *testing.T) {
	form := tick(mustForm(t, review()), "approve", submitID)
	other := review()
	other.RequestID = "fr-20251206-ffffff"
	for _, c := range []struct {
		name, form, want string
		torn             bool
	}{
		{"empty", "", "the form is empty", true},
		{"blank", " \n\n\t\r\n", "the form is empty", true},
		{"NUL bytes", form[:100] + "\x00\x00\x00", "NUL bytes", true},
		{"invalid UTF-8", strings.Replace(form, "phase", "ph\xe4se", 1), "line 28", true},
		{"conflict markers", strings.Replace(form, "## Comment", "<<<<<<< HEAD\n- [x] approve\n=======\n- [x] reject\n>>>>>>> other\n## Comment", 1), "merge-conflict markers", true},
		{"first line missing", form[strings.IndexByte(form, '\n')+1:], "line 1, column 1: the first line does not name the request", true},
		{"prose before the first line", "Hello\n" + form, "the first line does not name the request", true},
		{"first line quoted", "> " + form, "the first line does not name the request", true},
		{"a digest too short", strings.Replace(form, string(view), string(view)[:70], 1), "the first line does not name the request", true},
		{"another request", mustForm(t, other), "the form is for the request fr-20251206-ffffff: expected fr-20251206-a1b2c3", false},
		{"answer part lost", dropLines(form, "<!-- placet answer", "## Your answer"), "its answer line is missing", true},
		{"comment section lost", dropLines(form, "<!-- placet comment", "## Comment"), "its comment line is missing", true},
		{"marks of another view", strings.ReplaceAll(form, nonce(view)+" ", "00000000 "), "its answer line is missing", true},
		{"submit item lost", dropLines(form, "- [x] submit"), "its submit line is missing", true},
		{"submit item in code", strings.Replace(form, "- [x] submit this answer", "```\n- [x] submit this answer\n```", 1), "its submit line is missing", true},
		{"submit item quoted", strings.Replace(form, "- [x] submit", "> - [x] submit", 1), "its submit line is missing", true},
		{"submit item renamed", strings.Replace(form, "submit this answer", "submit", 1), "its submit line is missing", true},
		{"answer part in code", strings.Replace(form, "## Your answer", "```", 1), "its answer line is missing", true},
		{"cut in the middle", form[:len(form)-30], "its submit line is missing", true},
		{"text below the last item", form + "\nP.S. only if the tests pass\n", fmt.Sprintf("line %d, column 1: text stands below the last item", strings.Count(form, "\n")+2), false},
		{"text right below it", form + "only if the tests pass\n", "text stands below the last item", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ReadForm("requests/r/form.md", []byte(c.form), review())
			var e *schemas.Error
			if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "requests/r/form.md: ") || e.Torn != c.torn {
				t.Errorf("got %v (torn %v), want %q (torn %v)", err, e != nil && e.Torn, c.want, c.torn)
			}
		})
	}
}

func TestAHalfWrittenFormIsNeverSubmitted(t *testing.T) {
	form := comment(tick(mustForm(t, review()), "approve", submitID), "Looks good")
	whole := strings.TrimRight(form, "\n")
	for i := range len(whole) {
		if a, err := ReadForm("form.md", []byte(form[:i]), review()); err == nil && a.Submitted {
			t.Fatalf("the first %d of %d bytes are submitted: %+v", i, len(form), a)
		}
	}
}

func TestOnlyTheFirstLineSaysWhatWasShown(t *testing.T) {
	form := comment(tick(mustForm(t, review()), "approve", submitID), firstMark("fr-20251206-a1b2c3", engine.Sum([]byte("other"))))
	if a := mustRead(t, form, review()); a.Digest != view {
		t.Errorf("digest %s", a.Digest)
	}
}
