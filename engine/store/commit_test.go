package store_test

import (
	"errors"
	iofs "io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
	"placet/engine/store"
	"placet/engine/store/fs"
	"placet/engine/store/memfs"
	"placet/layout"
)

func commit(t testing.TB, s *store.Store, p engine.Plan) {
	t.Helper()
	if err := s.Commit(aRun(), layout.Faber{}, p); err != nil {
		t.Fatal(err)
	}
}

// over returns a document that replaces a content.
func over(d engine.Document, content string) engine.Document {
	d.Over = engine.Sum([]byte(content))
	return d
}

// names returns the names below a folder, including temporary ones.
func names(t testing.TB, w world, dir string) []string {
	t.Helper()
	infos, err := w.fs.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, i := range infos {
		all = append(all, i.Name)
	}
	return all
}

func TestACommitWritesReplacesAndRemoves(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		w.put(in("state.json"), "S0")
		w.put(in("state.json.problem.md"), "N0")
		w.put(in("old.problem.md"), "O")
		s := w.store()
		commit(t, s, engine.Plan{
			Writes: []engine.Document{
				stateDoc("S1", "S0"),
				newDoc("requests/r1/request.json", "R"),
				newDoc("requests/r1/form.md", "F"),
				over(newDoc("state.json.problem.md", "N1"), "N0"),
			},
			Removes: []string{in("old.problem.md"), in("never-there.problem.md"), in("none/never.md")},
		})
		check(t, w, map[string]string{
			in("state.json"): "S1", in("requests/r1/request.json"): "R", in("requests/r1/form.md"): "F",
			in("state.json.problem.md"): "N1", in("old.problem.md"): "",
		})
		if diff := cmp.Diff([]string{"requests", "state.json", "state.json.problem.md"}, names(t, w, aRun().Dir)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"form.md", "request.json"}, names(t, w, in("requests/r1"))); diff != "" {
			t.Error(diff)
		}
	})
}

func TestARunIsCreatedExclusively(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		s := w.store()
		commit(t, s, engine.Plan{Writes: []engine.Document{stateDoc("S1", "")}})
		commit(t, s, engine.Plan{Writes: []engine.Document{stateDoc("S1", "")}}) // the same again is nothing new
		err := s.Commit(aRun(), layout.Faber{}, engine.Plan{Writes: []engine.Document{newDoc("metadata.json", "M"), stateDoc("S2", "")}})
		if !errors.Is(err, store.ErrConflict) || !strings.Contains(err.Error(), "state.json") {
			t.Errorf("got %v", err)
		}
		check(t, w, map[string]string{in("state.json"): "S1", in("metadata.json"): ""})
	})
}

func TestWhatIsNotWhatThePlanWasMadeOverIsLeftAlone(t *testing.T) {
	for name, c := range map[string]struct{ there, over string }{
		"other":              {"foreign", "S0"},
		"appeared":           {"foreign", ""},
		"gone":               {"", "S0"},
		"other, same length": {"S9", "S0"},
	} {
		for _, doc := range []engine.Document{stateDoc("S1", c.over), {Path: in("a.problem.md"), Body: []byte("S1"), Over: stateDoc("", c.over).Over}} {
			t.Run(name+" "+doc.Path, func(t *testing.T) {
				worlds(t, func(t *testing.T, w world) {
					w.dir(aRun().Dir)
					if c.there != "" {
						w.put(doc.Path, c.there)
					}
					s := w.store()
					err := s.Commit(aRun(), layout.Faber{}, engine.Plan{Writes: []engine.Document{newDoc("first.json", "F"), doc}})
					if !errors.Is(err, store.ErrConflict) {
						t.Errorf("got %v", err)
					}
					check(t, w, map[string]string{doc.Path: c.there, in("first.json"): ""})
					if len(names(t, w, aRun().Dir)) > 1 {
						t.Errorf("left behind: %v", names(t, w, aRun().Dir))
					}
				})
			})
		}
	}
}

func TestWhatAlreadyHoldsTheseBytesIsFine(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		w.put(in("state.json"), "S1")
		w.put(in("a.json"), "A")
		w.put(in("b.json"), "B")
		commit(t, w.store(), engine.Plan{Writes: []engine.Document{newDoc("a.json", "A"), over(newDoc("b.json", "B"), "old"), stateDoc("S1", "S0")}})
		if diff := cmp.Diff([]string{"a.json", "b.json", "state.json"}, names(t, w, aRun().Dir)); diff != "" {
			t.Error(diff)
		}
	})
}

// A caller that counts what was written must know which of several writers wrote
// it.
func TestOneOfSeveralCreatesTheSameBytes(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		w.dir(aRun().Dir)
		doc := newDoc("a.json", "A")
		errs := make([]error, 4)
		var wg sync.WaitGroup
		for i := range errs {
			wg.Go(func() { errs[i] = w.store().Create(doc) })
		}
		wg.Wait()
		done := 0
		for _, err := range errs {
			if err == nil {
				done++
			} else if !errors.Is(err, store.ErrConflict) {
				t.Error(err)
			}
		}
		if done != 1 || w.store().Create(doc) == nil {
			t.Errorf("%d of %d created it", done, len(errs))
		}
		check(t, w, map[string]string{in("a.json"): "A"})
		if left := names(t, w, aRun().Dir); len(left) > 1 {
			t.Errorf("left behind: %v", left)
		}
	})
}

func TestWhatAppearsBetweenTheRoundsIsNotOverwritten(t *testing.T) {
	for body, want := range map[string]error{"foreign": store.ErrConflict, "E": nil} {
		w := inMemory()
		m := w.fs.(*memfs.FS)
		w.put(in("state.json"), "S0")
		m.Hook(func(c memfs.Call) error {
			if c.Op == "exclusive" && c.Name == in("events/001-a.json") {
				m.Put(c.Name, body)
			}
			return nil
		})
		err := w.store().Commit(aRun(), layout.Faber{}, engine.Plan{Writes: []engine.Document{
			newDoc("metadata.json", "M"), newDoc("events/001-a.json", "E"), stateDoc("S1", "S0"),
		}})
		state := "S1"
		if want != nil {
			state = "S0"
		}
		if !errors.Is(err, want) {
			t.Errorf("got %v", err)
		}
		// Files that got their names before stay: the run needs them anyway.
		check(t, w, map[string]string{in("metadata.json"): "M", in("events/001-a.json"): body, in("state.json"): state})
		noTemps(t, m)
	}
}

func TestAReplacedDocumentThatMovedBetweenTheRoundsIsLeftAlone(t *testing.T) {
	for _, change := range []func(m *memfs.FS){
		func(m *memfs.FS) { m.Put(in("n.md"), "foreign") },
		func(m *memfs.FS) { m.Rewrite(in("n.md"), "N9") },
		func(m *memfs.FS) { m.Delete(in("n.md")) },
	} {
		w := inMemory()
		m := w.fs.(*memfs.FS)
		w.put(in("n.md"), "N0")
		want := ""
		m.Hook(func(c memfs.Call) error {
			if c.Op == "sync" {
				change(m)
				want, _ = m.Get(in("n.md"))
			}
			return nil
		})
		err := w.store().Commit(aRun(), layout.Faber{}, engine.Plan{Writes: []engine.Document{over(newDoc("n.md", "N1"), "N0")}})
		if !errors.Is(err, store.ErrConflict) {
			t.Errorf("got %v", err)
		}
		check(t, w, map[string]string{in("n.md"): want})
	}
}

// noTemps fails if a temporary name is left.
func noTemps(t testing.TB, m *memfs.FS) {
	t.Helper()
	for name := range m.Tree() {
		if layout.IsTemp(filepath.Base(name)) {
			t.Errorf("left behind: %s", name)
		}
	}
}

func TestPathsOutOfTheWorkspaceAreNeverWritten(t *testing.T) {
	w := machine(t)
	for _, bad := range []string{"../x", "/etc/x", "a/../b", "", ".", "a//b", "a/./b", ".placet-00.tmp", "a\x00"} {
		for _, p := range []engine.Plan{
			{Writes: []engine.Document{{Path: bad, Body: []byte("x")}}},
			{Removes: []string{bad}},
			{Lines: []engine.Line{{Path: bad, Body: []byte("x\n")}}},
		} {
			if err := w.store().Commit(aRun(), layout.Faber{}, p); err == nil || !strings.Contains(err.Error(), "expected a clean path") {
				t.Errorf("%q: %v", bad, err)
			}
		}
	}
}

func TestNothingIsWrittenOverALinkOrIntoTheWrongKindOfFile(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		w.odd(in("state.json"), iofs.ModeNamedPipe)
		w.odd(in("requests"), iofs.ModeSymlink)
		w.put(in("events"), "a file")
		w.dir(in("n.md"))
		s := w.store()
		for _, d := range []engine.Document{
			stateDoc("S1", "S0"), stateDoc("S1", ""), newDoc("requests/r/request.json", "R"), newDoc("events/001-a.json", "E"), newDoc("n.md", "N"),
		} {
			err := s.Commit(aRun(), layout.Faber{}, engine.Plan{Writes: []engine.Document{d}})
			if err == nil || errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrStopped) {
				t.Errorf("%s: %v", d.Path, err)
			}
		}
		if err := s.Commit(aRun(), layout.Faber{}, engine.Plan{Removes: []string{in("n.md")}}); err == nil {
			t.Error("a folder was removed")
		}
	})
}

// Set-id and sticky bits are not kept: they would lend the owner's rights to what
// placet wrote.
func TestPermissionsAndOwnerOfAReplacedFileAreKept(t *testing.T) {
	w := inMemory()
	m := w.fs.(*memfs.FS)
	w.put(in("state.json"), "S0")
	w.put(in("n.md"), "N0")
	m.Chmod(in("state.json"), 0o664|iofs.ModeSetuid|iofs.ModeSetgid|iofs.ModeSticky, 1001, 2002)
	m.Chmod(in("n.md"), 0o600, 0, 7)
	commit(t, w.store(), engine.Plan{Writes: []engine.Document{over(newDoc("n.md", "N1"), "N0"), stateDoc("S1", "S0")}})
	got := []any{}
	for _, name := range []string{"state.json", "n.md"} {
		i := m.Info(in(name))
		got = append(got, i.Mode, i.UID, i.GID)
	}
	if diff := cmp.Diff([]any{iofs.FileMode(0o664), uint32(1001), uint32(2002), iofs.FileMode(0o600), uint32(0), uint32(7)}, got); diff != "" {
		t.Error(diff)
	}
}

func TestPermissionsAndOwnerAreKeptOnTheMachine(t *testing.T) {
	w := machine(t)
	w.put(in("state.json"), "S0")
	at := filepath.Join(w.fs.Root(), in("state.json"))
	uid, gid := os.Getuid(), os.Getgid()
	if uid == 0 {
		uid, gid = 1001, 2002
	}
	if err := errors.Join(os.Chown(at, uid, gid), os.Chmod(at, 0o664|iofs.ModeSetuid|iofs.ModeSetgid|iofs.ModeSticky)); err != nil {
		t.Fatal(err)
	}
	commit(t, w.store(), engine.Plan{Writes: []engine.Document{stateDoc("S1", "S0")}})
	info, err := os.Stat(at)
	if err != nil {
		t.Fatal(err)
	}
	st := info.Sys().(*syscall.Stat_t)
	if info.Mode() != 0o664 || int(st.Uid) != uid || int(st.Gid) != gid {
		t.Errorf("got %v %d:%d", info.Mode(), st.Uid, st.Gid)
	}
}

func TestAnOwnerThatCannotBeKeptDoesNotStopTheCommit(t *testing.T) {
	w := inMemory()
	m := w.fs.(*memfs.FS)
	w.put(in("state.json"), "S0")
	m.Chmod(in("state.json"), 0o640, 1001, 2002)
	m.Hook(func(c memfs.Call) error {
		if c.Op == "chown" {
			return syscall.EPERM
		}
		return nil
	})
	commit(t, w.store(), engine.Plan{Writes: []engine.Document{stateDoc("S1", "S0")}})
	if i := m.Info(in("state.json")); i.Mode.Perm() != 0o640 || i.UID == 1001 {
		t.Errorf("got %+v", i)
	}
}

func TestTheUmaskRulesTheModeOfANewFile(t *testing.T) {
	w := machine(t)
	defer syscall.Umask(syscall.Umask(0o027))
	commit(t, w.store(), engine.Plan{Writes: []engine.Document{stateDoc("S1", "")}})
	info, err := os.Stat(filepath.Join(w.fs.Root(), in("state.json")))
	if err != nil || info.Mode() != 0o640 {
		t.Error(info.Mode(), err)
	}
}

func TestWriteIsOneDurableDocument(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		s := w.store()
		doc := engine.Document{Path: in("requests/r/response.json"), Body: []byte("A")}
		for _, step := range []struct {
			doc  engine.Document
			want error
		}{
			{doc, nil}, {doc, nil},
			{engine.Document{Path: doc.Path, Body: []byte("B")}, store.ErrConflict},
			{engine.Document{Path: doc.Path, Body: []byte("B"), Over: engine.Sum([]byte("A"))}, nil},
			{engine.Document{Path: doc.Path, Body: []byte("C"), Over: engine.Sum([]byte("A"))}, store.ErrConflict},
		} {
			if err := s.Write(step.doc); !errors.Is(err, step.want) {
				t.Errorf("%s: %v", step.doc.Body, err)
			}
		}
		check(t, w, map[string]string{doc.Path: "B"})
	})
}

func TestAnEmptyPlanIsNothing(t *testing.T) {
	w := inMemory()
	commit(t, w.store(), engine.Plan{})
	if n := w.fs.(*memfs.FS).Calls(); n != 0 {
		t.Errorf("%d calls", n)
	}
}

func TestAStateThatNeverStandsStillHasMoved(t *testing.T) {
	m := scene()
	n := 0
	m.Hook(func(c memfs.Call) error {
		if c.Op == "read" && c.Name == aRun().State {
			n++
			m.Rewrite(c.Name, strings.Repeat("x", n))
		}
		return nil
	})
	if err := quiet(m).Commit(aRun(), layout.Faber{}, step); !errors.Is(err, store.ErrConflict) {
		t.Errorf("got %v", err)
	}
}

func TestAFolderThatWentAwayIsNotOwed(t *testing.T) {
	m := scene()
	m.Hook(func(c memfs.Call) error {
		if c.Op == "syncdir" && c.Name == in("requests/r2") {
			return syscall.ENOENT
		}
		return nil
	})
	s := quiet(m)
	if err := s.Commit(aRun(), layout.Faber{}, step); !errors.Is(err, syscall.ENOENT) {
		t.Errorf("got %v", err)
	}
	calls := 0
	m.Hook(func(c memfs.Call) error {
		if c.Op == "syncdir" && c.Name == in("requests/r2") {
			calls++
		}
		return nil
	})
	if err := s.Write(engine.Document{Path: "elsewhere", Body: []byte("x")}); err != nil || calls != 0 {
		t.Error(err, calls)
	}
}

func TestARunWhoseFolderGoesAwayHasMoved(t *testing.T) {
	w := machine(t)
	w.put(in("state.json"), "S0")
	gone := &vanishing{FS: w.fs, dir: filepath.Join(w.fs.Root(), aRun().Dir)}
	s := store.New(gone, store.Options{Now: w.clock.now})
	err := s.Commit(aRun(), layout.Faber{}, engine.Plan{Writes: []engine.Document{newDoc("a.json", "A"), stateDoc("S1", "S0")}})
	if !errors.Is(err, store.ErrConflict) {
		t.Errorf("got %v", err)
	}
}

// vanishing removes a folder before the first rename.
type vanishing struct {
	fs.FS
	dir string
}

func (v *vanishing) Rename(from, to string, how fs.Move) error {
	if err := os.RemoveAll(v.dir); err != nil {
		return err
	}
	return v.FS.Rename(from, to, how)
}
