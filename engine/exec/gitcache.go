package exec

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"placet/engine"
)

// How long an answer of git is used again: where the refs that it follows from are
// known and unchanged, and where nobody can tell.
const (
	cacheLong  = time.Minute
	cacheShort = 250 * time.Millisecond
)

// gitCache remembers what git said. Many runs ask the same, each after its answer, and
// starting git costs more than everything else that an answer calls for.
type gitCache struct {
	repo repo

	mu      sync.Mutex // held while git is asked: the others want to know the same
	answers map[string]gitAnswer
	index   gitIndex
	dirs    []string // git's folder and the one shared by all work trees; nil: not known
	located time.Time
}

// gitAnswer is an answer and the fingerprint of what it follows from, "" where nobody
// can tell.
type gitAnswer struct {
	doc         engine.Document
	fingerprint string
	at          time.Time
}

// lookup answers a need.
func (c *gitCache) lookup(need string) engine.Document {
	c.mu.Lock()
	defer c.mu.Unlock()
	if content, ok := strings.CutPrefix(need, engine.CommitterNeed); ok {
		mail := []byte(c.committer(content))
		return engine.Document{Path: need, Kind: gitKind, Body: mail, Sum: engine.Sum(mail)}
	}
	if path, ok := strings.CutPrefix(need, engine.IgnoredNeed); ok && filepath.IsLocal(path) { // what follows from no ref
		body := c.repo.ignored(path)
		return engine.Document{Path: need, Kind: gitKind, Body: body, Sum: engine.Sum(body)}
	}
	return c.ask(need)
}

// committer is the mail of who committed a file with its present content, which "<ids>/<path>"
// names; [unknownMail] where that cannot be told, "" where the content did not come by git.
// git is asked only where its index has the file as it is now.
func (c *gitCache) committer(content string) string {
	names, path, _ := strings.Cut(content, "/")
	ids := strings.Split(names, "+")
	tree, ok := findWorkTree(c.repo.root)
	if !ok {
		return ""
	}
	entry, left := indexEntry{}, false
	if err := c.index.read(tree.index); err == nil {
		if entry, ok = c.index.entries[tree.prefix+path]; !ok {
			return ""
		}
		info, err := os.Lstat(filepath.Join(c.repo.root, path))
		if left = err == nil && entry.isAsLeft(info); !left && !slices.Contains(ids, entry.id) {
			return ""
		}
	}
	head, mail, _ := strings.Cut(string(c.ask("git:author/"+path).Body), " ")
	switch {
	case head == "", head != unknownMail && !slices.Contains(ids, head) && (!left || head != entry.id):
		return ""
	case c.isShallow():
		return unknownMail // the oldest commit that is there stands for those before it
	}
	return mail
}

// isShallow reports whether commits are missing, as far as that is known.
func (c *gitCache) isShallow() bool {
	if c.dirs == nil {
		return false
	}
	text, _ := peekFile(filepath.Join(c.dirs[1], "shallow"))
	return text != ""
}

// ask answers a need, with git's help only where it may say something new.
func (c *gitCache) ask(need string) engine.Document {
	print := c.fingerprint()
	if a, ok := c.answers[need]; ok && a.fingerprint == print {
		valid := cacheLong
		if print == "" || a.doc.Err != nil {
			valid = cacheShort
		}
		if time.Since(a.at) < valid {
			return a.doc
		}
	}
	body, err := c.repo.fact(need)
	doc := engine.Document{Path: need, Kind: gitKind, Err: err}
	if err == nil {
		doc.Body, doc.Sum = body, engine.Sum(body)
	}
	c.answers[need] = gitAnswer{doc: doc, fingerprint: print, at: time.Now()}
	return doc
}

// fingerprint is the state of every file that decides where the branch and what it is
// compared with are: it differs when one of them changes.
func (c *gitCache) fingerprint() string {
	if time.Since(c.located) > cacheLong {
		c.locate()
	}
	if c.dirs == nil {
		return ""
	}
	own, common := c.dirs[0], c.dirs[1]
	names := []string{
		filepath.Join(own, "reftable/tables.list"), filepath.Join(common, "reftable/tables.list"),
		filepath.Join(common, "packed-refs"), filepath.Join(common, "refs/heads/main"), filepath.Join(common, "shallow"),
	}
	var print strings.Builder
	for _, head := range []string{filepath.Join(own, "HEAD"), filepath.Join(common, "refs/remotes/origin/HEAD")} {
		text, state := peekFile(head)
		print.WriteString(state)
		if ref, ok := strings.CutPrefix(text, "ref: "); ok && filepath.IsLocal(strings.TrimSpace(ref)) {
			names = append(names, filepath.Join(common, strings.TrimSpace(ref)))
		}
	}
	for _, name := range names {
		_, state := peekFile(name)
		print.WriteString(state)
	}
	return print.String()
}

// locate asks git where its folders are. Without an answer nothing is remembered for
// long.
func (c *gitCache) locate() {
	c.located, c.dirs = time.Now(), nil
	out, err := c.repo.git("rev-parse", "--absolute-git-dir", "--git-common-dir")
	own, common, ok := strings.Cut(strings.TrimSuffix(string(out), "\n"), "\n")
	if err != nil || !ok {
		return
	}
	if !filepath.IsAbs(common) {
		common = filepath.Join(c.repo.root, common)
	}
	c.dirs = []string{own, common}
}

// peekFile returns a small file's text, and its state in words that differ when the
// file does. It waits for nothing.
func peekFile(name string) (text, state string) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", "-;"
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return "", "?;"
	}
	var small [4096]byte
	n, _ := io.ReadFull(f, small[:]) // what cannot be read differs in nothing
	return string(small[:n]), fmt.Sprintf("%d %d %x;", info.ModTime().UnixNano(), info.Size(), small[:min(n, 64)])
}
