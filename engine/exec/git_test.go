package exec

import (
	"crypto/sha1"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/internal/await"
	"placet/templates"
)

// gitDo runs git as a person would, with fixed names and dates.
func gitDo(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.invalid", "GIT_AUTHOR_DATE=2026-11-19T23:30:00+09:00",
		"GIT_COMMITTER_NAME=c", "GIT_COMMITTER_EMAIL=c@example.invalid", "GIT_COMMITTER_DATE=2026-11-20T10:00:00Z",
	}
	if format := os.Getenv("GIT_DEFAULT_REF_FORMAT"); format != "" {
		cmd.Env = append(cmd.Env, "GIT_DEFAULT_REF_FORMAT="+format)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// gitCommit commits one file.
func gitCommit(t *testing.T, dir, name, body, subject string) {
	t.Helper()
	put(t, dir, name, body)
	gitDo(t, dir, "add", "--", name)
	gitDo(t, dir, "commit", "-q", "-m", subject)
}

// newRepo is a repository with two commits on main and two on a branch.
func newRepo(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	gitDo(t, dir, "init", "-q", "-b", "main")
	gitCommit(t, dir, "a.txt", "1\n", "first")
	gitCommit(t, dir, "a.txt", "1\n2\n", "second: 둘째")
	gitDo(t, dir, "checkout", "-q", "-b", "work")
	gitCommit(t, dir, "src/한글.txt", "x\n", "third")
	gitCommit(t, dir, "b.txt", "1\n2\n3\n", "fourth")
	return dir
}

func TestLogIsOneLineEach(t *testing.T) {
	dir := newRepo(t)
	d := Git(dir, nil)("git:log/3")
	if d.Err != nil {
		t.Fatal(d.Err)
	}
	var got []string
	for _, line := range strings.Split(strings.TrimSuffix(string(d.Body), "\n"), "\n") {
		hash, rest, _ := strings.Cut(line, " ")
		if len(hash) < 7 {
			t.Errorf("hash %q", hash)
		}
		got = append(got, rest)
	}
	if diff := cmp.Diff([]string{"2026-11-19 fourth", "2026-11-19 third", "2026-11-19 second: 둘째"}, got); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	if d.Path != "git:log/3" || d.Sum == "" || !d.Present() {
		t.Errorf("document %+v", d)
	}
}

func TestDiffstatIsAgainstWhereTheBranchBegan(t *testing.T) {
	want := " b.txt        | 3 +++\n src/한글.txt | 1 +\n 2 files changed, 4 insertions(+)\n"
	for _, base := range []string{"main", "origin/HEAD"} {
		t.Run(base, func(t *testing.T) {
			dir := newRepo(t)
			if base == "origin/HEAD" {
				gitDo(t, dir, "update-ref", "refs/remotes/origin/trunk", "main")
				gitDo(t, dir, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")
				gitDo(t, dir, "branch", "-q", "-D", "main")
			}
			put(t, dir, "b.txt", "not committed, not counted\n")
			d := Git(filepath.Join(dir, "src"), nil)("git:diffstat")
			if diff := cmp.Diff(want, string(d.Body)); d.Err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", d.Err, diff)
			}
		})
	}
}

// A need may name a branch: one of the repository, else one of origin. Its answer follows that
// branch, whatever is checked out, and a name that is no branch never becomes an option of git.
func TestANeedMayNameABranch(t *testing.T) {
	dir := newRepo(t)
	gitDo(t, dir, "update-ref", "refs/remotes/origin/feat/far", "work")
	gitDo(t, dir, "branch", "-q", "feat/near", "main")
	ask := Git(dir, nil)
	for need, want := range map[string]string{
		"git:log/1/feat/near": "second: 둘째", "git:log/1/feat/far": "fourth", "git:log/1/main": "second: 둘째", "git:log/1": "fourth",
		"git:diffstat/feat/far": "2 files changed", "git:diffstat/main": "",
	} {
		if d := ask(need); d.Err != nil || !strings.Contains(string(d.Body), want) {
			t.Errorf("%s: %q %v, want %q", need, d.Body, d.Err, want)
		}
	}
	gitDo(t, dir, "checkout", "-q", "feat/near")
	gitCommit(t, dir, "near", "1", "nearer")
	if d := ask("git:log/1/feat/near"); !strings.Contains(string(d.Body), "nearer") {
		t.Errorf("after a commit: %q %v", d.Body, d.Err)
	}
	for _, need := range []string{"git:log/1/none", "git:diffstat/none", "git:log/1/--output=x", "git:log/1/a..b", "git:diffstat/-p", "git:log/1/HEAD@{1}"} {
		if d := ask(need); d.Err == nil || !strings.Contains(d.Err.Error(), "has no branch") {
			t.Errorf("%s: %q %v", need, d.Body, d.Err)
		}
	}
}

func TestABlobIsTheFileThatIsCommitted(t *testing.T) {
	dir := newRepo(t)
	put(t, dir, "src/한글.txt", "not committed\n")
	ask := Git(filepath.Join(dir, "src"), nil)
	for path, want := range map[string]string{
		"한글.txt": fmt.Sprintf("%x", sha1.Sum([]byte("blob 2\x00x\n"))),
		"b.txt":  "",
	} {
		if d := ask("git:blob/" + path); d.Err != nil || string(d.Body) != want {
			t.Errorf("%s: %q, %v", path, d.Body, d.Err)
		}
	}
	for _, path := range []string{"../b.txt", "/etc/passwd", ""} {
		if d := ask("git:blob/" + path); d.Err == nil || !strings.Contains(d.Err.Error(), "cannot look up") {
			t.Errorf("%s: %q, %v", path, d.Body, d.Err)
		}
	}
}

func TestWhatGitCannotSayHasItsReason(t *testing.T) {
	tests := []struct {
		name, need string
		make       func(dir string)
		want       string
	}{
		{"no repository", "git:log/3", func(string) {}, "cannot ask git: the workspace is not in a git repository"},
		{"no repository", "git:diffstat", func(string) {}, "cannot ask git: the workspace is not in a git repository"},
		{"no commit", "git:log/3", func(dir string) { gitDo(t, dir, "init", "-q") }, "cannot ask git: the branch has no commit yet"},
		{"no commit", "git:diffstat", func(dir string) { gitDo(t, dir, "init", "-q") }, "cannot ask git: the branch has no commit yet"},
		{"no base", "git:diffstat", func(dir string) {
			gitDo(t, dir, "init", "-q", "-b", "trunk")
			gitCommit(t, dir, "a", "a", "a")
		}, "cannot compare the branch: there is neither origin/HEAD nor main"},
		{"broken", "git:log/3", func(dir string) {
			gitDo(t, dir, "init", "-q")
			put(t, dir, ".git/config", "[core\n")
		}, `git log says "fatal: bad config`},
		{"unknown", "git:blame", func(string) {}, `cannot look up "git:blame": expected git:log/<1 to 1000>, git:diffstat or git:blob/<path>`},
		{"no number", "git:log/x", func(string) {}, `cannot look up "git:log/x"`},
		{"an option", "git:log/-1", func(string) {}, `cannot look up "git:log/-1"`},
		{"too many", "git:log/1001", func(string) {}, `cannot look up "git:log/1001"`},
	}
	for _, test := range tests {
		t.Run(test.name+" "+test.need, func(t *testing.T) {
			dir := t.TempDir()
			test.make(dir)
			d := Git(dir, nil)(test.need)
			if d.Err == nil || !strings.Contains(d.Err.Error(), test.want) {
				t.Errorf("got %v, want %q", d.Err, test.want)
			}
			if translated := templates.In(templates.Pseudo, d.Err); !strings.HasPrefix(translated, "⟦cannot ") {
				t.Errorf("%q is in no language", translated)
			}
			if d.Absent() || d.Body != nil || d.Path != test.need {
				t.Errorf("document %+v", d)
			}
		})
	}
}

func TestWithoutGitTheReasonSaysSo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	d := Git(t.TempDir(), nil)("git:log/3")
	if d.Err == nil || d.Err.Error() != "cannot ask git: it is not installed, or not on PATH" {
		t.Errorf("got %v", d.Err)
	}
}

func TestEnvironmentDoesNotLeadGitElsewhere(t *testing.T) {
	here, elsewhere := newRepo(t), t.TempDir()
	t.Setenv("GIT_DIR", filepath.Join(elsewhere, ".git"))
	t.Setenv("GIT_INDEX_FILE", filepath.Join(elsewhere, "index"))
	if d := Git(here, nil)("git:log/1"); d.Err != nil || !strings.Contains(string(d.Body), "fourth") {
		t.Errorf("%s %v", d.Body, d.Err)
	}
}

// A cloned or agent-written repository may name programs all over its
// configuration: none may run because placet reads it.
func TestNothingThatARepositoryNamesIsRun(t *testing.T) {
	dir := newRepo(t)
	mark := filepath.Join(t.TempDir(), "ran")
	evil := filepath.Join(t.TempDir(), "evil")
	if err := os.WriteFile(evil, []byte("#!/bin/sh\necho \"$0 $*\" >> "+mark+"\ncat\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{
		"core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.askPass", "core.gitProxy", "pager.log",
		"pager.diff", "diff.external", "diff.evil.command", "diff.evil.textconv", "filter.evil.clean", "filter.evil.smudge",
		"filter.evil.process", "gpg.program", "gpg.ssh.program", "credential.helper", "interactive.diffFilter", "alias.log",
	} {
		gitDo(t, dir, "config", key, evil)
	}
	gitDo(t, dir, "config", "log.showSignature", "true")
	gitDo(t, dir, "config", "filter.evil.required", "true")
	put(t, dir, ".git/info/attributes", "* diff=evil filter=evil\n")
	put(t, dir, ".gitattributes", "* diff=evil filter=evil\n")
	for _, hook := range []string{"post-index-change", "reference-transaction", "fsmonitor-watchman", "post-checkout"} {
		put(t, dir, ".git/hooks/"+hook, "#!/bin/sh\necho hook >> "+mark+"\n")
		if err := os.Chmod(filepath.Join(dir, ".git/hooks", hook), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	index, err := os.Stat(filepath.Join(dir, ".git/index"))
	if err != nil {
		t.Fatal(err)
	}
	for _, need := range []string{"git:log/10", "git:diffstat"} {
		if d := Git(dir, nil)(need); d.Err != nil {
			t.Errorf("%s: %v", need, d.Err)
		}
	}
	if ran, err := os.ReadFile(mark); err == nil {
		t.Errorf("programs that the repository names have run:\n%s", ran)
	}
	after, err := os.Stat(filepath.Join(dir, ".git/index"))
	if err != nil || !os.SameFile(index, after) || !after.ModTime().Equal(index.ModTime()) {
		t.Errorf("the index was written: %v", err)
	}
}

func TestGitDoesNotHoldUpForLong(t *testing.T) {
	dir := newRepo(t)
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	gitDo(t, dir, "config", "include.path", filepath.Join(dir, "fifo"))
	_, err := repo{root: dir, timeout: 100 * time.Millisecond}.fact("git:log/1")
	if err == nil || !strings.Contains(err.Error(), "git log took longer than 100ms") {
		t.Errorf("got %v", err)
	}
}

func TestAnswerOfGitIsBoundedByWholeLines(t *testing.T) {
	line := strings.Repeat("x", 99) + "\n"
	tests := []struct {
		name string
		in   Output
		want int
	}{
		{"small", Output{Head: line}, 100},
		{"head and tail", Output{Head: strings.Repeat(line, 300), Tail: strings.Repeat(line, 300)}, 60000},
		{"too long", Output{Head: strings.Repeat(line, 300), Tail: strings.Repeat(line, 700)}, gitMax / 100 * 100},
		{"torn", Output{Head: strings.Repeat(line, 10) + "part", Tail: "rest\n", Truncated: true}, 1000},
		{"one endless line", Output{Head: strings.Repeat("x", headMax), Truncated: true}, 0},
	}
	for _, test := range tests {
		if got := wholeLines(test.in); len(got) != test.want {
			t.Errorf("%s: %d bytes, want %d", test.name, len(got), test.want)
		}
	}
	dir := t.TempDir()
	gitDo(t, dir, "init", "-q", "-b", "main")
	for i := range 3 {
		gitCommit(t, dir, "a", fmt.Sprint(i), strings.Repeat(string(rune('a'+i)), 60000))
	}
	d := Git(dir, nil)("git:log/3")
	if d.Err != nil || len(d.Body) > gitMax || !(len(d.Body) == 0 || d.Body[len(d.Body)-1] == '\n') {
		t.Errorf("%d bytes, %v", len(d.Body), d.Err)
	}
}

// counted puts a git before the real one that counts its starts.
func counted(t *testing.T) (times func() int) {
	t.Helper()
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	put(t, dir, "git", fmt.Sprintf("#!/bin/sh\necho >> %q\nexec %q \"$@\"\n", log, real))
	if err := os.Chmod(filepath.Join(dir, "git"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return func() int {
		body, _ := os.ReadFile(log)
		return len(body)
	}
}

// refFormats are the ways in which this git can keep its refs.
func refFormats(t *testing.T) []string {
	t.Helper()
	formats := []string{"files"}
	if exec.Command("git", "init", "-q", "--ref-format=reftable", t.TempDir()).Run() == nil {
		formats = append(formats, "reftable")
	}
	return formats
}

func TestGitIsAskedAgainOnlyWhenSomethingMoved(t *testing.T) {
	moves := []struct {
		name string
		move func(dir string)
		want string
	}{
		{"a commit", func(dir string) { gitCommit(t, dir, "c", "c", "fifth") }, "fifth"},
		{"another branch", func(dir string) { gitDo(t, dir, "checkout", "-q", "main") }, "second: 둘째"},
		{"a branch that was reset", func(dir string) { gitDo(t, dir, "reset", "-q", "--hard", "HEAD~1") }, "third"},
		{"packed refs", func(dir string) {
			gitCommit(t, dir, "c", "c", "fifth")
			gitDo(t, dir, "pack-refs", "--all")
		}, "fifth"},
	}
	for _, format := range refFormats(t) {
		for _, move := range moves {
			t.Run(move.name+" "+format, func(t *testing.T) {
				t.Setenv("GIT_DEFAULT_REF_FORMAT", format)
				dir := newRepo(t)
				times := counted(t)
				ask := Git(dir, nil)
				first := ask("git:log/1")
				before := times()
				for range 20 {
					if again := ask("git:log/1"); again.Err != nil || again.Sum != first.Sum {
						t.Fatalf("%s %v", again.Body, again.Err)
					}
				}
				if n := times() - before; n != 0 {
					t.Errorf("git was started %d times although nothing moved", n)
				}
				move.move(dir)
				if d := ask("git:log/1"); d.Err != nil || !strings.Contains(string(d.Body), move.want) {
					t.Errorf("%s %v, want %q", d.Body, d.Err, move.want)
				}
			})
		}
	}
}

func TestDiffstatIsAnewWhenItsBaseMoves(t *testing.T) {
	dir := newRepo(t)
	gitDo(t, dir, "update-ref", "refs/remotes/origin/trunk", "main")
	gitDo(t, dir, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")
	ask := Git(dir, nil)
	if d := ask("git:diffstat"); !strings.Contains(string(d.Body), "2 files changed") {
		t.Fatalf("%s %v", d.Body, d.Err)
	}
	gitDo(t, dir, "update-ref", "refs/remotes/origin/trunk", "HEAD~1")
	if d := ask("git:diffstat"); !strings.Contains(string(d.Body), "1 file changed") {
		t.Errorf("%s %v", d.Body, d.Err)
	}
}

func TestAWorkTreeHasABranchOfItsOwn(t *testing.T) {
	dir := newRepo(t)
	side := filepath.Join(t.TempDir(), "side")
	gitDo(t, dir, "worktree", "add", "-q", "-b", "side", side, "main")
	ask := Git(side, nil)
	if d := ask("git:log/1"); !strings.Contains(string(d.Body), "second: 둘째") {
		t.Errorf("%s %v", d.Body, d.Err)
	}
	gitCommit(t, side, "s", "s", "aside")
	if d := ask("git:log/1"); !strings.Contains(string(d.Body), "aside") {
		t.Errorf("%s %v", d.Body, d.Err)
	}
}

func TestARepositoryThatAppearsIsFoundSoon(t *testing.T) {
	dir := t.TempDir()
	times := counted(t)
	ask := Git(dir, nil)
	if d := ask("git:log/1"); d.Err == nil {
		t.Fatalf("%s", d.Body)
	}
	before := times()
	ask("git:log/1")
	if n := times() - before; n > 1 {
		t.Errorf("git was started %d times at once", n)
	}
	gitDo(t, dir, "init", "-q")
	gitCommit(t, dir, "a", "a", "first")
	await.Until(t, "git is asked again", func() bool { return ask("git:log/1").Err == nil })
}

func TestAFifoInGitsFolderIsNotWaitedFor(t *testing.T) {
	dir := newRepo(t)
	ask := Git(dir, nil)
	ask("git:log/1")
	for _, name := range []string{"packed-refs", "shallow"} {
		_ = os.Remove(filepath.Join(dir, ".git", name))
		if err := syscall.Mkfifo(filepath.Join(dir, ".git", name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, state := peekFile(filepath.Join(dir, ".git/shallow")); state != "?;" {
		t.Errorf("a FIFO looks like %q", state)
	}
}
