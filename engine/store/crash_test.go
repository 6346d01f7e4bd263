package store_test

import (
	"fmt"
	"path"
	"sort"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
	"placet/engine/store"
	"placet/engine/store/memfs"
	"placet/layout"
)

// step is a commit with every kind of change.
var step = engine.Plan{
	Writes: []engine.Document{
		stateDoc("state of revision 1", "state of revision 0"),
		newDoc("requests/r1/receipt.json", "receipt"),
		newDoc("requests/r2/request.json", "request"),
		newDoc("events/002-b.json", "event"),
		over(newDoc("state.json.problem.md", "new note"), "old note"),
	},
	Removes: []string{in("old.problem.md")},
	Lines:   []engine.Line{{Path: in("log.jsonl"), Body: []byte("{\"line\":2}\n")}},
}

var before = map[string]string{
	in("state.json"):               "state of revision 0",
	in("state.json.problem.md"):    "old note",
	in("old.problem.md"):           "cause gone",
	in("requests/r1/request.json"): "asked",
	in("log.jsonl"):                "{\"line\":1}\n",
}

// after lists what every file may contain during and after the step, the final
// content last; "" means that there is no file.
var after = map[string][]string{
	in("state.json"):               {"state of revision 0", "state of revision 1"},
	in("state.json.problem.md"):    {"old note", "new note"},
	in("old.problem.md"):           {"cause gone", ""},
	in("requests/r1/request.json"): {"asked"},
	in("requests/r1/receipt.json"): {"", "receipt"},
	in("requests/r2/request.json"): {"", "request"},
	in("events/002-b.json"):        {"", "event"},
}

func scene() *memfs.FS {
	at := time.Date(2026, 3, 1, 12, 0, 0, 500, time.UTC)
	m := memfs.New(func() time.Time { at = at.Add(time.Millisecond); return at })
	for _, name := range sortedKeys(before) {
		m.Put(name, before[name])
	}
	return m
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

func quiet(m *memfs.FS) *store.Store { return store.New(m, store.Options{Parallel: 1}) }

// retry makes the step over the present files, like the next pass.
func retry(s *store.Store, m *memfs.FS) error {
	p := engine.Plan{}
	for _, d := range step.Writes {
		body, there := m.Get(d.Path)
		if body == string(d.Body) {
			continue
		}
		d.Over = ""
		if there {
			d.Over = engine.Sum([]byte(body))
		}
		p.Writes = append(p.Writes, d)
	}
	if _, there := m.Get(step.Removes[0]); there {
		p.Removes = step.Removes
	}
	if log, _ := m.Get(in("log.jsonl")); log != "{\"line\":1}\n{\"line\":2}\n" {
		p.Lines = step.Lines
	}
	return s.Commit(aRun(), layout.Faber{}, p)
}

func sweepAll(s *store.Store, m *memfs.FS) error {
	dirs := map[string]bool{aRun().Dir: true}
	for name := range m.Tree() {
		dirs[path.Dir(name)] = true
	}
	for _, dir := range sortedKeys(dirs) {
		if _, err := s.Sweep(dir); err != nil {
			return err
		}
	}
	return nil
}

// sound fails if a file under a final name is neither old nor new.
func sound(t *testing.T, m *memfs.FS, what string) {
	t.Helper()
	tree := m.Tree()
	for name, may := range after {
		ok := false
		for _, body := range may {
			ok = ok || tree[name] == body
		}
		if !ok {
			t.Fatalf("%s: %s holds %q", what, name, tree[name])
		}
	}
}

// recovers restarts after a crash: it sweeps, then makes the step again.
func recovers(t *testing.T, m *memfs.FS, what string) {
	t.Helper()
	sound(t, m, what)
	m.Later(time.Minute) // until its temporary files are old enough for a sweep
	s := quiet(m)
	unlock, err := s.LockWorkspace()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	defer unlock()
	if err := sweepAll(s, m); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	sound(t, m, what+", swept")
	if err := retry(s, m); err != nil {
		t.Fatalf("%s: again: %v", what, err)
	}
	if err := s.Flush(); err != nil {
		t.Fatalf("%s: flush: %v", what, err)
	}
	finished(t, m, what)
}

// finished fails unless the step was made completely and left no temporary files.
func finished(t *testing.T, m *memfs.FS, what string) {
	t.Helper()
	want := map[string]string{in("log.jsonl"): "{\"line\":1}\n{\"line\":2}\n"}
	for name, may := range after {
		if last := may[len(may)-1]; last != "" {
			want[name] = last
		}
	}
	got := m.Tree()
	for _, name := range []string{".placet/.gitignore", ".placet/lock", ".placet/now"} {
		delete(got, name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}

// variants are the ways to commit.
var variants = []struct {
	name string
	on   func(m *memfs.FS) *store.Store
}{
	{"plain", quiet},
	{"without exchange", func(m *memfs.FS) *store.Store {
		m.NoExchange()
		return quiet(m)
	}},
	{"sync of everything", func(m *memfs.FS) *store.Store { return quiet(m).SyncAllFrom(1) }},
	{"no sync of everything", func(m *memfs.FS) *store.Store {
		m.NoSyncAll()
		return quiet(m).SyncAllFrom(1)
	}},
}

// seeds returns how many different power cuts are tried: few in a short test, as
// under the race detector, which looks for races and not for losses.
func seeds(n uint64) uint64 {
	if testing.Short() {
		return n / 3
	}
	return n
}

func TestACrashAtAnyCallLeavesOldOrNewAndIsRecovered(t *testing.T) {
	if testing.Short() {
		t.Skip("one call after the other: there is nothing for the race detector")
	}
	schedules := 0
	for _, variant := range variants {
		for _, when := range []memfs.When{memfs.Before, memfs.After, memfs.Torn} {
			for k := 1; ; k++ {
				m := scene()
				s := variant.on(m)
				m.CrashAt(k, when)
				err := s.Commit(aRun(), layout.Faber{}, step)
				if !m.Crashed() {
					if err != nil {
						t.Fatal(err)
					}
					if k < 40 {
						t.Fatalf("the whole commit took %d calls; is anything still counted?", k)
					}
					break
				}
				what := fmt.Sprintf("%s, crash %d at call %d", variant.name, when, k)
				recovers(t, m.KillClone(), what+", killed")
				for seed := range seeds(9) {
					recovers(t, m.CrashClone(seed), fmt.Sprintf("%s, seed %d", what, seed))
					schedules++
				}
			}
		}
	}
	t.Logf("%d schedules", schedules)
}

func TestWhatCommitSaysIsDurableSurvivesAnyPowerCut(t *testing.T) {
	for seed := range uint64(50) {
		m := scene()
		s := quiet(m)
		if err := s.Commit(aRun(), layout.Faber{}, step); err != nil {
			t.Fatal(err)
		}
		c := m.CrashClone(seed)
		tree := c.Tree()
		for name, may := range after {
			if last := may[len(may)-1]; tree[name] != last {
				t.Fatalf("seed %d: %s holds %q", seed, name, tree[name])
			}
		}
		// The line may be lost, and is then written again; after Flush it may not
		// be lost.
		recovers(t, c, fmt.Sprintf("seed %d", seed))
		if err := s.Flush(); err != nil {
			t.Fatal(err)
		}
		log, _ := m.CrashClone(seed).Get(in("log.jsonl"))
		if log != "{\"line\":1}\n{\"line\":2}\n" {
			t.Fatalf("seed %d: the journal holds %q", seed, log)
		}
	}
}

func TestTheLinesOfOneRevisionAreDurableBeforeTheNext(t *testing.T) {
	for seed := range uint64(30) {
		m := scene()
		m.Delete(in("log.jsonl"))
		s := quiet(m)
		commit(t, s, engine.Plan{Writes: []engine.Document{stateDoc("S1", "state of revision 0")}, Lines: []engine.Line{{Path: in("audit/log.jsonl"), Body: []byte("one\n")}}})
		commit(t, s, engine.Plan{Writes: []engine.Document{stateDoc("S2", "S1")}, Lines: []engine.Line{{Path: in("audit/log.jsonl"), Body: []byte("two\n")}}})
		if log, _ := m.CrashClone(seed).Get(in("audit/log.jsonl")); len(log) < 4 || log[:4] != "one\n" {
			t.Fatalf("seed %d: state of revision 2 stands, and the journal holds %q", seed, log)
		}
	}
}

// TestASecondCrashDuringRecovery crashes the recovery of a crash.
func TestASecondCrashDuringRecovery(t *testing.T) {
	if testing.Short() {
		t.Skip("one call after the other: there is nothing for the race detector")
	}
	schedules := 0
	for k := 1; ; k += 3 {
		m := scene()
		m.CrashAt(k, memfs.After)
		if err := quiet(m).Commit(aRun(), layout.Faber{}, step); err == nil {
			break
		}
		for seed := range uint64(3) {
			for j := 1; ; j += 2 {
				c := m.CrashClone(seed)
				c.CrashAt(j, memfs.Before)
				s := quiet(c)
				_, _ = s.LockWorkspace()
				_ = sweepAll(s, c)
				_ = retry(s, c)
				if !c.Crashed() {
					break
				}
				recovers(t, c.CrashClone(seed+1), fmt.Sprintf("crash at %d, seed %d, again at %d", k, seed, j))
				schedules++
			}
		}
	}
	t.Logf("%d schedules", schedules)
}
