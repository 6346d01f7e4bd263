package sqlite

import (
	"os"
	"path/filepath"
	"testing"
)

// A program that only links the driver has no cost: no file is opened.
func TestDatabasesCostNothingUntilTheyAreAsked(t *testing.T) {
	d := New(filepath.Join(t.TempDir(), "nosuch"))
	d.Release("a.db")
	if d.home != nil || len(d.open) != 0 {
		t.Errorf("opened %v, %v", d.home, d.open)
	}
}

// BenchmarkRows inserts one of many waiting rows, and BenchmarkRow a single one.
func BenchmarkRows(b *testing.B) { benchmarkRows(b, false) }
func BenchmarkRow(b *testing.B)  { benchmarkRows(b, true) }

func benchmarkRows(b *testing.B, rest bool) {
	l := newMirror(b)
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		if e := l.insertRow(task(n)); e.Result != "done" {
			b.Fatal(e.Reason)
		}
		if rest {
			l.Release(audit)
		}
	}
	if info, err := os.Stat(l.path(audit)); err != nil || info.Size() == 0 {
		b.Fatal(err)
	}
}
