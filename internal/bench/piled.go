package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// piled is S5 and S6 with very many runs: how soon those that can move are served, how
// soon all are verified, compared with git status on the same files, and how much memory
// stays resident. The page cache is dropped before each start if that is possible.
func (b *bench) piled() error {
	p := grown(b.runs, 10000)
	p.waiting = min(max(b.runs/100, 2*b.starts), 100)
	p.ended = b.runs - p.waiting
	w, err := b.grow("piled", p)
	if err != nil {
		return err
	}
	if err := w.commit(); err != nil {
		return err
	}
	cold := dropCaches()
	if !cold {
		b.table.note("S5", "the page cache cannot be dropped here: all of this is warm", "")
	}
	var served, ready, git times
	kib := 0
	for i := range b.starts {
		took, err := w.gitStatus()
		if err != nil {
			return err
		}
		git = append(git, took)
		first, all, resident, err := b.firstOf(w, i)
		if err != nil {
			return err
		}
		served, ready, kib = append(served, first), append(ready, all), max(kib, resident)
	}
	b.table.most("S5", "start → answer of one that can move taken, "+p.String(), served.median().Seconds(), 0.2, "s")
	b.table.ratio("S5", "start → all verified (floor: git status -uno)", ready.median(), git.median(), 1.5)
	b.table.most("S6", "resident with "+p.String(), float64(kib)/1024, 48, "MiB")
	return os.RemoveAll(w.root)
}

// firstOf starts the daemon when an answer to the n-th waiting run has existed for a
// while, and returns the times until it is accepted and until all runs are verified,
// and the resident memory a while later, in KiB.
func (b *bench) firstOf(w workspace, n int) (served, ready time.Duration, kib int, err error) {
	for isSession := (population{sessions: sessionShare}).isSession; isSession(n); {
		n += b.starts
	}
	s := &site{workspace: w}
	from, to, err := s.stage(n)
	if err != nil {
		return 0, 0, 0, err
	}
	if err := os.Rename(from, to); err != nil {
		return 0, 0, 0, err
	}
	time.Sleep(1100 * time.Millisecond)
	dropCaches()
	p, err := startPlacet(b.placet, w.root)
	if err != nil {
		return 0, 0, 0, err
	}
	defer p.stop()
	m, err := p.next()
	if err != nil {
		return 0, 0, 0, err
	}
	time.Sleep(b.idle / 5)
	kib, err = p.resident()
	return m.at.Sub(p.began), p.after, kib, err
}

// gitStatus returns how long git takes to find out whether any file of the
// workspace changed.
func (w workspace) gitStatus() (time.Duration, error) {
	dropCaches()
	cmd := exec.Command("git", "status", "-uno", "--porcelain")
	cmd.Dir = w.root
	began := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("cannot measure: git status: %w\n%.500s", err, out)
	}
	return time.Since(began), nil
}

// commit puts all files of a workspace into git, as one commit, without a file
// for each object.
func (w workspace) commit() error {
	if err := w.git(nil, "init", "-q"); err != nil {
		return err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	defer read.Close()
	ended := make(chan error, 1)
	go func() { ended <- errors.Join(w.stream(write), write.Close()) }()
	err = w.git(read, "fast-import", "--quiet", "--force")
	read.Close() // so that the stream also ends if git has ended
	if err := errors.Join(err, <-ended); err != nil {
		return err
	}
	return w.git(nil, "reset", "-q")
}

func (w workspace) git(in *os.File, args ...string) error {
	cmd := exec.Command("git", append([]string{"-c", "init.defaultBranch=main", "-c", "gc.auto=0"}, args...)...)
	cmd.Dir = w.root
	if in != nil {
		cmd.Stdin = in
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot measure: git %s: %w\n%.500s", args[0], err, out)
	}
	return nil
}

// stream writes the workspace's files for git fast-import.
func (w workspace) stream(to *os.File) error {
	out := bufio.NewWriterSize(to, 1<<20)
	fmt.Fprintf(out, "commit refs/heads/main\ncommitter bench <bench@example.org> 1700000000 +0000\ndata 4\nruns\n")
	err := filepath.WalkDir(w.root, func(p string, d fs.DirEntry, err error) error {
		rel := strings.TrimPrefix(p, w.root+"/")
		switch {
		case err != nil:
			return err
		case d.IsDir() && (rel == ".git" || rel == ".placet"):
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		body, err := os.ReadFile(p)
		fmt.Fprintf(out, "M 100644 inline %s\ndata %d\n", rel, len(body))
		_, werr := out.Write(append(body, '\n'))
		return errors.Join(err, werr)
	})
	return errors.Join(err, out.Flush())
}
