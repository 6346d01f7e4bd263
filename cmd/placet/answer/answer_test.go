package answer

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"placet/cmd/placet/config"
	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/engine/store"
	"placet/engine/store/fs"
	"placet/schemas"
)

// with returns the review request offering other options.
func with(options ...string) view.Request {
	t := review
	t.Options, t.CommentRequired = nil, nil
	for _, o := range options {
		t.Options = append(t.Options, engine.RequestOption{ID: o})
	}
	t.FreeText = len(options) == 0
	return t
}

func TestApproveAndRejectPickTheirOptionOrNone(t *testing.T) {
	tests := []struct {
		offered  []string
		yes, no  string
		inPrompt string
	}{
		{[]string{"approve", "request_changes", "reject"}, "approve", "reject", ""},
		{[]string{"cancel", "confirm"}, "confirm", "cancel", ""},
		{[]string{"retry", "skip", "abort"}, "", "abort", "retry"},
		{[]string{"Approve", "Reject"}, "Approve", "Reject", ""},
		{[]string{"approve all", "disapprove"}, "", "disapprove", "approve all"},
		{[]string{"yes", "no"}, "yes", "no", "yes"},
		{[]string{"yes", "ok", "no", "stop"}, "", "", "yes"},
		{[]string{"yes", "no", "cancel", "confirm"}, "confirm", "cancel", "yes"},
		{[]string{"accept", "reopen:a"}, "accept", "", ""},
		{[]string{"confirm", "approve", "abort", "cancel", "reject"}, "approve", "reject", ""},
	}
	for _, test := range tests {
		to := with(test.offered...)
		for _, verb := range []struct {
			Decision
			want string
		}{{Approving, test.yes}, {Rejecting, test.no}} {
			got, err := verb.Pick(to)
			if got != verb.want || (err != nil) != (verb.want == "") {
				t.Errorf("%s of %q: %q, %v; want %q", verb.Verb, test.offered, got, err, verb.want)
			}
			if err != nil && (err.(*console.Problem).Code != console.ExitProblem || !strings.Contains(err.(*console.Problem).Hint("en"), "placet respond")) {
				t.Errorf("%s of %q: %#v", verb.Verb, test.offered, err)
			}
		}
	}
	if _, err := Approving.Pick(with()); err == nil || !strings.Contains(err.Error(), "in words") {
		t.Errorf("of a question: %v", err)
	}
}

func TestAnAnswerIsCheckedBeforeItIsWritten(t *testing.T) {
	tests := map[string]struct {
		to   view.Request
		give Reply
		want gate.Response
		code int // of the refusal, 0 for none
		says string
	}{
		"an option as it is spelled":    {review, Reply{Option: "approve"}, gate.Response{Response: "approve"}, 0, ""},
		"an option in another spelling": {review, Reply{Option: " REQUEST-changes", Comment: " UTF-8 "}, gate.Response{Response: "request_changes", Comment: "UTF-8"}, 0, ""},
		"an unknown option":             {review, Reply{Option: "aprove"}, gate.Response{}, 1, `does not offer "aprove": it offers approve, request_changes, reject`},
		"a part of an option":           {review, Reply{Option: "app"}, gate.Response{}, 1, "does not offer"},
		"no option":                     {review, Reply{}, gate.Response{}, 2, "needs an option"},
		"changes without a comment":     {review, Reply{Option: "request_changes", Comment: " \n"}, gate.Response{}, 1, "needs a comment"},
		"text":                          {with(), Reply{Option: " Use UTC.\n"}, gate.Response{Response: "Use UTC."}, 0, ""},
		"text as the comment":           {with(), Reply{Comment: "Use UTC."}, gate.Response{Response: "Use UTC."}, 0, ""},
		"text and a comment":            {with(), Reply{Option: "UTC", Comment: "as always"}, gate.Response{Response: "UTC", Comment: "as always"}, 0, ""},
		"no text":                       {with(), Reply{Option: "  "}, gate.Response{}, 2, "in words"},
		"a selection of nothing":        {review, Reply{Option: "approve", Selected: []string{"a"}}, gate.Response{}, 1, "nothing to select"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := &workspace.Workspace{Env: &console.Env{Now: time.Now}, Store: store.New(fs.OS(t.TempDir()), store.Options{})}
			test.give.By = "kim"
			to := test.to
			to.Digest = engine.Sum([]byte("shown"))
			got, err := NewResponse(b, to, test.give)
			if test.code != 0 {
				p, ok := err.(*console.Problem)
				if !ok || p.Code != test.code || !strings.Contains(p.Error(), test.says) {
					t.Fatalf("says %#v, want %q with %d", err, test.says, test.code)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got.Response != test.want.Response || got.Comment != test.want.Comment || !slices.Equal(got.Selected, test.want.Selected) {
				t.Errorf("%+v, want %+v", got, test.want)
			}
			if got.RequestID != to.Request || got.Digest != to.Digest || got.ProvidedBy != (gate.By{User: "kim", Source: "cli"}) {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestWhatIsPickedMustBeAnItem(t *testing.T) {
	to := review
	to.Items = []engine.RequestItem{{ID: "a"}, {ID: "b_c"}}
	var resp gate.Response
	if err := ChooseItems(to, []string{"B-C", "a", "A"}, &resp); err != nil || !slices.Equal(resp.Selected, []string{"b_c", "a"}) {
		t.Errorf("%q, %v", resp.Selected, err)
	}
	if err := ChooseItems(to, []string{"x"}, &resp); err == nil || !strings.Contains(err.Error(), "it has a, b_c") {
		t.Errorf("says %v", err)
	}
}

// several is AFL's review: any number of reopen, or accept alone.
func several() view.Request {
	t := with("accept", "reopen:a", "reopen:b")
	t.Run = engine.Key{Family: "afl", ID: "shop"}
	t.Several = []string{"reopen:a", "reopen:b"}
	t.CommentRequired = t.Several
	return t
}

func TestSeveralOptionsAreChosenWhereTheRequestLetsThem(t *testing.T) {
	tests := map[string]struct {
		to       view.Request
		give     Reply
		response string
		selected []string
		says     string // of the refusal, "" for none
	}{
		"two":                   {several(), Reply{Option: "reopen:b", More: []string{"REOPEN:a"}, Comment: "x"}, "reopen:b", []string{"reopen:a"}, ""},
		"one twice":             {several(), Reply{Option: "reopen:b", More: []string{"reopen:b"}, Comment: "x"}, "reopen:b", nil, ""},
		"one that stands alone": {several(), Reply{Option: "accept"}, "accept", nil, ""},
		"it with another":       {several(), Reply{Option: "reopen:a", More: []string{"accept"}, Comment: "x"}, "", nil, "accept of "},
		"without a comment":     {several(), Reply{Option: "reopen:a", More: []string{"reopen:b"}}, "", nil, "needs a comment"},
		"an unknown one":        {several(), Reply{Option: "reopen:a", More: []string{"reopen:c"}, Comment: "x"}, "", nil, `does not offer "reopen:c"`},
		"where none may":        {review, Reply{Option: "approve", More: []string{"reject"}}, "", nil, "approve of "},
		"words of a text":       {with(), Reply{Option: "use", More: []string{"UTC"}}, "", nil, "one answer in words"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.give.By = "kim"
			got, err := NewResponse((&workspace.Workspace{}), test.to, test.give)
			if test.says != "" {
				if err == nil || !strings.Contains(err.Error(), test.says) {
					t.Errorf("says %v, want %q", err, test.says)
				}
				return
			}
			if err != nil || got.Response != test.response || !slices.Equal(got.Selected, test.selected) {
				t.Errorf("%q with %q, %v", got.Response, got.Selected, err)
			}
		})
	}
}

func TestWhichOptionOfSeveralComesFirstSaysNothing(t *testing.T) {
	to := several()
	answer := func(response string, selected ...string) gate.Response {
		return gate.Response{RequestID: to.Request, Response: response, Selected: selected, Comment: "x"}
	}
	if !sameAnswer(to, answer("reopen:a", "reopen:b"), answer("reopen:b", "reopen:a", "reopen:b")) {
		t.Error("the same options in another order are another answer")
	}
	if sameAnswer(to, answer("reopen:a"), answer("reopen:a", "reopen:b")) {
		t.Error("one option is the same as two")
	}
	for what, other := range map[string]gate.Response{
		"other words":     {Response: "reopen:a", Comment: "y"},
		"words and a key": {Response: "reopen:a", Comment: "x", Extra: schemas.Object{{Name: run.KeysMember, Value: []string{"k"}}}},
	} {
		if sameAnswer(to, answer("reopen:a"), other) {
			t.Errorf("%s are lost in the same answer", what)
		}
	}
	if !sameAnswer(to, answer("reopen:a"), gate.Response{Response: "reopen:a"}) {
		t.Error("no words are another answer")
	}
	silent := answer("accept", "reopen:b")
	silent.Comment, silent.ProvidedBy = "", gate.By{User: "kim", Source: gate.SourceFile}
	body, err := silent.Encode()
	if _, _, ok := view.AnswerIn(to, engine.Document{Body: body}, engine.Gate{}); err != nil || ok {
		t.Errorf("usable without the comment that a further option needs (%v)", err)
	}
}

func TestAttemptsGoWithTheirOptionAlone(t *testing.T) {
	escalation := with("retry_more", "skip")
	escalation.Run, escalation.Members = engine.Key{Family: "afl", ID: "shop"}, []string{"attempts"}
	faber := with("retry_more", "skip")
	for name, test := range map[string]struct {
		to       view.Request
		option   string
		attempts int
		says     string
	}{
		"three": {escalation, "Retry more", 3, ""}, "most": {escalation, "retry_more", 20, ""},
		"too many": {escalation, "retry_more", 21, "takes 1 to 20, not 21"}, "none": {escalation, "retry_more", 0, "takes 1 to 20, not 0"},
		"another option": {escalation, "skip", 3, "goes with the option retry_more"}, "another family": {faber, "retry_more", 3, "of an AFL request"},
	} {
		got, err := NewResponse((&workspace.Workspace{}), test.to, Reply{Option: test.option, Attempts: &test.attempts, By: "kim"})
		if test.says != "" {
			if p, ok := err.(*console.Problem); !ok || p.Code != console.ExitUsage || !strings.Contains(p.Error(), test.says) {
				t.Errorf("%s: says %v", name, err)
			}
			continue
		}
		if err != nil || string(got.Extra.Raw("attempts")) != strconv.Itoa(test.attempts) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		other := got
		other.Extra = nil
		if sameAnswer(test.to, got, other) {
			t.Errorf("%s: another number is the same answer", name)
		}
	}
}

func TestARefusalSaysTheWholeAnswerThatStandsThere(t *testing.T) {
	escalation := with("retry_more", "skip")
	escalation.Run, escalation.Members = engine.Key{Family: "afl", ID: "shop"}, []string{"attempts"}
	question := with()
	for name, c := range map[string]struct {
		to      view.Request
		members string
		says    string
	}{
		"several options": {several(), `"response":"REOPEN:b","selected":["reopen:a"],"comment":"x"`, "otherwise: reopen:a, reopen:b by lee (claimed) (file)"},
		"attempts":        {escalation, `"response":"retry more","attempts":3`, "otherwise: retry_more with attempts 3 by lee (claimed) (file)"},
		"an option":       {escalation, `"response":"skip"`, "otherwise: skip by lee (claimed) (file)"},
		"a text":          {question, `"response":"Use\nUTC"`, "otherwise: Use UTC by lee (claimed) (file)"},
		"a long text":     {question, `"response":"` + strings.Repeat("x", 999) + `"`, "otherwise: " + strings.Repeat("x", 99) + "… by lee (claimed) (file)"},
	} {
		give := gate.Response{RequestID: c.to.Request, Response: "accept"}
		if !c.to.FreeText {
			give.Response = c.to.Options[0].ID
		}
		body := []byte(`{"request_id":"` + c.to.Request + `",` + c.members + `,"provided_by":{"user":"lee","source":"file"}}`)
		same, err := compare(c.to, engine.Document{Path: "r/response.json", Body: body, Sum: engine.Sum(body)}, &give, engine.Gate{})
		if same || err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: same %t, %v", name, same, err)
		}
	}
}

func TestOnlyWhoMayAnswerDoes(t *testing.T) {
	b := &workspace.Workspace{}
	b.Gates = map[string]config.GateRule{"faber/approval": {Approvers: []string{"kim"}}}
	if _, err := NewResponse(b, review, Reply{Option: "approve", By: "kim"}); err != nil {
		t.Error(err)
	}
	// A caller who is told of a flag that makes them somebody else would use it.
	if _, err := NewResponse(b, review, Reply{Option: "approve", By: "lee"}); err == nil || !strings.Contains(err.Error(), "kim") || strings.Contains(err.Error()+err.(*console.Problem).Hint("en"), "--as") {
		t.Errorf("says %#v", err)
	}
	b.Gates["faber/approval"] = config.GateRule{Approvers: []string{"owner:" + console.Login()}}
	if _, err := NewResponse(b, review, Reply{Option: "approve", By: "lee"}); err != nil {
		t.Errorf("the owner of the file: %v", err)
	}
	for _, by := range []string{"", "a\nb", "a\u202eb"} {
		if _, err := NewResponse(b, review, Reply{Option: "approve", By: by}); err == nil || err.(*console.Problem).Code != console.ExitUsage {
			t.Errorf("as %q: %v", by, err)
		}
	}
}

func TestAnAnswerInPlaceIsNeverLost(t *testing.T) {
	digest := engine.Sum([]byte("shown"))
	to := review
	to.Digest, to.Response = digest, "r/response.json"
	approve := gate.Response{RequestID: to.Request, Response: "approve", Digest: digest}
	tests := map[string]struct {
		there   gate.Response
		problem string // of the daemon, about the answer in place
		same    bool
		refused bool
	}{
		"the same":                      {approve, "", true, false},
		"the same in another spelling":  {gate.Response{RequestID: to.Request, Response: "APPROVE", Comment: "yes"}, "", true, false},
		"another":                       {gate.Response{RequestID: to.Request, Response: "reject"}, "", false, true},
		"another, that cannot be used":  {gate.Response{RequestID: to.Request, Response: "reject"}, "two answers differ", false, false},
		"one for another request":       {gate.Response{RequestID: "fr-other", Response: "approve"}, "", false, false},
		"one for what was shown before": {gate.Response{RequestID: to.Request, Response: "reject", Digest: engine.Sum(nil)}, "", false, false},
		"one that is not offered":       {gate.Response{RequestID: to.Request, Response: "maybe"}, "", false, false},
		"one without its comment":       {gate.Response{RequestID: to.Request, Response: "request_changes"}, "", false, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.there.ProvidedBy = gate.By{User: "lee", Source: "file"}
			body, err := test.there.Encode()
			if err != nil {
				t.Fatal(err)
			}
			to := to
			to.Problem = test.problem
			again := approve // which gets the comment of the answer in place
			same, err := compare(to, engine.Document{Path: to.Response, Body: body, Sum: engine.Sum(body)}, &again, engine.Gate{})
			if same != test.same || (err != nil) != test.refused {
				t.Errorf("same %v, error %v", same, err)
			}
		})
	}
	if _, err := compare(to, engine.Document{Path: to.Response, Err: engine.ErrUnsettled}, &approve, engine.Gate{}); err == nil {
		t.Error("what cannot be read was taken for nothing")
	}
}

func TestEveryOptionHasItsCommand(t *testing.T) {
	got := HowToAnswer("", review.OpenRequest, false)
	want := []string{
		"placet approve fr-20251206-a1b2c3\n→ Continue to Build phase",
		"placet respond fr-20251206-a1b2c3 request_changes -m \"…\"\n→ Provide feedback for revision",
		"placet reject fr-20251206-a1b2c3\n→ Cancel this workflow",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got, want := HowToAnswer("", several().OpenRequest, false), []string{
		"placet approve fr-20251206-a1b2c3",
		`placet respond fr-20251206-a1b2c3 reopen:a reopen:b -m "…"  (one or more of them)`,
	}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	odd := with("it's fine", "no")
	if got := HowToAnswer("", odd.OpenRequest, true)[0]; got != `placet respond faber/acme/web/3f2b8c1e-9a4d-4c57-8e21-6b0f5d7a9c34:fr-20251206-a1b2c3 'it'\''s fine'` {
		t.Errorf("%q", got)
	}
}

// review is an open request of FABER.
var review = view.Request{OpenRequest: engine.OpenRequest{
	Request: "fr-20251206-a1b2c3", Run: engine.Key{Family: "faber", ID: "acme/web/3f2b8c1e-9a4d-4c57-8e21-6b0f5d7a9c34"},
	Type: "approval", Where: "architect:design-review", Prompt: "Please review the architectural design and approve to proceed.",
	Summary: "3-layer architecture with handler pattern", Artifacts: []string{"specs/WORK-00258-design.md"},
	Options: []engine.RequestOption{
		{ID: "approve", Description: "Continue to Build phase"},
		{ID: "request_changes", Description: "Provide feedback for revision"},
		{ID: "reject", Description: "Cancel this workflow"},
	},
	CommentRequired: []string{"request_changes"},
}}
