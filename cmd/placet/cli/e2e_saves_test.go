package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// saver is one way in which editors, agents and tools save a file. The classes
// and their system calls were measured: testdata/save-patterns.json.
type saver struct {
	name string
	// needs names the real program; without it, sim stands in.
	needs string
	real  func(file, body string) error
	sim   func(file, body string) error
}

func run(dir, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, out)
	}
	return nil
}

// through writes the body to a file of another folder and hands both to a shell.
func through(script string) func(file, body string) error {
	return func(file, body string) error {
		src, err := os.CreateTemp("", "body")
		if err != nil {
			return err
		}
		defer os.Remove(src.Name())
		if _, err := src.WriteString(body); err != nil {
			return err
		}
		if err := src.Close(); err != nil {
			return err
		}
		return run(filepath.Dir(file), "sh", "-ec", script, "sh", file, src.Name())
	}
}

// truncateInPlace opens with O_TRUNC and writes in pieces.
func truncateInPlace(pieces int, pause time.Duration) func(file, body string) error {
	return func(file, body string) error {
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
		if err != nil {
			return err
		}
		defer f.Close()
		size := (len(body) + pieces - 1) / pieces
		for len(body) > 0 {
			n := min(size, len(body))
			if _, err := f.WriteString(body[:n]); err != nil {
				return err
			}
			body = body[n:]
			jitter(pause)
		}
		return f.Sync()
	}
}

// inPlace overwrites without truncating first and cuts the rest off last.
func inPlace(file, body string) error {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	for i := 0; i < len(body); i += 256 {
		if _, err := f.WriteAt([]byte(body[i:min(i+256, len(body))]), int64(i)); err != nil {
			return err
		}
	}
	return f.Truncate(int64(len(body)))
}

// replaced writes a temporary file with a name, and renames it over the target.
func replaced(temp string) func(file, body string) error {
	return func(file, body string) error {
		t := filepath.Join(filepath.Dir(file), strings.ReplaceAll(temp, "NAME", filepath.Base(file)))
		if err := os.WriteFile(t, []byte(body), 0o644); err != nil {
			return err
		}
		return os.Rename(t, file)
	}
}

// renamedAway moves the old file aside before the new one is there.
func renamedAway(old string, keep bool, create func(file, body string) error) func(file, body string) error {
	return func(file, body string) error {
		aside := filepath.Join(filepath.Dir(file), strings.ReplaceAll(old, "NAME", filepath.Base(file)))
		if err := os.Rename(file, aside); err != nil && !os.IsNotExist(err) {
			return err
		}
		jitter(10 * time.Millisecond)
		if err := create(file, body); err != nil {
			return err
		}
		if keep {
			return nil
		}
		if err := os.Remove(aside); err != nil && !os.IsNotExist(err) {
			return err
		}
		return nil
	}
}

func unlinkThenCreate(file, body string) error {
	if err := os.Remove(file); err != nil && !os.IsNotExist(err) {
		return err
	}
	return truncateInPlace(1, 0)(file, body)
}

// twoStep writes half, waits, and appends the rest.
func twoStep(file, body string) error {
	half := len(body) / 2
	if err := os.WriteFile(file, []byte(body[:half]), 0o644); err != nil {
		return err
	}
	jitter(300 * time.Millisecond)
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(body[half:])
	return err
}

// vim edits the real way: it opens the file, replaces the whole text, writes.
func vim(settings string) func(file, body string) error {
	return func(file, body string) error {
		src := file + ".body.tmp"
		defer os.Remove(src)
		if err := os.WriteFile(src, []byte(body), 0o644); err != nil {
			return err
		}
		return run(filepath.Dir(file), "vim", "-u", "NONE", "-N", "-E", "-s", "-c", "set "+settings,
			"-c", "%d _", "-c", "0r "+src, "-c", "wq", file)
	}
}

func emacs(file, body string) error {
	src := file + ".body.tmp"
	defer os.Remove(src)
	if err := os.WriteFile(src, []byte(body), 0o644); err != nil {
		return err
	}
	return run(filepath.Dir(file), "emacs", "-Q", "--batch", file, "--eval",
		fmt.Sprintf(`(progn (erase-buffer) (insert-file-contents %q) (save-buffer))`, src))
}

var savers = []saver{
	{name: "vim", needs: "vim", real: vim("writebackup backupcopy=auto"), sim: renamedAway("NAME~", false, truncateInPlace(1, 0))},
	{name: "vim backupcopy=yes", needs: "vim", real: vim("backupcopy=yes"), sim: truncateInPlace(1, 0)},
	{name: "vim backup", needs: "vim", real: vim("backup backupcopy=auto"), sim: renamedAway("NAME~", true, truncateInPlace(1, 0))},
	{name: "emacs", needs: "emacs", real: emacs, sim: renamedAway("NAME~", true, truncateInPlace(1, 0))},
	{name: "emacs file-precious-flag", sim: replaced("tmpAb3dE9")},
	{name: "nano", sim: truncateInPlace(2, 0)},
	{name: "micro, kakoune, joe", sim: truncateInPlace(4, 2*time.Millisecond)},
	{name: "VS Code", sim: truncateInPlace(1, 5*time.Millisecond)},
	{name: "VS Code atomic", sim: replaced("NAME.vsctmp")},
	{name: "JetBrains safe write", sim: renamedAway("NAME___jb_old___", false, replaced("NAME___jb_tmp___"))},
	{name: "JetBrains without safe write", sim: truncateInPlace(3, 3*time.Millisecond)},
	{name: "Helix", sim: renamedAway("NAMEa1B2c3.bck", false, truncateInPlace(1, 0))},
	{name: "Kate, QSaveFile", sim: replaced("NAME.Xy7Zw9")},
	{name: "GIO", sim: replaced(".goutputstream-A1B2C3")},
	{name: "sed -i", needs: "sed", real: func(file, body string) error {
		if err := truncateInPlace(1, 0)(file+".from", body); err != nil {
			return err
		}
		defer os.Remove(file + ".from")
		if err := run(filepath.Dir(file), "sh", "-ec", `test -e "$1" || : > "$1"; sed -i "1{e cat '$1.from'
}; d" "$1"`, "sh", file); err == nil {
			if have, _ := os.ReadFile(file); string(have) == body {
				return nil
			}
		}
		return replaced("sedAb3dE9")(file, body)
	}, sim: replaced("sedAb3dE9")},
	{name: "perl -i", sim: replaced("XXAb3dE9")},
	{name: "jq > tmp && mv", needs: "sh", real: through(`cat "$2" > "$1.tmp" && mv "$1.tmp" "$1"`), sim: replaced("NAME.tmp")},
	{name: "mv from another file system", needs: "sh", real: through(`t=$(mktemp -p /dev/shm 2>/dev/null || mktemp); cat "$2" > "$t"; mv "$t" "$1"`), sim: unlinkThenCreate},
	{name: "cp", needs: "cp", real: through(`cp "$2" "$1"`), sim: truncateInPlace(1, 0)},
	{name: "install", needs: "install", real: through(`install -m 644 "$2" "$1"`), sim: unlinkThenCreate},
	{name: "dd conv=notrunc", sim: inPlace},
	{name: "tee", needs: "tee", real: through(`tee "$1" < "$2" > /dev/null`), sim: truncateInPlace(1, 0)},
	{name: "rsync", needs: "rsync", real: through(`rsync "$2" "$1"`), sim: replaced(".NAME.Ab3dE9")},
	{name: "rsync --inplace", needs: "rsync", real: through(`rsync --inplace "$2" "$1"`), sim: inPlace},
	{name: "two-step shell", sim: twoStep},
	{name: "python, node, Go WriteFile", sim: truncateInPlace(1, 0)},
	{name: "agent: tmp with pid, chmod, rename", sim: replaced("NAME.tmp.4711.0a1b2c3d")},
	{name: "hard link publish", needs: "ln", real: through(`cp "$2" "$1.new.tmp"; ln "$1.new.tmp" "$1.link.tmp"; mv -T "$1.link.tmp" "$1"; rm "$1.new.tmp"`), sim: replaced("NAME.tmp")},
	{name: "tar x", sim: unlinkThenCreate},
}

func (s saver) save(file, body string) error {
	if s.real != nil {
		if _, err := exec.LookPath(s.needs); err == nil {
			return s.real(file, body)
		}
	}
	return s.sim(file, body)
}

// Every way of saving a form or a response gives the right answer, once.
func TestTortureAnyWayOfSavingIsTheRightAnswerOnce(t *testing.T) {
	t.Parallel()
	each := tortured(2, 4) // form and response, approved and rejected
	p := newPlace(t, t.TempDir(), each*len(savers))
	d := p.start()
	defer d.stop(15)
	p.await(d)
	p.until("all forms are written", p.opened)
	want := make([]string, len(p.runs))
	for k, s := range savers {
		var runs []int
		for i := each * k; i < each*(k+1); i++ {
			want[i] = []string{"approve", "reject"}[i%2]
			file, body := p.request(i)+"/form.md", p.ticked(i, want[i])
			if (i+k)%each >= each/2 {
				file, body = p.request(i)+"/response.json", p.response(i, want[i], "by "+s.name)
			}
			if err := s.save(filepath.Join(p.root, file), body); err != nil {
				t.Errorf("%s: %s: %v", s.name, file, err)
			}
			runs = append(runs, i)
		}
		if os.Getenv("PLACET_TORTURE") == "full" {
			p.decided(runs) // one way after the other
		}
	}
	p.decided(upTo(len(p.runs)))
	for i := range p.runs {
		p.verify(i, want[i])
	}
}

// git brings answers, too: checkout, checkout of a file, merge, stash pop.
func TestGitBringsTheRightAnswerOnce(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 8)
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = p.root, p.env()
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q", "-b", "main")
	if out, code := p.placet("init"); code != 0 {
		t.Fatalf("init: %d: %s", code, out)
	}
	d := p.start()
	defer d.stop(15)
	p.await(d)
	p.until("all forms are written", p.opened)
	for i := range p.runs {
		git("add", "-A", ".fractary")
		git("commit", "-q", "--allow-empty", "-m", "as it stands")
		file, body, want := p.request(i)+"/form.md", p.ticked(i, "approve"), "approve"
		if i%2 == 1 {
			file, body, want = p.request(i)+"/response.json", p.response(i, "request_changes", "by git"), "request_changes"
		}
		commit := commitWith(t, p, file, body)
		switch i / 2 {
		case 0:
			git("checkout", "-q", commit)
			git("checkout", "-q", "-B", "main")
		case 1:
			git("checkout", "-q", commit, "--", file)
		case 2:
			git("merge", "-q", "--ff-only", commit)
		case 3:
			index := git("commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "index")
			git("stash", "store", git("commit-tree", commit+"^{tree}", "-p", "HEAD", "-p", index, "-m", "WIP"))
			git("stash", "pop", "-q")
		}
		p.until(fmt.Sprintf("run %d is answered: %s", i, p.read(p.request(i)+"/problem.md")), func() bool { return p.answered(i) })
		p.verify(i, want)
	}
}

// commitWith makes a commit that differs from HEAD in one file, without
// touching the work tree.
func commitWith(t *testing.T, p *place, file, body string) string {
	t.Helper()
	script := `export GIT_INDEX_FILE="$PWD/.git/tmp-index"; git read-tree HEAD
blob=$(git hash-object -w --stdin)
git update-index --add --cacheinfo "100644,$blob,$1"
git commit-tree "$(git write-tree)" -p HEAD -m answer`
	cmd := exec.Command("sh", "-ec", script, "sh", file)
	cmd.Dir, cmd.Env, cmd.Stdin = p.root, p.env(), strings.NewReader(body)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
