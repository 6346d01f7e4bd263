package pal

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"placet/engine"
	"placet/layout"
)

// table is a run in memory whose machine is stepped without a store.
type table struct {
	b    testing.TB
	docs map[string]engine.Document
	now  time.Time
	// needs are the needs of the last step.
	needs []string
}

// put places a file of the run.
func (t *table) put(rel string, body []byte) {
	p := path.Join(dir, rel)
	run, _ := layout.Pal{}.At(p)
	file, _ := layout.Pal{}.File(run, rel)
	d := engine.Document{Path: p, Kind: file.Kind, Body: body, Sum: engine.Sum(body), Changed: t.now, Parsed: new(engine.Parsed)}
	if rel == "state.json" {
		d.Issued = []engine.Digest{d.Sum}
	}
	t.docs[p] = d
}

// snapshot returns the run as its machine sees it.
func (t *table) snapshot() engine.Snapshot {
	s := engine.Snapshot{
		Key: engine.Key{Family: "pal", ID: "shop"}, Dir: dir, Now: t.now, Docs: slices.Collect(maps.Values(t.docs)),
		Facts: engine.Environment{Config: engine.Config{Language: "en", Family: DefaultConfig()}},
	}
	slices.SortFunc(s.Docs, func(a, b engine.Document) int { return strings.Compare(a.Path, b.Path) })
	s.Needs = t.needs
	return s
}

// step steps until the snapshot contains what the plan needs.
func (t *table) step() engine.Plan {
	for {
		s := t.snapshot()
		p, err := New().Step(s)
		if err != nil {
			t.b.Fatal(err)
		}
		if len(s.Lacks(p.Needs)) == 0 {
			return p
		}
		t.needs = slices.Sorted(slices.Values(p.Needs))
	}
}

// settle steps until there is nothing to do.
func (t *table) settle() {
	for {
		p := t.step()
		for _, d := range p.Writes {
			t.put(strings.TrimPrefix(d.Path, dir+"/"), d.Body)
		}
		for _, l := range p.Lines {
			body := slices.Concat(t.docs[l.Path].Body, l.Body)
			t.put("events.jsonl", body[max(0, len(body)-64<<10):]) // the store reads only the end of the file
		}
		if len(p.Writes)+len(p.Lines) == 0 {
			return
		}
	}
}

// manyPorts returns a run of 500 ports, of which some have ended and 64 run.
func manyPorts(b testing.TB, ended int) *table {
	b.Helper()
	t := &table{b: b, docs: map[string]engine.Document{}, now: now}
	var ports []string
	for i := range mostPorts {
		after := ""
		if i >= 80 {
			after = fmt.Sprintf("p%03d p%03d", i-80, i-70)
		}
		ports = append(ports, fmt.Sprintf("p%03d:%s", i, after))
	}
	t.put(orchestrationFile, []byte(strings.Replace(orchestrationOf(ports...), `"Shop"`, `"Shop", "max_concurrency": 64`, 1)))
	t.settle()
	for i := range ended {
		id := fmt.Sprintf("p%03d", i)
		t.put(layout.PalResultFile(id, 1), fmt.Appendf(nil, `{"status": "ready", "summary": "done", "changed_files": ["src/%s.go"]}`, id))
		t.put(layout.PalFeedbackFile(id, 1), []byte(good))
		if i%40 == 39 {
			t.settle()
		}
	}
	t.settle()
	return t
}

// BenchmarkStepOfManyPorts measures one step in a run of 500 ports, of which 100 have ended and 64
// run: a step with nothing to do, and one that accepts a submitted document.
func BenchmarkStepOfManyPorts(b *testing.B) {
	t := manyPorts(b, 100)
	for _, name := range []string{"nothing", "hand-in"} {
		if name == "hand-in" {
			t.put(layout.PalResultFile("p110", 1), []byte(otherFiles))
		}
		b.Run(name, func(b *testing.B) {
			t.step()
			snap := t.snapshot()
			b.ReportAllocs()
			for b.Loop() {
				p, err := New().Step(snap)
				if err != nil || (len(p.Transitions) > 0) != (name == "hand-in") {
					b.Fatalf("%d transitions, %v", len(p.Transitions), err)
				}
			}
			b.ReportMetric(float64(len(snap.In("state.json").Body)), "state-bytes")
			b.ReportMetric(float64(len(snap.Docs)), "documents")
		})
	}
}

// BenchmarkStateOfManyPorts measures writing and reading the state document of a run of 500 ports.
func BenchmarkStateOfManyPorts(b *testing.B) {
	body := manyPorts(b, 100).snapshot().In("state.json").Body
	st, err := ReadState("state.json", body)
	if err != nil {
		b.Fatal(err)
	}
	for name, do := range map[string]func() error{
		"written":    func() error { _, err := format.Encode(st); return err },
		"checked":    func() error { _, err := ReadState("state.json", body); return err },
		"read":       func() error { _, err := format.DecodeOwn(body); return err },
		"summarized": func() error { New().Summarize(body); return nil },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				if err := do(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
