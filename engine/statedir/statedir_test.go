package statedir_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"placet/engine"
	"placet/engine/statedir"
)

// folders returns a home for state folders and a workspace beside it.
func folders(t *testing.T) (home, workspace string) {
	t.Helper()
	top := t.TempDir()
	home, workspace = filepath.Join(top, "state"), filepath.Join(top, "ws")
	for _, dir := range []string{home, workspace} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return home, workspace
}

func create(t *testing.T, home, workspace string) *statedir.Dir {
	t.Helper()
	d, err := statedir.Create(home, workspace)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func TestNothingIsMadeByOpening(t *testing.T) {
	home, workspace := folders(t)
	if _, err := statedir.Open(home, workspace); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("says %v", err)
	}
	if left, _ := os.ReadDir(home); len(left) > 0 {
		t.Errorf("left %v", left)
	}
	d := create(t, home, workspace)
	if info, err := os.Stat(d.Location()); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v, %v; want 0700", info.Mode(), err)
	}
	again, err := statedir.Open(home, workspace)
	if err != nil || again.Location() != d.Location() {
		t.Errorf("opens %v, %v", again, err)
	}
}

func TestAnotherRepositoryAtThePathIsAnotherWorkspace(t *testing.T) {
	home, workspace := folders(t)
	objects := filepath.Join(workspace, ".git", "objects")
	path := func() string {
		t.Helper()
		p, err := statedir.Path(home, workspace)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	without := path()
	if err := os.MkdirAll(objects, 0o700); err != nil {
		t.Fatal(err)
	}
	with := path()
	if with == without || with != path() {
		t.Errorf("%s without a repository, %s with one", without, with)
	}
	// The inode of the folder that is moved away stays in use.
	if err := os.Rename(objects, filepath.Join(workspace, "old")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(objects, 0o700); err != nil {
		t.Fatal(err)
	}
	if path() == with {
		t.Error("other objects are the same workspace")
	}
	if err := os.Rename(workspace, workspace+"-old"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(workspace, 0o700); err != nil {
		t.Fatal(err)
	}
	if path() == without {
		t.Error("another folder is the same workspace")
	}
}

func TestALinkedWorkTreeIsBoundToTheObjectsOfItsMainOne(t *testing.T) {
	home, workspace := folders(t)
	main := filepath.Join(filepath.Dir(workspace), "main", ".git")
	for _, dir := range []string{main + "/objects", main + "/worktrees/ws"} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, body := range map[string]string{
		main + "/worktrees/ws/commondir": "../..\n", workspace + "/.git": "gitdir: " + main + "/worktrees/ws\n",
	} {
		if err := os.WriteFile(name, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before, _ := statedir.Path(home, workspace)
	if err := os.Rename(main+"/objects", main+"/old"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(main+"/objects", 0o700); err != nil {
		t.Fatal(err)
	}
	if after, _ := statedir.Path(home, workspace); after == before || before == "" {
		t.Errorf("%q before, %q after", before, after)
	}
}

// A workspace that cannot be read now is not another one, and a folder that cannot be
// opened for lack of descriptors may be opened later.
func TestWithoutDescriptorsNoOtherFolderIsTaken(t *testing.T) {
	home, workspace := folders(t)
	objects := filepath.Join(filepath.Dir(workspace), "main", ".git", "objects")
	if err := os.MkdirAll(objects, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(workspace+"/.git", []byte("gitdir: "+filepath.Dir(objects)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 3, Max: limit.Max}); err != nil {
		t.Skipf("cannot lower the limit: %v", err)
	}
	path, err := statedir.Path(home, workspace)
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(err, syscall.EMFILE) {
		t.Errorf("takes %s: %v", path, err)
	}
}

func TestAFolderInWhichOthersCouldWriteIsRefused(t *testing.T) {
	tests := map[string]func(t *testing.T, home, workspace string) (string, string){
		"no home":             func(_ *testing.T, _, ws string) (string, string) { return "", ws },
		"a relative home":     func(_ *testing.T, _, ws string) (string, string) { return "state", ws },
		"in the workspace":    func(_ *testing.T, _, ws string) (string, string) { return filepath.Join(ws, ".local"), ws },
		"over a link into it": link,
		"a home that others may write": func(t *testing.T, home, ws string) (string, string) {
			chmod(t, home, 0o777)
			return home, ws
		},
		"a state folder that others may read": func(t *testing.T, home, ws string) (string, string) {
			chmod(t, create(t, home, ws).Location(), 0o755)
			return home, ws
		},
		"placet's folder that a group may write": func(t *testing.T, home, ws string) (string, string) {
			create(t, home, ws)
			chmod(t, filepath.Join(home, "placet"), 0o720)
			return home, ws
		},
		"placet's folder that is a link": func(t *testing.T, home, ws string) (string, string) {
			if err := os.Symlink(ws, filepath.Join(home, "placet")); err != nil {
				t.Fatal(err)
			}
			return home, ws
		},
	}
	for name, make := range tests {
		t.Run(name, func(t *testing.T) {
			home, workspace := folders(t)
			home, workspace = make(t, home, workspace)
			for _, open := range []func(string, string) (*statedir.Dir, error){statedir.Open, statedir.Create} {
				d, err := open(home, workspace)
				if unusable := (*statedir.Unusable)(nil); d != nil || !errors.As(err, &unusable) || unusable.Try == "" {
					t.Errorf("opens %v, says %v", d, err)
				}
			}
			if left, _ := os.ReadDir(workspace); len(left) > 0 {
				t.Errorf("left in the workspace: %v", left)
			}
		})
	}
}

func link(t *testing.T, home, workspace string) (string, string) {
	t.Helper()
	to := filepath.Join(home, "link")
	if err := os.Symlink(workspace, to); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(to, "state"), workspace
}

func chmod(t *testing.T, name string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(name, mode); err != nil {
		t.Fatal(err)
	}
}

func TestWhatIsIssuedIsRemembered(t *testing.T) {
	home, workspace := folders(t)
	doc := func(path, body string) engine.Document { return engine.Document{Path: path, Body: []byte(body)} }
	d := create(t, home, workspace)
	for _, docs := range [][]engine.Document{
		{doc("run/a", "1"), doc("run/b c", "1")}, {doc("run/a", "2")}, {doc("run/a", "2")}, {doc("other/a", "3")},
	} {
		if err := d.Issue(filepath.Dir(docs[0].Path), docs); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range []*statedir.Dir{d, create(t, home, workspace)} {
		got := fmt.Sprint(d.Issued("run"))
		want := fmt.Sprint(map[string][]engine.Digest{
			"run/a": {engine.Sum([]byte("1")), engine.Sum([]byte("2"))}, "run/b c": {engine.Sum([]byte("1"))},
		})
		if got != want {
			t.Errorf("remembers %s, want %s", got, want)
		}
	}
	if got := d.Issued("nothing"); len(got) > 0 {
		t.Errorf("remembers %v of a run that it never wrote", got)
	}
}

func TestATornLineOfARecordIsPassedOver(t *testing.T) {
	home, workspace := folders(t)
	d := create(t, home, workspace)
	one := engine.Document{Path: "run/a", Body: []byte("1")}
	if err := d.Issue("run", []engine.Document{one}); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(d.Location(), "issued", "*", "*"))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	f, err := os.OpenFile(names[0], os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("run/b " + engine.Sum([]byte("2")).Hex()[:40]); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := d.Issue("run", []engine.Document{{Path: "run/a", Body: []byte("3")}}); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprint([]engine.Digest{engine.Sum([]byte("1")), engine.Sum([]byte("3"))})
	if got := d.Issued("run"); len(got) != 1 || fmt.Sprint(got["run/a"]) != want {
		t.Errorf("remembers %v", got)
	}
}

func TestARecordStaysShort(t *testing.T) {
	home, workspace := folders(t)
	d := create(t, home, workspace)
	for i := range 2000 {
		doc := engine.Document{Path: "run/state.json", Body: fmt.Append(nil, i)}
		if err := d.Issue("run", []engine.Document{doc, {Path: "run/request.json", Body: []byte("once")}}); err != nil {
			t.Fatal(err)
		}
	}
	issued := d.Issued("run")
	states := issued["run/state.json"]
	if len(states) == 0 || states[len(states)-1] != engine.Sum([]byte("1999")) || len(issued["run/request.json"]) != 1 {
		t.Errorf("remembers %d states and %d requests", len(states), len(issued["run/request.json"]))
	}
	names, _ := filepath.Glob(filepath.Join(d.Location(), "issued", "*", "*"))
	if info, err := os.Stat(names[0]); err != nil || info.Size() > 128<<10 {
		t.Errorf("%d bytes, %v", info.Size(), err)
	}
}

func TestAFileIsReplacedAsAWhole(t *testing.T) {
	home, workspace := folders(t)
	d := create(t, home, workspace)
	if _, err := d.Read("x", 10); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("says %v", err)
	}
	// A file that a crash has left does no harm.
	if err := os.WriteFile(filepath.Join(d.Location(), "x.new"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{"one", "other"} {
		if err := d.Write("x", []byte(body), body == "one"); err != nil {
			t.Fatal(err)
		}
		if got, err := d.Read("x", 10); err != nil || string(got) != body {
			t.Errorf("%q, %v; want %q", got, err, body)
		}
	}
	if _, err := d.Read("x", 4); err == nil {
		t.Error("more is read than was asked for")
	}
	if left, _ := filepath.Glob(filepath.Join(d.Location(), "*.new")); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}
