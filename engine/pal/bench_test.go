package pal

import (
	"context"
	"fmt"
	"path"
	"strings"
	"testing"
	"time"

	"placet/engine"
	"placet/engine/reconcile"
	"placet/engine/store"
	"placet/engine/store/memfs"
	"placet/layout"
)

// manyPorts is a run of 500 ports, of which some have ended, on a disk in memory.
func manyPorts(b testing.TB, ended int) (disk *memfs.FS, loop *reconcile.Loop, later func()) {
	b.Helper()
	var ports []string
	for i := range mostPorts {
		after := ""
		if i >= 100 {
			after = fmt.Sprintf("p%03d p%03d", i-100, i-50)
		}
		ports = append(ports, fmt.Sprintf("p%03d:%s", i, after))
	}
	clock := now
	disk = memfs.New(func() time.Time { return clock })
	disk.Put(dir+"/orchestration.json", strings.Replace(orchestrationOf(ports...), `"Shop"`, `"Shop", "max_concurrency": 64`, 1))
	loop = reconcile.New(reconcile.Options{
		Store: store.New(disk, store.Options{Record: &memfs.Record{}}), Families: []reconcile.Family{{Layout: layout.Pal{}, Machine: New()}},
		Facts: func(string) engine.Environment {
			return engine.Environment{Config: engine.Config{Language: "en", Family: DefaultConfig()}}
		},
		Now:   func() time.Time { return clock },
		Pause: func(context.Context, time.Duration) error { clock = clock.Add(time.Second); return nil },
	})
	later = func() { clock = clock.Add(10 * time.Second) }
	once := func() {
		later()
		if _, err := loop.Once(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	once()
	for i := 0; i < ended; i += 50 {
		for k := i; k < min(i+50, ended); k++ {
			id := fmt.Sprintf("p%03d", k)
			disk.Put(path.Join(dir, layout.PalResultFile(id, 1)), fmt.Sprintf(`{"status": "ready", "summary": "done", "changed_files": ["src/%s.go"]}`, id))
			disk.Put(path.Join(dir, layout.PalFeedbackFile(id, 1)), good)
		}
		once()
	}
	return disk, loop, later
}

// snapshotIn is the run as its machine sees it.
func snapshotIn(b testing.TB, loop *reconcile.Loop) engine.Snapshot {
	b.Helper()
	found, err := loop.Runs()
	if err != nil || len(found) != 1 {
		b.Fatalf("%v: %v", found, err)
	}
	snap, _, err := loop.Snapshot(found[0])
	if err != nil {
		b.Fatal(err)
	}
	return snap
}

// BenchmarkStepOfManyPorts is one step in a run of 500 ports, of which 300 have ended and 64
// run: one that finds nothing to do, and one that takes a hand-in.
func BenchmarkStepOfManyPorts(b *testing.B) {
	disk, loop, later := manyPorts(b, 300)
	for name, prepare := range map[string]func(){
		"nothing": func() {},
		"hand-in": func() { disk.Put(path.Join(dir, layout.PalResultFile("p310", 1)), otherFiles) },
	} {
		b.Run(name, func(b *testing.B) {
			prepare()
			later()
			snap := snapshotIn(b, loop)
			st := snap.In("state.json")
			b.ReportMetric(float64(len(st.Body)), "state-bytes")
			b.ReportMetric(float64(len(snap.Docs)), "documents")
			b.ReportAllocs()
			for b.Loop() {
				p, err := New().Step(snap)
				if err != nil || (len(p.Transitions) > 0) != (name == "hand-in") {
					b.Fatalf("%v: %d transitions, %v", name, len(p.Transitions), err)
				}
			}
		})
	}
}

// BenchmarkStateOfManyPorts is the state document of a run of 500 ports, written and read.
func BenchmarkStateOfManyPorts(b *testing.B) {
	_, loop, _ := manyPorts(b, 300)
	body := snapshotIn(b, loop).In("state.json").Body
	st, err := ReadState("state.json", body)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("written", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		for b.Loop() {
			if _, err := st.encode(); err != nil {
				b.Fatal(err)
			}
		}
	})
	for name, read := range map[string]func() error{
		"checked":    func() error { _, err := ReadState("state.json", body); return err },
		"read":       func() error { _, err := readOwnState(body); return err },
		"summarized": func() error { New().Summarize(body); return nil },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				if err := read(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
