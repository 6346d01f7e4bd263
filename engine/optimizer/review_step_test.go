package optimizer

import (
	"slices"
	"strings"
	"testing"

	"placet/engine"
	"placet/layout"
)

// snapshot is the run in hand as its machine sees it, with all of its files settled
// but for those that a change makes otherwise.
func (d *desk) snapshot(change map[string]func(*engine.Document)) engine.Snapshot {
	dir, tree := dirOf(d.run), d.Tree()
	s := engine.Snapshot{
		Key: engine.Key{Family: "optimizer", ID: d.run}, Dir: dir, Now: d.Now(),
		Facts: engine.Environment{Config: engine.Config{Language: "en", Family: DefaultConfig()}, Trusted: map[engine.Digest]bool{}},
	}
	if d.Case.Config != nil {
		d.Case.Config(&s.Facts.Config)
	}
	for _, digest := range d.Case.Trusted {
		s.Facts.Trusted[digest] = true
	}
	run, _ := layout.Optimizer{}.At(dir)
	for _, p := range tree.Paths() {
		rel, own := strings.CutPrefix(p, dir+"/")
		f, known := layout.Optimizer{}.File(run, rel)
		if !own || !known {
			continue
		}
		doc := engine.Document{Path: p, Kind: f.Kind, Body: []byte(tree[p]), Sum: engine.Sum([]byte(tree[p])), Changed: d.Now().Add(-calmFor)}
		if c := change[rel]; c != nil {
			c(&doc)
		}
		s.Docs = append(s.Docs, doc)
	}
	slices.SortFunc(s.Docs, func(a, b engine.Document) int { return strings.Compare(a.Path, b.Path) })
	return s
}

// calmFor is how long the files of a snapshot have stood still.
const calmFor = 60e9

// beingWritten has a document seen while somebody writes it.
func beingWritten(d *engine.Document) { d.Body, d.Sum, d.Err = nil, "", engine.ErrUnsettled }

// step is what the machine wants done.
func (d *desk) step(change map[string]func(*engine.Document)) engine.Plan {
	d.T.Helper()
	p, err := New().Step(d.snapshot(change))
	if err != nil {
		d.T.Fatal(err)
	}
	return p
}

// took are the events of a plan.
func took(p engine.Plan) string {
	var events []string
	for _, t := range p.Transitions {
		events = append(events, t.Event)
	}
	return strings.Join(events, " ")
}

// A level-error.json or stop.json that is still being written may say that the level
// is not to be done: no edge of the level passes over it, and no command begins.
func TestNothingPassesOverALevelErrorThatIsBeingWritten(t *testing.T) {
	argv := []string{"tool"}
	for _, rel := range []string{"inputs/level-error.json", "stop.json"} {
		t.Run(rel, func(t *testing.T) {
			tell(t, func(d *desk) {
				d.assets(20)
				d.trigger()
				d.goes(triggered, collected, decided)
				d.write("retrieved.jsonl", retrievedLines)
				d.write(rel, `{"level": 20, "error": "no", "reason": "no"}`)
				if p := d.step(nil); took(p) == retrieved {
					t.Fatalf("the story is not told as it was meant: %s", took(p))
				}
				if p := d.step(map[string]func(*engine.Document){rel: beingWritten}); took(p) != "" {
					t.Errorf("%s passes over %s", took(p), rel)
				}
				d.unlink("retrieved.jsonl")
				d.trust(argv)
				d.config(func(c *Config) { c.Workflows = map[string]Workflow{flow: {Analysis: argv}} })
				if p := d.step(map[string]func(*engine.Document){rel: beingWritten}); len(p.Actions) != 0 {
					t.Errorf("%+v begins", p.Actions)
				}
				d.unlink(rel)
				if p := d.step(nil); len(p.Actions) != 1 {
					t.Fatal("the story is not told as it was meant: the command does not begin")
				}
			})
		})
	}
}
