package store_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"placet/engine"
	"placet/engine/store"
	"placet/engine/store/fs"
	"placet/layout"
)

// threeFiles is a plan with what one answer makes durable: the state document,
// a receipt and an event.
func threeFiles(run layout.Run, revision int) engine.Plan {
	over := engine.Digest("")
	if revision > 0 {
		over = engine.Sum(stateBody(revision - 1))
	}
	return engine.Plan{Writes: []engine.Document{
		{Path: fmt.Sprintf("%s/requests/r/receipt%d.json", run.Dir, revision), Body: make([]byte, 600)},
		{Path: fmt.Sprintf("%s/events/%03d-b.json", run.Dir, revision), Body: make([]byte, 400)},
		{Path: run.State, Kind: engine.KindState, Body: stateBody(revision), Over: over},
	}}
}

func stateBody(revision int) []byte {
	return fmt.Appendf(make([]byte, 0, 2100), "%2000d", revision)
}

// floor makes the same files durable in the cheapest safe way: contents in
// parallel, fsync, renames, fsync of the folders. It compares nothing.
func floor(root string, plans []engine.Plan) error {
	var files []string
	dirs := map[string]bool{}
	for _, p := range plans {
		for _, d := range p.Writes {
			file := filepath.Join(root, d.Path)
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				return err
			}
			files = append(files, file)
			dirs[filepath.Dir(file)] = true
		}
	}
	var failed error
	spread(len(files), func(n int) {
		if err := writeSynced(files[n]+".tmp", plans[n/3].Writes[n%3].Body); err != nil {
			failed = err
		}
	})
	for _, file := range files {
		if err := os.Rename(file+".tmp", file); err != nil {
			return err
		}
	}
	var all []string
	for dir := range dirs {
		all = append(all, dir)
	}
	spread(len(all), func(n int) {
		f, err := os.Open(all[n])
		if err == nil {
			err = f.Sync()
			f.Close()
		}
		if err != nil {
			failed = err
		}
	})
	return failed
}

func writeSynced(name string, body []byte) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(body); err != nil {
		return err
	}
	return f.Sync()
}

func spread(n int, do func(int)) {
	var all sync.WaitGroup
	todo := make(chan int)
	for range min(n, 64) {
		all.Go(func() {
			for i := range todo {
				do(i)
			}
		})
	}
	for i := range n {
		todo <- i
	}
	close(todo)
	all.Wait()
}

func BenchmarkOneCommitOfThreeFiles(b *testing.B) {
	s := store.New(fs.OS(b.TempDir()), store.Options{})
	run := numbered(1)
	for i := range b.N {
		if err := s.Commit(run, layout.Faber{}, threeFiles(run, i)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFloorOfThreeFiles(b *testing.B) {
	root := b.TempDir()
	run := numbered(1)
	for i := range b.N {
		if err := floor(root, []engine.Plan{threeFiles(run, i)}); err != nil {
			b.Fatal(err)
		}
	}
}

const burst = 2000

// waiting makes a workspace with many runs that wait for an answer.
func waiting(b *testing.B) (root string) {
	b.Helper()
	root = b.TempDir()
	if err := floor(root, burstOf(0)); err != nil {
		b.Fatal(err)
	}
	return root
}

func burstOf(revision int) []engine.Plan {
	plans := make([]engine.Plan, burst)
	for i := range plans {
		plans[i] = threeFiles(numbered(i), revision)
	}
	return plans
}

// BenchmarkTwoThousandCommits commits a burst of answers to waiting runs, and
// reports commits a second.
func BenchmarkTwoThousandCommits(b *testing.B) {
	for range b.N {
		s := store.New(fs.OS(waiting(b)), store.Options{})
		plans := burstOf(1)
		start := time.Now()
		var all sync.WaitGroup
		for i, p := range plans {
			all.Go(func() {
				if err := s.Commit(numbered(i), layout.Faber{}, p); err != nil {
					b.Error(err)
				}
			})
		}
		all.Wait()
		b.ReportMetric(burst/time.Since(start).Seconds(), "commits/s")
	}
}

func BenchmarkFloorOfTwoThousand(b *testing.B) {
	for range b.N {
		root, plans := waiting(b), burstOf(1)
		start := time.Now()
		if err := floor(root, plans); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(burst/time.Since(start).Seconds(), "commits/s")
	}
}

func fullRun(b *testing.B, events int) (*store.Store, layout.Run) {
	b.Helper()
	w := machine(b)
	run := numbered(1)
	for i := range events {
		w.put(fmt.Sprintf("%s/events/%03d-step_start.json", run.Dir, i+1), `{"event_id":1}`)
	}
	for _, name := range []string{"state.json", "metadata.json", "requests/r/request.json", "requests/r/form.md"} {
		w.put(run.Dir+"/"+name, `{"a":1}`)
	}
	w.later(time.Hour)
	return w.store(), run
}

func BenchmarkLoadUnchanged(b *testing.B) {
	for _, events := range []int{10, 1000, 10000} {
		b.Run(fmt.Sprintf("%d events", events), func(b *testing.B) {
			s, run := fullRun(b, events)
			if _, err := s.Load(run, layout.Faber{}, nil); err != nil {
				b.Fatal(err)
			}
			b.ResetTimer()
			for range b.N {
				if _, err := s.Load(run, layout.Faber{}, []string{"still:specs/a.md"}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
