package enginetest

import (
	"context"

	"placet/engine"
	"placet/engine/loop"
)

// Metamorphic runs every scenario in two ways that must give the same trees,
// times aside, in every idle state:
//
//   - with one worker, with eight workers
//   - with the files of the beginning all at once, one by one
//   - with placet running all the time, started again before every pass
//   - the same, started again after every transition
//   - with one pass, with two passes
//   - with one pass after the other ([placet/engine/loop.Loop.Once]), woken by
//     file events on a real disk ([placet/engine/loop.Loop.Watch])
//   - the same, with half of the events dropped and one rescan
func Metamorphic(t T, s Suite) {
	t.Helper()
	for _, c := range s.Cases {
		under(t, c.Name, func(t T) {
			want := plain(t, s, c, telling{})
			if want == nil {
				return
			}
			for _, other := range []struct {
				name string
				how  telling
			}{
				{"eight workers", telling{workers: 8, parallel: 64}},
				{"one by one", telling{piecemeal: true}},
				{"started anew before every look", telling{restarts: true}},
				{"looked at twice", telling{twice: true}},
			} {
				compareTrees(t, s, c, other.name, want, plain(t, s, c, other.how))
			}
			compareTrees(t, s, c, "started anew after every transition", want, restarted(t, s, c))
		})
	}
	onDisk(t, s)
}

// compareTrees compares the trees of all idle states of two executions.
func compareTrees(t T, s Suite, c Case, name string, want, got []rest) {
	t.Helper()
	for i := range got {
		if diff := s.difference(want[i].tree, got[i].tree); diff != "" {
			t.Errorf("%s: %s the tree is another one (-plain +so):\n%s", name, c.where(i), diff)
			return
		}
	}
}

// restarted runs a scenario in which placet stops orderly with every transition
// and starts again.
func restarted(t T, s Suite, c Case) (rests []rest) {
	t.Helper()
	bubble(t, func(t T) {
		var stop context.CancelFunc
		w := newWorld(s, c, s.Machine, telling{moved: func(engine.Transition) { stop() }})
		w.look = func() (loop.Report, error) {
			for {
				ctx, cancel := context.WithCancel(context.Background())
				stop = cancel
				r, err := w.loop.Once(ctx)
				over := ctx.Err() == nil
				cancel()
				if over {
					return r, err
				}
				w.boot()
			}
		}
		if err := w.tell(w.keep(&rests)); err != nil {
			t.Errorf("started anew after every transition: %v", err)
			rests = nil
		}
	})
	return rests
}
