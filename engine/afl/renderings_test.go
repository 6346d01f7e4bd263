package afl

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/schemas"
)

func TestTotalTime(t *testing.T) {
	start := time.Date(2026, 1, 19, 10, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		took  time.Duration
		words string
	}{
		{0, "0s"},
		{45*time.Second + 999*time.Millisecond, "45s"},
		{59*time.Second + 999*time.Millisecond, "59s"},
		{time.Minute, "1m"},
		{15*time.Minute + 59*time.Second, "15m"},
		{time.Hour - time.Millisecond, "59m"},
		{time.Hour, "1h00m"},
		{65 * time.Minute, "1h05m"},
		{26*time.Hour + 10*time.Minute, "26h10m"},
	} {
		words, ms, ok := totalTime(Checkpoint{StartedAt: run.Millis(start), History: []Judged{{Timestamp: run.Millis(start.Add(c.took))}}})
		if words != c.words || ms != c.took.Milliseconds() || !ok {
			t.Errorf("%v: %q, %d, %t, want %q", c.took, words, ms, ok, c.words)
		}
	}
	if words, ms, ok := totalTime(Checkpoint{StartedAt: run.Millis(start), History: []Judged{{Timestamp: run.Millis(start.Add(-time.Hour))}}}); words != "0s" || ms != 0 || !ok {
		t.Errorf("a clock set back: %q, %d, %t", words, ms, ok)
	}
	for name, c := range map[string]Checkpoint{
		"before the first verdict": {StartedAt: run.Millis(start)},
		"adopted":                  {History: []Judged{{Timestamp: run.Millis(start)}}},
	} {
		if words, _, ok := totalTime(c); ok || words != "" {
			t.Errorf("%s: %q, %t", name, words, ok)
		}
	}
}

func TestFeedbackQuality(t *testing.T) {
	fails := func(n int, signature text) Judged {
		return Judged{Iteration: n, Result: failed, Route: routeRetry, Signature: signature}
	}
	passes := func(n int) Judged { return Judged{Iteration: n, Result: passed, Route: routePass} }
	behind := func(attempts ...int) (list []Feedback) {
		for _, n := range attempts {
			list = append(list, Feedback{Iteration: n})
		}
		return list
	}
	for _, c := range []struct {
		name     string
		history  []Judged
		feedback []Feedback
		want     string
	}{
		{"nothing yet", nil, nil, "none"},
		{"escalated at once", []Judged{fails(1, "a")}, nil, "none"},
		{"passed at once", []Judged{passes(1)}, nil, "not_needed"},
		{"next attempt under way", []Judged{fails(1, "a")}, behind(1), "pending"},
		{"reopened, next attempt under way", []Judged{passes(1)}, behind(1), "pending"},
		{"passed after feedback", []Judged{fails(1, "a"), passes(2)}, behind(1), "effective"},
		{"reopened and passed", []Judged{passes(1), passes(2)}, behind(1), "effective"},
		{"the same again", []Judged{fails(1, "a"), fails(2, "a")}, behind(1, 2), "ineffective"},
		{"another failure", []Judged{fails(1, "a"), fails(2, "b")}, behind(1, 2), "partial"},
		{"half of them", []Judged{fails(1, "a"), fails(2, "b"), fails(3, "b")}, behind(1, 2), "partial"},
		{"a third of them", []Judged{fails(1, "a"), fails(2, "b"), fails(3, "b"), fails(4, "b")}, behind(1, 2, 3), "ineffective"},
		{"validated twice", []Judged{fails(1, "x"), fails(1, "a"), fails(2, "a")}, behind(1, 2), "ineffective"},
		{"old attempts without history", []Judged{fails(4, "a"), fails(5, "a")}, behind(4), "ineffective"},
	} {
		if got := feedbackQuality(Checkpoint{History: c.history, Feedback: c.feedback}); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// defs parses definitions from "a b>a c>a,b".
func defs(words string) (list []Definition) {
	for _, word := range strings.Fields(words) {
		id, on, _ := strings.Cut(word, ">")
		list = append(list, Definition{ID: id, Dependencies: strings.FieldsFunc(on, func(r rune) bool { return r == ',' })})
	}
	return list
}

func TestRounds(t *testing.T) {
	for _, c := range []struct {
		name, defs     string
		statuses       map[string]engine.Status
		current, total int
	}{
		{"a chain of four has four", "a b>a c>b d>c", nil, 1, 4},
		{"c is free", "a b>a c", map[string]engine.Status{"a": Completed, "b": InProgress, "c": InProgress}, 1, 2},
		{"the first level is over", "a b>a c", map[string]engine.Status{"a": Completed, "b": Pending, "c": Aborted}, 2, 2},
		{"not defined yet", "a b>a", map[string]engine.Status{"a": Completed}, 2, 2},
		{"all over", "a b>a", map[string]engine.Status{"a": Completed, "b": Aborted}, 2, 2},
		{"diamond", "a b>a c>a d>b,c", map[string]engine.Status{"a": Completed, "b": Completed, "c": Escalated, "d": Pending}, 2, 3},
		{"a removed one counts for nothing", "a", map[string]engine.Status{"a": Completed, "old": Pending}, 1, 1},
		{"none", "", nil, 0, 0},
	} {
		st := State{Approved: &Approved{Definitions: defs(c.defs)}, Checkpoints: map[string]*Checkpoint{}}
		for id, s := range c.statuses {
			st.Checkpoints[id] = &Checkpoint{Status: s}
		}
		if current, total := rounds(st); current != c.current || total != c.total {
			t.Errorf("%s: round %d of %d, want %d of %d", c.name, current, total, c.current, c.total)
		}
	}
	if current, total := rounds(State{}); current != 0 || total != 0 {
		t.Errorf("not approved: round %d of %d", current, total)
	}
}

func TestLevels(t *testing.T) {
	want := map[string]int{"a": 1, "b": 2, "c": 3, "d": 1}
	if diff := cmp.Diff(want, levels(defs("a b>a c>a,b d"))); diff != "" {
		t.Errorf("levels (-want +got):\n%s", diff)
	}
}

func TestStatusWordsAreUpstreams(t *testing.T) {
	for ours, upstreams := range map[engine.Status]string{
		Approving: "pending", Delegating: "in_progress", Paused: "paused", Escalated: "escalated", Completed: "completed", Aborted: "aborted",
	} {
		var got struct {
			Status    string `json:"status"`
			WrittenBy string `json:"written_by"`
			Revision  int    `json:"revision"`
		}
		if err := schemas.DecodeValue(statusJSON(State{Status: ours, Revision: 7}), &got); err != nil {
			t.Fatal(err)
		}
		if got.Status != upstreams || got.WrittenBy != "placet" || got.Revision != 7 {
			t.Errorf("%s: %+v, want %s", ours, got, upstreams)
		}
	}
}

func TestRenderingsFitTheSchemasTheyAreReadBy(t *testing.T) {
	st := couponSession("en")
	for name, body := range map[string][]byte{"status.json": statusJSON(st), "coupon-model/status.json": checkpointStatusJSON(st, "coupon-model")} {
		var into schemas.Object
		if err := schemas.Decode("afl/delegation-status", name, body, &into); err != nil {
			t.Error(err)
		}
	}
	for _, d := range []escalationData{couponEscalation("en"), couponEscalation("ko")} {
		var into schemas.Object
		if err := schemas.Decode("afl/escalation", "escalation.json", escalationJSON(d), &into); err != nil {
			t.Error(err)
		}
	}
}

// The verdict describes an earlier escalation that the state no longer holds.
func TestTheReportTellsOfEarlierEscalations(t *testing.T) {
	first := judgedFailure(1, "DESIGN_MISMATCH", "d")
	first.Route = routeDesign
	st := State{
		Language: "en", SessionID: "s", Status: Aborted,
		Checkpoints: map[string]*Checkpoint{"a": {Status: Aborted, Skip: skipPlain, History: []Judged{first},
			Escalation: &Escalation{RequestID: "second", Reason: "ESCALATE_UNCLEAR: why?"}}},
		Requests: []*run.Request{
			{ID: "second", Type: typeEscalation, Subject: "a", Revision: 9, OpenedAt: "2026-01-19T11:00:00.000Z", Status: gate.Accepted, Response: "skip"},
			{ID: "first", Type: typeEscalation, Subject: "a", Revision: 5, OpenedAt: first.Timestamp, Status: gate.Accepted, Response: "retry_more"},
			{ID: "lost", Type: typeEscalation, Subject: "b", Revision: 7, Status: gate.Cancelled},
		},
	}
	body := string(reportMD(st))
	want := "| 2026-01-19T10:41:00.000Z | escalation | a | ESCALATE_DESIGN: DESIGN_MISMATCH | retry_more | — | — |\n" +
		"| — | escalation | b | — | cancelled | — | — |\n" +
		"| 2026-01-19T11:00:00.000Z | escalation | a | ESCALATE_UNCLEAR: why? | skip | — | — |\n"
	if !strings.Contains(body, want) || !strings.Contains(body, "- a: skipped by a person\n") {
		t.Errorf("report.md:\n%s", body)
	}
}

// The first verdict after a feedback rates it, whatever the order of the attempts.
func TestFeedbackIsJudgedByTheFirstVerdictAfterIt(t *testing.T) {
	for seed := range 4096 {
		var c Checkpoint
		for i, n := 0, seed; i < 4; i, n = i+1, n/8 {
			c.History = append(c.History, Judged{Iteration: n % 4, Signature: text(fmt.Sprint(n / 4 % 2))})
			c.Feedback = append(c.Feedback, Feedback{Iteration: n % 5})
		}
		judged, changed := 0, 0
		for _, f := range c.Feedback {
			next := slices.IndexFunc(c.History, func(j Judged) bool { return j.Iteration > f.Iteration })
			if next < 0 {
				continue
			}
			judged++
			if next == 0 || c.History[next-1].Signature != c.History[next].Signature {
				changed++
			}
		}
		want := "ineffective"
		switch {
		case judged == 0:
			want = "pending"
		case 2*changed >= judged:
			want = "partial"
		}
		if got := feedbackQuality(c); got != want {
			t.Fatalf("%+v: %s, want %s", c, got, want)
		}
	}
}

// A request of a version without effects keeps the bytes with which it was issued.
func TestARequestIsMadeAgainAsItWasIssued(t *testing.T) {
	r := gate.Request{RequestID: "review-1", Family: "afl", Run: "shop", Type: typeReview, Options: []gate.Option{{ID: optAccept, Effect: "completes the session"}}}
	plain := r
	plain.Options = []gate.Option{{ID: optAccept}}
	for _, issued := range []gate.Request{r, plain} {
		body, err := issued.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, again := r.AsIssued(engine.Sum(body)); string(again) != string(body) {
			t.Errorf("%s\nwant\n%s", again, body)
		}
	}
}
