package exec

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"placet/engine"
)

const (
	answerPath = ".asks/x/requests/ask-1/form.md"
	answerText = "approve\nyes\n"
)

// committerOf returns what is known of the committer of an answer with a content. Without
// time for git, nothing is known that only git knows.
func committerOf(root, body string, time time.Duration) string {
	c := &gitCache{repo: repo{root: root, timeout: time}, answers: map[string]gitAnswer{}}
	blob := fmt.Appendf(nil, "blob %d\x00%s", len(body), body)
	need := fmt.Sprintf("%s%x+%x/%s", engine.CommitterNeed, sha1.Sum(blob), sha256.Sum256(blob), answerPath)
	return string(c.lookup(need).Body)
}

// commitAs commits all that is there, by a mail.
func commitAs(t *testing.T, dir, mail string) {
	t.Helper()
	gitDo(t, dir, "add", "-A")
	gitDo(t, dir, "commit", "-q", "-m", "answered", "--author", "somebody <"+mail+">")
}

func TestWhoCommittedAnAnswer(t *testing.T) {
	const mail = "alice@example.com"
	answered := func(t *testing.T, dir string, init ...string) string {
		gitDo(t, dir, append([]string{"init", "-q"}, init...)...)
		put(t, dir, answerPath, answerText)
		commitAs(t, dir, mail)
		return dir
	}
	for name, c := range map[string]struct {
		make func(t *testing.T, dir string) (root string)
		want string
	}{
		"committed":          {func(t *testing.T, dir string) string { return answered(t, dir) }, mail},
		"with longer ids":    {func(t *testing.T, dir string) string { return answered(t, dir, "--object-format=sha256") }, mail},
		"with another index": {func(t *testing.T, dir string) string { return reindexed(t, answered(t, dir), "4") }, mail},
		"with a split index": {func(t *testing.T, dir string) string {
			gitDo(t, answered(t, dir), "update-index", "--split-index")
			return dir
		}, mail},
		"in a folder of the work tree": {func(t *testing.T, dir string) string {
			put(t, dir, "sub/"+answerPath, answerText)
			return filepath.Join(answered(t, dir), "sub")
		}, mail},
		"in a linked work tree": {func(t *testing.T, dir string) string {
			gitDo(t, answered(t, dir), "worktree", "add", "-q", "linked")
			return filepath.Join(dir, "linked")
		}, mail},
		"changed by others since": {func(t *testing.T, dir string) string {
			answered(t, dir)
			put(t, dir, "other.txt", "x")
			commitAs(t, dir, "bob@example.com")
			return dir
		}, mail},
		"below what is no repository": {func(t *testing.T, dir string) string {
			put(t, dir, "sub/"+answerPath, answerText)
			answered(t, dir)
			put(t, dir, "sub/.git/HEAD", "ref: refs/heads/main\n")
			return filepath.Join(dir, "sub")
		}, mail},
		"with a replacement": {func(t *testing.T, dir string) string {
			answered(t, dir)
			gitDo(t, dir, "commit", "-q", "--allow-empty", "-m", "x", "--author", "bob <bob@example.com>")
			gitDo(t, dir, "replace", "HEAD~1", "HEAD")
			gitDo(t, dir, "reset", "-q", "--soft", "HEAD~1")
			return dir
		}, mail},
	} {
		t.Run(name, func(t *testing.T) {
			root := c.make(t, t.TempDir())
			if got := committerOf(root, answerText, gitTimeout); got != c.want {
				t.Errorf("%q, expected %q", got, c.want)
			}
			if got := committerOf(root, answerText, time.Nanosecond); got != unknownMail {
				t.Errorf("without an answer of git: %q", got)
			}
		})
	}
}

// reindexed is a repository with an index of another version.
func reindexed(t *testing.T, dir, version string) string {
	t.Helper()
	gitDo(t, dir, "update-index", "--index-version", version)
	return dir
}

// placet does not run git for an answer that is not committed: git gets no time here.
func TestGitIsNotAskedAboutAnAnswerOfThisMachine(t *testing.T) {
	for name, make := range map[string]func(dir string){
		"no repository": func(string) {},
		"no commit": func(dir string) {
			gitDo(t, dir, "init", "-q")
		},
		"untracked": func(dir string) {
			gitDo(t, dir, "init", "-q")
			gitCommit(t, dir, "a", "a", "a")
		},
		"edited": func(dir string) {
			gitDo(t, dir, "init", "-q")
			put(t, dir, answerPath, "[ ] "+answerText)
			commitAs(t, dir, "a@example.com")
			reindexed(t, dir, "4")
		},
	} {
		dir := t.TempDir()
		make(dir)
		put(t, dir, answerPath, answerText)
		if got := committerOf(dir, answerText, time.Nanosecond); got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
	// A staged change that is not committed comes from an unknown author: a merge that is not
	// committed stages what others wrote.
	for name, commit := range map[string]bool{"the first commit is to come": false, "it is to be committed": true} {
		dir := t.TempDir()
		gitDo(t, dir, "init", "-q")
		if commit {
			gitCommit(t, dir, "a", "a", "a")
		}
		put(t, dir, answerPath, answerText)
		gitDo(t, dir, "add", "-A")
		if got := committerOf(dir, answerText, gitTimeout); got != unknownMail {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// A mail that is no mail is not shown.
func TestTheMailOfACommitIsOneWord(t *testing.T) {
	for mail, want := range map[string]string{
		"ceo": "ceo", "owner:root": "owner:root", "claimed:kim@example.com": "claimed:kim@example.com", strings.Repeat("a", 320): strings.Repeat("a", 320),
		strings.Repeat("a", 321): unknownMail, strings.Repeat("a", 4<<10): unknownMail, "": unknownMail, "?": unknownMail,
		"a b": unknownMail, "a\tb": unknownMail, "a\x1b[31m": unknownMail, "a\u202eb": unknownMail, "a\xffb": unknownMail, "a<b": unknownMail,
	} {
		dir := t.TempDir()
		gitDo(t, dir, "init", "-q")
		put(t, dir, answerPath, answerText)
		commitAs(t, dir, "x@example.com")
		commit := exec.Command("git", "hash-object", "-t", "commit", "-w", "--stdin", "--literally")
		said, err := exec.Command("git", "-C", dir, "rev-parse", "HEAD^{tree}").Output()
		if err != nil {
			t.Fatal(err)
		}
		commit.Dir = dir
		commit.Stdin = strings.NewReader(fmt.Sprintf("tree %sauthor a <%s> 1700000000 +0000\ncommitter a <a@b> 1700000000 +0000\n\nx\n", said, mail))
		id, err := commit.Output()
		if err != nil {
			t.Fatal(err)
		}
		gitDo(t, dir, "update-ref", "HEAD", strings.TrimSpace(string(id)))
		if got := committerOf(dir, answerText, gitTimeout); got != want {
			t.Errorf("%q: %q, expected %q", mail, got, want)
		}
	}
}

// Whatever an index contains, reading it ends.
func TestAnIndexThatIsNone(t *testing.T) {
	dir := t.TempDir()
	gitDo(t, dir, "init", "-q")
	put(t, dir, answerPath, answerText)
	commitAs(t, dir, "alice@example.com")
	index := filepath.Join(dir, ".git/index")
	whole, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	if all, err := parseIndex(whole, ""); err != nil || len(all) != 1 {
		t.Fatalf("%v %v", all, err)
	}
	for n := range len(whole) {
		_, _ = parseIndex(whole[:n], "")
	}
	for _, version := range []string{"2", "4"} {
		reindexed(t, dir, version)
		whole, err := os.ReadFile(index)
		if err != nil {
			t.Fatal(err)
		}
		for at := range whole {
			for _, b := range []byte{0, 1, 0x7f, 0x80, 0xff} {
				other := bytes.Clone(whole)
				other[at] = b
				_, _ = parseIndex(other, "")
			}
		}
	}
	var x gitIndex
	if err := x.read(dir); err == nil {
		t.Error("a folder is read as an index")
	}
}
