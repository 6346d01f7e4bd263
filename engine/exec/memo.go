package exec

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"placet/engine"
)

// How long an answer of git is used again: where the refs it follows from are
// known and unchanged, and where nobody can tell.
const (
	memoLong  = time.Minute
	memoShort = 250 * time.Millisecond
)

// memo remembers what git said. Many runs ask the same, each after its answer,
// and starting git costs more than everything else that an answer calls for.
type memo struct {
	repo repo

	mu      sync.Mutex // held while git is asked: the others want to know the same
	answers map[string]remembered
	dirs    [2]string // git's folder and the one shared by all work trees
	located time.Time
}

// remembered is an answer and what it follows from.
type remembered struct {
	doc   engine.Document
	print string // "" where nobody can tell
	at    time.Time
}

func newMemo(r repo) *memo { return &memo{repo: r, answers: map[string]remembered{}} }

// lookup answers a need, with git's help only where it may say something new.
func (m *memo) lookup(need string) engine.Document {
	m.mu.Lock()
	defer m.mu.Unlock()
	print := m.print()
	if a, ok := m.answers[need]; ok && a.holds(print, time.Since(a.at)) {
		return a.doc
	}
	body, err := m.repo.fact(need)
	doc := engine.Document{Path: need, Kind: gitKind, Err: err}
	if err == nil {
		doc.Body, doc.Sum = body, engine.Sum(body)
	}
	m.answers[need] = remembered{doc: doc, print: print, at: time.Now()}
	return doc
}

// holds reports whether an answer of that age may be used again.
func (a remembered) holds(print string, age time.Duration) bool {
	if print == "" || a.doc.Err != nil || print != a.print {
		return print == a.print && age < memoShort
	}
	return age < memoLong
}

// print is the state of everything that decides where the branch and what it is
// compared with stand: it differs when one of them moves.
func (m *memo) print() string {
	if time.Since(m.located) > memoLong {
		m.locate()
	}
	own, common := m.dirs[0], m.dirs[1]
	if own == "" {
		return ""
	}
	var print strings.Builder
	for _, head := range []string{filepath.Join(own, "HEAD"), filepath.Join(common, "refs/remotes/origin/HEAD")} {
		text, state := glance(head)
		print.WriteString(state)
		if ref, ok := strings.CutPrefix(text, "ref: "); ok && filepath.IsLocal(strings.TrimSpace(ref)) {
			_, state = glance(filepath.Join(common, strings.TrimSpace(ref)))
			print.WriteString(state)
		}
	}
	for _, name := range []string{"packed-refs", "refs/heads/main", "reftable/tables.list", "shallow"} {
		_, state := glance(filepath.Join(common, name))
		print.WriteString(state)
	}
	_, state := glance(filepath.Join(own, "reftable/tables.list"))
	print.WriteString(state)
	return print.String()
}

// locate asks git where its folders are. Without an answer nothing is
// remembered for long.
func (m *memo) locate() {
	m.located, m.dirs = time.Now(), [2]string{}
	out, err := m.repo.git("rev-parse", "--absolute-git-dir", "--git-common-dir")
	own, common, ok := strings.Cut(strings.TrimSuffix(string(out), "\n"), "\n")
	if err != nil || !ok {
		return
	}
	if !filepath.IsAbs(common) {
		common = filepath.Join(m.repo.root, common)
	}
	m.dirs = [2]string{own, common}
}

// glance returns a small file's text, and its state in words that differ when
// the file does. It waits for nothing.
func glance(name string) (text, state string) {
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
