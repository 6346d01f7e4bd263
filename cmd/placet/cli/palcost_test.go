package cli

import (
	"context"
	"fmt"
	iofs "io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"placet/engine"
	"placet/engine/loop"
	"placet/engine/pal"
	"placet/engine/store"
	"placet/engine/store/fs"
	"placet/engine/store/memfs"
	"placet/engine/watch"
	"placet/internal/await"
	"placet/layout"
)

// These limit the cost of one hand-in in a run of many ports, from the event until placet is
// idle, as the page of the format says.
const (
	costlyPorts     = 500
	mostStatsHandIn = 60
	mostOpensHandIn = 30
)

const costlyRun = ".pal/orchestrations/big"

// TestWhatAHandInCosts counts the stats and opens of one hand-in in a run of 500 ports, some of
// which have ended, in the loop that the daemon runs: a hand-in of one port costs nothing for
// the others. On a busy machine the events of one hand-in may arrive apart, so the cost is that
// of the cheapest of five.
func TestWhatAHandInCosts(t *testing.T) {
	if testing.Short() {
		t.Skip("-short leaves the loop on real files to the ordinary run")
	}
	c := &costs{n: map[string]int{}}
	root, moved := beginCostly(t, c)
	done := 0
	handIn := func(port string) {
		t.Helper()
		for _, in := range [][2]string{
			{layout.PalResultFile(port, 1), `{"status": "ready", "summary": "done", "changed_files": ["src/` + port + `.go"]}`}, {layout.PalFeedbackFile(port, 1), `{"success": true}`},
		} {
			handedIn(t, root, in[0], in[1])
			for event := ""; event != "result_taken" && event != "tests_passed"; {
				event = await.Receive(t, "something takes "+in[0], moved)
			}
		}
		done++
	}
	for done < 12 {
		handIn(fmt.Sprintf("p%03d", done))
	}
	var over []string
	for range 5 {
		c.rests(t, manyLooks) // files that were written a moment ago are read once more
		port := fmt.Sprintf("p%03d", done)
		handedIn(t, root, "x.tmp", "") // by a look that delays nobody
		handedIn(t, root, "stray.txt", port)
		c.rests(t, someLooks)
		c.take()
		handedIn(t, root, layout.PalResultFile(port, 1), `{"status": "ready", "summary": "done", "changed_files": ["src/`+port+`.go"]}`)
		for event := ""; event != "result_taken"; event = <-moved {
		}
		c.rests(t, someLooks)
		n, log := c.take()
		t.Logf("one hand-in: %v", n)
		over = nil
		for what, most := range map[string]int{"stat": mostStatsHandIn, "open": mostOpensHandIn} {
			if n[what] > most || n[what] == 0 {
				over = append(over, fmt.Sprintf("%d of %s, want at most %d", n[what], what, most))
			}
		}
		for _, line := range log {
			if what, name, _ := strings.Cut(line, " "); what == "open" && strings.Contains(name, "/p") && !strings.Contains(name, "/"+port+"/") && strings.HasPrefix(name, costlyRun+"/") && !strings.Contains(name, "plan.json") {
				over = append(over, "it reads "+name)
			}
		}
		if len(over) == 0 {
			return
		}
		over = append(over, log...)
		handedIn(t, root, layout.PalFeedbackFile(port, 1), `{"success": true}`)
		for event := ""; event != "tests_passed"; event = <-moved {
		}
		done++
	}
	t.Fatal(strings.Join(over, "\n"))
}

// handedIn puts a file of the run into place as a worker does.
func handedIn(t *testing.T, root, rel, body string) {
	t.Helper()
	name := filepath.Join(root, costlyRun, rel)
	await.Until(t, "there is a folder for "+rel, func() bool { _, err := os.Stat(filepath.Dir(name)); return err == nil })
	if err := os.WriteFile(name+".tmp", []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(name+".tmp", name); err != nil {
		t.Fatal(err)
	}
}

// beginCostly begins a run of many ports, and watches it.
func beginCostly(t *testing.T, c *costs) (root string, moved chan string) {
	root = t.TempDir()
	var ports []string
	for i := range costlyPorts {
		id := fmt.Sprintf("p%03d", i)
		ports = append(ports, `"`+id+`"`)
		after := "-"
		if i >= 3 {
			after = fmt.Sprintf("p%03d", i-3) // else it takes long until all are ready
		}
		writeFile(t, filepath.Join(root, "ports", id+".md"), "> Depends on: "+after+"\n\n# Port: "+id+"\n")
	}
	writeFile(t, filepath.Join(root, costlyRun, "orchestration.json"), `{"title": "big", "max_concurrency": 3, "ports": [`+strings.Join(ports, ", ")+`]}`)
	past := time.Now().Add(-time.Hour)
	_ = filepath.WalkDir(root, func(name string, _ iofs.DirEntry, _ error) error { return os.Chtimes(name, past, past) })
	moved = make(chan string, 10000)
	l := loop.New(loop.Options{
		Store:    store.New(countedDisk{fs.OS(root), c}, store.Options{Record: &memfs.Record{}}),
		Families: []loop.Family{{Layout: layout.Pal{}, Machine: countedMachine{pal.New(), c}}},
		Facts: func(string) engine.Environment {
			return engine.Environment{Config: engine.Config{Language: "en", Family: pal.DefaultConfig()}}
		},
		Observers: loop.Observers{{
			Moved:     func(_ layout.Run, tr engine.Transition) { moved <- tr.Event },
			Committed: func(layout.Run, engine.Plan, time.Duration) { c.count("commit", "") },
			Passed:    func(_ layout.Run, took time.Duration) { c.count("pass", took.String()) },
		}},
	})
	watcher, err := watch.New(root, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() { defer close(over); _ = l.Watch(ctx, watcher, func(int, int) {}) }()
	t.Cleanup(func() { cancel(); <-over; watcher.Close() })
	for started := 0; started < 3; {
		if await.Receive(t, "it starts", moved) == "started" {
			started++
		}
	}
	return root, moved
}

func writeFile(t *testing.T, name, body string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
}
