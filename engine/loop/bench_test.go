package loop

import (
	"testing"

	"placet/engine/watch"
)

func BenchmarkPassThatFindsNothing(b *testing.B) {
	w := newWorld(b)
	w.toy("a", toyState{Target: 3})
	for {
		if r, err := w.Once(b.Context()); err == nil && r.Waiting == 1 && len(r.Unsettled) == 0 {
			break
		}
	}
	found, err := w.Runs()
	if err != nil {
		b.Fatal(err)
	}
	p := w.newPass(found[0])
	b.ReportAllocs()
	for b.Loop() {
		if err := p.run(b.Context()).err; err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkStatOnlyLook(b *testing.B) {
	w := newWorld(b)
	w.toy("a", toyState{Target: 3})
	w.once2(b)
	watcher, err := watch.NewFrom(w.root, nil, deaf)
	if err != nil {
		b.Fatal(err)
	}
	defer watcher.Close()
	s := newSession(w.Loop, watcher, nil)
	lv := s.registry.newActive(toyFound("a"))
	s.registry.add(lv.knownRun)
	s.serve(b.Context(), lv.state)
	b.ReportAllocs()
	for b.Loop() {
		(&scanner{session: s}).compareActive(lv)
	}
	if lv.look == 0 {
		b.Fatal("nothing is looked at")
	}
}

// once2 settles the workspace of a benchmark.
func (w *world) once2(b *testing.B) {
	if _, err := w.Once(b.Context()); err != nil {
		b.Fatal(err)
	}
}
