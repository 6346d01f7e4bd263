package store_test

import (
	iofs "io/fs"
	"path"
	"strings"
	"testing"
	"time"

	"placet/engine"
	"placet/engine/store"
	"placet/engine/store/fs"
	"placet/layout"
)

// working is FABER with workers that write their progress beside the events.
type working struct{ layout.Faber }

func (working) Volatile(_ layout.Run, rel string) bool { return path.Base(rel) == "progress.json" }

func (w working) File(run layout.Run, rel string) (layout.File, bool) {
	f, ok := w.Faber.File(run, rel)
	return f, ok && !w.Volatile(run, rel)
}

// opening counts the files that are opened.
type opening struct {
	fs.FS
	n *int
}

func (o opening) Open(name string, how fs.How, perm iofs.FileMode) (fs.File, error) {
	*o.n++
	return o.FS.Open(name, how, perm)
}

// A volatile document is not a document of the run, and replacing it does not change
// the run; another name in its folder does.
func TestVolatileDocumentsArePassedOver(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		fam := working{}
		s := w.store()
		w.put(aRun().State, "{}")
		w.put(in("events/progress.json"), `{"progress": 0}`)
		w.put(in("events/001-start.json"), `{"event_id": 1}`)
		w.later(time.Minute)
		loaded, err := s.Load(aRun(), fam, []string{"volatile:" + in("events/progress.json")})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range loaded.Docs {
			if strings.Contains(d.Path, "progress") {
				t.Errorf("%s is a document", d.Path)
			}
		}
		if len(loaded.Stray) > 0 || len(loaded.Needs) > 0 {
			t.Errorf("stray %q, needs %q", loaded.Stray, loaded.Needs)
		}
		for range 3 {
			w.later(time.Minute)
			w.put(in("events/progress.json"), `{"progress": 0.5}`)
			w.later(time.Minute)
			if same, sure := s.Unchanged(aRun(), fam, loaded.Look); !same || !sure {
				t.Fatalf("the run has changed: same %t, sure %t", same, sure)
			}
		}
		w.put(in("events/002-next.json"), `{"event_id": 2}`)
		if same, _ := s.Unchanged(aRun(), fam, loaded.Look); same {
			t.Error("a document that came is not seen")
		}
	})
}

func TestVolatileDocumentsAreReadAsTheyAre(t *testing.T) {
	w := inMemory()
	opened := 0
	s := store.New(opening{w.fs, &opened}, store.Options{Now: w.clock.now, Parallel: 1})
	p := in("progress.json")
	want := func(body string, err error, again bool) {
		t.Helper()
		d, at := s.ReadVolatile(p)
		if string(d.Body) != body || d.Err != err || d.Path != "volatile:"+p || at.IsZero() == again {
			t.Errorf("%q, %v, again %v; want %q, %v", d.Body, d.Err, at, body, err)
		}
	}
	want("", engine.ErrAbsent, false)
	w.put(p, `{"progress": 0.1}`)
	want(`{"progress": 0.1}`, nil, false) // at once
	w.later(time.Minute)
	want(`{"progress": 0.1}`, nil, false)
	before := opened
	for range 3 {
		want(`{"progress": 0.1}`, nil, false)
	}
	if opened > before+1 {
		t.Errorf("%d times opened without a change", opened-before)
	}
	w.rewrite(p, `{"progress": 0.2`)
	want(`{"progress": 0.1}`, nil, true) // half of a write: what stood there before
	w.later(time.Second)
	want(`{"progress": 0.1}`, nil, true)
	w.rewrite(p, `{"progress": 0.2}`)
	want(`{"progress": 0.2}`, nil, false)
	w.rewrite(p, ``)
	want(`{"progress": 0.2}`, nil, true)
	w.later(3 * time.Second)
	want(``, nil, false) // it stays so
	w.delete(p)
	want("", engine.ErrAbsent, false)
	w.put(p, `{"progress": 0.3`)
	want("", engine.ErrAbsent, true)
}

func TestVolatileDocumentsThatCannotBeRead(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		s := w.store()
		w.put(in("large.json"), `{"progress": 0}`+strings.Repeat(" ", 16<<10))
		w.odd(in("link.json"), iofs.ModeSymlink)
		w.odd(in("fifo.json"), iofs.ModeNamedPipe)
		w.dir(in("folder.json"))
		for _, p := range []string{in("large.json"), in("link.json"), in("fifo.json"), in("folder.json"), "../progress.json"} {
			if d, again := s.ReadVolatile(p); d.Err == nil || d.Absent() || d.Unsettled() || !again.IsZero() {
				t.Errorf("%s: %q, %v, %v", p, d.Body, d.Err, again)
			}
		}
	})
}
