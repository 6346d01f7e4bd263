package gate

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"placet/engine"
	"placet/layout"
	"placet/templates"
)

const (
	dir     = ".fractary/faber/runs/a/b/c/requests/fr-20251206-a1b2c3"
	present = dir + "/form.md"
	// longAgo is how old the tests' files are: nothing in them is half-written.
	longAgo = time.Hour
)

var now = time.Date(2025, 12, 6, 18, 15, 0, 0, time.UTC)

// file returns a document of the request folder that changed long ago.
func file(name, body string, known ...string) engine.Document {
	d := engine.Document{Path: dir + "/" + name, Body: []byte(body), Sum: engine.Sum([]byte(body)), Changed: now.Add(-longAgo), Known: known}
	switch {
	case name == "response.json":
		d.Kind = layout.KindResponse
	case strings.HasPrefix(name, "response"):
		d.Kind = layout.KindResponseCopy
	case strings.HasPrefix(name, "form"):
		d.Kind = layout.KindForm
	default:
		d.Kind = strings.TrimSuffix(name, ".json")
	}
	return d
}

// responseTo returns a response.json by jm.
func responseTo(id, word, rest string) string {
	return `{"request_id":"` + id + `","response":"` + word + `","provided_by":{"user":"jm","source":"file"}` + rest + `}`
}

func response(word, rest string) string { return responseTo(review().RequestID, word, rest) }

// asking returns the open review with the given files in its folder.
func asking(docs ...engine.Document) Evaluation {
	return Evaluation{
		Request: review(), Dir: dir, Docs: docs, View: view, Issued: view, Present: present,
		Gate: engine.Gate{Level: "file"}, Now: now, PartialWriteGrace: 10 * time.Second,
	}
}

// judge judges with the forms that placet renders of the request, in each language.
func judge(a Evaluation) Verdict {
	if a.Rendered == nil {
		a.Rendered = func() [][]byte {
			var all [][]byte
			for _, lang := range templates.Languages() {
				if form, err := Form(a.Request, a.View, Texts{Lang: lang, Where: "architect:design-review"}); err == nil {
					all = append(all, form)
				}
			}
			return all
		}
	}
	return Judge(a)
}

func form(t *testing.T, words ...string) string {
	t.Helper()
	return tick(mustForm(t, review()), words...)
}

// given returns the answer of a verdict without a problem.
func given(t *testing.T, v Verdict) Answer {
	t.Helper()
	if v.Answer == nil || v.Problem != "" || v.Wait {
		t.Fatalf("%+v", v)
	}
	return v.Answer.Given()
}

func TestAResponseIsTheAnswer(t *testing.T) {
	body := response("approve", `,"comment":"Looks good","digest":"`+string(view)+`"`)
	v := judge(asking(file("request.json", "{}"), file("response.json", body, "owner:alice")))
	want := Answer{
		Response: "approve", Selected: nil, Comment: "Looks good", By: By{User: "jm", Source: "file"},
		Known: []string{"owner:alice", "claimed:jm"}, Path: dir + "/response.json", Sum: engine.Sum([]byte(body)), Digest: view,
	}
	if diff := cmp.Diff(want, given(t, v)); diff != "" {
		t.Error(diff)
	}
}

func TestASubmittedFormIsTheAnswerOfItsOwner(t *testing.T) {
	body := comment(form(t, "request_changes", submitID), "Use UTF-8")
	v := judge(asking(file("form.md", body, "owner:alice")))
	want := Answer{
		Response: "request_changes", Comment: "Use UTF-8", By: By{User: "alice", Source: "form"},
		Known: []string{"owner:alice"}, Path: present, Sum: engine.Sum([]byte(body)), Digest: view,
	}
	if diff := cmp.Diff(want, given(t, v)); diff != "" {
		t.Error(diff)
	}
}

func TestNoFileIsNoAnswerAndNoProblem(t *testing.T) {
	for name, docs := range map[string][]engine.Document{
		"nothing":                   nil,
		"an absent response":        {{Path: dir + "/response.json", Kind: layout.KindResponse, Err: engine.ErrAbsent}},
		"an untouched form":         {file("form.md", mustForm(t, review()))},
		"a ticked, unsent form":     {file("form.md", form(t, "approve"))},
		"two ticks, unsent":         {file("form.md", form(t, "approve", "reject"))},
		"other files of the folder": {file("request.json", response("approve", "")), file("receipt.json", "{}"), file("problem.md", form(t, "approve", submitID))},
	} {
		if diff := cmp.Diff(Verdict{}, judge(asking(docs...))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestTheWordIsRecordedAsTheRequestSpellsIt(t *testing.T) {
	for _, word := range []string{"request_changes", "Request Changes", " REQUEST-CHANGES "} {
		v := judge(asking(file("response.json", response(word, `,"comment":"why"`))))
		if v.Answer == nil || v.Answer.Response != "request_changes" {
			t.Errorf("%q: %+v", word, v)
		}
	}
}

func TestAnAnswerThatCannotBeUsedEarnsAProblem(t *testing.T) {
	twoDigests := view + "0"
	stale := engine.Sum([]byte("before"))
	for _, c := range []struct {
		name string
		doc  engine.Document
		want []string
	}{
		{"an unknown word", file("response.json", response("aprove", "")), []string{"says `aprove`, which is none of the options"}},
		{"a word with a reservation", file("response.json", response("approve if green", "")), []string{"`approve if green`"}},
		{"no word", file("response.json", response("", "")), []string{"names no option"}},
		{"another request", file("response.json", responseTo("fr-1", "approve", "")), []string{"answers the request `fr-1`, this one is `fr-20251206-a1b2c3`"}},
		{"a missing comment", file("response.json", response("request_changes", "")), []string{"`request_changes`, which needs a comment"}},
		{"a blank comment", file("response.json", response("request_changes", `,"comment":" \n "`)), []string{"needs a comment"}},
		{"an item that is not offered", file("response.json", response("approve", `,"selected":["s9"]`)), []string{"selects `s9`, which is not offered"}},
		{"a stale digest", file("response.json", response("approve", `,"digest":"`+string(stale)+`"`)), []string{"is stale", "`" + string(stale) + "`", "`" + string(view) + "`", "`" + present + "`"}},
		{"a malformed digest", file("response.json", response("approve", `,"digest":"`+string(twoDigests)+`"`)), []string{"/digest"}},
		{"placet's own source", file("response.json", strings.Replace(response("approve", ""), "file", "deadline", 1)), []string{"`deadline`, which is placet's own word"}},
		{"an unknown source", file("response.json", strings.Replace(response("approve", ""), "file", "oracle", 1)), []string{"/provided_by/source"}},
		{"no author", file("response.json", `{"request_id":"fr-20251206-a1b2c3","response":"approve"}`), []string{"provided_by"}},
		{"a name twice", file("response.json", response("reject", `,"RESPONSE":"approve"`)), []string{"differ only in case"}},
		{"half a file", file("response.json", response("approve", "")[:40]), []string{"line 1", "ends in the middle"}},
		{"an empty file", file("response.json", ""), []string{"empty"}},
		{"a directory in its place", engine.Document{Path: dir + "/response.json", Kind: layout.KindResponse, Err: errors.New("is a directory")}, []string{"cannot be used: `is a directory`"}},
		{"two ticks", file("form.md", form(t, "approve", "reject", submitID)), []string{"2 options ticked: `approve`, `reject`"}},
		{"no tick", file("form.md", form(t, submitID)), []string{"names no option"}},
		{"an unknown tick", file("form.md", strings.Replace(form(t, "approve", submitID), "- [ ] reject", "- [x] nope", 1)), []string{"does not count", "placet wrote `- [ ] reject: Cancel this workflow run`", "there stands `- [ ] nope: Cancel this workflow run`"}},
		{"a form without its comment", file("form.md", form(t, "request_changes", submitID)), []string{"needs a comment"}},
		{"a form without its first line", file("form.md", strings.SplitAfterN(form(t, "approve", submitID), "\n", 2)[1]), []string{"line 1", "does not name the request"}},
		{"a form of another request", file("form.md", strings.Replace(form(t, "approve", submitID), "a1b2c3", "ffffff", 1)), []string{"the form is for the request fr-20251206-ffffff"}},
		{"an empty form", file("form.md", "\n"), []string{"the form is empty"}},
		{"the present form with another digest", file("form.md", strings.ReplaceAll(form(t, "approve", submitID), string(view), string(stale))), []string{"its answer line is missing"}},
		{"an older form in the present one's place", file("form.md", olderForm(t, "approve", submitID)), []string{"in the place of the present form", "Remove the file"}},
		{"a FIFO", engine.Document{Path: present, Kind: layout.KindForm, Err: errors.New("is a FIFO")}, []string{"is a FIFO"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := judge(asking(c.doc))
			if v.Answer != nil || v.Wait {
				t.Fatalf("%+v", v)
			}
			guide := []string{"`" + c.doc.Path + "`", "- `approve`: Continue to Build phase\n", "- `request_changes`: Provide feedback for revision (needs a comment)\n", "- `reject`: Cancel this workflow run\n",
				"Tick one option and the last item of `" + present + "`", "as \"response\" into `" + dir + "/response.json`, such as `{\"response\":"}
			for _, want := range append(c.want, guide...) {
				if !strings.Contains(v.Problem, want) {
					t.Errorf("the problem lacks %q:\n%s", want, v.Problem)
				}
			}
		})
	}
}

func TestAnUnknownWordNeverApproves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.OneOf(hostileText(), rapid.StringMatching(`[ -_a-zA-Z]{0,12}`)).Draw(t, "word")
		body, err := Response{RequestID: review().RequestID, Response: word, ProvidedBy: By{User: "jm", Source: "file"}}.Encode()
		if err != nil {
			t.Skip("not text")
		}
		v := judge(asking(file("response.json", string(body))))
		_, known := Match(review().Options, word)
		if !known && v.Answer != nil {
			t.Fatalf("%q answers %q", word, v.Answer.Response)
		}
	})
}

func TestAResponseWithoutDigestAnswersTheRequestAsIssued(t *testing.T) {
	a := asking(file("response.json", response("approve", "")))
	if v := judge(a); v.Answer == nil || v.Answer.Digest != view {
		t.Errorf("nothing changed: %+v", v)
	}
	a.Issued, a.Stale = engine.Sum([]byte("before")), "specs/WORK-00258-design.md changed."
	v := judge(a)
	if v.Answer != nil {
		t.Fatalf("an artifact changed, and the answer counts: %+v", v.Answer)
	}
	for _, want := range []string{"has no digest, so it answers the request as issued", "specs/WORK-00258-design.md changed.", "`" + present + "`"} {
		if !strings.Contains(v.Problem, want) {
			t.Errorf("the problem lacks %q:\n%s", want, v.Problem)
		}
	}
	a.Docs = []engine.Document{file("response.json", response("approve", `,"digest":"`+string(view)+`"`))}
	if v := judge(a); v.Answer == nil || v.Problem != "" {
		t.Errorf("the present digest does not count: %+v", v)
	}
}

// olderForm returns a form of an earlier view.
func olderForm(t *testing.T, words ...string) string {
	t.Helper()
	before, err := Form(review(), engine.Sum([]byte("before")), Texts{})
	if err != nil {
		t.Fatal(err)
	}
	return tick(string(before), words...)
}

func TestAFormOfAnOlderViewGetsTheNoteOnceItIsSent(t *testing.T) {
	newer := dir + "/form-" + view.Hex()[:8] + ".md"
	a := asking(file("form.md", olderForm(t, "approve")), file(newer[len(dir)+1:], mustForm(t, review())))
	a.Present, a.Issued, a.Stale = newer, engine.Sum([]byte("before")), "The spec changed."
	if diff := cmp.Diff(Verdict{}, judge(a)); diff != "" {
		t.Errorf("an unsent form of an older view: %s", diff)
	}
	a.Docs[0] = file("form.md", olderForm(t, "approve", submitID))
	v := judge(a)
	if v.Answer != nil || !strings.Contains(v.Problem, "is stale: it shows what is no longer so. The spec changed. The present form is `"+newer+"`") {
		t.Errorf("%+v", v)
	}
	a.Docs[1] = file(newer[len(dir)+1:], form(t, "reject", submitID), "owner:bob")
	if v := judge(a); v.Answer == nil || v.Answer.Response != "reject" || v.Answer.Path != newer || !strings.Contains(v.Problem, "stale") {
		t.Errorf("the present form beside an older one: %+v", v)
	}
}

func TestAFormOfAnOlderViewThatCannotBeReadIsNothing(t *testing.T) {
	newer := dir + "/form-" + view.Hex()[:8] + ".md"
	for name, old := range map[string]engine.Document{
		"torn":      {Path: present, Kind: layout.KindForm, Body: []byte(""), Changed: now},
		"unsettled": {Path: present, Kind: layout.KindForm, Err: engine.ErrUnsettled},
		"broken":    file("form.md", dropLines(olderForm(t, "approve", submitID), "<!-- placet answer", "## Your")),
		"a FIFO":    {Path: present, Kind: layout.KindForm, Err: errors.New("is a FIFO")},
	} {
		a := asking(old)
		a.Present = newer
		if diff := cmp.Diff(Verdict{}, judge(a)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestWhereNoFormIsPresentEveryFormIsLookedAt(t *testing.T) {
	a := asking(file("form-00000000.md", form(t, "approve", submitID)))
	a.Present = ""
	if v := judge(a); v.Answer == nil {
		t.Errorf("%+v", v)
	}
	a.Docs[0] = file("form-00000000.md", form(t, submitID))
	if v := judge(a); !strings.Contains(v.Problem, "the last item of the form") {
		t.Errorf("%+v", v)
	}
	a.Docs[0] = engine.Document{Path: present, Kind: layout.KindForm, Err: engine.ErrUnsettled}
	if v := judge(a); !v.Wait {
		t.Errorf("%+v", v)
	}
}

func TestResponseAndFormRankAlike(t *testing.T) {
	for _, c := range []struct {
		name           string
		response, form string
		want           Answer // only these members are compared
		problem        string
	}{
		{"alike: one answer, the response's comment", response("approve", `,"comment":"from json"`), comment(form(t, "approve", submitID), "from form"),
			Answer{Response: "approve", Comment: "from json", Path: dir + "/response.json", By: By{User: "jm", Source: "file"}}, ""},
		{"alike, the response without comment: the form's comment", response("Approve", ""), comment(form(t, "approve", submitID), "from form"),
			Answer{Response: "approve", Comment: "from form", Path: dir + "/response.json", By: By{User: "jm", Source: "file"}}, ""},
		{"different: neither", response("approve", ""), form(t, "reject", submitID), Answer{}, "they differ, so none counts"},
		{"the form unsent: the response", response("approve", ""), form(t, "reject"),
			Answer{Response: "approve", Path: dir + "/response.json", By: By{User: "jm", Source: "file"}}, ""},
		{"the form invalid: the response, and a problem", response("approve", ""), form(t, "reject", "approve", submitID),
			Answer{Response: "approve", Path: dir + "/response.json", By: By{User: "jm", Source: "file"}}, "2 options ticked"},
		{"the response invalid: the form, and a problem", response("yes", ""), form(t, "reject", submitID),
			Answer{Response: "reject", Path: present, By: By{User: "alice", Source: "form"}}, "none of the options"},
		{"the response lacks its comment: the form", response("request_changes", ""), comment(form(t, "request_changes", submitID), "why"),
			Answer{Response: "request_changes", Comment: "why", Path: present, By: By{User: "alice", Source: "form"}}, "needs a comment"},
		{"both invalid", response("yes", ""), form(t, submitID), Answer{}, "names no option"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := judge(asking(file("form.md", c.form, "owner:alice"), file("response.json", c.response)))
			var got Answer
			if v.Answer != nil {
				got = Answer{Response: v.Answer.Response, Comment: v.Answer.Comment, Path: v.Answer.Path, By: v.Answer.By}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if !strings.Contains(v.Problem, c.problem) || c.problem == "" && v.Problem != "" {
				t.Errorf("problem %q, want %q", v.Problem, c.problem)
			}
		})
	}
}

func TestDifferentAnswersAreBothQuoted(t *testing.T) {
	v := judge(asking(file("form.md", form(t, "reject", submitID)), file("response.json", response("approve", ""))))
	for _, want := range []string{"- `" + dir + "/response.json` says `approve`\n", "- `" + present + "` says `reject`\n", "Take one back"} {
		if !strings.Contains(v.Problem, want) {
			t.Errorf("the problem lacks %q:\n%s", want, v.Problem)
		}
	}
}

func TestWhichAnswerWasSavedFirstIsNeverAsked(t *testing.T) {
	for _, ages := range [][2]time.Duration{{time.Hour, time.Minute}, {time.Minute, time.Hour}, {0, 0}} {
		a, b := file("form.md", form(t, "reject", submitID)), file("response.json", response("approve", ""))
		a.Changed, b.Changed = now.Add(-ages[0]), now.Add(-ages[1])
		if v := judge(asking(a, b)); v.Answer != nil || v.Problem == "" {
			t.Errorf("ages %v: %+v", ages, v)
		}
	}
}

const copyName = "response.sync-conflict-20251206-181500-ABCDEFG.json"

func TestASynchronisersCopyIsASecondAnswer(t *testing.T) {
	for _, c := range []struct {
		name, copy, want, problem string
	}{
		{"alike", response("approve", ""), "approve", ""},
		{"different", response("reject", ""), "", "they differ"},
		{"invalid", response("yes", ""), "approve", "none of the options"},
		{"torn long ago", "{", "approve", "cannot be used"},
	} {
		v := judge(asking(file("response.json", response("approve", "")), file(copyName, c.copy)))
		got := ""
		if v.Answer != nil {
			got = v.Answer.Response
		}
		if got != c.want || !strings.Contains(v.Problem, c.problem) || c.problem == "" && v.Problem != "" {
			t.Errorf("%s: answer %q, problem %q", c.name, got, v.Problem)
		}
		if c.problem != "" && !strings.Contains(v.Problem, copyName) {
			t.Errorf("%s: the problem does not name the copy:\n%s", c.name, v.Problem)
		}
	}
	if v := judge(asking(file(copyName, response("approve", "")))); v.Answer == nil || v.Answer.Path != dir+"/"+copyName {
		t.Errorf("a copy alone: %+v", v)
	}
}

func TestWhatMayBeHalfWrittenIsWaitedFor(t *testing.T) {
	at := func(d engine.Document, changed time.Time) engine.Document { d.Changed = changed; return d }
	torn := now.Add(-4 * time.Second)
	cut := form(t, "approve", submitID)
	cut = cut[:len(cut)-10]
	for _, c := range []struct {
		name string
		docs []engine.Document
		wait bool
		wake time.Time
	}{
		{"unsettled response", []engine.Document{{Path: dir + "/response.json", Kind: layout.KindResponse, Err: engine.ErrUnsettled}}, true, time.Time{}},
		{"unsettled form", []engine.Document{{Path: present, Kind: layout.KindForm, Err: engine.ErrUnsettled}}, true, time.Time{}},
		{"unsettled form beside a good response", []engine.Document{file("response.json", response("approve", "")), {Path: present, Kind: layout.KindForm, Err: engine.ErrUnsettled}}, true, time.Time{}},
		{"torn response, young", []engine.Document{at(file("response.json", `{"request_id":`), torn)}, true, torn.Add(10 * time.Second)},
		{"torn copy beside a good response", []engine.Document{file("response.json", response("approve", "")), at(file(copyName, ""), torn)}, true, torn.Add(10 * time.Second)},
		{"torn form, young", []engine.Document{at(file("form.md", cut), torn)}, true, torn.Add(10 * time.Second)},
		{"empty form, young", []engine.Document{at(file("form.md", ""), torn)}, true, torn.Add(10 * time.Second)},
		{"two torn, the earlier wakes", []engine.Document{at(file("form.md", ""), torn), at(file("response.json", ""), torn.Add(-time.Second))}, true, torn.Add(9 * time.Second)},
		{"torn, from a little ahead", []engine.Document{at(file("response.json", ""), now.Add(9*time.Second))}, true, now.Add(19 * time.Second)},
		{"torn, ten seconds old", []engine.Document{at(file("response.json", ""), now.Add(-10*time.Second))}, false, time.Time{}},
		{"torn, from a day ahead", []engine.Document{at(file("response.json", ""), now.Add(24*time.Hour))}, false, time.Time{}},
		{"torn, of unknown age", []engine.Document{at(file("response.json", ""), time.Time{})}, false, time.Time{}},
		{"whole and wrong, young", []engine.Document{at(file("response.json", response("yes", "")), now)}, false, time.Time{}},
		{"whole and of the wrong type, young", []engine.Document{at(file("response.json", `{"request_id":1}`), now)}, false, time.Time{}},
		{"a form for another request, young", []engine.Document{at(file("form.md", strings.Replace(cut, "a1b2c3", "ffffff", 1)), now)}, false, time.Time{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := judge(asking(c.docs...))
			var wake time.Time
			for _, h := range v.Pending {
				if !slices.ContainsFunc(c.docs, func(d engine.Document) bool { return d.Path == h.Path }) {
					t.Errorf("%s is held", h.Path)
				}
				if !h.Until.IsZero() && (wake.IsZero() || h.Until.Before(wake)) {
					wake = h.Until
				}
			}
			if v.Answer != nil && c.wait || v.Wait != c.wait || (len(v.Pending) > 0) != c.wait || !wake.Equal(c.wake) || (v.Problem == "") != c.wait {
				t.Errorf("%+v", v)
			}
		})
	}
}

func TestNothingIsDecidedWhileWhatIsShownCannotBeTold(t *testing.T) {
	a := asking(file("response.json", response("approve", "")))
	a.View = ""
	if diff := cmp.Diff(Verdict{Wait: true}, judge(a)); diff != "" {
		t.Error(diff)
	}
}

func TestJudgingChangesNothingAndIsRepeatable(t *testing.T) {
	known := append(make([]string, 0, 4), "owner:jm", "x")[:1]
	a := asking(file("response.json", response("approve", ""), known...), file("form.md", form(t, "approve", submitID), known...))
	a.Gate.Approvers = []string{"jm"}
	first := judge(a)
	if diff := cmp.Diff(first, judge(a), cmp.AllowUnexported(Decision{})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"owner:jm", "x"}, known[:2]); diff != "" {
		t.Error(diff)
	}
}

func TestALongListOfProblemsStaysShort(t *testing.T) {
	a := asking(file("form.md", strings.Replace(form(t, "approve", submitID), "approve: Continue", "approve: "+strings.Repeat("long ", 1<<17), 1)))
	for i := range 500 {
		a.Request.Options = append(a.Request.Options, Option{ID: "o" + strings.Repeat("x", i), Description: strings.Repeat("word ", 1000)})
	}
	v := judge(a)
	if len(v.Problem) > 32<<10 || !strings.Contains(v.Problem, "there stands `") || !strings.Contains(v.Problem, "and 453 more, in request.json") {
		t.Errorf("%d bytes:\n%.3000s", len(v.Problem), v.Problem)
	}
}

func TestProblemsShowNoHiddenCharacters(t *testing.T) {
	v := judge(asking(file("response.json", response(`app\u202erove\u200b\u001b[2J\n# x`, ""))))
	if !strings.Contains(v.Problem, "says `app\\u{202e}rove\\u{200b}\\u{1b}[2J # x`, which is none") {
		t.Errorf("%q", v.Problem)
	}
}

// Too much text invalidates the answer that contains it, and no other answer beside it.
func TestAnAnswerMayHoldSoMuchText(t *testing.T) {
	long := strings.Repeat("x", LongestAnswer-len("approve"))
	free := asking()
	free.Request.Options, free.Request.CommentRequired, free.Request.Items = nil, nil, nil
	for name, c := range map[string]struct {
		asked Evaluation
		file  engine.Document
		fits  bool
	}{
		"a comment that fits":                    {asking(), file("response.json", response("approve", `,"comment":"`+long+`"`)), true},
		"a comment too long":                     {asking(), file("response.json", response("approve", `,"comment":"`+long+`x"`)), false},
		"a free text that fits":                  {free, file("response.json", response("approve"+long, "")), true},
		"a free text too long":                   {free, file("response.json", response("approve"+long+"x", "")), false},
		"a text and its comment":                 {free, file("response.json", response("approve"+long, `,"comment":"x"`)), false},
		"a comment too long, not the other file": {asking(file("form.md", form(t, "approve", submitID))), file("response.json", response("approve", `,"comment":"`+long+`x"`)), true},
	} {
		c.asked.Docs = append(c.asked.Docs, c.file)
		v := judge(c.asked)
		if (v.Answer != nil) != c.fits || strings.Contains(v.Problem, "expected at most 65536") == (c.fits && len(c.asked.Docs) == 1) {
			t.Errorf("%s: %v, %s", name, v.Answer != nil, v.Problem)
		}
	}
}
