package afl

import (
	"fmt"
	"slices"
	"testing"

	"placet/engine"
)

// A line that stands once for every checkpoint names few others.
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

// As many checkpoints as a state document can hold are accounted for in the time that
// their text takes; looked for one by one they would take minutes.
func TestTheNumberOfCheckpointsIsNoObstacle(t *testing.T) {
	const many = 15_000
	st := State{
		SchemaVersion: 1, Family: "afl", SessionID: "s", Revision: 1, Status: Delegating, Language: "en",
		CreatedAt: "2026-11-20T10:00:00Z", UpdatedAt: "2026-11-20T10:00:00Z", StartedAt: "2026-11-20T10:00:00Z",
		Approved:    &Approved{At: "2026-11-20T10:00:00Z", Source: "stamp", Digest: text(engine.Sum(nil))},
		Checkpoints: map[string]*Checkpoint{}, Requests: nil,
	}
	for i := range many {
		id := fmt.Sprintf("c%d", i)
		d := Definition{ID: id, Name: id, Type: "api"}
		if i > many/2 { // a long chain, and as many that wait for nothing but a slot
			d.Dependencies = []string{fmt.Sprintf("c%d", i-1)}
		}
		st.Approved.Definitions = append(st.Approved.Definitions, d)
		c := &Checkpoint{Status: Pending, Since: Since{1, st.CreatedAt}, DefinitionDigest: d.digest(), MaxIterations: 5}
		if i < many/4 {
			c.Status, c.Iteration, c.LastAttemptAt = InProgress, 1, st.CreatedAt
		}
		st.Checkpoints[id] = c
	}
	body, err := st.encode()
	if err != nil {
		t.Fatal(err)
	}
	s := engine.Snapshot{Key: engine.Key{Family: "afl", ID: "s"}, Dir: ".afl/sessions/s", Docs: []engine.Document{
		{Path: ".afl/sessions/s/state.json", Kind: engine.KindState, Body: body, Sum: engine.Sum(body)},
	}}
	a := New().Account(s)
	if a.Status != Delegating || len(a.Graph) != many || len(a.Why) < many/2 {
		t.Errorf("%s: %d checkpoints, %d waits, %.200v", a.Status, len(a.Graph), len(a.Why), a.Why)
	}
}

// What feedback was good for is judged by the first verdict after it, in whatever
// order the attempts stand.
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
