package store_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
	"placet/engine/store"
	"placet/engine/store/memfs"
	"placet/layout"
)

func paths(l store.Loaded) []string {
	var all []string
	for _, d := range l.Docs {
		all = append(all, strings.TrimPrefix(d.Path, aRun().Dir+"/"))
	}
	return all
}

func TestLoadFindsWhatTheFamilyKnowsAndNamesTheRest(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		for _, name := range []string{
			"state.json", "metadata.json", "events/001-step_start.json", "events/.next-id",
			"requests/r1/request.json", "requests/r1/form.md", "requests/r1/problem.md", "state.json.problem.md",
		} {
			w.put(in(name), "{}")
		}
		for _, name := range []string{
			"state.json.lock", ".hidden", "state.json.tmp", "form.md~", ".placet-0123456789abcdef.tmp", // noise
			"requests/r1/other.txt", "strange.json", "sub/x.json", // strays
		} {
			w.put(in(name), "{}")
		}
		l := load(t, w.store())
		want := []string{
			"events/.next-id", "events/001-step_start.json", "metadata.json", "requests/r1/form.md",
			"requests/r1/problem.md", "requests/r1/request.json", "state.json", "state.json.problem.md",
		}
		if diff := cmp.Diff(want, paths(l)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{in("requests/r1/other.txt"), in("strange.json"), in("sub")}, l.Stray); diff != "" {
			t.Error(diff)
		}
		if doc(l, "requests/r1/form.md").Kind != layout.KindForm {
			t.Error("the kind is missing")
		}
	})
}

func TestALinkedFolderOfARunIsNeverEntered(t *testing.T) {
	w := machine(t)
	outside := t.TempDir()
	if err := os.MkdirAll(filepath.Join(outside, "r1"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(outside, "r1/response.json"), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	w.put(in("state.json"), "{}")
	if err := os.Symlink(outside, filepath.Join(w.fs.Root(), in("requests"))); err != nil {
		t.Fatal(err)
	}
	l := load(t, w.store())
	if diff := cmp.Diff([]string{"state.json"}, paths(l)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{in("requests")}, l.Stray); diff != "" {
		t.Error(diff)
	}
}

func TestARunThatIsGoneHasNoDocuments(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		if l := load(t, w.store()); len(l.Docs) != 0 {
			t.Errorf("got %v", l.Docs)
		}
	})
}

func TestAFolderThatCannotBeListedIsAnError(t *testing.T) {
	w := inMemory()
	w.put(in("requests/r/request.json"), "{}")
	for _, op := range []string{in("requests"), "specs"} {
		w.put("specs/a.md", "x")
		w.fs.(*memfs.FS).Hook(func(c memfs.Call) error {
			if c.Op == "list" && c.Name == op {
				return syscall.EACCES
			}
			return nil
		})
		_, err := w.store().Load(aRun(), layout.Faber{}, []string{"specs/*.md"})
		if err == nil || !strings.Contains(err.Error(), "cannot list "+op) {
			t.Errorf("got %v", err)
		}
	}
}

func TestListSaysWhatIsAFolderAndWhatIsNeither(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		w.put("d/file", "")
		w.dir("d/folder")
		w.odd("d/link", fs.ModeSymlink)
		got, err := w.store().List("d")
		if err != nil {
			t.Fatal(err)
		}
		want := []layout.Entry{{Name: "file"}, {Name: "folder", Dir: true}, {Name: "link", Link: true}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		for _, none := range []string{"missing", "d/file", "d/link", "d/file/below"} {
			if got, err := w.store().List(none); err != nil || len(got) != 0 {
				t.Errorf("%s: %v %v", none, got, err)
			}
		}
	})
}

func TestRunsAreFoundThroughList(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		w.put(in("state.json"), "{}")
		runs, err := layout.Faber{}.Runs(w.store().List)
		if err != nil || len(runs) != 1 || runs[0].ID != runID {
			t.Errorf("got %v %v", runs, err)
		}
	})
}

func TestNeeds(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		for _, name := range []string{
			"specs/b.md", "specs/a.md", "specs/.hidden.md", "specs/a.md~", "specs/[x].md", "specs/x.md", "deep/one/f.json", "deep/two/f.json",
			"deep/f.json", "deep/one/g.json", in("state.json"), in("free.txt"), ".cfg/a.toml",
		} {
			w.put(name, "x")
		}
		w.dir("specs/dir.md")
		w.odd("specs/link.md", fs.ModeSymlink)
		w.later(time.Hour)
		s := w.store()
		for need, want := range map[string][]string{
			"specs/a.md":             {"specs/a.md"},
			"./specs//a.md":          {"specs/a.md"},
			"specs/none.md":          {"specs/none.md: absent"},
			"specs/none/deep.md":     {"specs/none/deep.md: absent"},
			"specs/a.md/below":       {"specs/a.md/below: absent"},
			"specs/*.md":             {"specs/[x].md", "specs/a.md", "specs/b.md", "specs/link.md: error", "specs/x.md"},
			"specs/.*.md":            {"specs/.hidden.md"},
			"specs/[x].md":           {"specs/[x].md", "specs/x.md"},
			"specs/[.md":             nil,
			"specs/*.none":           nil,
			"none/*.md":              nil,
			"deep/*/f.json":          {"deep/one/f.json", "deep/two/f.json"},
			"*/one/*.json":           {"deep/one/f.json", "deep/one/g.json"},
			".cfg/*.toml":            {".cfg/a.toml"},
			"deep/t?o/f.json":        {"deep/two/f.json"},
			"still:deep/t?o/f.json":  {"deep/two/f.json"},
			"specs/dir.md":           {"specs/dir.md: error"},
			"../etc/passwd":          {"../etc/passwd: error"},
			"/etc/passwd":            {"/etc/passwd: error"},
			"a\x00b":                 {"a\x00b: error"},
			"":                       {": error"},
			".":                      {".: error"},
			"still:../x":             {"../x: error"},
			in("free.txt"):           {in("free.txt")},
			"git:log/10":             nil,
			strings.Repeat("x", 300): {strings.Repeat("x", 300) + ": error"},
		} {
			l := load(t, s, need)
			var got []string
			for _, d := range l.Docs {
				switch {
				case d.Path == aRun().State:
					continue
				case d.Absent():
					d.Path += ": absent"
				case d.Err != nil:
					d.Path += ": error"
				}
				got = append(got, d.Path)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%q:\n%s", need, diff)
			}
			if asked := !strings.HasPrefix(need, "git:"); asked != (len(l.Needs) == 1 && l.Needs[0] == need) {
				t.Errorf("%q: needs %q", need, l.Needs)
			}
		}
	})
}

func TestANeedInsideTheRunIsNoSecondDocument(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		w.put(in("state.json"), "{}")
		w.later(1500 * time.Millisecond)
		s := w.store()
		if l := load(t, s, aRun().State); len(l.Docs) != 1 || doc(l, "state.json").Unsettled() {
			t.Errorf("got %v", l.Docs)
		}
		l := load(t, s, "still:"+aRun().State)
		if len(l.Docs) != 1 || !doc(l, "state.json").Unsettled() || doc(l, "state.json").Kind != engine.KindState {
			t.Errorf("got %v", l.Docs)
		}
	})
}

func TestOneFileNeededTwiceIsAsUnsettledAsTheStricterNeed(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		w.put("a.md", "x")
		w.later(1500 * time.Millisecond)
		for _, needs := range [][]string{{"a.md", "still:a.md"}, {"still:a.md", "a.md"}} {
			l := load(t, w.store(), needs...)
			if len(l.Docs) != 1 || !l.Docs[0].Unsettled() || len(l.Needs) != 2 {
				t.Errorf("%v: got %v", needs, l)
			}
		}
	})
}

func TestDirsAreTheFoldersThatNeedsLieIn(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		w.put("specs/sub/a.md", "x")
		w.put("deep/one/f.json", "x")
		w.put(in("state.json"), "{}")
		l := load(t, w.store(), "specs/sub/a.md", "specs/none/b.md", "top.md", "deep/*/f.json", in("requests/x.md"), "git:diffstat")
		if diff := cmp.Diff([]string{".", "deep", "deep/one", "specs", "specs/sub"}, l.Dirs); diff != "" {
			t.Error(diff)
		}
	})
}

func TestALargeArtifactIsHashedAndNotKept(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		body := strings.Repeat("0123456789abcdef", 1<<20+1)
		w.put("video.mp4", body)
		w.later(time.Hour)
		s := w.store()
		for range 2 {
			d := doc(load(t, s, "still:video.mp4"), "video.mp4")
			if d.Err != nil || d.Body != nil || d.Sum != engine.Sum([]byte(body)) {
				t.Errorf("got %v, %d bytes, %s", d.Err, len(d.Body), d.Sum)
			}
		}
		if d := doc(load(t, w.store(), "video.mp4"), "video.mp4"); d.Err == nil {
			t.Error("a plain need of that size was read")
		}
	})
}

func TestKnownNamesTheOwnerOfWhatOthersWrite(t *testing.T) {
	w := inMemory()
	w.put(in("requests/r/response.json"), "{}")
	w.put(in("requests/r/receipt.json"), "{}")
	w.fs.(*memfs.FS).Chmod(in("requests/r/response.json"), 0o644, 4242424, 0)
	w.later(time.Hour)
	l := load(t, w.store())
	if diff := cmp.Diff([]string{"owner:4242424"}, doc(l, "requests/r/response.json").Known); diff != "" {
		t.Error(diff)
	}
	if known := doc(l, "requests/r/receipt.json").Known; known != nil {
		t.Errorf("a receipt is known as %v", known)
	}
	m := machine(t)
	m.put(in("requests/r/response.json"), "{}")
	m.later(time.Hour)
	known := doc(load(t, m.store()), "requests/r/response.json").Known
	if len(known) != 1 || !strings.HasPrefix(known[0], "owner:") || len(known[0]) == len("owner:") {
		t.Errorf("got %v", known)
	}
}

func TestChangedIsTheCtime(t *testing.T) {
	w := inMemory()
	w.put(in("state.json"), "{}")
	at := w.clock.now()
	w.later(time.Hour)
	if d := doc(load(t, w.store()), "state.json"); !d.Changed.Equal(at) {
		t.Errorf("got %v", d.Changed)
	}
}

func TestReadIsOneDocument(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		w.put("placet.toml", "x = 1")
		s := w.store()
		file := layout.File{Kind: "config", Format: layout.Text, Limit: 5}
		if d := s.Read("placet.toml", file); !d.Unsettled() || d.Kind != "config" {
			t.Errorf("got %+v", d)
		}
		w.later(short)
		if d := s.Read("placet.toml", file); string(d.Body) != "x = 1" {
			t.Errorf("got %+v", d)
		}
		w.rewrite("placet.toml", "x = 12")
		if d := s.Read("placet.toml", file); d.Err == nil || d.Unsettled() {
			t.Errorf("got %+v", d)
		}
		if d := s.Read("none.toml", file); !d.Absent() {
			t.Errorf("got %+v", d)
		}
	})
}

func TestReadAndLoadShareWhatTheyKnowOfTheStateDocument(t *testing.T) {
	worlds(t, func(t *testing.T, w world) {
		w.put(in("state.json"), "{}")
		s := w.store()
		load(t, s)
		w.later(short)
		if d := s.Read(aRun().State, layout.File{Kind: engine.KindState, Limit: layout.LimitState}); d.Err != nil {
			t.Errorf("got %v", d.Err)
		}
	})
}

func TestAsManyFilesAsOneLikesMayBeNeeded(t *testing.T) {
	w := inMemory()
	var needs []string
	for i := range 20000 {
		needs = append(needs, "absent/"+strings.Repeat("x", i%50)+string(rune('a'+i%26))+time.Duration(i).String())
	}
	s := w.store()
	if l := load(t, s, needs...); len(l.Docs) != 20000 {
		t.Errorf("got %d", len(l.Docs))
	}
}
