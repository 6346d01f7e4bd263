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
	"placet/engine/store/fs"
)

// cacheLong and cacheShort are how long an answer of git is used again: cacheLong
// while the refs that it depends on are known and unchanged, cacheShort if they
// are unknown.
const (
	cacheLong  = time.Minute
	cacheShort = 250 * time.Millisecond
)

// gitCache caches the answers of git. Many runs ask the same, each after its answer,
// and starting git costs more than everything else that an answer needs.
type gitCache struct {
	repo repo

	mu      sync.Mutex // held while git runs, because the others want the same answer
	answers map[string]gitAnswer
	indexes map[string]*gitIndex // by their path
	dirs    []string             // git's folder and the one that all work trees share; nil if unknown
	located time.Time
}

// gitAnswer is an answer and the fingerprint of what it depends on, "" if that is
// unknown.
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
	if path, ok := strings.CutPrefix(need, engine.IgnoredNeed); ok && filepath.IsLocal(path) { // these depend on no ref
		body := c.repo.ignored(path)
		return engine.Document{Path: need, Kind: gitKind, Body: body, Sum: engine.Sum(body)}
	}
	return c.ask(need)
}

// committer returns the mail of who committed a file with its present content; content is
// "<ids>/<path>". It returns [unknownMail] if the committer is unknown, or if an index has the
// content but HEAD has not, because others may have brought it. It returns "" if the content
// did not come through git. It runs git only if an index has the file as it is now.
func (c *gitCache) committer(content string) string {
	names, path, _ := strings.Cut(content, "/")
	ids := strings.Split(names, "+")
	entry, left, where := c.findIndexed(path, ids)
	if where != inOwnIndex {
		return where
	}
	head, mail, _ := strings.Cut(string(c.ask("git:author/"+path).Body), " ")
	switch {
	case head != unknownMail && !slices.Contains(ids, head) && (!left || head != entry.id), c.isShallow():
		return unknownMail // in a shallow clone the oldest commit also stands for the missing ones
	}
	return mail
}

// inOwnIndex says that the index of the workspace's own repository has a content.
const inOwnIndex = "own"

// findIndexed finds a content in the indexes of the work trees that contain its file. where is
// [inOwnIndex], [unknownMail] for the index of another work tree, or "" if none has it. left
// says that the file is as git left it, whatever the entry's id is.
func (c *gitCache) findIndexed(path string, ids []string) (entry indexEntry, left bool, where string) {
	name := filepath.Join(c.repo.root, path)
	info, err := os.Lstat(name)
	if err != nil {
		return entry, false, ""
	}
	folder, err := fs.RealPath(filepath.Dir(name))
	if err != nil {
		return entry, false, ""
	}
	around := workTreesAround(folder)
	own := ownWorkTree(c.rootOf(folder, path), folder, around)
	for _, tree := range around {
		is := tree.dir == own.dir
		entry, ok, known := c.entryOf(tree, path, is)
		if left = ok && entry.isAsLeft(info); !known && (is || len(tree.dir) > len(own.dir)) || ok && (left || slices.Contains(ids, entry.id)) {
			if is {
				return entry, left, inOwnIndex
			}
			return entry, left, unknownMail
		}
	}
	return indexEntry{}, false, ""
}

// rootOf returns the real path of the workspace, given the real path of a folder of a file in
// it: if no link leads to the folder, none leads to the workspace.
func (c *gitCache) rootOf(folder, path string) string {
	if folder == filepath.Join(c.repo.root, filepath.Dir(path)) {
		return filepath.Clean(c.repo.root)
	}
	root, err := filepath.EvalSymlinks(c.repo.root)
	if err != nil {
		return c.repo.root
	}
	return root
}

// entryOf returns the entry of a file in the index of a work tree; known is false if the index
// cannot say. If placet cannot read an index, it asks git, but only in the workspace's own
// repository.
func (c *gitCache) entryOf(tree workTree, path string, own bool) (entry indexEntry, ok, known bool) {
	x := c.indexOf(tree)
	if err := x.read(tree.index); err == nil {
		entry, ok = x.entries[tree.prefix+filepath.Base(path)]
		return entry, ok, true
	}
	if !own {
		return entry, false, false
	}
	said, err := c.repo.git("ls-files", "--stage", "--debug", "--", path)
	if err != nil || len(said) == 0 {
		return entry, false, err == nil
	}
	entry, ok = parseDebug(string(said))
	return entry, ok, ok
}

// indexOf returns the index of a work tree as it was last read.
func (c *gitCache) indexOf(tree workTree) *gitIndex {
	x := c.indexes[tree.index]
	if x == nil {
		x = &gitIndex{}
		if root, err := filepath.EvalSymlinks(c.repo.root); err == nil {
			if rel, err := filepath.Rel(root, tree.dir); err == nil && rel != "." && filepath.IsLocal(rel) {
				x.below = filepath.ToSlash(rel) + "/"
			}
		}
		if c.indexes == nil || len(c.indexes) >= mostIndexes {
			c.indexes = map[string]*gitIndex{}
		}
		c.indexes[tree.index] = x
	}
	return x
}

// mostIndexes is how many indexes are cached.
const mostIndexes = 64

// isShallow reports whether commits are missing, as far as that is known.
func (c *gitCache) isShallow() bool {
	if c.dirs == nil {
		return false
	}
	text, _ := peekFile(filepath.Join(c.dirs[1], "shallow"))
	return text != ""
}

// ask answers a need, and runs git only if the answer may have changed.
func (c *gitCache) ask(need string) engine.Document {
	print := c.fingerprint(branchOf(need))
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

// fingerprint returns the state of every file that decides where the branch, "" for that of
// HEAD, and the ref that it is compared with are. It differs when one of these files changes.
func (c *gitCache) fingerprint(branch string) string {
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
	if engine.IsBranch(branch) {
		for _, ref := range refs(branch) {
			names = append(names, filepath.Join(common, ref))
		}
	}
	for _, name := range names {
		_, state := peekFile(name)
		print.WriteString(state)
	}
	return print.String()
}

// locate asks git for its folders. Without an answer nothing is cached for long.
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

// peekFile returns the text of a small file, and a state that differs when the file
// does. It never blocks.
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
	n, _ := io.ReadFull(f, small[:]) // an unreadable file always has the same state
	return string(small[:n]), fmt.Sprintf("%d %d %x;", info.ModTime().UnixNano(), info.Size(), small[:min(n, 64)])
}
