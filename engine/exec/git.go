package exec

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"placet/engine"
	"placet/templates"
)

// gitTimeout and gitMax bound a question to git.
const (
	gitTimeout = 5 * time.Second
	gitMax     = 64 << 10 // bytes of an answer
	gitCommits = 1000
)

// gitKind is the kind of a document that holds an answer of git.
const gitKind = "git"

// gitSafe precedes every command. A repository's configuration is data written
// by others: nothing that it names may run, and nothing is fetched.
var gitSafe = []string{
	"--no-pager", "--no-optional-locks",
	"-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull, "-c", "core.quotePath=false",
	"-c", "diff.external=", "-c", "log.showSignature=false", "-c", "color.ui=false",
	"-c", "core.attributesFile=" + os.DevNull, "-c", "protocol.allow=never",
}

// gitEnv is added to the scrubbed environment: git takes no lock, prompts
// nobody, fetches nothing, and writes messages in English.
var gitEnv = []string{
	"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1",
	"GIT_ALLOW_PROTOCOL=none", "GIT_PAGER=cat", "GIT_ATTR_NOSYSTEM=1", "LC_ALL=C",
	"GIT_NO_REPLACE_OBJECTS=1", "GIT_GRAFT_FILE=" + os.DevNull, // the history as it was committed
}

// Git returns the lookup of facts from the local repository that contains the workspace at
// root:
//
//	git:log/<n>[/<branch>]    the last n commits, newest first: "<short hash> <date> <subject>"
//	git:origin                the address of the remote origin, as it is configured
//	git:diffstat[/<branch>]   what the branch changed since it left origin/HEAD, else main
//	git:blob/<path>  the object id of the file in HEAD, nothing if HEAD has none
//	git:ignored/<path>  the path if git ignores the file or does not say; otherwise nothing
//	git:answer/<id>[+<id>…]/<path>  the mail of the committer of the file, if its content, which
//	               git would give one of the ids, is that of HEAD: see [engine.CommitterNeed]
//
// Without a branch, HEAD is meant. A branch is one of this repository, else one of origin.
//
// Git reads only what is committed: reading the work tree would run filters that the
// repository's configuration names. If git, a repository or a commit is missing, the
// document's Err says which.
//
// An answer is used again until a ref that it depends on has moved. git gets a scrubbed copy
// of the environment own; nil is that of this process.
func Git(root string, own []string) func(need string) engine.Document {
	cache := &gitCache{repo: repo{root: root, own: own, timeout: gitTimeout}, answers: map[string]gitAnswer{}}
	return cache.lookup
}

// repo is the repository that contains a workspace.
type repo struct {
	root    string
	own     []string // git gets a scrubbed copy of it; nil is the environment of this process
	timeout time.Duration
}

func (r repo) fact(need string) ([]byte, error) {
	if branch, ok := strings.CutPrefix(need, needDiffstat); ok {
		return r.diffstat(strings.TrimPrefix(branch, "/"))
	}
	if need == "git:origin" {
		return r.git("config", "--get", "remote.origin.url")
	}
	if rest, ok := strings.CutPrefix(need, needLog); ok {
		count, branch, _ := strings.Cut(rest, "/")
		if n, err := strconv.Atoi(count); err == nil && n > 0 && n <= gitCommits {
			return r.log(count, branch)
		}
	}
	if path, ok := strings.CutPrefix(need, "git:blob/"); ok && filepath.IsLocal(path) {
		return r.blob(path)
	}
	if path, ok := strings.CutPrefix(need, "git:author/"); ok && filepath.IsLocal(path) {
		return []byte(r.author(path)), nil
	}
	return nil, templates.Errorf("exec.git.need", "need", strconv.Quote(need), "most", gitCommits)
}

// needLog and needDiffstat are the beginnings of the needs that may name a branch.
const needLog, needDiffstat = "git:log/", "git:diffstat"

// branchOf returns the branch that a need names, "" for none.
func branchOf(need string) string {
	if rest, ok := strings.CutPrefix(need, needLog); ok {
		_, branch, _ := strings.Cut(rest, "/")
		return branch
	}
	branch, _ := strings.CutPrefix(need, needDiffstat+"/")
	if branch == need {
		return ""
	}
	return branch
}

// refs returns the full names that a branch may have.
func refs(branch string) []string {
	return []string{"refs/heads/" + branch, "refs/remotes/origin/" + branch}
}

// resolve returns the full name of a branch, or HEAD for "".
func (r repo) resolve(branch string) (string, error) {
	switch {
	case branch == "":
		return "HEAD", nil
	case !engine.IsBranch(branch):
		return "", templates.Errorf("exec.git.noref", "branch", strconv.Quote(branch))
	}
	for _, ref := range refs(branch) {
		if _, err := r.git("rev-parse", "--verify", "--quiet", ref+"^{commit}"); err == nil {
			return ref, nil
		}
	}
	return "", templates.Errorf("exec.git.noref", "branch", strconv.Quote(branch))
}

// log returns the last commits of a branch.
func (r repo) log(count, branch string) ([]byte, error) {
	ref, err := r.resolve(branch)
	if err != nil {
		return nil, err
	}
	args := []string{"log", "-n", count, "--no-decorate", "--no-show-signature", "--no-ext-diff",
		"--encoding=UTF-8", "--date=short", "--format=%h %ad %s"}
	if branch != "" {
		args = append(args, ref, "--")
	}
	return r.git(args...)
}

// blob returns the object id of a file in HEAD, or nothing if HEAD has no such
// file.
func (r repo) blob(path string) ([]byte, error) {
	entry, err := r.git("ls-tree", "HEAD", "--", path)
	if fields := strings.Fields(string(entry)); len(fields) > 2 && fields[1] == "blob" {
		return []byte(fields[2]), err
	}
	return nil, err
}

// ExcludeFile returns the path of the file with the rules by which this clone alone ignores
// files, for the workspace at root. The path is relative to root or absolute; it is "" without a
// work tree or if git does not say. git gets a scrubbed copy of the environment own; nil is that
// of this process.
func ExcludeFile(root string, own []string) string {
	path, err := repo{root: root, own: own, timeout: gitTimeout}.git("rev-parse", "--git-path", "info/exclude")
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(string(path), "\n")
}

// Ignores reports whether the rules of git ignore a path of the workspace at root, tracked or not.
func Ignores(root string, own []string, path string) bool {
	_, err := repo{root: root, own: own, timeout: gitTimeout}.ask(retention{}, "check-ignore", "--quiet", "--no-index", "--", "./"+path)
	return err == nil
}

// GitVersion returns what git prints as its version.
func GitVersion(root string, own []string) (string, error) {
	said, err := repo{root: root, own: own, timeout: gitTimeout}.git("--version")
	return strings.TrimPrefix(strings.TrimSpace(string(said)), "git version "), err
}

// notIgnored is the exit code of git check-ignore for a file that git does not ignore.
const notIgnored = 1

// ignored returns the path of a file if git ignores it or does not say. It returns
// nothing for other files, and without a repository.
func (r repo) ignored(path string) []byte {
	if _, ok := findWorkTree(r.root); !ok {
		return nil
	}
	if _, err := exec.LookPath("git"); err != nil {
		return []byte(path)
	}
	if e := r.run(retention{}, "check-ignore", "--quiet", "--", "./"+path); e.word == finished && e.code != nil && *e.code == notIgnored {
		return nil
	}
	return []byte(path)
}

// unknownMail stands for the mail of an unknown author.
const unknownMail = "?"

// author returns "<id> <mail>": the object id of a file in HEAD and the mail of who changed
// it last. It returns "" if HEAD has no such file, and "? ?" if git does not say.
func (r repo) author(path string) string {
	blob, err := r.blob(path)
	if err != nil {
		if _, err := r.git("rev-parse", "--verify", "--quiet", "HEAD^{commit}"); errors.Is(err, errEmpty) {
			return ""
		}
		return unknownMail + " " + unknownMail
	}
	if len(blob) == 0 {
		return ""
	}
	said, err := r.git("log", "-1", "--no-mailmap", "--no-show-signature", "--no-decorate", "--encoding=UTF-8", "--format=%ae", "--", path)
	mail, whole := strings.CutSuffix(string(said), "\n")
	if err != nil || !whole || !isMail(mail) {
		mail = unknownMail
	}
	return string(blob) + " " + mail
}

// longestMail is the longest mail of an author in bytes.
const longestMail = 320

// isMail reports whether the mail of a commit can be shown as one word.
func isMail(s string) bool {
	return s != "" && s != unknownMail && len(s) <= longestMail && templates.Clean(s) == s && !strings.ContainsAny(s, " \t\n<>\ufffd")
}

func (r repo) diffstat(branch string) ([]byte, error) {
	ref, err := r.resolve(branch)
	if err != nil {
		return nil, err
	}
	if _, err := r.git("rev-parse", "--verify", "--quiet", ref+"^{commit}"); err != nil {
		return nil, err
	}
	for _, base := range []string{"refs/remotes/origin/HEAD", "refs/heads/main"} {
		if _, err := r.git("rev-parse", "--verify", "--quiet", base+"^{commit}"); err == nil {
			return r.git("diff", "--stat=100", "--no-ext-diff", "--no-textconv", "--no-color",
				"--ignore-submodules=all", "--submodule=short", base+"..."+ref, "--")
		}
	}
	return nil, templates.Errorf("exec.git.branch")
}

// git runs one command and returns what it printed, whole lines only.
func (r repo) git(args ...string) ([]byte, error) {
	out, err := r.ask(retention{head: headMax, tail: tailMax}, args...)
	if err != nil {
		return nil, err
	}
	return []byte(wholeLines(out)), nil
}

// ask runs one command and returns the part of its output that keep retains.
func (r repo) ask(keep retention, args ...string) (Output, error) {
	if _, err := exec.LookPath("git"); err != nil {
		return Output{}, templates.Errorf("exec.git.absent")
	}
	e := r.run(keep, args...)
	if e.word == finished && e.code != nil && *e.code == 0 {
		return e.stdout, nil
	}
	return Output{}, r.refusal(args[0], e)
}

func (r repo) run(keep retention, args ...string) exitResult {
	safe := slices.Clone(gitSafe)
	if args[0] != "check-ignore" { // it takes paths only and refuses the option
		safe = append(safe, "--literal-pathspecs")
	}
	return run(spec{
		argv: slices.Concat([]string{"git"}, safe, args),
		env:  environ(r.own, nil, gitEnv), dir: r.root,
	}, keep, terms{timeout: &r.timeout, grace: time.Second})
}

// versionMax is the largest version that is searched for, in bytes, and versions is how
// many of the commits that changed a file are searched.
const (
	versionMax = 256 << 10
	versions   = 50
)

// CommittedVersion returns the text with the digest sum that a file of the workspace at
// root had in one of its latest commits. ok is false if git has none.
func CommittedVersion(root string, own []string, path string, sum engine.Digest) (text string, ok bool) {
	r := repo{root: root, own: own, timeout: gitTimeout}
	if !filepath.IsLocal(path) {
		return "", false
	}
	changes, err := r.git("log", "-n", strconv.Itoa(versions), "--format=", "--raw", "--no-abbrev", "--no-renames",
		"--no-ext-diff", "--no-show-signature", "--", path)
	if err != nil {
		return "", false
	}
	for line := range strings.Lines(string(changes)) {
		fields := strings.Fields(line)
		if len(fields) < 5 || !strings.HasPrefix(fields[1], "100") {
			continue // after this commit the path is no regular file
		}
		blob, err := r.ask(retention{head: versionMax}, "cat-file", "blob", fields[3])
		if err == nil && !blob.Truncated && engine.Sum([]byte(blob.Head)) == sum {
			return blob.Head, true
		}
	}
	return "", false
}

// errEmpty says that nothing is committed yet.
var errEmpty = templates.Errorf("exec.git.empty")

// refusal says why git did not answer.
func (r repo) refusal(verb string, e exitResult) error {
	said, _, _ := strings.Cut(strings.TrimSpace(e.stderr.Head), "\n")
	switch {
	case e.word == timedOut:
		return templates.Errorf("exec.git.slow", "verb", verb, "time", r.timeout)
	case strings.Contains(said, "not a git repository"):
		return templates.Errorf("exec.git.repository")
	case strings.Contains(said, "does not have any commits yet"), verb == "rev-parse" && said == "":
		return errEmpty
	case said != "":
		return templates.Errorf("exec.git.says", "verb", verb, "words", strconv.Quote(said))
	default:
		return templates.Errorf("exec.git.ended", "verb", verb, "outcome", e.word, "reason", e.reason)
	}
}

// wholeLines returns an answer up to its size limit, without a line cut in two.
func wholeLines(o Output) string {
	text := o.Head
	if !o.Truncated {
		text += o.Tail
	}
	if len(text) <= gitMax && !o.Truncated {
		return text
	}
	text = text[:min(len(text), gitMax)]
	return text[:strings.LastIndexByte(text, '\n')+1]
}
