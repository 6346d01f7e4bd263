package cli_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"placet/engine/ask"
	"placet/internal/await"
)

// reuseAttacks are on an answer that may be given out once, and on the count of its uses.
var reuseAttacks = []attack{
	{"an answer that sixteen use at once", "sixteen processes want the one use of an answer at the same time", func(t *testing.T, p *place) {
		p.approvedOnce(t)
		var racers []*asker
		for range 16 {
			racers = append(racers, p.asker("ask", "Deploy?", "--type", "approval", "--key", "k", "--once", "--wait"))
		}
		codes := map[int]int{}
		for _, a := range racers {
			<-a.done
			code := a.cmd.ProcessState.ExitCode()
			codes[code]++
			if given := strings.Contains(a.out.String(), "approve"); given != (code == 0) {
				t.Errorf("one ends with %d and is told %q", code, a.out.String())
			}
		}
		if codes[0] != 1 || codes[7] != 15 {
			t.Errorf("they end with %v", codes)
		}
		for range 2 { // a caller that uses nothing up gets the answer
			p.says(p.must(0, "ask", "Deploy?", "--type", "approval", "--key", "k", "--wait"), "approve\n")
		}
	}},
	{"a crash behind the use", "a process ends after it has taken the use and before it has printed the answer, and is started again", func(t *testing.T, p *place) {
		p.approvedOnce(t)
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		read.Close() // a process that prints there is killed
		cmd := p.program("-C", p.root, "ask", "Deploy?", "--type", "approval", "--key", "k", "--once", "--wait")
		cmd.Stdout = write
		err = cmd.Run()
		write.Close()
		if err == nil || cmd.ProcessState.ExitCode() == 7 {
			t.Fatalf("it prints, or takes nothing: %v", err)
		}
		p.isUsedUp(t)
		p.approvedByKim(t, p.anew(t))
		p.usesOnce(t)
	}},
	{"a ledger that is not placet's alone", "the folder in which uses are recorded can be written by others, leads elsewhere, or holds what is no entry", func(t *testing.T, p *place) {
		id := p.approvedOnce(t)
		ledger := filepath.Join(p.usesFolder(t), id)
		mkdir(t, ledger)
		entry := filepath.Join(ledger, "1")
		whole := `{"schema_version":1,"request":"` + p.digestOf(t, id) + `","by":{"tool":"ask","pid":4711},"taken_at":"2026-11-20T12:00:00Z"}`
		for what, c := range map[string]struct{ spoil, mend func() }{
			"others may write in it":      {func() { chmod(t, ledger, 0o777) }, func() { chmod(t, ledger, 0o700) }},
			"others may write above it":   {func() { chmod(t, filepath.Dir(ledger), 0o722) }, func() { chmod(t, filepath.Dir(ledger), 0o700) }},
			"a link for the folder":       {func() { linkAway(t, ledger) }, func() { linkBack(t, ledger) }},
			"a link for the folder above": {func() { linkAway(t, filepath.Dir(ledger)) }, func() { linkBack(t, filepath.Dir(ledger)) }},
			"a file for the folder":       {func() { remove(t, ledger); p.writeFile(ledger, "", 0o600) }, func() { remove(t, ledger); mkdir(t, ledger) }},
			"half an entry":               {func() { p.writeFile(entry, whole[:40], 0o600) }, func() { remove(t, entry) }},
			"nothing in an entry":         {func() { p.writeFile(entry, "", 0o600) }, func() { remove(t, entry) }},
			"another object":              {func() { p.writeFile(entry, "{}", 0o600) }, func() { remove(t, entry) }},
			"a link to an entry":          {func() { symlink(t, "/dev/null", entry) }, func() { remove(t, entry) }},
			"a folder for an entry":       {func() { mkdir(t, entry) }, func() { remove(t, entry) }},
			"an entry that others write":  {func() { p.writeFile(entry, whole, 0o666) }, func() { remove(t, entry) }},
		} {
			c.spoil()
			if out, code := p.wantUse(); code != 7 || strings.Contains(out, "approve\n") || !strings.Contains(out, "cannot record in ") {
				t.Errorf("%s: %d %s", what, code, out)
			}
			c.mend()
		}
		p.writeFile(entry, whole, 0o600) // anybody who may write here may use an answer up
		p.says(p.isUsedUp(t), "by ask (pid 4711)")
		remove(t, entry)
		p.usesOnce(t)
	}},
	{"a ledger on a full disk", "the use of an answer cannot be recorded", func(t *testing.T, p *place) {
		id := p.approvedOnce(t)
		full := filepath.Join(p.usesFolder(t), id)
		mountTmpfs(t, full, "size=1m,nr_inodes=1,mode=700")
		if out, code := p.wantUse(); code != 7 || strings.Contains(out, "approve\n") || !strings.Contains(out, "no space left") {
			t.Errorf("%d %s", code, out)
		}
		if err := unix.Unmount(full, detach); err != nil {
			t.Fatal(err)
		}
		p.usesOnce(t)
	}},
	{"an answer that this machine does not know", "state, receipt or answer are written by hand, the workspace is copied, or the state folder removed", func(t *testing.T, p *place) {
		id := p.approvedOnce(t)
		for _, name := range []string{".asks/" + id + "/state.json", p.asking(id) + "/request.json", p.asking(id) + "/receipt.json", ".asks/" + id + "/answer.json"} {
			good := p.read(name)
			p.write(name, good+"\n")
			p.refusesOnce(t, name)
			p.write(name, good)
			p.removeAny(name+".problem.md", p.asking(id)+"/problem.md")
		}
		twin := &place{t: t, root: p.root + "-2"}
		copyTree(t, p.root, twin.root)
		symlink(t, p.stateHome(), twin.stateHome())
		twin.refusesOnce(t, "a copy")
		state := filepath.Join(p.stateHome(), "placet")
		rename(t, state, state+"-away")
		p.refusesOnce(t, "no state folder")
		removeAll(t, state)
		rename(t, state+"-away", state)
		p.removeAny(".asks/" + id + "/answer.json") // the next pass writes it again
		p.usesOnce(t)
		removeAll(t, state)
		p.refusesOnce(t, "no state folder after the use")
	}},
	{"an answer that is put back", "an agent puts the files of an answer back that was used, or removes the count, after the question was asked anew", func(t *testing.T, p *place) {
		id := p.approvedOnce(t)
		p.usesOnce(t)
		p.removeAny(".asks/" + id + "/reuse.json")
		p.isUsedUp(t)
		copyTree(t, filepath.Join(p.root, ".asks", id), filepath.Join(p.root, "kept"))
		p.anew(t)
		drop(t, p, ".asks/"+id)
		rename(t, filepath.Join(p.root, "kept"), filepath.Join(p.root, ".asks", id))
		if out, code := p.placet("ask", "Deploy?", "--type", "approval", "--key", "k", "--once", "--wait", "--timeout", "1ms"); code == 0 || strings.Contains(out, "approve\n") {
			t.Errorf("the old answer: %d %s", code, out)
		}
		drop(t, p, ".asks/"+id)
		p.approvedByKim(t, p.askKeyed("Deploy?"))
		p.usesOnce(t)
	}},
	{"a count that somebody wrote", "an agent writes reuse.json: it is shown and decides nothing, and what it cannot be read for holds nobody up", func(t *testing.T, p *place) {
		const file = ".asks/" + keyed + "/reuse.json"
		p.write("placet.toml", "")
		id := p.askKeyed("Deploy?")
		p.write(file, "{") // an answer does not wait for it
		p.approvedByKim(t, id)
		again := []string{"ask", "Deploy?", "--type", "approval", "--key", "k", "--wait"}
		for _, body := range []string{"{", "", "[]", `{"schema_version": 1, "times": -1, "first_at": "2026-11-20T12:00:00Z", "last_at": "2026-11-20T12:00:00Z"}`, `{"schema_version": 1, "times": 1, "first_at": "\u001b[31m", "last_at": "?"}`} {
			p.write(file, body)
			p.says(p.must(0, again...), "approve\n", "cannot count in reuse.json")
			if got := p.read(file); got != body {
				t.Errorf("%q became %q", body, got)
			}
		}
		p.placet("once")
		p.says(p.read(file+".problem.md"), "reuse.json")
		remove(t, filepath.Join(p.root, file))
		p.link("/dev/null", file)
		p.says(p.must(0, again...), "approve\n", "cannot count in reuse.json")
		remove(t, filepath.Join(p.root, file))
		if err := unix.Mkfifo(filepath.Join(p.root, file), 0o644); err != nil {
			t.Fatal(err)
		}
		p.says(p.must(0, again...), "approve\n", "cannot count in reuse.json")
		remove(t, filepath.Join(p.root, file))
		p.write(file, `{"schema_version": 1, "times": 41, "first_at": "2026-11-20T12:00:00Z", "last_at": "2026-11-20T12:00:00Z"}`)
		p.says(p.must(0, "show", "ask/"+id), "41 times, first 2026-11-20T12:00:00Z")
		p.says(p.must(0, "log", "ask/"+id), "used", "41 times")
		p.says(p.must(0, again...), "used 41 times before")
		p.usesOnce(t)
		p.placet("once")
		p.must(0, "status")
	}},
}

// approvedOnce is the ask of the key k, which kim has approved.
func (p *place) approvedOnce(t *testing.T) (id string) {
	t.Helper()
	p.write("placet.toml", "")
	id = p.askKeyed("Deploy?")
	p.approvedByKim(t, id)
	return id
}

// wantUse asks for the one use of the answer to the key k.
func (p *place) wantUse() (string, int) {
	p.t.Helper()
	return p.placet("ask", "Deploy?", "--type", "approval", "--key", "k", "--once", "--wait")
}

// usesOnce fails the test unless the answer to the key k is given out, once.
func (p *place) usesOnce(t *testing.T) {
	t.Helper()
	if out, code := p.wantUse(); code != 0 || !strings.Contains(out, "approve\n") {
		t.Errorf("the use is not given: %d %s", code, out)
	}
	p.isUsedUp(t)
}

// usedUp is what is said of a use that was taken.
var usedUp = regexp.MustCompile(`used up at (\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d by ask \(pid \d+\)`)

// isUsedUp fails the test unless the use of the answer to the key k was taken.
func (p *place) isUsedUp(t *testing.T) string {
	t.Helper()
	out, code := p.wantUse()
	if code != 7 || strings.Contains(out, "approve\n") || !usedUp.MatchString(out) {
		t.Errorf("the use is given again: %d %s", code, out)
	}
	return out
}

// refusesOnce fails the test if the use of the answer to the key k is given out.
func (p *place) refusesOnce(t *testing.T, what string) {
	t.Helper()
	if out, code := p.wantUse(); code != 7 || strings.Contains(out, "approve\n") || usedUp.MatchString(out) {
		t.Errorf("%s: %d %s", what, code, out)
	}
}

// anew asks the question of the key k again.
func (p *place) anew(t *testing.T) (id string) {
	t.Helper()
	drop(t, p, ".asks/"+keyed)
	asked := time.Now().Unix()
	p.until("a second has passed: a question asked in the same one is the same", func() bool { return time.Now().Unix() > asked })
	return p.askKeyed("Deploy?")
}

// usesFolder is the folder in which the uses of answers are recorded.
func (p *place) usesFolder(t *testing.T) string {
	t.Helper()
	found, _ := filepath.Glob(filepath.Join(p.stateHome(), "placet/workspaces/*"))
	if len(found) != 1 {
		t.Fatalf("there are the state folders %q", found)
	}
	return filepath.Join(found[0], "permits")
}

// digestOf is the digest of the request of an ask.
func (p *place) digestOf(t *testing.T, id string) string {
	t.Helper()
	st, err := ask.ReadState("state.json", []byte(p.read(".asks/"+id+"/state.json")))
	if err != nil {
		t.Fatal(err)
	}
	return string(st.RequestDigest)
}

func removeAll(t *testing.T, dir string) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
}

func chmod(t *testing.T, name string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(name, mode); err != nil {
		t.Fatal(err)
	}
}

func symlink(t *testing.T, to, name string) {
	t.Helper()
	if err := os.Symlink(to, name); err != nil {
		t.Fatal(err)
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

// linkAway puts a link to a folder in its place, and linkBack the folder again.
func linkAway(t *testing.T, dir string) {
	t.Helper()
	rename(t, dir, dir+"-away")
	symlink(t, filepath.Base(dir)+"-away", dir)
}

func linkBack(t *testing.T, dir string) {
	t.Helper()
	remove(t, dir)
	rename(t, dir+"-away", dir)
}

// copyTree copies a folder with all that is in it.
func copyTree(t *testing.T, from, to string) {
	t.Helper()
	if out, err := exec.CommandContext(await.Context(t), "cp", "-a", from, to).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, bytes.TrimSpace(out))
	}
}
