package gate

import (
	"slices"
	"strings"
	"testing"

	"placet/engine"
	"placet/layout"
)

// json returns a response.json to the level with some members.
func json(members string) engine.Document { return file("response.json", levelResponse(members)) }

func TestWhatALevelIsAnsweredWith(t *testing.T) {
	for _, c := range []struct {
		name, response string
		selected       []string
		comment        string
		docs           []engine.Document
	}{
		{"a level", "raise", nil, "", []engine.Document{file("form.md", levelForm(t, "raise", submitID))}},
		{"all three", "lower", []string{"s1", "s2"}, "why", []engine.Document{file("form.md", comment(levelForm(t, "lower", "s2", "s1", submitID), "why"))}},
		{"a suggestion alone", "appropriate", []string{"s2"}, "", []engine.Document{file("form.md", levelForm(t, "s2", submitID))}},
		{"a comment alone", "appropriate", nil, "why", []engine.Document{file("form.md", comment(levelForm(t, submitID), "why"))}},
		{"a word in Korean", "raise", nil, "", []engine.Document{json(`"response":"상향 권장",`)}},
		{"a response left out", "appropriate", []string{"s1"}, "", []engine.Document{json(`"selected":["s1"],`)}},
		{"an empty response", "appropriate", nil, "x", []engine.Document{json(`"response":"","comment":"x",`)}},
		{"a response with items", "lower", []string{"s1", "s2"}, "", []engine.Document{json(`"response":"하향","selected":["S2","s1"],`)}},
		{"form and file alike, none named in one", "appropriate", []string{"s1"}, "",
			[]engine.Document{json(`"response":"적절","selected":["s1"],`), file("form.md", levelForm(t, "s1", submitID))}},
		{"the file says nothing, the form does", "raise", nil, "", []engine.Document{json(``), file("form.md", levelForm(t, "raise", submitID))}},
	} {
		a := levelAsked(c.docs...)
		v := judge(a)
		if v.Answer == nil {
			t.Errorf("%s: %+v", c.name, v)
			continue
		}
		if v.Answer.Response != c.response || !slices.Equal(v.Answer.Selected, c.selected) || v.Answer.Comment != c.comment {
			t.Errorf("%s: %+v", c.name, v.Answer)
		}
		a.Docs = append(a.Docs, file("receipt.json", `{}`), engine.Document{Path: dir + "/late.json", Kind: "late", Body: []byte("{}")})
		if late := judge(a); late.Answer == nil || late.Answer.Response != c.response {
			t.Errorf("%s, judged once it is closed: %+v", c.name, late)
		}
	}
}

func TestWhatDoesNotAnswerALevel(t *testing.T) {
	for _, c := range []struct {
		name string
		doc  engine.Document
		want string
	}{
		{"submit alone", file("form.md", levelForm(t, submitID)), "form.md` says nothing: " + levelHint + "."},
		{"a file that says nothing", json(``), "response.json` says nothing: " + levelHint + "."},
		{"blanks", json(`"response":" ","comment":" \n",`), "response.json` says nothing: "},
		{"two levels", file("form.md", levelForm(t, "raise", "lower", "s1", submitID)), "has 2 options ticked: `raise`, `lower`. Leave one."},
		{"an unknown word", json(`"response":"keep",`), "says `keep`, which is none of the options"},
		{"an unknown item", json(`"selected":["s3"],`), "selects `s3`, which is not offered"},
		{"a level among the items", json(`"selected":["raise"],`), "selects `raise`, which is not offered"},
		{"null", json(`"response":null,"comment":"x",`), "/response: is null"},
		{"different", json(`"response":"raise","selected":["s1"],`), "they differ"},
	} {
		docs := []engine.Document{c.doc}
		if c.name == "different" {
			docs = append(docs, file("form.md", levelForm(t, "s1", submitID)))
		}
		v := judge(levelAsked(docs...))
		if v.Answer != nil || !strings.Contains(v.Problem, c.want) || !strings.Contains(v.Problem, "To answer, "+levelHint+", and tick the last item of `"+present+"`") {
			t.Errorf("%s: %+v", c.name, v)
		}
	}
}

func TestAResponseLeftOutWhereOneMustBeNamed(t *testing.T) {
	doc := file("response.json", `{"request_id":"fr-20251206-a1b2c3","selected":["s1"],"comment":"x","provided_by":{"user":"jm","source":"file"}}`)
	want := "response.json` cannot be used: `line 1, column 1: /response: is missing: expected an option's word, or the answer as text`"
	if v := judge(asking(doc)); v.Answer != nil || !strings.Contains(v.Problem, want) {
		t.Errorf("%+v", v)
	}
	free := asking(doc)
	free.Request = clarification()
	if v := judge(free); v.Answer != nil || !strings.Contains(v.Problem, want) {
		t.Errorf("%+v", v)
	}
}

func TestAfterADefaultWasFilledIn(t *testing.T) {
	receipt := func(result, response string, selected ...string) Receipt {
		return Receipt{RequestID: level("").RequestID, Result: result, Response: response, Selected: selected, DecidedAt: "2026-03-02T10:00:00Z"}
	}
	formS1, alone := file("form.md", levelForm(t, "s1", submitID)), file("form.md", comment(levelForm(t, submitID), "why"))
	for _, c := range []struct {
		name string
		r    Receipt
		doc  engine.Document
		want string // "" if it is the same
	}{
		{"the form that it was made of", receipt(Accepted, "appropriate", "s1"), formS1, ""},
		{"the same in a file", receipt(Accepted, "appropriate", "s1"), json(`"selected":["S1"],`), ""},
		{"the same in Korean", receipt(Accepted, "raise"), json(`"response":"상향",`), ""},
		{"the same with its default named", receipt(Accepted, "appropriate", "s1"), json(`"response":"적절","selected":["s1"],`), ""},
		{"a comment alone, which was appropriate", receipt(Accepted, "appropriate"), alone, ""},
		{"nothing", receipt(Accepted, "raise"), file("form.md", levelForm(t, submitID)), ""},
		{"other items", receipt(Accepted, "appropriate", "s2"), formS1, "says `appropriate` with `s1`."},
		{"a level was named", receipt(Accepted, "raise", "s1"), formS1, "says `appropriate` with `s1`."},
		{"a comment alone after a level", receipt(Accepted, "raise"), alone, "says `appropriate`."},
		{"a comment alone after the deadline", receipt(Expired, "timeout_fallback"), alone, "says `appropriate`."},
		{"a file after the deadline", receipt(Expired, "timeout_fallback"), json(`"selected":["s1"],`), "says `appropriate` with `s1`."},
	} {
		text := After(c.r, levelAsked(c.doc))
		if (text == "") != (c.want == "") || !strings.Contains(text, c.want) {
			t.Errorf("%s: %q", c.name, text)
		}
	}
	if v := judge(levelAsked(formS1)); v.Answer == nil || v.Answer.Path != dir+"/"+layout.KindForm+".md" {
		t.Errorf("%+v", v)
	}
}
