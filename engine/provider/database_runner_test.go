package provider

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
)

// The Runner has rows and looks carried out in their order, and lets the file rest
// before the last of them has ended.
func TestTheRunnerMirrorsRowsAndLetsTheFileRest(t *testing.T) {
	l := newMirror(t)
	rested := make(chan []string, 1)
	b := newBench(t, RunnerOptions{Database: l.Do, Rested: func(name string) {
		l.Rest(name)
		rested <- l.files()
	}})
	wait := make(chan struct{})
	b.o.Database = func(q engine.Database) engine.Ended {
		<-wait // until all are asked for
		return l.Do(q)
	}
	const many = 30
	for n := range many {
		row := task(n)
		b.Begin(engine.Action{ID: row.ID, Database: &engine.Database{
			Path: "./" + audit, Schema: "optimizer/audit", Columns: auditColumns, Hint: migrate, Insert: &row,
		}})
	}
	b.Begin(engine.Action{ID: "look", Database: &engine.Database{Path: audit, Schema: "optimizer/audit", Select: []engine.Query{{Name: "n", SQL: "SELECT count(*) AS n FROM audit_logs"}}}})
	close(wait)
	if err := b.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"audit_global.db"}, <-rested); diff != "" {
		t.Errorf("files when it rests (-want +got):\n%s", diff)
	}
	if len(rested) != 0 {
		t.Error("it rested more than once")
	}
	ends := b.Ended()
	for n := range many {
		if e := ends[task(n).ID]; e.Result != "done" || e.Began.IsZero() || e.At.Before(e.Began) {
			t.Errorf("row %d: %+v", n, e)
		}
	}
	if got, want := string(ends["look"].Output), fmt.Sprintf(`{"n":[{"n":%d}]}`, many); got != want {
		t.Errorf("look: %s, want %s", got, want)
	}
}

// Whoever only links the driver pays nothing: no file is opened.
func TestDatabasesCostNothingUntilTheyAreAsked(t *testing.T) {
	d := NewDatabases(filepath.Join(t.TempDir(), "nosuch"))
	d.Rest("a.db")
	if d.home != nil || len(d.in) != 0 {
		t.Errorf("opened %v, %v", d.home, d.in)
	}
}

// BenchmarkRows is one row of many that wait, and BenchmarkRow one that is alone.
func BenchmarkRows(b *testing.B) { benchmarkRows(b, false) }
func BenchmarkRow(b *testing.B)  { benchmarkRows(b, true) }

func benchmarkRows(b *testing.B, rest bool) {
	l := newMirror(b)
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		if e := l.put(task(n)); e.Result != "done" {
			b.Fatal(e.Reason)
		}
		if rest {
			l.Rest(audit)
		}
	}
	if info, err := os.Stat(l.path(audit)); err != nil || info.Size() == 0 {
		b.Fatal(err)
	}
}
