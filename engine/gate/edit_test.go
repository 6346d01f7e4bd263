package gate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
)

const plan = "# Plan\n\n```sh\nrm -r old\n```\n"

// editable returns the request of the review, about an editable file.
func editable() Request {
	r := review()
	text := plan
	r.Artifacts = []Artifact{{Path: "plan.md", SHA256: engine.Sum([]byte(plan)).Hex(), Binding: true, Text: &text, Editable: true}}
	return r
}

// judgeEdited judges a form of the request of which placet may have written only one
// version.
func judgeEdited(t *testing.T, form string) (Decision, string) {
	t.Helper()
	a := asking(file("form.md", form))
	a.Request, a.Rendered = editable(), func() [][]byte { return [][]byte{[]byte(mustForm(t, editable()))} }
	v := judge(a)
	if v.Answer == nil {
		return Decision{}, v.Problem
	}
	return *v.Answer, v.Problem
}

// The text between the marks is approved, whatever it contains and however the editor saves
// the rest.
func TestATextIsChangedInItsForm(t *testing.T) {
	for name, c := range map[string]struct{ change, want string }{
		"a word":              {"rm -r old→mv old older", "# Plan\n\n```sh\nmv old older\n```\n"},
		"an item of the form": {"rm -r old→rm -r old\n- [x] reject\n- [x] submit this answer", "# Plan\n\n```sh\nrm -r old\n- [x] reject\n- [x] submit this answer\n```\n"},
		"a longer fence":      {"rm -r old→`````\nrm", "# Plan\n\n```sh\n`````\nrm\n```\n"},
		"lines at both ends":  {"# Plan→\n\n# Plan", "\n\n# Plan\n\n```sh\nrm -r old\n```\n"},
		"nothing":             {"→", ""},
		"blanks at the ends":  {"rm -r old→rm -r old  \t", ""},
		"line ends":           {"\n→\r\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			from, to, _ := strings.Cut(c.change, "→")
			form := tick(mustForm(t, editable()), "approve", submitID)
			head, rest, _ := strings.Cut(form, "<!-- placet text 1 ")
			text, tail, ok := strings.Cut(rest, "<!-- placet end 1 ")
			if !ok {
				t.Fatalf("the form has no marks:\n%s", form)
			}
			form = head + "<!-- placet text 1 " + strings.ReplaceAll(text, from, to) + "<!-- placet end 1 " + tail
			if from == "" {
				form = head + "<!-- placet text 1 " + text + "<!-- placet end 1 " + tail
			}
			var want []Edit
			if c.want != "" {
				want = []Edit{{"plan.md", c.want}}
			}
			got, problem := judgeEdited(t, form)
			if diff := cmp.Diff(want, got.Edits); diff != "" || got.Response != "approve" || problem != "" {
				t.Errorf("%s %q %s", got.Response, problem, diff)
			}
		})
	}
}

// A change that nobody could see, or that removes the marks around the text, does not
// count, and the note names the line in the reviewer's form.
func TestAChangeThatDoesNotCount(t *testing.T) {
	for name, c := range map[string]struct{ from, to, says string }{
		"hidden":                {"rm -r old", "rm -r old \u200b/", "characters that nobody can see"},
		"empty":                 {plan, "", "it is empty"},
		"a conflict":            {"rm -r old", "<<<<<<< HEAD\nrm\n=======\nmv\n>>>>>>> theirs", "merge-conflict"},
		"no mark":               {"<!-- placet end 1 ", "<!-- placet ends ", "the line that ends the text"},
		"no fence":              {"````\n# Plan", "# Plan", "a line around the text"},
		"a line below the text": {"What counts is this text.", "What counts is that text.", "line %d "},
		"hidden comment":        {"\n\n\n\n- [x] submit", "\n\nfine <!-- no -->\n\n- [x] submit", "line %d,"},
	} {
		t.Run(name, func(t *testing.T) {
			form := tick(mustForm(t, editable()), "approve", submitID)
			form = strings.Replace(form, "# Plan\n", "# Plan\n1\n2\n3\n", 1)
			if c.from == plan {
				form = strings.Replace(form, "# Plan\n1\n2\n3\n", "# Plan\n", 1)
			}
			changed := strings.Replace(form, c.from, c.to, 1)
			if changed == form {
				t.Fatalf("%q is not there:\n%s", c.from, form)
			}
			if strings.Contains(c.says, "%d") {
				at := strings.Index(changed, strings.TrimSpace(strings.TrimSuffix(c.to, "\n\n- [x] submit")))
				c.says = fmt.Sprintf(c.says, strings.Count(changed[:at], "\n")+1)
			}
			got, problem := judgeEdited(t, changed)
			if got.Counts() || !strings.Contains(problem, c.says) {
				t.Errorf("counts: %v; says %q, want %q", got.Counts(), problem, c.says)
			}
		})
	}
}

// A response.json changes texts of the request, each once, and no others.
func TestAResponseChangesTexts(t *testing.T) {
	for edits, c := range map[string]struct {
		want []Edit
		says string
	}{
		`[{"path": "plan.md", "text": "another\n"}]`:                                     {want: []Edit{{"plan.md", "another\n"}}},
		`[{"path": "plan.md", "text": "# Plan\n\n` + "```sh\\nrm -r old\\n```" + `\n"}]`: {},
		`[]`:                                  {},
		`null`:                                {},
		`[{"path": "other.md", "text": "x"}]`: {says: "changes `other.md`, which this request lets nobody change"},
		`[{"path": "plan.md", "text": "x"}, {"path": "plan.md", "text": "y"}]`:   {says: "or changes it twice"},
		`[{"path": "plan.md", "text": "\u0000"}]`:                                {says: "no UTF-8 text"},
		`[{"path": "plan.md", "text": "` + strings.Repeat("x", 64<<10+1) + `"}]`: {says: "65537 bytes"},
		`[{"path": "plan.md"}]`: {says: "text"},
	} {
		r := editable()
		body := `{"request_id": "` + r.RequestID + `", "response": "approve", "provided_by": {"user": "kim", "source": "file"}, "edits": ` + edits + `}`
		a := asking(file("response.json", body))
		a.Request = r
		v := judge(a)
		switch {
		case c.says != "" && (v.Answer != nil || !strings.Contains(v.Problem, c.says)):
			t.Errorf("%.80s: %v, %q", edits, v.Answer, v.Problem)
		case c.says == "" && (v.Answer == nil || !cmp.Equal(c.want, v.Answer.Edits)):
			t.Errorf("%.80s: %v, %q", edits, v.Answer, v.Problem)
		}
	}
	// The order of edits does not matter, and a bad edit that nobody would use does not
	// invalidate a rejection.
	r, other := editable(), "other\n"
	r.Artifacts = append(r.Artifacts, Artifact{Path: "b.md", SHA256: engine.Sum([]byte(other)).Hex(), Binding: true, Text: &other, Editable: true})
	two := asking(file("response.json", response("approve", `, "edits": [{"path": "b.md", "text": "b"}, {"path": "plan.md", "text": "a"}]`)),
		file("response (copy).json", response("approve", `, "edits": [{"path": "plan.md", "text": "a"}, {"path": "b.md", "text": "b"}]`)))
	two.Request = r
	if v := judge(two); v.Answer == nil || !cmp.Equal(v.Answer.Edits, []Edit{{"plan.md", "a"}, {"b.md", "b"}}) {
		t.Errorf("the same edits in another order: %v, %q", v.Answer, v.Problem)
	}
	two.Docs[1] = file("response (copy).json", response("approve", ""))
	if v := judge(two); v.Answer != nil || !strings.Contains(v.Problem, "with `plan.md` changed (sha256 ") {
		t.Errorf("answers that change texts otherwise: %v, %q", v.Answer, v.Problem)
	}
	reject := asking(file("response.json", response("reject", `, "edits": [{"path": "plan.md", "text": ""}]`)))
	if reject.Request = editable(); judge(reject).Answer == nil {
		t.Errorf("a rejection beside an empty text: %q", judge(reject).Problem)
	}
	r = editable()
	r.Artifacts[0].Editable = false
	body := `{"request_id": "` + r.RequestID + `", "response": "approve", "provided_by": {"user": "kim", "source": "file"}, "edits": [{"path": "plan.md", "text": "x"}]}`
	a := asking(file("response.json", body))
	if a.Request = r; judge(a).Answer != nil {
		t.Error("a file was changed that is not offered for that")
	}
}
