package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/recall"
	"placet/engine/store"
)

// level is a request whose option may be left out, with items to select.
func level() target {
	return target{Asked: engine.Asked{
		Request: "hitl-3f9a12c4", Run: engine.Key{Family: "optimizer", ID: "20260302-msowd-sop-masking"}, Type: "hitl", Where: "awaiting_human",
		Prompt: "Was the Automation Level appropriate?",
		Options: []engine.AskedOption{
			{ID: "appropriate", Description: "적절", Words: []string{"적절"}}, {ID: "raise", Words: []string{"상향", "상향 권장"}}, {ID: "lower"},
		},
		Items:    []engine.AskedItem{{ID: "s1", Label: "one"}, {ID: "s2", Label: "two"}, {ID: "s3", Label: "three"}},
		Default:  "appropriate",
		NoReject: "placet respond hitl-3f9a12c4 lower",
	}}
}

func TestApprovePicksTheDefaultAndRejectHasAHint(t *testing.T) {
	if got, err := approving.pick(level()); got != "appropriate" || err != nil {
		t.Errorf("approve: %q, %v", got, err)
	}
	_, err := rejecting.pick(level())
	if p, ok := err.(*problem); !ok || p.code != exitProblem || !strings.Contains(p.text, "it offers appropriate, raise, lower") || p.hint != "placet respond hitl-3f9a12c4 lower" {
		t.Errorf("reject: %#v", err)
	}
	named := with("approve", "other")
	named.Default = "other"
	if got, err := approving.pick(named); got != "approve" || err != nil {
		t.Errorf("an option of that name: %q, %v", got, err)
	}
}

func TestAnAnswerWithoutOptionIsTheDefault(t *testing.T) {
	for name, c := range map[string]struct {
		give     reply
		response string
		selected []string
		says     string // of the refusal, "" for none
	}{
		"an option":                 {reply{option: "raise"}, "raise", nil, ""},
		"an option's word":          {reply{option: "상향 권장"}, "raise", nil, ""},
		"an option and items":       {reply{option: "raise", selected: []string{"S1", "s3", "s1"}, comment: "x"}, "raise", []string{"s1", "s3"}, ""},
		"items alone":               {reply{selected: []string{"s2"}}, "appropriate", []string{"s2"}, ""},
		"a comment alone":           {reply{comment: "x"}, "appropriate", nil, ""},
		"nothing":                   {reply{}, "", nil, "needs an option"},
		"blanks":                    {reply{option: " ", comment: "\n"}, "", nil, "needs an option"},
		"an item that is not there": {reply{selected: []string{"s4"}}, "", nil, `has no item "s4": it has s1, s2, s3`},
		"an item as an option":      {reply{option: "s1"}, "", nil, `does not offer "s1"`},
		"two options":               {reply{option: "raise", more: []string{"lower"}}, "", nil, "stands alone"},
	} {
		c.give.by = "kim"
		got, err := (&bench{}).response(level(), c.give)
		if c.says != "" {
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: says %v, want %q", name, err, c.says)
			}
			continue
		}
		if err != nil || got.Response != c.response || !slices.Equal(got.Selected, c.selected) {
			t.Errorf("%s: %q with %q, %v", name, got.Response, got.Selected, err)
		}
		if c.give.option == "" && !level().given(c.give) {
			t.Errorf("%s: is asked for all the same", name)
		}
	}
}

func TestTheAnswerInPlaceMayLeaveItsOptionOut(t *testing.T) {
	to := level()
	to.Response = "requests/hitl-3f9a12c4/response.json"
	give := gate.Response{RequestID: to.Request, Response: "appropriate", Selected: []string{"s1"}, ProvidedBy: gate.By{User: "kim", Source: "cli"}}
	for members, want := range map[string]struct {
		same bool
		says string // of the refusal, "" for none
	}{
		`"selected":["s1"],`:                      {true, ""},
		`"response":"적절","selected":["s1"],`:      {true, ""},
		`"selected":["s2"],`:                      {false, "otherwise: appropriate with s2 by a (claimed) (file)"},
		`"response":"상향","selected":["s2","S1"],`: {false, "otherwise: raise with s2, S1 by a (claimed) (file)"},
		`"response":"","comment":"x",`:            {false, "otherwise: appropriate with nothing selected by a (claimed) (file)"},
		`"response":"","comment":" ",`:            {false, ""}, // says nothing, and is replaced
		`"response":"no such","selected":["s1"],`: {false, ""},
		`"response":"raise","selected":["s\n1"],`: {false, ""}, // the daemon does not take it either
	} {
		body := []byte(`{"request_id":"hitl-3f9a12c4",` + members + `"provided_by":{"user":"a","source":"file"}}`)
		same, err := to.compare(engine.Document{Path: to.Response, Body: body, Sum: engine.Sum(body)}, &give, time.Time{})
		if same != want.same || (err != nil) != (want.says != "") || err != nil && !strings.Contains(err.Error(), want.says) {
			t.Errorf("%s: same %t, %v; want %q", members, same, err, want.says)
		}
	}
}

func TestThePromptAsksForItemsAndAComment(t *testing.T) {
	for name, c := range map[string]struct {
		typed    string
		option   string
		selected []string
		comment  string
		fails    bool
	}{
		"all three":             {"2\ns1, s3\nwhy\n", "raise", []string{"s1", "s3"}, "why", false},
		"items and no option":   {"\ns2\n\n", "", nil, "", true},
		"items alone":           {"appropriate\ns2\n\n", "appropriate", []string{"s2"}, "", false},
		"a word and no more":    {"상향\n\n\n", "raise", nil, "", false},
		"a mistake in an item":  {"raise\ns9\ns1\n\n", "raise", []string{"s1"}, "", false},
		"mistakes only":         {"raise\ns9\ns9\ns9\n", "", nil, "", true},
		"the end too early":     {"raise\n", "", nil, "", true},
		"nothing, and so on it": {"\n\n\n", "", nil, "", true},
	} {
		out, r, err := typing(t, c.typed, level())
		if (err != nil) != c.fails {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !c.fails && (r.option != c.option || !slices.Equal(r.selected, c.selected) || r.comment != c.comment) {
			t.Errorf("%s: %+v", name, r)
		}
		if !strings.Contains(out, "\nTo select from:\n  s1 - one\n") {
			t.Errorf("%s: the prompt does not show what may be selected:\n%s", name, out)
		}
	}
}

func TestTheInboxShowsWhatMayBeSelected(t *testing.T) {
	var out bytes.Buffer
	to := level()
	for _, id := range []string{"s4", "s5", "s6"} {
		to.Items = append(to.Items, engine.AskedItem{ID: id, Label: "more"})
	}
	b := &bench{w: &world{out: &out, err: &out, now: time.Now}, store: store.New(store.OS(t.TempDir()), store.Options{})}
	b.printAsked(to.Asked, false)
	for _, want := range []string{
		"    select   s1  one\n", "    select   s5  more\n", "    select   and 1 more: placet show hitl-3f9a12c4\n",
		"    answer   placet approve hitl-3f9a12c4\n", "    or       placet respond hitl-3f9a12c4 raise\n",
		"    or       placet respond hitl-3f9a12c4 --select s1,s2,s3,s4,s5  (any of them)\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("lacks %q:\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "placet reject") {
		t.Errorf("offers to reject:\n%s", out.String())
	}
	out.Reset()
	b.printFull(to.Asked)
	if !strings.Contains(out.String(), "s6") {
		t.Errorf("show leaves items out:\n%s", out.String())
	}
	must := level()
	must.Default = ""
	if must.given(reply{selected: []string{"s1"}, comment: "x"}) {
		t.Error("nobody is asked for the option that must be named")
	}
	if how := howToAnswer(must.Asked, false); how[len(how)-1] != "placet respond hitl-3f9a12c4 OPTION --select s1,s2,s3  (any of them)" {
		t.Errorf("%q", how)
	}
}

func TestARequestIsKeptWhole(t *testing.T) {
	a := level().Asked
	a.Run = engine.Key{}
	var p recall.Packer
	packAsked(&p, a)
	u := recall.Unpack(string(p.Bytes()))
	if diff := cmp.Diff(a, unpackAsked(u)); diff != "" || u.Bad {
		t.Errorf("bad %t: %s", u.Bad, diff)
	}
}
