package web

import (
	"strings"
	"testing"

	"placet/cmd/placet/view"
	"placet/engine"
	"placet/engine/gate"
	"placet/schemas"
)

// How a request ended is a sentence with the label of the answer, and a no is not green.
func TestHowARequestEndedIsASentence(t *testing.T) {
	options := []engine.RequestOption{{ID: "approve", Description: "Go ahead"}, {ID: "reject", Description: "Stop it"}, {ID: "steer", Description: strings.Repeat("Say more. ", 9)}}
	for name, c := range map[string]struct {
		receipt gate.Receipt
		user    string
		want    ending
	}{
		"a yes":      {gate.Receipt{Result: "accepted", Response: "approve"}, "ada", ending{Look: "done", Label: "Go ahead", Sentence: "ada answered “Go ahead”."}},
		"a no":       {gate.Receipt{Result: "accepted", Response: "reject"}, "ada", ending{Look: "alarm", Label: "Stop it", Sentence: "ada answered “Stop it”."}},
		"neither":    {gate.Receipt{Result: "accepted", Response: "steer"}, "ada", ending{Look: "runs", Label: "steer", Sentence: "ada answered “steer”."}},
		"items":      {gate.Receipt{Result: "accepted", Response: "steer", Selected: []string{"A"}}, "ada", ending{Look: "runs", Label: "steer, A", Sentence: "ada answered “steer, A”."}},
		"several":    {gate.Receipt{Result: "accepted", Response: "approve", Selected: []string{"approve", "reject"}}, "ada", ending{Look: "done", Label: "Go ahead, Stop it", Sentence: "ada answered “Go ahead, Stop it”."}},
		"a default":  {gate.Receipt{Result: "expired", Response: "reject"}, "", ending{Look: "alarm", Label: "Stop it", Sentence: "Nobody answered in time, so “Stop it” was taken."}},
		"no answer":  {gate.Receipt{Result: "expired"}, "", ending{Look: "off", Label: "no answer in time", Sentence: "Nobody answered in time."}},
		"taken back": {gate.Receipt{Result: "cancelled"}, "", ending{Look: "off", Label: "taken back", Sentence: "The question was taken back; no answer counts any more."}},
		"replaced":   {gate.Receipt{Result: "superseded"}, "", ending{Look: "off", Label: "replaced", Sentence: "Another question took its place."}},
	} {
		if got := endingOf("en", view.Closed{Receipt: c.receipt, User: c.user, Type: "approval", Options: options}); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// A context is shown with names in the reader's language, lists as lists, and nothing is lost:
// what is not shown is counted, and stands in the JSON.
func TestAContextIsFields(t *testing.T) {
	c := contextOf("en", schemas.Raw(`{"draft_version": 2, "own_word": true, "to": ["a@example.com", "b@example.com"], "payload": {"subject": "Hello"}, "empty": null, "body": "one\ntwo"}`))
	var said []string
	for _, f := range c.Fields {
		said = append(said, f.Label+"="+f.Value+f.Text)
	}
	if got := strings.Join(said, ";"); got != "draft=2;own word=yes;to=;content=;text=one\ntwo" {
		t.Errorf("fields: %q", got)
	}
	if to := c.Fields[2]; len(to.List) != 2 || !to.IsSimple() || to.List[1].Value != "b@example.com" {
		t.Errorf("a list: %+v", to)
	}
	many := contextOf("en", schemas.Raw(`{"all": [`+strings.TrimSuffix(strings.Repeat(`"x",`, mostFields+7), ",")+`]}`))
	if many.Left == 0 || strings.Count(many.Raw, `"x"`) != mostFields+7 {
		t.Errorf("%d are left out, and the JSON has %d", many.Left, strings.Count(many.Raw, `"x"`))
	}
	if long := contextOf("en", schemas.Raw(`{"a": "`+strings.Repeat("x", longestRaw)+`"}`)); !long.RawCut {
		t.Error("the cut of the JSON is not told")
	}
	if text := contextOf("en", schemas.Raw(`{"markdown": "Some *words*"}`)); text.Raw != "" || !strings.Contains(string(text.Prose), "<em>words</em>") {
		t.Errorf("a text: %+v", text)
	}
}
