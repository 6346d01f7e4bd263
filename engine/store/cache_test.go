package store_test

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"placet/engine"
	"placet/engine/store"
	"placet/engine/store/fs"
	"placet/engine/store/memfs"
	"placet/internal/await"
	"placet/layout"
)

func event(n int) string { return fmt.Sprintf("events/%03d-step_start.json", n) }

// longHistory makes a run with many events, old enough to be immutable, and a store
// that has looked at it.
func longHistory(t testing.TB, w world) *store.Store {
	t.Helper()
	w.put(in("state.json"), `{"n": 1}`)
	w.put(in("events/.next-id"), "101")
	for n := range 100 {
		w.put(in(event(n+1)), fmt.Sprintf(`{"event_id": %d}`, n+1))
	}
	w.later(time.Hour)
	s := w.store()
	s.Watching()
	for range 2 { // the first still keeps what the second needs no more
		load(t, s)
		w.later(time.Second)
	}
	return s
}

// seen returns the result of a look without what it says about the look itself.
func seen(l store.Loaded) store.Loaded {
	l.Again, l.Look = time.Time{}, 0
	return l
}

// sameAsANewLook compares what a store sees with what a new store sees, for which the
// files are an hour old.
func sameAsANewLook(t testing.TB, w world, s *store.Store) {
	t.Helper()
	load(t, s) // what changed in place must stand still
	w.later(time.Hour)
	if diff := cmp.Diff(seen(load(t, w.store())), seen(load(t, s)), cmpopts.EquateErrors(), cmpopts.IgnoreFields(engine.Document{}, "Err", "Parsed"), cmpopts.IgnoreFields(store.Loaded{}, "Missed")); diff != "" {
		t.Errorf("what is there (-) and what is seen (+):\n%s", diff)
	}
}

// calls counts the calls of a file system by what they are for.
type calls struct {
	fs.FS
	n map[string]int
}

func counted(w *world) *calls {
	c := &calls{w.fs, map[string]int{}}
	w.fs = c
	return c
}

func (c *calls) Stat(name string) (fs.Info, error)  { c.n["stat"]++; return c.FS.Stat(name) }
func (c *calls) List(dir string) ([]fs.Name, error) { c.n["list"]++; return c.FS.List(dir) }
func (c *calls) Open(name string, how fs.How, perm os.FileMode) (fs.File, error) {
	c.n["open"]++
	return c.FS.Open(name, how, perm)
}

func TestALongHistoryIsNotLookedAtAgain(t *testing.T) {
	w := inMemory()
	c := counted(&w)
	s := longHistory(t, w)
	clear(c.n)
	loaded := load(t, s)
	if c.n["list"] > 0 || c.n["open"] > 0 || c.n["stat"] > 6 {
		t.Errorf("a look at what has not changed takes %v", c.n)
	}
	if len(loaded.Docs) != 102 {
		t.Errorf("%d documents", len(loaded.Docs))
	}
	sameAsANewLook(t, w, s)
}

// The files of a closed request are not looked at again, and none of them is missed. A
// new file in its folder is found at once, and a request without a receipt is looked
// at.
func TestClosedRequestsAreNotLookedAtAgain(t *testing.T) {
	w := inMemory()
	c := counted(&w)
	for n := range 20 {
		for _, name := range []string{"request.json", "form.md", "response.json", "receipt.json"} {
			w.put(in(fmt.Sprintf("requests/r%d/%s", n, name)), `{"n": 1}`)
		}
	}
	w.put(in("requests/open/request.json"), `{"n": 1}`)
	w.put(in("requests/open/form.md"), "one")
	s := longHistory(t, w)
	clear(c.n)
	loaded := load(t, s)
	if c.n["list"] > 0 || c.n["open"] > 0 || c.n["stat"] > 30 {
		t.Errorf("a look at what has not changed takes %v", c.n)
	}
	if len(loaded.Docs) != 184 || !loaded.Missed.IsZero() {
		t.Errorf("%d documents, missed since %v", len(loaded.Docs), loaded.Missed)
	}
	w.put(in("requests/r7/response.json"), `{"n": 2}`)
	for _, d := range load(t, s).Docs {
		if d.Path == in("requests/r7/response.json") && string(d.Body) != `{"n": 2}` {
			t.Errorf("the other answer is %q, %v", d.Body, d.Err)
		}
	}
	sameAsANewLook(t, w, s)
}

// The next look sees every change that others make to the names of a folder.
func TestWhatOthersDoToAFolderIsSeenAtOnce(t *testing.T) {
	for what, change := range map[string]func(w world){
		"nothing":              func(world) {},
		"one more":             func(w world) { w.put(in(event(101)), `{"event_id": 101}`) },
		"one less":             func(w world) { w.delete(in(event(7))) },
		"replaced":             func(w world) { w.put(in(event(7)), `{"event_id": 7, "a": 1}`) },
		"replaced by the same": func(w world) { w.put(in(event(7)), `{"event_id": 7}`) },
		"replaced by a folder": func(w world) { w.delete(in(event(7))); w.dir(in(event(7))) },
		"all but a few":        func(w world) { deleteEvents(w, 1, 95) },
		"all":                  func(w world) { deleteEvents(w, 1, 100) },
		"made again":           func(w world) { deleteEvents(w, 1, 100); w.put(in(event(1)), `{"again": 1}`) },
		"a stray one":          func(w world) { w.put(in("events/notes.txt"), "x") },
		"a left-over":          func(w world) { w.put(in("events/.placet-1.tmp"), "x") },
		"what is not at rest":  func(w world) { w.rewrite(in("events/.next-id"), "102") },
		"a request":            func(w world) { w.put(in("requests/r/request.json"), "{}") },
		"a response, in place": func(w world) {
			w.put(in("requests/r/response.json"), "{}")
			w.rewrite(in("requests/r/response.json"), `{"a": 1}`)
		},
		"the state, in place":   func(w world) { w.rewrite(in("state.json"), `{"n": 2}`) },
		"the state, by rename":  func(w world) { w.put(in("state.json"), `{"n": 2}`) },
		"many, one by one":      func(w world) { putEvents(w, 101, 300) },
		"one gone and one more": func(w world) { w.delete(in(event(7))); w.put(in(event(101)), `{}`) },
	} {
		t.Run(what, func(t *testing.T) {
			worlds(t, func(t *testing.T, w world) {
				s := longHistory(t, w)
				load(t, s)
				change(w)
				w.later(time.Second)
				for range 3 {
					sameAsANewLook(t, w, s)
				}
			})
		})
	}
}

func deleteEvents(w world, from, to int) {
	for n := from; n <= to; n++ {
		w.delete(in(event(n)))
	}
}

func putEvents(w world, from, to int) {
	for n := from; n <= to; n++ {
		w.put(in(event(n)), fmt.Sprintf(`{"event_id": %d}`, n))
	}
}

// unchanged looks at a run, and reports by stat alone whether it is unchanged since
// that look.
func unchanged(s *store.Store) bool {
	same, _ := s.Unchanged(aRun(), layout.Faber{}, s.LastLook(aRun()))
	return same
}

// A change in place does not change a folder: the safety net or an event finds it.
func TestAChangeInPlaceIsFound(t *testing.T) {
	for how, find := range map[string]func(t *testing.T, s *store.Store){
		"by the safety net": func(t *testing.T, s *store.Store) {
			if unchanged(s) {
				t.Error("the safety net has not found it")
			}
		},
		"by an event":            func(_ *testing.T, s *store.Store) { s.Suspect(aRun().State, in(event(7))) },
		"when events were lost":  func(_ *testing.T, s *store.Store) { s.Invalidate() },
		"after it was forgotten": func(_ *testing.T, s *store.Store) { s.Forget(aRun()) },
	} {
		t.Run(how, func(t *testing.T) {
			worlds(t, func(t *testing.T, w world) {
				s := longHistory(t, w)
				if !unchanged(s) {
					t.Error("something has changed before anything did")
				}
				load(t, s)
				w.later(time.Minute)
				w.rewrite(in(event(7)), `{"event_id": 7, "in": "place"}`)
				find(t, s)
				w.later(time.Second)
				load(t, s)
				sameAsANewLook(t, w, s)
				if !unchanged(s) {
					t.Error("it is found once more")
				}
			})
		})
	}
}

// A content that changed under the same inode must settle before it counts, however it
// was found.
func TestAChangeInPlaceSettlesAsEver(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		s := longHistory(t, w)
		w.rewrite(in(event(7)), `{"event_id": 7, "in": "place"}`)
		s.Suspect(aRun().State, in(event(7)))
		expect(t, w, s, event(7), []any{"unsettled", short, `{"event_id": 7, "in": "place"}`})
	})
}

func TestANewRunOrOneThatIsGoneIsVerified(t *testing.T) {
	w := inMemory()
	s := longHistory(t, w)
	deleteEvents(w, 1, 100)
	if unchanged(s) {
		t.Error("nobody misses the events")
	}
	if load(t, s); !unchanged(s) {
		t.Error("they are missed although a look has seen that they are gone")
	}
	s.Suspect("no/such/run", "x")
}

// A folder that replaced another one is a new folder, whatever it holds.
func TestAFolderInAnothersPlaceIsLookedAt(t *testing.T) {
	w := machine(t)
	s := longHistory(t, w)
	root := w.fs.Root()
	at := func(name string) string { return filepath.Join(root, in(name)) }
	for n := range 100 {
		w.put(in(path.Join("other", path.Base(event(n+1)))), `{"other": true}`)
	}
	for _, move := range [][2]string{{"events", "gone"}, {"other", "events"}} {
		if err := os.Rename(at(move[0]), at(move[1])); err != nil {
			t.Fatal(err)
		}
	}
	sameAsANewLook(t, w, s)
	if err := os.Rename(at("events"), at("linked")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("linked", at("events")); err != nil {
		t.Fatal(err)
	}
	sameAsANewLook(t, w, s)
	if n := len(load(t, s).Docs); n != 1 {
		t.Errorf("%d documents are seen over a link", n)
	}
}

// The machine's file system is asked only for what is necessary: everything else is as
// before.
func TestAFolderIsListedButForWhatIsAtRest(t *testing.T) {
	root := t.TempDir()
	put := func(name, body string) {
		t.Helper()
		at := filepath.Join(root, in(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at+".tmp", []byte(body), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(at+".tmp", at); err != nil {
			t.Fatal(err)
		}
	}
	put("state.json", "{}")
	for n := range 100 {
		put(event(n+1), `{}`)
	}
	now := time.Now
	options := store.Options{Now: func() time.Time { return now() }}
	s := store.New(fs.OS(root), options)
	// A file that was just made is trusted as soon as a change of it would show.
	await.Until(t, "what was made is trusted", func() bool {
		same, sure := s.Unchanged(aRun(), layout.Faber{}, load(t, s).Look)
		return same && sure
	})
	put(event(101), `{"more": 1}`)
	put(event(7), `{"replaced": 1}`)
	if err := os.Remove(filepath.Join(root, in(event(9)))); err != nil {
		t.Fatal(err)
	}
	s.Watching()
	for range 3 {
		got, want := seen(load(t, s)), seen(load(t, store.New(fs.OS(root), options)))
		if diff := cmp.Diff(pathsOf(want), pathsOf(got)); diff != "" {
			t.Errorf("(-there +seen):\n%s", diff)
		}
		if d := doc(got, event(7)); string(d.Body) != `{"replaced": 1}` {
			t.Errorf("the replaced event says %q, %v", d.Body, d.Err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, in(event(8))), []byte(`{"in": "place"}`), 0); err != nil {
		t.Fatal(err)
	}
	if unchanged(s) {
		t.Error("the safety net has not found the change in place")
	}
	await.Until(t, "the change in place is seen", func() bool {
		return string(doc(load(t, s), event(8)).Body) == `{"in": "place"}`
	})
}

func pathsOf(l store.Loaded) (all []string) {
	for _, d := range l.Docs {
		all = append(all, d.Path)
	}
	return all
}

// A folder is listed at every look while it is so young that another change might not
// change its times.
func TestAYoungFolderIsListedAgain(t *testing.T) {
	w := inMemory()
	c := counted(&w)
	s := longHistory(t, w)
	w.put(in(event(101)), `{}`)
	load(t, s)
	clear(c.n)
	w.put(in(event(102)), `{}`) // in the same tick: the folder's times stay
	if d := doc(load(t, s), event(102)); d.Absent() {
		t.Error("what came in the same tick is not seen")
	}
	if c.n["list"] == 0 {
		t.Error("the folder is not listed")
	}
	w.later(time.Second)
	load(t, s)
	clear(c.n)
	if load(t, s); c.n["list"] > 0 {
		t.Error("the folder is listed for ever")
	}
}

// coarse is a file system whose times are even seconds.
type coarse struct{ fs.FS }

type coarseFile struct{ fs.File }

func rough(i fs.Info, err error) (fs.Info, error) {
	i.Modified, i.Changed = i.Modified.Truncate(2*time.Second), i.Changed.Truncate(2*time.Second)
	return i, err
}

func (f coarseFile) Stat() (fs.Info, error)        { return rough(f.File.Stat()) }
func (c coarse) Stat(name string) (fs.Info, error) { return rough(c.FS.Stat(name)) }
func (c coarse) Touch(name string) (time.Time, error) {
	at, err := c.FS.Touch(name)
	return at.Truncate(2 * time.Second), err
}

func (c coarse) Open(name string, how fs.How, perm os.FileMode) (fs.File, error) {
	f, err := c.FS.Open(name, how, perm)
	return coarseFile{f}, err
}

func TestCoarseTimes(t *testing.T) {
	for step := range 40 {
		w := inMemory()
		w.clock.at = w.clock.at.Truncate(2 * time.Second).Add(time.Duration(step) * 100 * time.Millisecond)
		w.fs = coarse{w.fs}
		s := longHistory(t, w)
		w.put(in(event(101)), `{}`)
		for range 3 {
			w.later(200 * time.Millisecond)
			load(t, s)
		}
		w.put(in(event(102)), `{}`)
		if d := doc(load(t, s), event(102)); d.Absent() {
			t.Errorf("what came %d ms later is not seen", 600)
		}
		w.later(time.Minute)
		if same, sure := s.Unchanged(aRun(), layout.Faber{}, load(t, s).Look); !same || !sure {
			t.Error("nothing of it is trusted")
		}
	}
}

// The clock is set: changes are still seen, and a folder with times in the future is
// listed at every look.
func TestAClockThatJumps(t *testing.T) {
	for _, by := range []time.Duration{-time.Hour, -24 * time.Hour, 400 * 24 * time.Hour} {
		w := inMemory()
		c := counted(&w)
		s := longHistory(t, w)
		w.put(in(event(101)), `{}`)
		w.later(time.Minute)
		load(t, s)
		w.later(by)
		clear(c.n)
		if load(t, s); by < 0 && c.n["list"] == 0 {
			t.Errorf("by %s: what lies ahead is taken as it was", by)
		}
		w.put(in(event(102)), `{}`)
		w.rewrite(in("state.json"), `{"later": 1}`)
		w.later(time.Second)
		load(t, s)
		w.later(time.Second)
		loaded := load(t, s)
		if d := doc(loaded, event(102)); d.Absent() || string(doc(loaded, "state.json").Body) != `{"later": 1}` {
			t.Errorf("by %s: a change is not seen", by)
		}
	}
}

// Runs that nobody looks at for a long time lose their documents, but keep their
// inodes.
func TestARestingRunWithALongHistory(t *testing.T) {
	w := inMemory()
	s := longHistory(t, w)
	load(t, s)
	w.later(time.Minute)
	manyRuns(t, w, s)
	w.rewrite(in(event(7)), `{"a": 1}`)
	w.put(in(event(101)), `{"b": 1}`)
	expect(t, w, s, event(101), []any{`{"b": 1}`})
	expect(t, w, s, event(7), []any{"unsettled", short, `{"a": 1}`})
	sameAsANewLook(t, w, s)
}

// The cache does not change the result: changes of names are seen at once, changes in
// place after the safety net has looked.
func TestWhatIsKeptChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := &clock{at: time.Date(2026, 3, 1, 12, 0, 0, 124_000_000, time.UTC)}
		fs := memfs.New(at.now)
		fs.Put(in("state.json"), "{}")
		there := map[string]bool{}
		for n := range 80 {
			fs.Put(in(event(n)), `{}`)
			there[event(n)] = true
		}
		kept := store.New(fs, store.Options{Now: at.now, Parallel: 1})
		kept.Watching()
		look := func(s *store.Store) store.Loaded {
			l, err := s.Load(aRun(), layout.Faber{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			return l
		}
		for i := range rapid.IntRange(1, 40).Draw(t, "changes") {
			name := rapid.SampledFrom([]string{event(1), event(2), event(79), event(100), "events/.next-id", "requests/r/response.json", "state.json"}).Draw(t, "name")
			body := fmt.Sprintf(`{"change": %d}`, i)
			switch rapid.IntRange(0, 6).Draw(t, "change") {
			case 0, 1:
				fs.Put(in(name), body)
				there[name] = true
			case 2:
				if there[name] && name != "state.json" {
					fs.Delete(in(name))
					delete(there, name)
				}
			case 3:
				if there[name] {
					fs.Rewrite(in(name), body)
				}
			case 4:
				unchanged(kept)
			case 5:
				kept.Suspect(aRun().State, in(name))
			}
			at.add(rapid.SampledFrom([]time.Duration{0, time.Millisecond, 200 * time.Millisecond, 3 * time.Second}).Draw(t, "pause"))
			got, want := look(kept), look(store.New(fs, store.Options{Now: at.now, Parallel: 1}))
			if diff := cmp.Diff(pathsOf(want), pathsOf(got)); diff != "" {
				t.Fatalf("names (-there +seen):\n%s", diff)
			}
		}
		at.add(time.Hour)
		unchanged(kept)
		look(kept) // what changed in place must stand still
		at.add(time.Hour)
		want := look(store.New(fs, store.Options{Now: at.now, Parallel: 1}))
		if diff := cmp.Diff(seen(want), seen(look(kept)), cmpopts.EquateErrors()); diff != "" {
			t.Fatalf("in the end (-there +seen):\n%s", diff)
		}
	})
}
