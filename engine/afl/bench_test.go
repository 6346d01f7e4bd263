package afl

import (
	"fmt"
	"testing"

	"placet/engine"
	"placet/internal/enginetest"
	"placet/layout"
)

// benchSession is a session of n checkpoints in a chain of threes, a third of
// them passed after a retry.
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

// settleAll settles a session that has more to do than a test may.
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

// What one look at a session costs that has nothing to do.
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
