package loop

import (
	"fmt"
	"os"
	"syscall"
	"testing"

	"placet/engine/store"
	"placet/engine/store/fs"
)

// manyRelated makes a shelf with ten thousand runs.
func manyRelated(b *testing.B) shelf {
	w := newShelfWorld(b)
	for i, id := range numbered("w", 10_000) {
		dir := w.abs("shelf/" + id + "/work")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		for name, o := range map[string]shelfOrder{"/../order.json": {Brings: []string{fmt.Sprint("t", i)}, Colour: "red"}, "/claim.json": {Took: "x"}} {
			if err := os.WriteFile(dir+name, encode(o), 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	w.o.Store = store.New(elderly{fs.OS(w.root)}, store.Options{})
	return w
}

// processor returns the processor time that this process has used so far, in seconds.
func processor() float64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// BenchmarkRelatedBuilt builds the index of ten thousand runs.
func BenchmarkRelatedBuilt(b *testing.B) {
	w := manyRelated(b)
	began := processor()
	b.ReportAllocs()
	for b.Loop() {
		w.peers["shelf"] = newPeers(w.Loop, Family{shelfLayout{}, w.m})
		if _, err := w.Entries("shelf"); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric((processor()-began)/float64(b.N), "cpu-s/op")
}

// BenchmarkRelatedCompared compares ten thousand unchanged runs.
func BenchmarkRelatedCompared(b *testing.B) {
	w := manyRelated(b)
	if _, err := w.Entries("shelf"); err != nil {
		b.Fatal(err)
	}
	x, began := w.peers["shelf"], processor()
	b.ReportAllocs()
	for b.Loop() {
		x.markAll()
		if err := x.ready(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric((processor()-began)/float64(b.N), "cpu-s/op")
}

// BenchmarkRelatedChanged changes one of ten thousand runs, and asks.
func BenchmarkRelatedChanged(b *testing.B) {
	w := manyRelated(b)
	if _, err := w.Entries("shelf"); err != nil {
		b.Fatal(err)
	}
	w.serving.Store(&session{queue: newWorkqueue()}) // a session keeps the entries up to date
	x, i, began := w.peers["shelf"], 0, processor()
	b.ReportAllocs()
	for b.Loop() {
		i++
		w.order("w0007", shelfOrder{Brings: []string{fmt.Sprint("n", i)}})
		x.mark(shelfRun("w0007").State)
		w.answered("w0007", false)
	}
	b.ReportMetric((processor()-began)/float64(b.N), "cpu-s/op")
}
