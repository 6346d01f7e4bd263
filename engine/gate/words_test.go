package gate

import (
	"slices"
	"strings"
	"testing"

	"placet/engine"
	"placet/templates"
)

// Lines that the reviewer adds anywhere below the first option are part of the comment.
func TestNoWordsAreLost(t *testing.T) {
	sent := comment(tick(mustForm(t, review()), "approve", submitID), "Use UTF-8")
	for name, c := range map[string]struct {
		form, comment, from string
	}{
		"under the ticked option": {replace("- [ ] request", "  but only on Friday\n- [ ] request")(sent), "Use UTF-8\n\nbut only on Friday", "under `approve`"},
		"under another, loosely":  {replace("- [ ] reject", "\nNot this one.\n\n- [ ] reject")(sent), "Use UTF-8\n\nNot this one.", "under `request_changes`"},
		"right above the comment": {replace("## Comment", "And then\nI decided.\n## Comment")(sent), "Use UTF-8\n\nAnd then\nI decided.", "under `reject`"},
		"below the heading":       {replace("## Comment\n", "## Comment\n\nHere?\n")(sent), "Use UTF-8\n\nHere?", "above the comment section"},
		"below submit":            {sent + "\nP.S. only if the tests pass\n", "Use UTF-8\n\nP.S. only if the tests pass", "below the last item"},
		"right below submit":      {sent + "only if", "Use UTF-8\n\nonly if", "below the last item"},
		"a comment there alone":   {tick(mustForm(t, review()), "approve", submitID) + "\n> quoted\n", "> quoted", "below the last item"},
		"in three places": {
			replace("- [ ] request", "  a\n\n  b\n- [ ] request", "## Comment", "c\n## Comment")(sent) + "\nd",
			"Use UTF-8\n\na\n\nb\n\nc\n\nd", "under `approve`, from under `reject`, from below the last item",
		},
		"in the section alone": {sent, "Use UTF-8", ""},
		"loose lists":          {replace("\n- [ ]", "\n\n- [ ]")(sent), "Use UTF-8", ""},
	} {
		doc := file("form.md", c.form)
		for _, issued := range [][]engine.Digest{nil, {engine.Sum([]byte(mustForm(t, review())))}} {
			doc.Issued = issued
			v := judge(asking(doc))
			if v.Answer == nil || v.Problem != "" {
				t.Errorf("%s: does not count: %s\n%s", name, v.Problem, c.form)
				continue
			}
			from := ""
			if c.from != "" {
				from = "the comment holds words from " + c.from
			}
			if v.Answer.Response != "approve" || strings.TrimSpace(v.Answer.Comment) != strings.TrimSpace(c.comment) || v.Answer.Reason() != from {
				t.Errorf("%s: comment %q, reason %q; want %q, %q", name, v.Answer.Comment, v.Answer.Reason(), c.comment, from)
			}
		}
	}
}

// Prettier leaves alone what stands between the two marks of the form. It collapses the blank lines
// below, and gives the last item another bullet than a list above it has.
func TestAFormThatPrettierSavedCounts(t *testing.T) {
	form := comment(tick(mustForm(t, review()), "approve", submitID), "- well done\n- indeed")
	saved := strings.NewReplacer("\n- [x] submit", "\n* [x] submit", " -->\n- well", " -->\n\n- well", "indeed\n\n\n", "indeed\n\n").Replace(form)
	v := judge(asking(file("form.md", saved)))
	if saved == form || v.Answer == nil || v.Answer.Response != "approve" || v.Answer.Comment != "- well done\n- indeed" {
		t.Errorf("%+v\n%s", v, saved)
	}
}

// Such text is the comment that an option requires, and the answer to an open question.
func TestWordsElsewhereAreAComment(t *testing.T) {
	asked := tick(mustForm(t, review()), "request_changes", submitID)
	if v := judge(asking(file("form.md", replace("- [ ] reject", "  Use UTF-8\n- [ ] reject")(asked)))); v.Answer == nil || v.Answer.Comment != "Use UTF-8" {
		t.Errorf("%+v", v)
	}
	a := asking()
	a.Request = clarification()
	a.Docs = []engine.Document{file("form.md", replace("## Comment", "PostgreSQL\n\n## Comment")(tick(mustForm(t, a.Request), submitID)))}
	if v := judge(a); v.Answer == nil || v.Answer.Response != "PostgreSQL" || v.Answer.Comment != "" {
		t.Errorf("%+v", v)
	}
	var many strings.Builder
	r := review()
	r.Options, r.CommentRequired = nil, nil
	for i := range 9 {
		r.Options = append(r.Options, Option{ID: string(rune('a' + i))})
	}
	for line := range strings.Lines(tick(mustForm(t, r), "a", submitID)) {
		if many.WriteString(line); boxLine.MatchString(strings.TrimSpace(line)) && !isSubmit(strings.TrimSpace(line)) {
			many.WriteString("words\n")
		}
	}
	a = asking(file("form.md", many.String()))
	a.Request = r
	if v := judge(a); v.Answer == nil || v.Answer.Reason() != "the comment holds words from under `a`, from under `b`, from under `c`, from under `d`, from under `e` and 4 other places" {
		t.Errorf("%+v", v)
	}
}

// A form that an earlier version wrote accepts added text too, whether or not this
// machine recorded it; any other change is reported with its line.
func TestAFormOfAnEarlierVersionTakesWords(t *testing.T) {
	for name, r := range map[string]Request{"general": review(), "several": reopening(), "block": level("ko")} {
		for _, lang := range templates.Languages() {
			earlier := templates.Earlier(mustForm(t, r, lang))
			if len(earlier) != 2 {
				t.Fatalf("%s, %s: %d earlier forms", name, lang, len(earlier))
			}
			for _, written := range earlier {
				id := r.Options[0].ID
				ticked := strings.Replace(written, "- [ ] "+id, "- [x] "+id, 1)
				a := asking(file("form.md", tick(ticked, submitID)))
				a.Request, a.Rendered = r, Rendered(func() ([]byte, error) { return []byte(mustForm(t, r, lang)), nil })
				lines := strings.Split(string(a.Docs[0].Body), "\n")
				at := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, "- [x] "+id) })
				lines = slices.Insert(lines, at+1, "only on Friday")
				for _, issued := range [][]engine.Digest{nil, {engine.Sum([]byte(written))}} {
					a.Docs[0].Issued, a.Docs[0].Body = issued, []byte(strings.Join(lines, "\n"))
					if v := judge(a); v.Answer == nil || v.Problem != "" || v.Answer.Comment != "only on Friday" {
						t.Errorf("%s, %s: %+v", name, lang, v)
					}
					a.Docs[0].Body = []byte(strings.Replace(strings.Join(lines, "\n"), "- [x] "+id, "- [x] now "+id, 1))
					if v := judge(a); v.Answer != nil || !strings.Contains(v.Problem, "now "+id) {
						t.Errorf("%s, %s: another change: %+v", name, lang, v)
					}
				}
			}
		}
	}
}
