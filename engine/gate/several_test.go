package gate

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"placet/engine"
	"placet/schemas"
)

// reopening returns a request in which any number of options may be chosen together, except
// one.
func reopening() Request {
	r := review()
	r.Type = "implementation_review"
	r.Options = []Option{{ID: "reopen:cp-b", Description: "work on it again"}, {ID: "accept", Description: "all is well"}, {ID: "reopen:cp-a"}, {ID: "close"}}
	r.CommentRequired = []string{"reopen:cp-b"}
	r.Several = []string{"reopen:cp-a", "reopen:cp-b", "reopen:gone"}
	r.Items = []Item{{ID: "s1", Label: "one"}, {ID: "s2", Label: "two"}}
	return r
}

func reopeningAsked(docs ...engine.Document) Evaluation {
	a := asking(docs...)
	a.Request = reopening()
	return a
}

func TestSeveralIsWrittenOnlyWhereThereIsAny(t *testing.T) {
	body, err := reopening().Encode()
	if err != nil || !strings.Contains(string(body), "  ],\n  \"several\": [\n    \"reopen:cp-a\",\n    \"reopen:cp-b\",\n    \"reopen:gone\"\n  ],\n  \"items\": [") {
		t.Errorf("%v\n%s", err, body)
	}
	back, err := ReadRequest("request.json", body)
	if diff := cmp.Diff(reopening().Several, back.Several); err != nil || diff != "" || back.Extra != nil {
		t.Errorf("%v, read back: %s, %v", err, diff, back.Extra)
	}
	body, err = review().Encode()
	if err != nil || strings.Contains(string(body), "several") {
		t.Errorf("%v\n%s", err, body)
	}
}

func TestAFormSaysWhatMayBeTickedTogether(t *testing.T) {
	form := mustForm(t, reopening())
	for _, want := range []string{
		"or any number of those that may be ticked together",
		"\n- [ ] reopen:cp-b: work on it again (needs a comment) (may be ticked together with others marked so)\n- [ ] accept: all is well\n" +
			"- [ ] reopen:cp-a: (may be ticked together with others marked so)\n- [ ] close\n",
	} {
		if !strings.Contains(form, want) {
			t.Errorf("the form lacks %q:\n%s", want, form)
		}
	}
	if strings.Contains(mustForm(t, review()), "together") {
		t.Error("a form of which one option is asked speaks of several")
	}
}

func TestOptionsChosenTogether(t *testing.T) {
	unsent := mustForm(t, reopening())
	ticked := func(words ...string) engine.Document {
		return file("form.md", comment(tick(unsent, append(words, submitID)...), "why"))
	}
	answered := func(word, selected string) engine.Document {
		return file("response.json", response(word, `,"comment":"why","selected":[`+selected+`]`))
	}
	for _, c := range []struct {
		name     string
		docs     []engine.Document
		response string
		selected []string
	}{
		{"one ticked", []engine.Document{ticked("reopen:cp-a")}, "reopen:cp-a", []string{"reopen:cp-a"}},
		{"all ticked, in the request's order", []engine.Document{ticked("reopen:cp-a", "reopen:cp-b")}, "reopen:cp-b", []string{"reopen:cp-b", "reopen:cp-a"}},
		{"with items behind", []engine.Document{ticked("s2", "reopen:cp-a", "s1", "reopen:cp-b")}, "reopen:cp-b", []string{"reopen:cp-b", "reopen:cp-a", "s1", "s2"}},
		{"one alone", []engine.Document{ticked("accept")}, "accept", nil},
		{"one alone with items", []engine.Document{ticked("accept", "s1")}, "accept", []string{"s1"}},
		{"one answered", []engine.Document{answered("reopen:cp-a", "")}, "reopen:cp-a", []string{"reopen:cp-a"}},
		{"one answered and selected", []engine.Document{answered("reopen:cp-a", `"reopen:cp-a"`)}, "reopen:cp-a", []string{"reopen:cp-a"}},
		{"one answered, one selected", []engine.Document{answered("reopen:cp-a", `"REOPEN:cp b"`)}, "reopen:cp-b", []string{"reopen:cp-b", "reopen:cp-a"}},
		{"all selected, with items", []engine.Document{answered("reopen:cp-a", `"s2","reopen:cp-a","reopen:cp-b"`)}, "reopen:cp-b", []string{"reopen:cp-b", "reopen:cp-a", "s2"}},
		{"one alone, answered with items", []engine.Document{answered("accept", `"s1"`)}, "accept", []string{"s1"}},
		{"one alone, named twice", []engine.Document{answered("accept", `"accept"`)}, "accept", nil},
		{"two files with another first", []engine.Document{answered("reopen:cp-a", `"reopen:cp-b"`), file(copyName, response("reopen:cp-b", `,"comment":"x","selected":["reopen:cp-a"]`)), ticked("reopen:cp-b", "reopen:cp-a")},
			"reopen:cp-b", []string{"reopen:cp-b", "reopen:cp-a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := judge(reopeningAsked(c.docs...))
			if v.Answer == nil || v.Problem != "" {
				t.Fatal(v.Problem)
			}
			if diff := cmp.Diff(c.selected, v.Answer.Selected); diff != "" || v.Answer.Response != c.response || v.Answer.Comment != "why" {
				t.Errorf("%+v, selected: %s", v.Answer, diff)
			}
		})
	}
}

func TestOptionsThatCannotBeChosenTogether(t *testing.T) {
	unsent := mustForm(t, reopening())
	for _, c := range []struct {
		name string
		docs []engine.Document
		want []string
	}{
		{"ticked beside another", []engine.Document{file("form.md", comment(tick(unsent, "reopen:cp-a", "accept", submitID), "why"))},
			[]string{"`" + present + "` chooses `accept`, `reopen:cp-a` together, but `accept` stands alone. Leave it alone, or leave it out."}},
		{"two that stand alone", []engine.Document{file("form.md", tick(unsent, "close", "accept", submitID))}, []string{"chooses `accept`, `close` together, but `accept` stands alone"}},
		{"selected beside another", []engine.Document{file("response.json", response("reopen:cp-a", `,"selected":["accept"]`))}, []string{"response.json` chooses `accept`, `reopen:cp-a` together"}},
		{"answered beside another", []engine.Document{file("response.json", response("accept", `,"selected":["reopen:cp-a"]`))}, []string{"but `accept` stands alone"}},
		{"the second needs a comment", []engine.Document{file("response.json", response("reopen:cp-a", `,"selected":["reopen:cp-b"]`))}, []string{"says `reopen:cp-b`, which needs a comment"}},
		{"the ticked one needs a comment", []engine.Document{file("form.md", tick(unsent, "reopen:cp-a", "reopen:cp-b", submitID))}, []string{"says `reopen:cp-b`, which needs a comment"}},
		{"an unknown option", []engine.Document{file("response.json", response("reopen:cp-a", `,"selected":["reopen:gone"]`))}, []string{"selects `reopen:gone`, which is not offered"}},
		{"no option", []engine.Document{file("response.json", response("", `,"selected":["reopen:cp-a"]`))}, []string{"names no option"}},
		{"other sets", []engine.Document{
			file("response.json", response("reopen:cp-a", "")), file("form.md", comment(tick(unsent, "reopen:cp-a", "reopen:cp-b", submitID), "why")),
		}, []string{"response.json` says `reopen:cp-a`\n", "form.md` says `reopen:cp-b` with `reopen:cp-a`\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := judge(reopeningAsked(c.docs...))
			if v.Answer != nil {
				t.Fatalf("%+v", v.Answer)
			}
			for _, want := range append(c.want, "Any number may be chosen together of `reopen:cp-b`, `reopen:cp-a`; every other option stands alone.", "\"response\", and further ones as \"selected\", into `") {
				if !strings.Contains(v.Problem, want) {
					t.Errorf("the problem lacks %q:\n%s", want, v.Problem)
				}
			}
		})
	}
	a := asking(file("response.json", response("approve", `,"selected":["reject"]`)))
	if v := judge(a); v.Answer != nil || !strings.Contains(v.Problem, "selects `reject`, which is not offered") || strings.Contains(v.Problem, "together") {
		t.Errorf("where one option is asked for: %+v", v)
	}
}

func TestAfterSeveralOptionsTheSetsAreCompared(t *testing.T) {
	r := decided(engine.Document{})
	r.Response, r.Selected = "reopen:cp-b", []string{"reopen:cp-b", "reopen:cp-a", "s1"}
	unsent := mustForm(t, reopening())
	for name, c := range map[string]struct {
		doc  engine.Document
		want string // "" if it is the same
	}{
		"the same":                   {file("response.json", response("reopen:cp-b", `,"selected":["reopen:cp-a","s1"]`)), ""},
		"the other one first":        {file("response.json", response("reopen:cp-a", `,"selected":["S1","Reopen:cp_b"]`)), ""},
		"all of them selected":       {file("response.json", response("reopen:cp-a", `,"selected":["reopen:cp-a","reopen:cp-b","s1"]`)), ""},
		"the form says so too":       {file("form.md", tick(unsent, "reopen:cp-a", "reopen:cp-b", "s1", submitID)), ""},
		"a form sent with no option": {file("form.md", tick(unsent, submitID)), ""},
		"one less":                   {file("form.md", tick(unsent, "reopen:cp-a", "s1", submitID)), "says `reopen:cp-a` with `s1`."},
		"one that is not offered":    {file("response.json", response("reopen:cp-a", `,"selected":["reopen:cp-b","s1","s9"]`)), ""},
		"another":                    {file("response.json", response("accept", "")), "says `accept`."},
	} {
		text := After(r, reopeningAsked(c.doc))
		if (text == "") != (c.want == "") || !strings.Contains(text, c.want) {
			t.Errorf("%s: %q", name, text)
		}
		if c.want != "" && !strings.Contains(text, "was answered with `reopen:cp-b` with `reopen:cp-a`, `s1` by") {
			t.Errorf("%s: %q", name, text)
		}
	}
}

func TestFurtherMembersOfAResponseAreKept(t *testing.T) {
	extra := func(docs ...engine.Document) schemas.Object {
		a := asking(docs...)
		a.Members = []string{"attempts"}
		v := judge(a)
		if v.Answer == nil {
			t.Fatal(v.Problem)
		}
		return v.Answer.Extra
	}
	with := file("response.json", response("approve", `,"attempts":3,"x-y":{"y":1.0}`))
	if got := extra(with, file("form.md", form(t, "approve", submitID))); string(got.Raw("attempts")) != "3" || string(got.Raw("x-y")) != `{"y":1.0}` || len(got) != 2 {
		t.Errorf("%v", got)
	}
	if got := extra(file("response.json", response("approve", "")), file(copyName, response("approve", `,"attempts":4`))); string(got.Raw("attempts")) != "4" {
		t.Errorf("of a copy: %v", got)
	}
	if got := extra(file("response.json", response("approve", ""))); got != nil {
		t.Errorf("of none: %v", got)
	}
	if got := extra(file("form.md", form(t, "approve", submitID))); got != nil {
		t.Errorf("of a form: %v", got)
	}
}

// However options are ticked or selected, and in whatever order: the same set is the same
// answer, and an option that must be chosen alone is never combined with another.
func TestTheSameSetIsTheSameAnswer(t *testing.T) {
	unsent := mustForm(t, reopening())
	ids := reopening().words()
	rapid.Check(t, func(t *rapid.T) {
		chosen := rapid.SliceOfNDistinct(rapid.SampledFrom(ids), 1, len(ids), rapid.ID).Draw(t, "chosen")
		options := slices.DeleteFunc(slices.Clone(chosen), func(id string) bool { return strings.HasPrefix(id, "s") })
		alone := slices.Contains(options, "accept") || slices.Contains(options, "close")
		valid := len(options) == 1 || len(options) > 1 && !alone

		marked := judge(reopeningAsked(file("form.md", comment(tick(unsent, append(slices.Clone(chosen), submitID)...), "why"))))
		first := ""
		if len(options) > 0 {
			first = rapid.SampledFrom(options).Draw(t, "first")
		}
		rest := slices.DeleteFunc(slices.Clone(chosen), func(id string) bool { return id == first })
		body, err := Response{RequestID: review().RequestID, Response: first, Selected: rest, Comment: "why", ProvidedBy: By{User: "jm", Source: "file"}}.Encode()
		if err != nil {
			t.Fatal(err)
		}
		written := judge(reopeningAsked(file("response.json", string(body))))
		if (marked.Answer != nil) != valid || (written.Answer != nil) != valid {
			t.Fatalf("%q, %q first: form %+v, response %+v", chosen, first, marked, written)
		}
		if !valid {
			return
		}
		if marked.Answer.Response != written.Answer.Response || !slices.Equal(marked.Answer.Selected, written.Answer.Selected) {
			t.Fatalf("%q, %q first: form %+v, response %+v", chosen, first, marked.Answer, written.Answer)
		}
		over := Receipt{RequestID: review().RequestID, Result: Accepted, Response: marked.Answer.Response, Selected: marked.Answer.Selected}
		if text := After(over, reopeningAsked(file("response.json", string(body)))); text != "" {
			t.Fatalf("the answer differs from itself: %s", text)
		}
	})
}

func FuzzSeveral(f *testing.F) {
	form := mustForm(f, reopening())
	f.Add([]byte(response("reopen:cp-a", `,"selected":["reopen:cp-b"],"comment":"x"`)), []byte(comment(tick(form, "reopen:cp-b", "reopen:cp-a", submitID), "x")))
	f.Add([]byte(response("accept", `,"selected":["reopen:cp-b"]`)), []byte(tick(form, "accept", "reopen:cp-a", submitID)))
	f.Add([]byte(response("accept", `,"selected":["accept","s1"]`)), []byte(tick(form, "accept", "s1", submitID)))
	f.Fuzz(func(t *testing.T, json, markdown []byte) {
		a := reopeningAsked(file("form.md", string(markdown)), file("response.json", string(json)))
		v := judge(a)
		if v.Answer == nil {
			return
		}
		alone := v.Answer.Response == "accept" || v.Answer.Response == "close"
		for _, id := range v.Answer.Selected {
			if alone && strings.HasPrefix(id, "reopen") || !slices.Contains(a.Request.words(), id) || id == "accept" || id == "close" {
				t.Fatalf("%s with %q", v.Answer.Response, v.Answer.Selected)
			}
		}
		if !alone && (len(v.Answer.Selected) == 0 || v.Answer.Selected[0] != v.Answer.Response) {
			t.Fatalf("%s with %q", v.Answer.Response, v.Answer.Selected)
		}
		if slices.Contains(v.Answer.Selected, "reopen:cp-b") && strings.TrimSpace(v.Answer.Comment) == "" {
			t.Fatal("reopened without a comment")
		}
		over := Receipt{RequestID: a.Request.RequestID, Result: Accepted, Response: v.Answer.Response, Selected: v.Answer.Selected}
		if text := After(over, a); text != "" && v.Problem == "" {
			t.Fatalf("the answer differs from itself: %s", text)
		}
	})
}
