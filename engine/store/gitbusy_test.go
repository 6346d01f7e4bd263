package store_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"placet/engine/store"
	"placet/engine/store/fs"
	"placet/engine/store/memfs"
)

func TestGitsSignsHoldTheWorkspace(t *testing.T) {
	for _, sign := range []string{"rebase-merge/done", "rebase-apply/next", "MERGE_HEAD", "CHERRY_PICK_HEAD", "index.lock"} {
		w := inMemory()
		w.dir(".git")
		s := w.store()
		if reason, held := s.Paused(); held {
			t.Errorf("held at rest: %s", reason)
		}
		w.put(".git/"+sign, "")
		name, _, _ := strings.Cut(sign, "/")
		if reason, held := s.Paused(); !held || !strings.Contains(reason, name) {
			t.Errorf("%s: %q, %v", sign, reason, held)
		}
		w.later(11 * time.Second)
		if _, held := s.Paused(); held != (sign != "index.lock") {
			t.Errorf("%s: after 11 s held is %v", sign, held)
		}
	}
}

func TestAnIndexLockHoldsTenSecondsAtMost(t *testing.T) {
	w := inMemory()
	w.put(".git/index.lock", "")
	s := w.store()
	for _, c := range []struct {
		after time.Duration
		held  bool
	}{{0, true}, {10 * time.Second, true}, {time.Millisecond, false}} {
		w.later(c.after)
		if _, held := s.Paused(); held != c.held {
			t.Errorf("after %v more: %v", c.after, held)
		}
	}
	// Another lock pauses again; one that was left behind long ago does not.
	w.delete(".git/index.lock")
	w.put("x", "")
	w.put(".git/index.lock", "")
	if _, held := s.Paused(); !held {
		t.Error("the next lock does not hold")
	}
	w.later(time.Hour)
	if _, held := w.store().Paused(); held {
		t.Error("a lock that was left behind holds")
	}
	// If .placet/ cannot be written, the age of the lock is counted from when it
	// was first seen.
	s = store.New(w.fs, store.Options{Now: w.clock.now})
	w.fs.(*memfs.FS).Hook(func(c memfs.Call) error {
		if c.Op == "touch" {
			return os.ErrPermission
		}
		return nil
	})
	w.later(time.Second)
	if _, held := s.Paused(); !held {
		t.Error("first seen, and it does not hold")
	}
	w.later(-time.Hour)
	if _, held := s.Paused(); !held {
		t.Error("the clock went back, and it does not hold")
	}
	w.later(11 * time.Second)
	if _, held := s.Paused(); held {
		t.Error("it holds for ever")
	}
}

func TestNoGitNoHold(t *testing.T) {
	for _, body := range []string{"", "nonsense", "gitdir:", "gitdir: \n"} {
		w := inMemory()
		if body != "" {
			w.put(".git", body)
		}
		if reason, held := w.store().Paused(); held {
			t.Errorf("%q: %s", body, reason)
		}
	}
	w := inMemory()
	w.put(".git", "gitdir: nowhere")
	w.fs.(*memfs.FS).Hook(func(c memfs.Call) error {
		if c.Op == "open" || c.Op == "read" {
			return os.ErrPermission
		}
		return nil
	})
	if _, held := w.store().Paused(); held {
		t.Error("held by a file that cannot be read")
	}
}

func run(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@x", "-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main"}, args...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func TestGitsFolderIsFoundWhereverItIs(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git here")
	}
	top := t.TempDir()
	repo := filepath.Join(top, "repo")
	run(t, top, "init", "-q", repo)
	run(t, repo, "commit", "-q", "--allow-empty", "-m", "x")
	run(t, repo, "worktree", "add", "-q", "../tree")
	run(t, repo, "submodule", "--quiet", "add", repo, "sub")
	if err := os.MkdirAll(filepath.Join(repo, "deep/er"), 0o755); err != nil {
		t.Fatal(err)
	}
	linked := filepath.Join(top, "linked")
	if err := os.Mkdir(linked, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(repo, ".git"), filepath.Join(linked, ".git")); err != nil {
		t.Fatal(err)
	}
	for workspace, git := range map[string]string{
		repo:                           filepath.Join(repo, ".git"),
		filepath.Join(repo, "deep/er"): filepath.Join(repo, ".git"),
		filepath.Join(top, "tree"):     filepath.Join(repo, ".git/worktrees/tree"),
		filepath.Join(repo, "sub"):     filepath.Join(repo, ".git/modules/sub"),
		linked:                         filepath.Join(repo, ".git"),
	} {
		s := store.New(fs.OS(workspace), store.Options{})
		if reason, held := s.Paused(); held {
			t.Errorf("%s at rest: %s", workspace, reason)
		}
		sign := filepath.Join(git, "MERGE_HEAD")
		if err := os.WriteFile(sign, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, held := s.Paused(); !held {
			t.Errorf("%s is not held", workspace)
		}
		if err := os.Remove(sign); err != nil {
			t.Fatal(err)
		}
	}
}

// A merge that nobody finishes, or that somebody planted, pauses for ten minutes.
func TestARewriteHoldsTenMinutesAtMost(t *testing.T) {
	for _, sign := range []string{"rebase-merge/done", "rebase-apply/next", "MERGE_HEAD", "CHERRY_PICK_HEAD"} {
		name, _, _ := strings.Cut(sign, "/")
		w := inMemory()
		w.put(".git/"+sign, "")
		s := w.store()
		for _, c := range []struct {
			after time.Duration
			held  bool
		}{{0, true}, {10 * time.Minute, true}, {time.Second, false}, {time.Hour, false}} {
			w.later(c.after)
			if _, held := s.Paused(); held != c.held {
				t.Errorf("%s: after %v more: %v", sign, c.after, held)
			}
			if stale := s.Stale(); strings.Contains(stale, name+" has stood for 10 minutes") == c.held {
				t.Errorf("%s: after %v more: %q", sign, c.after, stale)
			}
		}
		// A process that begins now learns the age from the file system's clock.
		if _, held := w.store().Paused(); held {
			t.Errorf("%s: holds for whoever begins later", sign)
		}
		// A running git command still pauses, and a merge that continues counts as
		// another one.
		w.put(".git/index.lock", "")
		if reason, held := s.Paused(); !held || !strings.Contains(reason, "index.lock") {
			t.Errorf("%s: git is at work: %q, %v", sign, reason, held)
		}
		w.delete(".git/index.lock")
		w.delete(".git/" + sign)
		w.later(time.Second)
		w.put(".git/"+sign, "again")
		if _, held := s.Paused(); !held && name == sign {
			t.Errorf("%s: the next one does not hold", sign)
		}
		w.delete(".git/" + sign)
		w.delete(".git/" + name)
		if _, held := s.Paused(); held || s.Stale() != "" {
			t.Errorf("%s: it is over: %v, %q", sign, held, s.Stale())
		}
	}
}

// If the file system's clock cannot be read, the age of a rewrite is counted from
// when it was first seen.
func TestARewriteIsTimedByLookingWhereThereIsNoClock(t *testing.T) {
	w := inMemory()
	w.put(".git/MERGE_HEAD", "")
	s := store.New(w.fs, store.Options{Now: w.clock.now})
	w.fs.(*memfs.FS).Hook(func(c memfs.Call) error {
		if c.Op == "touch" {
			return os.ErrPermission
		}
		return nil
	})
	if _, held := s.Paused(); !held {
		t.Error("first seen, and it does not hold")
	}
	w.later(10*time.Minute + time.Second)
	if _, held := s.Paused(); held {
		t.Error("it holds for ever")
	}
}

// Signs that are made anew all the time pause for an hour, and pause again after
// there were none for a while.
func TestSignsThatAreMadeAnewHoldAnHourAtMost(t *testing.T) {
	w := inMemory()
	w.dir(".git")
	s := w.store()
	plant := func() bool {
		w.delete(".git/MERGE_HEAD")
		w.put(".git/MERGE_HEAD", "")
		_, held := s.Paused()
		return held
	}
	for m := 0; m <= 90; m++ {
		if held := plant(); held != (m <= 60) {
			t.Fatalf("after %d minutes: %v", m, held)
		}
		if told := strings.Contains(s.Stale(), "for an hour"); told != (m > 60) {
			t.Fatalf("after %d minutes: %q", m, s.Stale())
		}
		w.later(time.Minute)
	}
	w.delete(".git/MERGE_HEAD")
	w.later(2 * time.Minute)
	if !plant() {
		t.Error("a later one does not hold")
	}
}
