package gate

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

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

// readFormAt reads a form at a path, which its error names.
func readFormAt(path string, body []byte, r Request) (formAnswer, error) {
	f, err := readForm(body, r)
	if e := (*schemas.Error)(nil); errors.As(err, &e) {
		e.Path = path
	}
	return f.formAnswer, err
}

func mustRead(t *testing.T, form string, r Request) formAnswer {
	t.Helper()
	a, err := readFormAt("form.md", []byte(form), r)
	if err != nil {
		t.Fatalf("%v\n%s", err, form)
	}
	return a
}

// answered returns what a form of the review says.
func answered(a formAnswer) formAnswer {
	a.RequestID, a.Digest, a.Submitted = review().RequestID, view, true
	return a
}

func TestAFormIsReadAsItWasTicked(t *testing.T) {
	form := mustForm(t, review())
	for _, c := range []struct {
		name string
		form string
		want formAnswer
	}{
		{"an option", tick(form, "approve", submitID), formAnswer{Ticked: []string{"approve"}}},
		{"another option with a comment", comment(tick(form, "request_changes", submitID), "Use UTF-8"),
			formAnswer{Ticked: []string{"request_changes"}, Comment: "Use UTF-8"}},
		{"none", tick(form, submitID), formAnswer{}},
		{"two", tick(form, "reject", "approve", submitID), formAnswer{Ticked: []string{"approve", "reject"}}},
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
	if diff := cmp.Diff(answered(formAnswer{Ticked: []string{"approve"}, Items: []string{"s1", "s11"}}), a); diff != "" {
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
		a := mustRead(t, comment(tick(mustForm(t, review(), lang), "reject", submitID), "아니요 いいえ"), review())
		if diff := cmp.Diff(answered(formAnswer{Ticked: []string{"reject"}, Comment: "아니요 いいえ"}), a); diff != "" {
			t.Errorf("%s: %s", lang, diff)
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

// replace returns a function that replaces pairs of texts.
func replace(pairs ...string) func(string) string { return strings.NewReplacer(pairs...).Replace }

func TestAFormSurvivesItsEditor(t *testing.T) {
	for name, edit := range map[string]func(string) string{
		"CRLF":                   replace("\n", "\r\n"),
		"CR":                     replace("\n", "\r"),
		"byte order mark":        func(s string) string { return "\ufeff" + s },
		"trailing blanks":        replace("\n", "  \n"),
		"trailing blanks gone":   replace("proceed.  \n", "proceed.\n"),
		"no final newline":       func(s string) string { return strings.TrimRight(s, "\n") },
		"many final newlines":    func(s string) string { return s + "\n\n \t\n" },
		"capital X":              replace("- [x]", "- [X]"),
		"no blank lines around":  replace("-->\n\nUse UTF-8\n\n", "-->\nUse UTF-8\n"),
		"many blank lines there": replace("Use UTF-8", "\n\n\nUse UTF-8\n\n\n"),
	} {
		r := review()
		r.Prompt += "  \nSecond line"
		written := mustForm(t, r)
		form := edit(comment(tick(written, "request_changes", submitID), "Use UTF-8"))
		doc := file("form.md", form)
		for recorded, issued := range map[string][]engine.Digest{"not recorded": nil, "recorded": {"sha256:other", engine.Sum([]byte(written))}} {
			doc.Issued = issued
			a := asking(doc)
			a.Request = r
			if v := judge(a); v.Answer == nil || v.Answer.Response != "request_changes" || strings.TrimSpace(v.Answer.Comment) != "Use UTF-8" {
				t.Errorf("%s, %s: %+v\n%s", name, recorded, v, form)
			}
		}
	}
}

// edits are what an editor, a formatter, a person or an agent may change in a form besides
// its ticks and its comment.
var edits = map[string]func(string) string{
	"stars":                       replace("- [", "* ["),
	"pluses":                      replace("- [", "+ ["),
	"numbers":                     replace("- [ ]", "1. [ ]"),
	"three blanks before":         replace("- [ ]", "   - [ ]"),
	"three blanks behind":         replace("- [ ]", "-   [ ]"),
	"tight document":              func(s string) string { return strings.ReplaceAll(s, "\n\n", "\n") },
	"escaped underscores":         replace("request_changes", `request\_changes`),
	"wrapped text":                replace("Provide feedback for revision", "Provide\nfeedback\n  for revision"),
	"wrapped marks":               replace(" -->", "\n-->", ": write", ":\nwrite"),
	"wrapped first line":          replace(" sha256:", "\nsha256:"),
	"a comment behind its mark":   replace("the last one -->\n", "the last one -->Because\n"),
	"prose above the options":     replace("Tick one", "I thought about it.\n\nTick one"),
	"added headings":              replace("Tick one", "### Options\n\nTick one"),
	"other descriptions":          replace("Continue to Build phase", "no such thing"),
	"descriptions exchanged":      replace("Continue to Build phase", "Cancel this workflow run", "Cancel this workflow run", "Continue to Build phase"),
	"ids exchanged":               replace("- [ ] reject:", "- [ ] approve:", "- [x] approve:", "- [x] reject:"),
	"options in another order":    replace("- [ ] reject: Cancel this workflow run\n", "", "- [x] approve", "- [ ] reject: Cancel this workflow run\n- [x] approve"),
	"an option less":              replace("- [ ] reject: Cancel this workflow run\n", ""),
	"an option more":              replace("- [ ] reject", "- [ ] maybe\n- [ ] reject"),
	"an option twice":             replace("- [ ] reject", "- [x] approve\n- [ ] reject"),
	"an item hidden":              replace("- [ ] reject: Cancel this workflow run", "<!--\n- [ ] reject: Cancel this workflow run\n-->"),
	"an item folded away":         replace("- [ ] reject", "<details>\n\n- [ ] reject"),
	"an item in code":             replace("- [ ] reject", "```\n- [ ] reject"),
	"an item quoted":              replace("- [ ] reject", "> - [ ] reject"),
	"two items on a line":         replace("Build phase\n- [ ] request", "Build phase - [ ] request"),
	"another box":                 replace("- [ ] reject", "- [v] reject"),
	"an invisible character":      replace("- [ ] reject", "- [ ] re\u200bject"),
	"another letter":              replace("- [ ] reject", "- [ ] rejeсt"), // Cyrillic
	"another blank":               replace("Cancel this", "Cancel\u00a0this"),
	"two blanks":                  replace("Cancel this", "Cancel  this"),
	"another prompt":              replace("Please review the design", "Please review nothing"),
	"another artifact":            replace("](/specs/", "](/other/"),
	"other digest of an artifact": replace("(sha256:aaaa", "(sha256:bbbb"),
	"answer mark lost":            func(s string) string { return dropLines(s, "<!-- placet answer") },
	"comment mark lost":           func(s string) string { return dropLines(s, "<!-- placet comment") },
	"headings lost":               func(s string) string { return dropLines(s, "## ") },
	"all above the answer lost": func(s string) string {
		first, rest, _ := strings.Cut(s, "\n")
		return first + "\n" + rest[strings.Index(rest, "<!-- placet answer"):]
	},
	"a second answer mark":     replace("- [ ] reject", "<!-- placet answer "+nonce(view)+" -->\n- [ ] reject"),
	"a second comment mark":    replace("- [ ] reject", "<!-- placet comment "+nonce(view)+": x -->\n- [ ] reject"),
	"a comment below":          func(s string) string { return s + "<!-- vim: set ft=markdown: -->\n" },
	"submit in other letters":  replace("submit this answer", "Submit this Answer"),
	"words behind submit":      replace("submit this answer", "submit this answer: if the tests pass"),
	"submit nested":            replace("- [x] submit", "- last\n    - [x] submit"),
	"another language's":       replace("## Comment", "## 의견"),
	"the digest of the prompt": replace(string(view), string(engine.Sum(nil))),
}

func TestAnythingElseThatDiffersVoidsAForm(t *testing.T) {
	written := mustForm(t, review())
	whole := comment(tick(written, "approve", submitID), "Use UTF-8")
	for name, edit := range edits {
		form := edit(whole)
		if form == whole {
			t.Errorf("%s: nothing was changed", name)
		}
		doc := file("form.md", form)
		for _, issued := range [][]engine.Digest{nil, {engine.Sum([]byte(written))}} {
			doc.Issued = issued
			v := judge(asking(doc))
			if v.Answer != nil || !strings.Contains(v.Problem, "`"+present+"`") {
				t.Errorf("%s: %+v\n%s", name, v, form)
			}
		}
	}
}

func TestTheNoteShowsTheFirstDifference(t *testing.T) {
	whole := tick(mustForm(t, review()), "approve", submitID)
	long := strings.Repeat("word ", 50)
	for _, c := range []struct {
		edit string
		line string
		want []string
	}{
		{"another prompt", "line 12", []string{"placet wrote `> Please review the design and approve to proceed.`", "there stands `> Please review nothing and approve to proceed.`"}},
		{"prose above the options", "line 28", []string{"Tick one option", "there stands `I thought about it.`"}},
		{"an invisible character", "line 32", []string{"there stands `- [ ] re\\u{200b}ject: Cancel"}},
		{"another blank", "line 32", []string{"Cancel\\u{a0}this"}},
		{"two blanks", "line 32", []string{"Cancel\\u{20}\\u{20}this", "Cancel\\u{20}this"}},
		{"words behind submit", "line 41", []string{"placet wrote `- [ ] submit this answer`", "there stands `- [ ] submit this answer: if the tests pass`"}},
	} {
		v := judge(asking(file("form.md", edits[c.edit](whole))))
		for _, want := range append(c.want, "`"+present+"` does not count: only ticks and the comment may differ from what placet wrote, and "+c.line+" does", "Restore the line, or remove the file, and placet writes the form again.") {
			if !strings.Contains(v.Problem, want) {
				t.Errorf("%s: the note lacks %q:\n%s", c.edit, want, v.Problem)
			}
		}
	}
	r := review()
	r.Prompt = long + "one"
	a := asking(file("form.md", strings.Replace(tick(mustForm(t, r), "approve", submitID), long+"one", long+"two", 1)))
	a.Request = r
	if v := judge(a); !strings.Contains(v.Problem, "word one`\n") || !strings.Contains(v.Problem, "there stands `…") {
		t.Errorf("far in a long line:\n%s", v.Problem)
	}
}

// If this machine recorded the form, the record decides, however the request would be
// rendered now.
func TestTheRecordDecidesWhereThereIsOne(t *testing.T) {
	earlier := review()
	earlier.MayAnswer = []string{"alice"}
	written := mustForm(t, earlier)
	sent := comment(tick(written, "approve", submitID), "yes")
	for _, c := range []struct {
		name   string
		form   string
		issued []engine.Digest
		counts bool
	}{
		{"recorded, though it would look different now", sent, []engine.Digest{engine.Sum([]byte(written))}, true},
		{"not recorded, and it would look different", sent, nil, false},
		{"what would be rendered now, though another was recorded", tick(mustForm(t, review()), "approve", submitID), []engine.Digest{engine.Sum([]byte(written))}, false},
		{"recorded, with CRLF", strings.ReplaceAll(sent, "\n", "\r\n"), []engine.Digest{engine.Sum([]byte(written))}, true},
		{"recorded, its prompt changed", edits["another prompt"](sent), []engine.Digest{engine.Sum([]byte(written))}, false},
	} {
		doc := file("form.md", c.form)
		doc.Issued = c.issued
		if v := judge(asking(doc)); (v.Answer != nil) != c.counts || (v.Problem == "") != c.counts {
			t.Errorf("%s: %+v", c.name, v)
		}
	}
	doc := file("form.md", sent)
	doc.Issued = []engine.Digest{"sha256:other"}
	a := asking(doc)
	a.Rendered = func() [][]byte { return nil }
	if v := Judge(a); v.Answer != nil || !strings.Contains(v.Problem, "is not the form that this machine wrote") {
		t.Errorf("neither recorded nor rendered: %+v", v)
	}
}

// Every change of a form voids it, or is a tick, or is part of the comment. Ticks and the
// comment change nothing else.
func TestOnlyTicksAndTheCommentMayDiffer(t *testing.T) {
	for name, r := range map[string]Request{"general": review(), "block": level("ko"), "several": reopening()} {
		written := mustForm(t, r)
		lines := strings.Split(written, "\n")
		rapid.Check(t, func(t *rapid.T) {
			filled := slices.Clone(lines)
			for i, line := range filled {
				if strings.Contains(line, "- [ ] ") && rapid.Bool().Draw(t, "ticked") {
					filled[i] = strings.Replace(line, "[ ]", rapid.SampledFrom([]string{"[x]", "[X]"}).Draw(t, "tick"), 1)
				}
			}
			form := strings.Replace(strings.Join(filled, "\n"), "- [ ] submit", "- [x] submit", 1)
			form = comment(form, rapid.StringMatching(`[a-z \n]{0,40}`).Draw(t, "comment"))
			f, problem := readForm([]byte(form), r)
			if problem != nil {
				t.Fatalf("%s: %v\n%s", name, problem, form)
			}
			a := asking()
			a.Rendered = func() [][]byte { return [][]byte{[]byte(written)} }
			if why := a.void(engine.Document{}, &f); why != "" {
				t.Fatalf("%s: ticks and a comment void it: %s\n%s", name, why, form)
			}
			if got := strings.Join(f.blank(), "\n") + "\n"; got != written {
				t.Fatalf("%s: without them it is\n%s", name, got)
			}
			// One byte is added, removed or changed, anywhere except in the comment and the
			// boxes.
			at := rapid.IntRange(0, len(written)-2).Draw(t, "at")
			insert := rapid.SampledFrom([]string{"", "x", "a b", "\n", "\u200b", "- [x] approve\n", "\nonly then\n", "\n- [ ] tests\n"}).Draw(t, "insert")
			cut := rapid.IntRange(0, 3).Draw(t, "cut")
			spoilt := written[:at] + insert + written[min(len(written)-1, at+cut):]
			if plain(spoilt) == plain(written) {
				t.Skip("a tick, a line end, or the comment")
			}
			spoilt = strings.Replace(spoilt, "- [ ] submit", "- [x] submit", 1)
			f, problem = readForm([]byte(spoilt), r)
			if problem != nil || !f.Submitted || a.void(engine.Document{}, &f) != "" {
				return
			}
			if diff := cmp.Diff(textLines(spoilt), textLines(written+"\n"+f.Comment)); diff != "" {
				t.Fatalf("%s: %d bytes at %d replaced by %q count, and are not in the comment:\n%s", name, cut, at, insert, diff)
			}
			if first := strings.Index(written, "- [ ] "); !strings.HasPrefix(plain(spoilt), plain(written)[:first]) {
				t.Fatalf("%s: %d bytes at %d replaced by %q count above the first option", name, cut, at, insert)
			}
		})
	}
}

// textLines returns the non-blank lines of a text, without ticks, sorted.
func textLines(text string) []string {
	var all []string
	for line := range strings.Lines(plainTicks(text)) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	slices.Sort(all)
	return all
}

func plainTicks(form string) string {
	return strings.ReplaceAll(strings.ReplaceAll(form, "[x]", "[ ]"), "[X]", "[ ]")
}

// plain returns a form without the parts that may differ.
func plain(form string) string {
	form = plainTicks(form)
	if at := strings.LastIndex(form, "the last one -->\n"); at >= 0 {
		end := strings.LastIndex(form, "- [ ] submit")
		form = form[:at] + form[max(at, end):]
	}
	lines := strings.Split(form, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t")
	}
	return strings.Join(lines, "\n")
}

func TestABoxThatIsNoTickVoidsTheForm(t *testing.T) {
	for _, box := range []string{"[ x]", "[x ]", "[✓]", "[v]", "[xx]", "[*]", "[]", "[  ]", "[\t]"} {
		form := strings.Replace(tick(mustForm(t, review()), submitID), "- [ ] approve", "- "+box+" approve", 1)
		if v := judge(asking(file("form.md", form))); v.Answer != nil || !strings.Contains(v.Problem, "line 30 does") {
			t.Errorf("%s: %+v", box, v)
		}
		form = strings.Replace(tick(mustForm(t, review()), "approve"), "- [ ] submit", "- "+box+" submit", 1)
		if _, err := readFormAt("form.md", []byte(form), review()); err == nil || !strings.Contains(err.Error(), "its submit line is missing") {
			t.Errorf("%s before submit: %v", box, err)
		}
	}
}

func TestACommentIsReturnedByteForByte(t *testing.T) {
	for name, text := range map[string]string{
		"blanks inside":          "one\n\n\n  two  \n\tthree",
		"a list":                 "- one\n- two\n  - three",
		"a numbered list":        "1. one\n2. two",
		"items of one's own":     "- [ ] add tests\n- [x] read the design",
		"quoted items":           "> - [x] approve\n> <!-- x -->\n> - [ ] submit this answer",
		"items in code":          "```\n- [x] approve\n- [x] submit this answer\n<!--\n````",
		"HTML in code":           "use `<details>` and Map<String, List<X>>, if a<b and 3 <4\n~~~html\n<details>\n~~~",
		"all of a form, in code": "````\n" + mustForm(t, review()) + "````",
		"a code block":           "```go\nfunc f() {}\n```",
		"headings":               "### Reasons\n\ntext\n\nTitle\n---\n\n## Comment\n\n# One",
		"a quote":                "> - [x] reject\nlazy",
		"a table":                "| a |\n|---|\n| - [x] b |",
		"entities and escapes":   `&lt; \* \[x] <b> "quoted" {{.}}`,
		"a long line":            strings.Repeat("word ", 20000),
		"deep quotes":            strings.Repeat(">", 5000) + " x",
		"deep lists":             strings.Repeat("- ", 5000) + "x",
	} {
		t.Run(name, func(t *testing.T) {
			form := comment(tick(mustForm(t, review()), "reject", submitID), text)
			want := strings.TrimRight(text, "\n")
			if diff := cmp.Diff(answered(formAnswer{Ticked: []string{"reject"}, Comment: want}), mustRead(t, form, review())); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Text in the comment that could be mistaken for a part of the form, or hides one, voids
// the form.
func TestACommentThatPlaysTheFormVoidsIt(t *testing.T) {
	for name, text := range map[string]string{
		"an option's item":            "- [x] approve: Continue to Build phase",
		"an unticked one":             "text\n\n  * [ ] Approve",
		"one without its dash":        "[x] approve",
		"one with its box escaped":    `* \[x\] approve`,
		"one with an invisible blank": "- [x] app\u200brove",
		"an indented one":             "text\n\n    - [x] approve",
		"behind a closed fence":       "```\ncode\n```\n- [x] approve",
		"behind what is no fence":     "```a`\n- [x] approve",
		"in a fence in a list":        "- ```\n- [x] approve",
		"below a fence in a list":     "1. one\n   ```\n- [x] approve",
		"behind a quote":              "> ```\n- [x] approve",
		"a submit item":               "- [x] submit this answer\n\nbut not really",
		"an unticked submit item":     "- [ ] submit this answer",
		"all of a form":               mustForm(t, review()),
		"a mark":                      "<!-- placet answer " + nonce(view) + " -->",
		"the comment's mark":          "<!-- placet comment " + nonce(view) + " -->",
		"an HTML comment":             "<!-- why -->",
		"an HTML comment never ended": "see <!-- why",
		"an HTML block":               "text\n<pre>",
		"a folded part":               "text <details><summary>more</summary>",
		"a hidden part":               `text <span class="x" hidden>`,
		"a tag over two lines":        "text <div\nhidden>",
		"a processing instruction":    "<?php",
		"behind an escaped backquote": "\\` <details> `",
		"in a list":                   "- 1. <template>",
	} {
		form := comment(tick(mustForm(t, review()), "reject", submitID), text)
		v := judge(asking(file("form.md", form)))
		if v.Answer != nil || !strings.Contains(v.Problem, "the comment holds") && !strings.Contains(v.Problem, "a mark of the form stands twice") {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

func TestACodeBlockThatSwallowsTheLastItemVoidsTheForm(t *testing.T) {
	for _, text := range []string{"see\n```\ncode", "~~~~\n~~~", "```\n> ```"} {
		_, err := readFormAt("form.md", []byte(comment(tick(mustForm(t, review()), "reject", submitID), text)), review())
		if err == nil || !strings.Contains(err.Error(), "the last item stands in a code block that the comment opens and never closes") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestAnUnsubmittedCommentWithASubmitItemSendsNothing(t *testing.T) {
	for text, noted := range map[string]bool{
		"- [x] submit this answer":           true,
		"- [x] submit this answer\n\n```":    true,
		"<!--\n- [x] submit this answer":     true,
		"- [ ] submit this answer":           false,
		"> - [x] submit this answer":         false,
		"- [x] approve\n<details>":           false,
		"```\n- [x] submit this answer\n```": false,
	} {
		v := judge(asking(file("form.md", comment(tick(mustForm(t, review()), "approve"), text))))
		if v.Answer != nil || (v.Problem != "") != noted {
			t.Errorf("%q: %+v", text, v)
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
		{"invalid UTF-8", strings.Replace(form, "phase", "ph\xe4se", 1), "line 30", true},
		{"conflict markers", strings.Replace(form, "## Comment", "<<<<<<< HEAD\n- [x] approve\n=======\n- [x] reject\n>>>>>>> other\n## Comment", 1), "merge-conflict markers", true},
		{"first line missing", form[strings.IndexByte(form, '\n')+1:], "line 1, column 1: the first line does not name the request", true},
		{"prose before the first line", "Hello\n" + form, "the first line does not name the request", true},
		{"first line quoted", "> " + form, "the first line does not name the request", true},
		{"a digest too short", strings.Replace(form, string(view), string(view)[:70], 1), "the first line does not name the request", true},
		{"another request", mustForm(t, other), "the form is for the request fr-20251206-ffffff: expected fr-20251206-a1b2c3", false},
		{"answer part lost", dropLines(form, "<!-- placet answer"), "its answer line is missing", true},
		{"comment section lost", dropLines(form, "<!-- placet comment"), "its comment line is missing", true},
		{"marks of another view", strings.ReplaceAll(form, nonce(view)+" ", "00000000 "), "its answer line is missing", true},
		{"submit item lost", dropLines(form, "- [x] submit"), "its submit line is missing", true},
		{"submit item in code", strings.Replace(form, "- [x] submit this answer", "```\n- [x] submit this answer\n```", 1), "the last item stands in a code block", true},
		{"submit item quoted", strings.Replace(form, "- [x] submit", "> - [x] submit", 1), "its submit line is missing", true},
		{"submit item renamed", strings.Replace(form, "submit this answer", "submit", 1), "its submit line is missing", true},
		{"cut in the middle", form[:len(form)-30], "its submit line is missing", true},
		{"an item below the last item", form + "\n* [X] reject: Cancel\n", "the comment holds an item that looks like one of the form", false},
		{"HTML below the last item", form + "<!-- only if\n", "which may hide what stands below", false},
		{"open code below the last item", form + "```\nonly if\n", "the code block that begins with ``` never closes", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := readFormAt("requests/r/form.md", []byte(c.form), review())
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
		if a, err := readFormAt("form.md", []byte(form[:i]), review()); err == nil && a.Submitted {
			t.Fatalf("the first %d of %d bytes are submitted: %+v", i, len(form), a)
		}
	}
}
