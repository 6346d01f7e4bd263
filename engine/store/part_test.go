package store_test

import (
	"syscall"
	"testing"
	"time"

	"placet/engine"
	"placet/engine/store"
	"placet/engine/store/memfs"
	"placet/layout"
)

var someRels = []string{"state.json", "../order.json", "logs/none.txt"}

func loadPart(t *testing.T, s *store.Store) store.Part {
	t.Helper()
	part, err := s.LoadPart(aRun(), layout.Faber{}, someRels)
	if err != nil {
		t.Fatal(err)
	}
	return part
}

// partDoc returns the document of a part that was read under a name.
func partDoc(t *testing.T, part store.Part, rel string) engine.Document {
	t.Helper()
	for _, d := range part.Docs {
		if d.Path == in(rel) {
			return d
		}
	}
	t.Fatalf("nothing of %s", rel)
	return engine.Document{}
}

func TestAPartHoldsWhatWasAskedForAlone(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		w.put(in("state.json"), "S")
		w.put(in("../order.json"), "{}")
		w.put(in("context.md"), "C")
		w.later(5 * time.Second)
		part := loadPart(t, w.store())
		if len(part.Docs) != 3 || !part.Again.IsZero() {
			t.Fatalf("got %d documents, again %v", len(part.Docs), part.Again)
		}
		for i := range part.Docs[1:] {
			if part.Docs[i].Path >= part.Docs[i+1].Path {
				t.Errorf("not sorted: %v", part.Docs)
			}
		}
		for rel, want := range map[string]string{"state.json": "S", "../order.json": "{}"} {
			if d := partDoc(t, part, rel); string(d.Body) != want || d.Sum != engine.Sum([]byte(want)) {
				t.Errorf("%s: %+v", rel, d)
			}
		}
		if d := partDoc(t, part, "logs/none.txt"); !d.Absent() {
			t.Errorf("%+v", d)
		}
	})
}

func TestAPartThatIsBeingWrittenIsUnsettled(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		s := w.store()
		w.put(in("../order.json"), "{}")
		part := loadPart(t, s)
		if d := partDoc(t, part, "../order.json"); !d.Unsettled() || part.Again.IsZero() {
			t.Fatalf("%+v, again %v", d, part.Again)
		}
		w.later(part.Again.Sub(w.clock.now()))
		if part = loadPart(t, s); !part.Again.IsZero() || !partDoc(t, part, "../order.json").Present() {
			t.Errorf("still unsettled at the time that was named: %+v", part)
		}
	})
}

func TestWhatPlacetHasWrittenIsSettledAtOnceInAPart(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		s := w.store()
		load(t, s)
		commit(t, s, engine.Plan{Writes: []engine.Document{stateDoc("S1", "")}})
		if part := loadPart(t, s); !part.Again.IsZero() || string(partDoc(t, part, "state.json").Body) != "S1" {
			t.Errorf("%+v", part)
		}
	})
}

// There may be more runs than files outside of runs that the store remembers.
func TestAPartLeavesNothingBehindOfWhatHasSettled(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		w.put(in("state.json"), "S")
		w.put(in("../order.json"), "{}")
		w.later(5 * time.Second)
		s := w.store()
		load(t, s)
		before := s.Remembered()
		s.Forget(aRun())
		loadPart(t, s)
		if s.Remembered() != [3]int{} || before == s.Remembered() {
			t.Errorf("%v runs, files and bytes, %v when the run was looked at", s.Remembered(), before)
		}
	})
}

func TestThePrintOfAPartTellsAChange(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		w.put(in("state.json"), "S")
		w.later(5 * time.Second)
		s := w.store()
		part := loadPart(t, s)
		if part.Racy || s.PrintPart(aRun(), someRels) != part.Print {
			t.Fatalf("racy %v, or another print without a change", part.Racy)
		}
		for _, rel := range []string{"../order.json", "logs/none.txt", "state.json"} {
			before := s.PrintPart(aRun(), someRels)
			w.put(in(rel), "other")
			if s.PrintPart(aRun(), someRels) == before {
				t.Errorf("a change of %s does not show", rel)
			}
		}
	})
}

func TestAPartThatIsAsYoungAsTheLookIsRacy(t *testing.T) {
	w := inMemory() // its clock stands
	w.put(in("state.json"), "S")
	if !loadPart(t, w.store()).Racy {
		t.Error("a change in the same tick would not show")
	}
}

// Nobody knows the content of a file that the system refuses to read: it must not
// count as absent, or as unchanged.
func TestAPartOfWhichTheSystemRefusesAFileIsAnError(t *testing.T) {
	w := inMemory()
	m := w.fs.(*memfs.FS)
	w.put(in("state.json"), "S")
	w.later(5 * time.Second)
	refused := 0
	for k := 1; ; k++ {
		s := w.store()
		print := s.PrintPart(aRun(), someRels)
		before := m.Calls()
		m.FailAt(k, syscall.EIO)
		part, err := s.LoadPart(aRun(), layout.Faber{}, someRels)
		if m.Calls()-before < k {
			break
		}
		if err != nil {
			refused++
			continue
		}
		// Without the file system's clock it is unknown whether the file is
		// unchanged.
		if d := partDoc(t, part, "state.json"); part.Print != print || !d.Unsettled() && string(d.Body) != "S" {
			t.Errorf("call %d: no error, and %+v", k, part)
		}
	}
	if refused < 4 {
		t.Errorf("only %d calls led to an error", refused)
	}
	for k := range someRels {
		s := w.store()
		m.FailAt(k+1, syscall.EIO)
		if print := s.PrintPart(aRun(), someRels); print != 0 {
			t.Errorf("call %d: a print of what nobody can tell", k)
		}
	}
}
