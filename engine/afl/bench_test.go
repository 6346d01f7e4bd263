package afl

import (
	"fmt"
	"testing"

	"placet/engine"
	"placet/internal/enginetest"
	"placet/layout"
)

// benchSession returns a session of n checkpoints in chains of three, a third of which passed after
// a retry.
func benchSession(b *testing.B, n int) *world {
	run, _ := layout.AFL{}.At(sessionDir + "/state.json")
	w := &world{enginetest.NewStage(b, New(), layout.AFL{}, run, engine.Config{Language: "en", Family: DefaultConfig()})}
	w.config(func(c *Config) { c.AutoRetryDelay = ptr("0s") })
	var list []cp
	for i := range n {
		c := cp{id: fmt.Sprintf("cp-%03d", i)}
		if i%3 > 0 {
			c.after = []string{list[i-1].id}
		}
		list = append(list, c)
	}
	w.Write(specsYAML, design(approvedHead, list...))
	w.settleAll()
	w.trust()
	for i := range n / 3 {
		id := list[i].id
		w.done(id)
		w.settleAll()
		w.validated(id, outcome{exit: 1, stdout: "FAILED a.py::b\n"})
		w.settleAll()
		w.done(id)
		w.settleAll()
		w.validated(id, outcome{})
		w.settleAll()
	}
	return w
}

// settleAll settles a session with more work than a test may have.
func (w *world) settleAll() {
	for range 100 {
		quiet := true
		for range 100 {
			p := w.Step()
			if len(p.Transitions)+len(p.Writes) == 0 {
				quiet = true
				break
			}
			quiet = false
		}
		if quiet {
			return
		}
	}
}

// The cost of one pass over a session that has nothing to do.
func BenchmarkLook(b *testing.B) {
	for _, n := range []int{10, 100} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := benchSession(b, n)
			s, _ := w.Full()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := w.Machine.Step(s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// The cost of a view. Half of the checkpoints are a long chain, and half wait only for a slot.
// Searching for each one separately would take minutes.
func BenchmarkAccount(b *testing.B) {
	for _, n := range []int{150, 15_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := chainOf(b, n)
			for b.Loop() {
				if a := New().Account(s); len(a.Graph) != n {
					b.Fatalf("%d checkpoints", len(a.Graph))
				}
			}
		})
	}
}

// chainOf returns a session of n checkpoints.
func chainOf(b *testing.B, n int) engine.Snapshot {
	b.Helper()
	st := State{
		SchemaVersion: 1, Family: "afl", SessionID: "s", Revision: 1, Status: Delegating, Language: "en",
		CreatedAt: "2026-11-20T10:00:00Z", UpdatedAt: "2026-11-20T10:00:00Z", StartedAt: "2026-11-20T10:00:00Z",
		Approved:    &Approved{At: "2026-11-20T10:00:00Z", Source: "stamp", Digest: text(engine.Sum(nil))},
		Checkpoints: map[string]*Checkpoint{}, Requests: nil,
	}
	for i := range n {
		id := fmt.Sprintf("c%d", i)
		d := Definition{ID: id, Name: id, Type: "api"}
		if i > n/2 { // a long chain, and as many that wait only for a slot
			d.Dependencies = []string{fmt.Sprintf("c%d", i-1)}
		}
		st.Approved.Definitions = append(st.Approved.Definitions, d)
		c := &Checkpoint{Status: Pending, Since: Since{1, st.CreatedAt}, DefinitionDigest: d.digest(), MaxIterations: 5}
		if i < n/4 {
			c.Status, c.Iteration, c.LastAttemptAt = InProgress, 1, st.CreatedAt
		}
		st.Checkpoints[id] = c
	}
	body, err := st.encode()
	if err != nil {
		b.Fatal(err)
	}
	return engine.Snapshot{Key: engine.Key{Family: "afl", ID: "s"}, Dir: ".afl/sessions/s", Docs: []engine.Document{
		{Path: ".afl/sessions/s/state.json", Kind: engine.KindState, Body: body, Sum: engine.Sum(body)},
	}}
}
