package cli_test

import (
	"strings"
	"testing"
)

// wordsAttacks are answers that would lose a part: an answer is accepted with all the text
// beside it, or not at all.
var wordsAttacks = []attack{
	{"words beside the comment section", "a reviewer writes a condition under the option that they tick, and it is dropped", func(t *testing.T, p *place) {
		p.runs = newPlace(t, p.root, 5).runs
		p.placet("once")
		for i, c := range []struct{ at, write, from string }{
			{"- [ ] request_changes", "  but only on Friday\n- [ ] request_changes", "under `approve`"},
			{"## Comment", "but only on Friday\n\n## Comment", "under `reject`"},
			{"## Comment\n", "## Comment\n\nbut only on Friday\n", "above the comment section"},
			{"the last one -->\n", "the last one -->\n\nbut only on Friday\n", ""},
		} {
			p.write(p.request(i)+"/form.md", strings.Replace(p.ticked(i, "approve"), c.at, c.write, 1))
			p.placet("once")
			p.said(t, i, c.from)
		}
		p.write(p.request(4)+"/form.md", p.ticked(4, "approve")+"\nbut only on Friday\n")
		p.placet("once")
		p.said(t, 4, "below the last item")
	}},
	{"words on an option's own line", "a reviewer adds a condition to the option itself, which nobody can tell from a forged option", func(t *testing.T, p *place) {
		p.askedOnce(t)
		form := p.request(0) + "/form.md"
		p.write(form, strings.Replace(p.ticked(0, "approve"), "- [x] approve", "- [x] approve but only on Friday", 1))
		if p.onceMoved(0) {
			t.Error("it counts")
		}
		p.says(p.problem(), "line ", "placet wrote `- [ ] approve: Continue", "there stands `- [ ] approve but only on Friday")
	}},
	{"two forms in one", "two complete copies of a form stand in one file, the first approves and the second rejects, and both are sent", func(t *testing.T, p *place) {
		p.runs = newPlace(t, p.root, 4).runs
		p.placet("once")
		for i, copies := range [][2]string{{"approve", "reject"}, {"approve", ""}, {"", "approve"}, {"approve", "approve"}} {
			form := p.request(i) + "/form.md"
			text := ""
			for _, option := range copies {
				one := p.read(form)
				if option != "" {
					one = p.ticked(i, option)
				}
				text += one + "\n"
			}
			p.write(form, text)
			if p.onceMoved(i) {
				t.Errorf("%q counts", copies)
			}
			p.says(p.read(p.request(i)+"/problem.md"), "an item that looks like one of the form", "line ")
		}
	}},
	{"an option twice", "an option, a mark or the last item stands twice in a form, and nobody can tell which counts", func(t *testing.T, p *place) {
		p.askedOnce(t)
		form := p.request(0) + "/form.md"
		ticked := p.ticked(0, "approve")
		_, mark, _ := strings.Cut(ticked, "<!-- placet answer ")
		mark, _, _ = strings.Cut("<!-- placet answer "+mark, "\n")
		for what, double := range map[string]string{
			"the option":          "- [x] approve: Continue to next phase\n- [ ] request_changes",
			"the option unticked": "- [ ] approve\n- [ ] request_changes",
			"the last item":       "- [x] submit this answer\n- [ ] request_changes",
			"a mark":              mark + "\n- [ ] request_changes",
		} {
			p.write(form, strings.Replace(ticked, "- [ ] request_changes", double, 1))
			if p.onceMoved(0) {
				t.Errorf("%s twice counts", what)
			}
			p.says(p.problem(), "line ")
		}
	}},
	{"a misspelled member of a response", "a tool writes \"comments\", and the words vanish with the answer taken", func(t *testing.T, p *place) {
		p.askedOnce(t)
		response := p.request(0) + "/response.json"
		honest := p.response(0, "approve", "but only on Friday")
		for name, says := range map[string]string{"comments": "`comments` (did you mean `comment`?)", "Comment": "`Comment` (did you mean `comment`?)", "condition": "nobody reads its `condition`"} {
			p.write(response, strings.Replace(honest, `"comment"`, `"`+name+`"`, 1))
			if p.onceMoved(0) {
				t.Errorf("%q: the answer is taken without the words", name)
			}
			p.says(p.problem(), "`"+response+"`", says)
		}
		p.write(response, strings.Replace(honest, "{", `{"$schema": "x", "x-trace": 1, `, 1))
		if !p.onceMoved(0) {
			t.Errorf("a member of the tool's own keeps the answer from counting: %s", p.problem())
		}
		p.said(t, 0, "")
	}},
}

// said checks that the text in an answered form is in the comment wherever that goes, and that
// the receipt says where it was.
func (p *place) said(t *testing.T, i int, from string) {
	t.Helper()
	p.verify(i, "approve")
	receipt := p.read(p.request(i) + "/receipt.json")
	for name, text := range map[string]string{"receipt.json": receipt, "state.json": p.read(p.runs[i] + "/state.json")} {
		if !strings.Contains(text, `"comment": "but only on Friday"`) {
			t.Errorf("%s has lost the words: %s", name, text)
		}
	}
	if !strings.Contains(p.read(p.runs[i]+"/resume.md"), "but only on Friday") {
		t.Errorf("resume.md has lost the words: %s", p.read(p.runs[i]+"/resume.md"))
	}
	want := `"reason": ""`
	if from != "" {
		want = `"reason": "the comment holds words from ` + from + `"`
	}
	if !strings.Contains(receipt, want) {
		t.Errorf("the receipt does not say %s: %s", want, receipt)
	}
}
