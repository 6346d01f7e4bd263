package gate

import (
	"strings"
	"testing"
)

// planned returns a request in which one option accepts one item.
func planned() Request {
	r := review()
	r.Options = []Option{{ID: "approve"}, {ID: "steer"}}
	r.CommentRequired = nil
	r.Items = []Item{{ID: "A", Label: "Plan A", Words: []string{"plan-A"}}, {ID: "B", Label: "Plan B", Words: []string{"plan-B"}}}
	r.ItemsMax, r.ItemsWith = 1, []string{"steer"}
	return r
}

func TestItemsHaveALimitAndGoWithSomeOptions(t *testing.T) {
	for _, c := range []struct{ name, word, selected, want, problem string }{
		{"one", "steer", `"B"`, "B", ""},
		{"by another word", "steer", `"plan_b"`, "B", ""},
		{"twice the same", "steer", `"B","plan B"`, "B", ""},
		{"none", "approve", "", "", ""},
		{"two", "steer", `"A","B"`, "", "at most 1"},
		{"beside another option", "approve", `"A"`, "", "together with `steer` alone"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := asking(file("response.json", response(c.word, `,"selected":[`+c.selected+`]`)))
			a.Request = planned()
			v := Judge(a)
			if c.problem != "" {
				if v.Answer != nil || !strings.Contains(v.Problem, c.problem) || !strings.Contains(v.Problem, "At most 1 may be selected of `A`, `B`, together with `steer`.") {
					t.Fatalf("answer %+v, problem %q", v.Answer, v.Problem)
				}
				return
			}
			if v.Answer == nil || strings.Join(v.Answer.Selected, ",") != c.want {
				t.Fatalf("answer %+v, problem %q", v.Answer, v.Problem)
			}
		})
	}
}

func TestAFormTakesItemsWithTheirOption(t *testing.T) {
	text := mustForm(t, planned())
	if want := "Together with steer you may tick at most 1 of these:\n\n- [ ] A: Plan A\n- [ ] B: Plan B\n"; !strings.Contains(text, want) {
		t.Fatalf("the form lacks %q:\n%s", want, text)
	}
	ticked := func(words ...string) Verdict {
		a := asking(file("form.md", tick(text, append(words, submitID)...)))
		a.Request = planned()
		return judge(a)
	}
	if v := ticked("steer", "B"); v.Answer == nil || v.Answer.Response != "steer" || strings.Join(v.Answer.Selected, ",") != "B" {
		t.Errorf("answer %+v, problem %q", v.Answer, v.Problem)
	}
	if v := ticked("steer", "A", "B"); v.Answer != nil {
		t.Errorf("two items count: %+v", v.Answer)
	}
}
