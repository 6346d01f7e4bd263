package answer

import (
	"slices"
	"strings"
	"testing"

	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/gate"
)

// level is a request whose option may be left out, with items to select.
func level() view.Request {
	return view.Request{OpenRequest: engine.OpenRequest{
		Request: "hitl-3f9a12c4", Run: engine.Key{Family: "optimizer", ID: "20260302-msowd-sop-masking"}, Type: "hitl", Where: "awaiting_human",
		Prompt: "Was the Automation Level appropriate?",
		Options: []engine.RequestOption{
			{ID: "appropriate", Description: "적절", Words: []string{"적절"}}, {ID: "raise", Words: []string{"상향", "상향 권장"}}, {ID: "lower"},
		},
		Items:    []engine.RequestItem{{ID: "s1", Label: "one"}, {ID: "s2", Label: "two"}, {ID: "s3", Label: "three"}},
		Default:  "appropriate",
		NoReject: "placet respond hitl-3f9a12c4 lower",
	}}
}

func TestApprovePicksTheDefaultAndRejectHasAHint(t *testing.T) {
	if got, err := Approving.Pick(level()); got != "appropriate" || err != nil {
		t.Errorf("approve: %q, %v", got, err)
	}
	_, err := Rejecting.Pick(level())
	if p, ok := err.(*console.Problem); !ok || p.Code != console.ExitProblem || !strings.Contains(p.Error(), "it offers appropriate, raise, lower") || p.Hint("en") != "placet respond hitl-3f9a12c4 lower" {
		t.Errorf("reject: %#v", err)
	}
	named := with("approve", "other")
	named.Default = "other"
	if got, err := Approving.Pick(named); got != "approve" || err != nil {
		t.Errorf("an option of that name: %q, %v", got, err)
	}
}

func TestAnAnswerWithoutOptionIsTheDefault(t *testing.T) {
	for name, c := range map[string]struct {
		give     Reply
		response string
		selected []string
		says     string // of the refusal, "" for none
	}{
		"an option":                 {Reply{Option: "raise"}, "raise", nil, ""},
		"an option's word":          {Reply{Option: "상향 권장"}, "raise", nil, ""},
		"an option and items":       {Reply{Option: "raise", Selected: []string{"S1", "s3", "s1"}, Comment: "x"}, "raise", []string{"s1", "s3"}, ""},
		"items alone":               {Reply{Selected: []string{"s2"}}, "appropriate", []string{"s2"}, ""},
		"a comment alone":           {Reply{Comment: "x"}, "appropriate", nil, ""},
		"nothing":                   {Reply{}, "", nil, "needs an option"},
		"blanks":                    {Reply{Option: " ", Comment: "\n"}, "", nil, "needs an option"},
		"an item that is not there": {Reply{Selected: []string{"s4"}}, "", nil, `has no item "s4": it has s1, s2, s3`},
		"an item as an option":      {Reply{Option: "s1"}, "", nil, `does not offer "s1"`},
		"two options":               {Reply{Option: "raise", More: []string{"lower"}}, "", nil, "stands alone"},
	} {
		c.give.By = "kim"
		got, err := NewResponse((&workspace.Workspace{}), level(), c.give)
		if c.says != "" {
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: says %v, want %q", name, err, c.says)
			}
			continue
		}
		if err != nil || got.Response != c.response || !slices.Equal(got.Selected, c.selected) {
			t.Errorf("%s: %q with %q, %v", name, got.Response, got.Selected, err)
		}
		if c.give.Option == "" && !IsGiven(level(), c.give) {
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
		`"response":"상향","selected":["s2","S1"],`: {false, "otherwise: raise with s1, s2 by a (claimed) (file)"},
		`"response":"","comment":"x",`:            {false, "otherwise: appropriate with nothing selected by a (claimed) (file)"},
		`"response":"","comment":" ",`:            {false, ""}, // says nothing, and is replaced
		`"response":"no such","selected":["s1"],`: {false, ""},
		`"response":"raise","selected":["s\n1"],`: {false, ""}, // the daemon does not accept it either
	} {
		body := []byte(`{"request_id":"hitl-3f9a12c4",` + members + `"provided_by":{"user":"a","source":"file"}}`)
		same, err := compare(to, engine.Document{Path: to.Response, Body: body, Sum: engine.Sum(body)}, &give, engine.Gate{})
		if same != want.same || (err != nil) != (want.says != "") || err != nil && !strings.Contains(err.Error(), want.says) {
			t.Errorf("%s: same %t, %v; want %q", members, same, err, want.says)
		}
	}
}
