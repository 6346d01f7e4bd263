package gate

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
)

func TestOnlyApproversCount(t *testing.T) {
	for _, c := range []struct {
		name      string
		approvers []string
		doc       engine.Document
		known     []string // nil if the answer does not count
	}{
		{"no list: whoever can write the file", nil, file("response.json", response("approve", ""), "owner:alice"), []string{"owner:alice", "claimed:jm"}},
		{"the owner", []string{"owner:alice"}, file("response.json", response("approve", ""), "owner:alice"), []string{"owner:alice"}},
		{"a claim", []string{"claimed:jm"}, file("response.json", response("approve", ""), "owner:alice"), []string{"claimed:jm"}},
		{"a commit", []string{"committed:a@example.org"}, file("response.json", response("approve", ""), "owner:x", "committed:a@example.org"), []string{"committed:a@example.org"}},
		{"a bare word is an owner", []string{"alice"}, file("form.md", form(t, "approve", submitID), "owner:alice"), []string{"owner:alice"}},
		{"a bare word is a claim", []string{"jm"}, file("response.json", response("approve", ""), "owner:x"), []string{"claimed:jm"}},
		{"a bare word is a token's name", []string{"bot"}, file("response.json", response("approve", ""), "api:bot"), []string{"api:bot"}},
		{"all that fits is listed", []string{"jm"}, file("response.json", response("approve", ""), "owner:jm"), []string{"owner:jm", "claimed:jm"}},
		{"a bare word is no commit", []string{"a@example.org"}, file("response.json", response("approve", ""), "committed:a@example.org"), nil},
		{"a bare word is no Slack user", []string{"U1"}, file("response.json", response("approve", ""), "slack:U1"), nil},
		{"a claim is no owner", []string{"owner:jm"}, file("response.json", response("approve", ""), "owner:agent"), nil},
		{"a claim to be a Slack user is a claim", []string{"slack:U1"}, file("response.json", strings.Replace(response("approve", ""), `"jm"`, `"U1"`, 1)), nil},
		{"a claim with a prefix in it", []string{"owner:alice"}, file("response.json", strings.Replace(response("approve", ""), `"jm"`, `"owner:alice"`, 1)), nil},
		{"a form makes no claim", []string{"claimed:alice"}, file("form.md", form(t, "approve", submitID), "owner:alice"), nil},
		{"letters count", []string{"Alice"}, file("form.md", form(t, "approve", submitID), "owner:alice"), nil},
		{"a form of unknown owner", []string{"alice"}, file("form.md", form(t, "approve", submitID)), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := asking(c.doc)
			a.Gate.Approvers = c.approvers
			v := judge(a)
			if c.known == nil {
				if v.Answer != nil || !strings.Contains(v.Problem, "lets only `"+strings.Join(c.approvers, "`, `")+"` answer") {
					t.Errorf("%+v", v)
				}
				return
			}
			if v.Answer == nil {
				t.Fatal(v.Problem)
			}
			if diff := cmp.Diff(c.known, v.Answer.Known); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAnUnlistedAnswerDoesNotStandInTheWayOfAListedOne(t *testing.T) {
	a := asking(file("form.md", form(t, "reject", submitID), "owner:alice"), file("response.json", response("approve", ""), "owner:agent"))
	a.Gate.Approvers = []string{"owner:alice"}
	if v := judge(a); v.Answer == nil || v.Answer.Response != "reject" || !strings.Contains(v.Problem, "does not count") {
		t.Errorf("%+v", v)
	}
}

func TestALevelThatIsNotBuiltTakesNoAnswer(t *testing.T) {
	for _, level := range []string{"signed", "challenge", "remote", "File"} {
		a := asking(file("response.json", response("approve", "")))
		a.Gate.Level = level
		if v := judge(a); v.Answer != nil || !strings.Contains(v.Problem, "`"+level+"`") {
			t.Errorf("%s: %+v", level, v)
		}
	}
	a := asking(file("response.json", response("approve", "")))
	a.Gate = engine.Gate{}
	if v := judge(a); v.Answer == nil {
		t.Errorf("no level: %+v", v)
	}
}

// clarification asks for text.
func clarification() Request {
	r := review()
	r.Type, r.Options, r.CommentRequired = "clarification", nil, nil
	return r
}

func TestFreeText(t *testing.T) {
	unsent := mustForm(t, clarification())
	for _, c := range []struct {
		name, want, comment, problem string
		docs                         []engine.Document
	}{
		{"from a response", "First line\n- second", "", "", []engine.Document{file("response.json", response(`First line\n- second`, ""))}},
		{"a response's comment stays one", "text", "more", "", []engine.Document{file("response.json", response("text", `,"comment":"more"`))}},
		{"from a form", "First line\n- second", "", "", []engine.Document{file("form.md", comment(tick(unsent, submitID), "First line\n- second"))}},
		{"a text that is an option elsewhere", "approve", "", "", []engine.Document{file("response.json", response("approve", ""))}},
		{"empty in a response", "", "", "holds no text", []engine.Document{file("response.json", response(` \n `, ""))}},
		{"empty in a form", "", "", "holds no text", []engine.Document{file("form.md", tick(unsent, submitID))}},
		{"alike but for blanks", " a\r\nb\n", "", "", []engine.Document{file("response.json", response(` a\r\nb\n`, "")), file("form.md", comment(tick(unsent, submitID), "a\nb"))}},
		{"different", "", "", "they differ", []engine.Document{file("response.json", response("a", "")), file("form.md", comment(tick(unsent, submitID), "A"))}},
		{"a tick where there is nothing to tick", "", "", "an item stands among the options that is none of them", []engine.Document{file("form.md", comment(strings.Replace(tick(unsent, submitID), "## Comment", "- [x] approve\n\n## Comment", 1), "text"))}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := asking(c.docs...)
			a.Request = clarification()
			v := judge(a)
			var got, note string
			if v.Answer != nil {
				got, note = v.Answer.Response, v.Answer.Comment
			}
			if got != c.want || note != c.comment || !strings.Contains(v.Problem, c.problem) || c.problem == "" && v.Problem != "" {
				t.Errorf("answer %q, comment %q, problem %q", got, note, v.Problem)
			}
			if c.problem != "" && !strings.Contains(v.Problem, "The answer is text of your own. Write it into the comment section of `"+present+"`") {
				t.Errorf("the problem does not say what to do:\n%s", v.Problem)
			}
		})
	}
}

func TestItemsAreAnyNumber(t *testing.T) {
	r := review()
	r.Items = []Item{{ID: "s1", Label: "one"}, {ID: "s2", Label: "two"}, {ID: "s3", Label: "three"}}
	unsent := mustForm(t, r)
	for _, c := range []struct {
		name string
		doc  engine.Document
		want []string
	}{
		{"none", file("response.json", response("approve", `,"selected":[]`)), nil},
		{"several, in the request's order and spelling", file("response.json", response("approve", `,"selected":["S3","s1","s3"]`)), []string{"s1", "s3"}},
		{"in a form", file("form.md", tick(unsent, "s3", "s1", "approve", submitID)), []string{"s1", "s3"}},
	} {
		a := asking(c.doc)
		a.Request = r
		v := judge(a)
		if v.Answer == nil {
			t.Fatalf("%s: %s", c.name, v.Problem)
		}
		if diff := cmp.Diff(c.want, v.Answer.Selected); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
	a := asking(file("response.json", response("approve", `,"selected":["s1"]`)), file("form.md", tick(unsent, "s2", "approve", submitID)))
	a.Request = r
	v := judge(a)
	if v.Answer != nil || !strings.Contains(v.Problem, "says `approve` with `s1`") || !strings.Contains(v.Problem, "says `approve` with `s2`") || !strings.Contains(v.Problem, "Any number may be selected of `s1`, `s2`, `s3`") {
		t.Errorf("two selections: %+v", v)
	}
}

func TestAnOptionMayBeLeftOutOnlyWhereTheFamilySaysSo(t *testing.T) {
	r := review()
	r.Items = []Item{{ID: "s1", Label: "one"}}
	unsent := mustForm(t, r)
	for _, c := range []struct {
		name  string
		doc   engine.Document
		valid bool
	}{
		{"an item alone", file("form.md", tick(unsent, "s1", submitID)), true},
		{"an item alone in a response", file("response.json", response("", `,"selected":["s1"]`)), true},
		{"a comment alone", file("form.md", comment(tick(unsent, submitID), "text")), true},
		{"nothing", file("form.md", tick(unsent, submitID)), false},
		{"nothing in a response", file("response.json", response(" ", `,"comment":" "`)), false},
		{"two options", file("form.md", tick(unsent, "approve", "reject", "s1", submitID)), false},
	} {
		a := asking(c.doc)
		a.Request = r
		if v := judge(a); v.Answer != nil {
			t.Errorf("%s counts where an option is asked for: %+v", c.name, v.Answer)
		}
		a.Default = "approve"
		v := judge(a)
		if (v.Answer != nil) != c.valid || (v.Problem == "") != c.valid {
			t.Errorf("%s: %+v", c.name, v)
		}
		if v.Answer != nil && v.Answer.Response != "approve" {
			t.Errorf("%s names %q", c.name, v.Answer.Response)
		}
	}
}
