package loop

import (
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
	"placet/engine/watch"
)

// process carries actions out and keeps how they ended.
type process struct {
	mu    sync.Mutex
	alive map[string]bool
	ended map[string]engine.Ended
	asked []string // what End was asked for
}

func (p *process) use(o *Options) {
	p.alive, p.ended = map[string]bool{}, map[string]engine.Ended{}
	o.Facts = func(string) engine.Environment {
		p.mu.Lock()
		defer p.mu.Unlock()
		return engine.Environment{Alive: maps.Clone(p.alive), Ended: maps.Clone(p.ended)}
	}
	o.Begin = func(a engine.Action) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.alive[a.ID] = true
	}
	o.End = func(id string) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.asked = append(p.asked, id)
		delete(p.ended, id)
	}
}

func (p *process) ends(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.alive, id)
	p.ended[id] = engine.Ended{Result: "done"}
}

func (p *process) has(id string) (alive, ended bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, ended = p.ended[id]
	return p.alive[id], ended
}

// Such an end changes no file, and a final run is not even kept. The run must be served all
// the same, until the end is written down.
func TestAnEndAsAFactWakesItsRunInWatch(t *testing.T) {
	for _, status := range []string{"waiting", "over"} {
		t.Run(status, func(t *testing.T) {
			var p process
			w := newWorld(t, p.use)
			w.toy("a", toyState{Status: status, Tell: "row-1"})
			w.toy("b", toyState{})
			s := w.start(watch.Notify)
			<-s.ready
			w.eventually("the action begins", func() bool { alive, _ := p.has("row-1"); return alive })
			w.answer("b", "yes") // when this is seen, the work on a is over
			w.becomes("b", "over")
			p.ends("row-1")
			w.ActionEnded("row-1")
			w.ActionEnded("nobody's")
			w.eventually("the end is written down", func() bool { return w.state("a").Told == "done" })
			w.eventually("the end is forgotten", func() bool { _, ended := p.has("row-1"); return !ended })
		})
	}
}

// An action that ends while Once goes through the runs causes another round, for its run
// only.
func TestAnEndAsAFactLeadsToAnotherRound(t *testing.T) {
	var p process
	var w *world
	var looks []string
	w = newWorld(t, p.use, func(o *Options) { o.Workers = 1 }, spying(func(s engine.Snapshot) {
		looks = append(looks, s.Key.ID)
		if alive, _ := p.has("row-1"); alive && s.Key.ID == "b" {
			p.ends("row-1")
			w.ActionEnded("row-1")
		}
	}))
	w.toy("a", toyState{Status: "waiting", Tell: "row-1"})
	w.toy("b", toyState{Status: "waiting"})
	if r := w.once(); r.Moved != 1 {
		t.Errorf("moved %d", r.Moved)
	}
	if got := w.state("a").Told; got != "done" {
		t.Errorf("told %q", got)
	}
	if _, ended := p.has("row-1"); ended {
		t.Error("the end is not forgotten")
	}
	if diff := cmp.Diff([]string{"a", "b", "a"}, slices.Compact(looks)); diff != "" {
		t.Error(diff)
	}
}

// The loop may have asked the action to end before. Having its end forgotten is a separate
// call.
func TestAnEndIsForgottenAfterAWishThatItComes(t *testing.T) {
	var p process
	w := newWorld(t, p.use)
	p.alive["act-1"] = true
	w.toy("a", toyState{Status: "waiting", End: "act-1"})
	w.once()
	p.ends("act-1")
	w.toy("a", toyState{Status: "waiting", Tell: "act-1", Told: "done"})
	w.once()
	w.once()
	if diff := cmp.Diff([]string{"act-1", "act-1"}, p.asked); diff != "" {
		t.Error(diff)
	}
}
