package afl

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
	"placet/layout"
)

func (w *world) account() engine.RunView {
	w.T.Helper()
	s, _ := w.Full()
	return New().Account(s)
}

// A folder that is not a session is not listed as a run; one that was a session is.
func TestAFolderThatIsNoSession(t *testing.T) {
	w := newWorld(t)
	w.Write("delegations/a/iterations/1/result.json", "{}")
	if a := w.account(); !a.Absent || a.Status != "absent" || len(a.Why) != 1 || a.Final || a.Blocked {
		t.Errorf("%+v", a)
	}
	s, p := w.Full()
	if !p.Empty() || !slices.Equal(p.Follow, []string{s.Dir + "/specs"}) {
		t.Errorf("it is not watched for what would make it one: %+v", p)
	}
	w.Write("events.jsonl", "{}\n")
	if a := w.account(); a.Absent || !a.Blocked || a.Status != "unreadable" {
		t.Errorf("with a journal alone: %+v", a)
	}
	w = approvedWorld(t, cp{id: "a"})
	if a := w.account(); a.Absent || a.Blocked || a.Status != "new" {
		t.Errorf("not begun: %+v", a)
	}
}

func facts(list []engine.Fact) []string {
	var lines []string
	for _, f := range list {
		lines = append(lines, f.Label+": "+f.Value)
	}
	return lines
}

func TestShowOfASession(t *testing.T) {
	w := approvedWorld(t, cp{id: "a"}, cp{id: "b", after: []string{"a"}})
	w.Write("meta.json", `{"title": "Coupons"}`)
	w.settle()
	w.trust()
	w.failOnce("a", "AssertionError: no\n1 failing\n")
	a := w.account()
	want := []string{
		"title: Coupons", "approved: by kim, 2025-12-06T18:15:00.120Z", "round: 1 of 2",
		"checkpoint: a: retrying, attempt 1/5, last failed: exit code 1", "checkpoint: b: pending",
	}
	if diff := cmp.Diff(want, facts(a.Facts)); diff != "" {
		t.Error(diff)
	}
	nodes := []engine.Node{
		{ID: "a", Group: "1", Label: "a", Status: Retrying, Current: true, Critical: true, After: []string{}},
		{ID: "b", Group: "2", Label: "b", Status: Pending, Critical: true, After: []string{"a"}},
	}
	if diff := cmp.Diff(nodes, a.Graph); diff != "" {
		t.Error(diff)
	}
	part := a.Parts[0]
	if part.ID != "a" || part.Status != Retrying || len(a.Parts) != 2 {
		t.Errorf("%+v", part)
	}
	if got := facts(part.Facts); !slices.Contains(got, "command: run a") || !slices.Contains(got, "attempt: 1/5") || !slices.Contains(got, "next attempt: 2025-12-06T18:15:05.120Z") {
		t.Errorf("%q", got)
	}
	sections := map[string]string{}
	for _, s := range part.Sections {
		sections[s.Title] = s.Text
	}
	if got := sections["History"]; got != "2025-12-06T18:15:00.120Z  attempt 1  failed  RETRY  LOGIC_ERROR  exit code 1" {
		t.Errorf("%q", got)
	}
	if got := sections["Feedback on attempt 1"]; !strings.Contains(got, "# Feedback: a (Iteration 1/5)") || strings.Contains(got, mark) {
		t.Errorf("%q", got)
	}
	if got := sections["Files"]; !strings.Contains(got, "/a/iterations/1/verdict.json\n") || !strings.Contains(got, "/a/status.json") {
		t.Errorf("%q", got)
	}
	if last := a.Log[len(a.Log)-1]; last.Number != w.state().Revision || last.Event != "fail" || last.Where != "a" || last.Message != "RETRY: LOGIC_ERROR" {
		t.Errorf("%+v", last)
	}
	if first := a.Log[0]; first.Event != "seen" || first.Where != "" || first.Number != 1 || !first.At.Equal(w.Now.Truncate(time.Millisecond)) {
		t.Errorf("%+v", first)
	}
}

// Approved commands wait for trust while placet is to run them, and so do settings of upstream's
// files that loosen the policy.
func TestWhatWaitsForTrust(t *testing.T) {
	w := approvedWorld(t, cp{id: "a"}, cp{id: "b"})
	if got := w.account().Untrusted; len(got) > 0 {
		t.Errorf("before anything is approved: %+v", got)
	}
	w.settle()
	w.Put(".afl/config.json", `{"agents": {"implReviewer": "off"}}`)
	var names []string
	for _, u := range w.account().Untrusted {
		names = append(names, u.Name+" = "+u.Text)
	}
	want := []string{"afl.review = off (.afl/config.json /agents/implReviewer)", "afl.validation abc12345/a = run a", "afl.validation abc12345/b = run b"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	for _, u := range w.account().Untrusted {
		w.Facts.Trusted[u.Digest] = true
	}
	if got := w.account().Untrusted; len(got) > 0 {
		t.Errorf("all is trusted: %+v", got)
	}
	clear(w.Facts.Trusted)
	w.config(func(c *Config) { c.Validation, c.Review = ptr("result"), ptr("person") })
	if got := w.account().Untrusted; len(got) > 0 {
		t.Errorf("no command is to run: %+v", got)
	}
}

func TestCheckOfADesign(t *testing.T) {
	w := newWorld(t)
	w.Write("specs/checkpoints.yaml", design("", cp{id: "a", after: []string{"b"}}, cp{id: "b", after: []string{"a"}}))
	w.settle()
	w.pass(time.Minute)
	w.settle()
	w.Write("control.json", "{}")
	w.Write("requests/"+w.open(typeApproval)+"/response (conflicted copy).json", "{}")
	a := w.account()
	said := map[string]string{}
	for _, f := range a.Findings {
		said[strings.TrimPrefix(f.Path, sessionDir+"/")+" "+f.Severity] += f.Text + "\n"
	}
	if got := said["specs/checkpoints.yaml error"]; !strings.HasPrefix(got, "E1 cycle: cycle a → b → a; ") {
		t.Errorf("%q", got)
	}
	if got := said["specs/checkpoints.yaml warning"]; !strings.Contains(got, "W2 no_expected: /checkpoints/1: ") {
		t.Errorf("%q", got)
	}
	if got := said["control.json.problem.md error"]; !strings.HasPrefix(got, "cannot read control.json") || strings.Contains(got, "placet wrote this note") {
		t.Errorf("a note that the next pass writes: %q", got)
	}
	if a.Graph[0].Group != "cycle" || a.Graph[0].Status != Pending || len(a.Graph) != 2 {
		t.Errorf("%+v", a.Graph)
	}
}

func TestRequestsAreShownWithAllThatTheyAsk(t *testing.T) {
	w := approvedWorld(t, cp{id: "a"}, cp{id: "b"})
	w.settle()
	w.trust()
	w.passOnce("a")
	w.passOnce("b")
	a := w.account()
	if len(a.Open) != 1 {
		t.Fatalf("%+v", a.Open)
	}
	q := a.Open[0]
	id := w.open(typeReview)
	if q.Request != id || q.Where != "review" || q.Type != typeReview || q.Form != w.In("requests/"+id+"/form.md") || q.Problem != "" {
		t.Errorf("%+v", q)
	}
	if diff := cmp.Diff([]string{"reopen:a", "reopen:b"}, q.Several); diff != "" {
		t.Error(diff)
	}
	if form := w.Read("requests/" + id + "/form.md"); !strings.Contains(form, string(q.Digest)) {
		t.Errorf("the digest is not that of the form: %s", q.Digest)
	}
	w.Respond(id, map[string]any{"response": "reopen:a"})
	if got := w.account().Open[0].Problem; !strings.Contains(got, "comment") {
		t.Errorf("an answer that cannot be used: %q", got)
	}
	w.Respond(id, map[string]any{"response": "accept"})
	w.settle()
	if a := w.account(); len(a.Open) > 0 || !a.Final || a.Status != Completed {
		t.Errorf("%+v", a)
	}
}

// Computing a view changes nothing: it is not a step.
func TestAnAccountMovesNothing(t *testing.T) {
	w := approvedWorld(t, cp{id: "a"})
	w.settle()
	w.done("a")
	s, before := w.Full()
	New().Account(s)
	_, after := w.Full()
	if diff := cmp.Diff(before, after); diff != "" {
		t.Error(diff)
	}
	for _, d := range s.Docs {
		if d.Kind == layout.KindStateFile && engine.Sum(d.Body) != d.Sum {
			t.Error("the snapshot was changed")
		}
	}
}

// A line that repeats for every checkpoint names only a few others.
func TestALineNamesFewCheckpoints(t *testing.T) {
	var ids []string
	for i := range mostNamed {
		ids = append(ids, fmt.Sprint(i))
	}
	if got := few("en", ids[:3]); got != "0, 1, 2" {
		t.Errorf("%q", got)
	}
	if all, more := few("en", ids), few("en", append(slices.Clone(ids), "x", "y")); more != all+" and 2 more" {
		t.Errorf("%q, %q", all, more)
	}
}

// Summarize counts the open requests and knows when the oldest of them was opened.
func TestSummarize(t *testing.T) {
	for body, want := range map[string]engine.Summary{
		`{"status": "delegating", "requests": {
			"a": {"status": "open", "opened_at": "2026-11-20T10:00:00.000Z"},
			"b": {"status": "answered", "opened_at": "2026-11-20T08:00:00.000Z"},
			"c": {"status": "open", "opened_at": "2026-11-20T09:00:00.000Z"},
			"d": {"status": "open", "opened_at": null}}}`: {
			Status: Delegating, Waiting: true, Touched: true, Open: 3, Asked: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC),
		},
		`{"status": "completed", "requests": {"a": {"status": "open", "opened_at": "2026-11-20T10:00:00.000Z"}}}`: {
			Status: Completed, Final: true, Touched: true,
		},
		`{"status": "aborted", "checkpoints": {"x": {"status": "in_progress"}}}`: {Status: Aborted, Touched: true},
		`{`: {},
	} {
		if got := New().Summarize([]byte(body)); got != want {
			t.Errorf("%s: %+v", body, got)
		}
	}
}
