package loop

import (
	"context"
	"os"
	"path"
	"sync"
	"testing"

	"placet/engine"
	"placet/engine/watch"
	"placet/internal/await"
	"placet/layout"
)

// sparseToys are toys whose runs are looked at only where something happened.
type sparseToys struct{ toyLayout }

func (sparseToys) Sparse() {}

// expectant is a toy machine that names the folder of a request before it is there.
type expectant struct{ toyMachine }

func (m expectant) Step(s engine.Snapshot) (engine.Plan, error) {
	p, err := m.toyMachine.Step(s)
	p.Follow = append(p.Follow, s.Dir, path.Join(s.Dir, "requests/q"))
	return p, err
}

// serveUnscanned is Watch without the looks that no event asks for.
func (w *world) serveUnscanned() {
	w.t.Helper()
	watcher, err := watch.New(w.root, w.o.Log)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := newSession(w.Loop, watcher, nil)
	w.serving.Store(s)
	var wg sync.WaitGroup
	s.begin(ctx, &wg)
	wg.Go(func() { _ = s.feed(ctx) })
	w.t.Cleanup(func() {
		cancel()
		s.queue.close()
		wg.Wait()
		_ = watcher.Close()
	})
	(&scanner{session: s}).scan(ctx, true)
	s.passed()
	await.Receive(w.t, "every run had its first pass", s.allPassed)
}

// The first file in a folder that its machine names is seen although the folder did not exist,
// and although nothing happened in the folder above it that was known.
func TestAFileInANewFolderIsSeenWithoutTheScan(t *testing.T) {
	for name, l := range map[string]layout.Family{"looked at as a whole": toyLayout{}, "looked at where something happened": sparseToys{}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, func(o *Options) { o.Families = []Family{{l, expectant{}}} })
			for _, id := range []string{"at-once", "later", "below"} {
				w.toy(id, toyState{Status: "waiting"})
			}
			if err := os.Mkdir(w.abs("toys/below/requests"), 0o755); err != nil {
				t.Fatal(err)
			}
			w.serveUnscanned()
			if err := os.MkdirAll(w.abs("toys/later/requests/q"), 0o755); err != nil {
				t.Fatal(err)
			}
			for _, id := range []string{"at-once", "below", "later"} {
				w.answer(id, "yes")
			}
			for _, id := range []string{"at-once", "below", "later"} {
				w.becomes(id, "over")
			}
		})
	}
}
