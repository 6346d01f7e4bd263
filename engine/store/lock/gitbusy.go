package lock

import (
	"bytes"
	"cmp"
	"errors"
	"os"
	"path"
	"strings"
	"sync"
	"time"

	"placet/engine/store/disk"
	"placet/engine/store/fs"
	"placet/engine/store/statcache"
)

// holdIndex is how long git's index.lock pauses decisions: an older one was left behind.
const holdIndex = 10 * time.Second

// holdRewrite is how long each of the other signs pauses decisions while it does not
// change: an abandoned merge must not pause them for ever. Documents with conflict
// markers never count anyway.
const holdRewrite = 10 * time.Minute

// mostHeld is how long signs that keep being made anew pause decisions. Pauses that are
// less than holdGap apart count as one.
const mostHeld, holdGap = time.Hour, time.Minute

// signs are the names that exist in git's folder while git rewrites the tree.
var signs = []string{"rebase-merge", "rebase-apply", "MERGE_HEAD", "CHERRY_PICK_HEAD", indexLock}

const indexLock = "index.lock"

// Git reports whether the workspace is gone, or git is rewriting it.
type Git struct {
	disk *disk.Disk
	git  gitSigns
}

// NewGit returns the Git of a workspace.
func NewGit(d *disk.Disk) *Git { return &Git{disk: d} }

// gitSigns remembers when each sign was first seen in its present form, and since when
// any of them has paused decisions.
type gitSigns struct {
	mu          sync.Mutex
	seen        map[string]gitSign
	began, last time.Time
	none        time.Time // when no work tree was found
	// quiet is git's folder as it was when it held no sign.
	quiet statcache.Entry
	// stale is a sentence about a sign that exists and no longer pauses decisions, ""
	// for none.
	stale string
}

// gitSign is one sign as it was first seen.
type gitSign struct {
	inode   uint64
	changed time.Time // zero if a change does not make it another sign
	since   time.Time
}

// Gone begins the reason for a pause if the workspace is no longer under its name.
const Gone = "the workspace is gone"

// Away says, beginning with [Gone], that the workspace was moved away or that another
// folder took its name, "" if neither is so. Files that are read and written meanwhile
// are in the workspace, wherever it is now.
func (s *Git) Away() (why string) {
	if why = s.disk.FS.Away(); why != "" {
		why = Gone + ": " + why
	}
	return why
}

// Paused reports whether the workspace is gone or git is rewriting the tree, and the
// reason. Nothing is decided meanwhile.
func (s *Git) Paused() (reason string, held bool) {
	if why := s.Away(); why != "" {
		return why, true
	}
	s.git.mu.Lock()
	defer s.git.mu.Unlock()
	sign, stale := s.findSigns()
	if !s.git.holds(sign, stale, s.disk.Now()) {
		return "", false
	}
	return "git is rewriting the tree (" + sign + ")", true
}

// Stale says which of git's signs existed at the last call of [Git.Paused] but no longer
// paused decisions, "" for none.
func (s *Git) Stale() string {
	s.git.mu.Lock()
	defer s.git.mu.Unlock()
	return s.git.stale
}

// findSigns returns the first sign that is young, and the first sign of a rewriting that
// is not. The caller holds the lock.
func (s *Git) findSigns() (sign, stale string) {
	dir, ok := s.gitDir()
	if !ok {
		return "", ""
	}
	folder, err := s.disk.FS.Stat(dir)
	if err == nil && s.git.quiet.Trusts(disk.IdentityOf(folder)) {
		return "", "" // a new sign would have changed the folder
	}
	g := s.disk.NewGrain()
	quiet := statcache.Entry{Known: err == nil, ID: disk.IdentityOf(folder), Racy: g.IsRacy(folder)}
	for _, name := range signs {
		info, err := s.disk.FS.Stat(path.Join(dir, name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		quiet.Known = false
		switch young := err == nil && s.isYoungSign(name, info); {
		case young:
			sign = cmp.Or(sign, name)
		case err == nil && name != indexLock:
			stale = cmp.Or(stale, name)
		}
	}
	s.git.quiet = quiet
	return sign, stale
}

// isYoungSign reports whether a sign changed, and was first seen in its present form, a
// short while ago.
func (s *Git) isYoungSign(name string, info fs.Info) bool {
	now, limit := gitSign{inode: info.Inode, changed: info.Changed, since: s.disk.Now()}, holdRewrite
	if name == indexLock {
		now.changed, limit = time.Time{}, holdIndex
	}
	return s.git.isYoung(name, now, limit) && s.disk.IsYounger(info.Changed, limit)
}

// isYoung reports whether a sign was first seen in its present form no longer than limit
// ago.
func (g *gitSigns) isYoung(name string, now gitSign, limit time.Duration) bool {
	was, known := g.seen[name]
	if !known || was.inode != now.inode || !was.changed.Equal(now.changed) || was.since.After(now.since) {
		if g.seen == nil {
			g.seen = map[string]gitSign{}
		}
		g.seen[name], was = now, now
	}
	return now.since.Sub(was.since) <= limit
}

// holds reports whether a young sign, "" for none, pauses decisions now, and notes the
// sign that exists and does not.
func (g *gitSigns) holds(sign, stale string, now time.Time) bool {
	if sign != "" {
		if gap := now.Sub(g.last); g.last.IsZero() || gap < 0 || gap > holdGap {
			g.began = now
		}
		g.last = now
	}
	const try = ". Finish or abort what git is at (git status says how)"
	over := sign != "" && now.Sub(g.began) > mostHeld
	switch {
	case over:
		g.stale = "git's signs, now " + sign + ", have held decisions up for an hour and do not any more" + try
	case stale != "":
		g.stale = stale + " has stood for 10 minutes and holds no decision up any more" + try
	default:
		g.stale = ""
	}
	return sign != "" && !over
}

// noneFor is how long placet assumes that neither the workspace nor a folder above it is
// a work tree: nobody who makes one begins to rewrite it at once.
const noneFor = time.Second

// gitDir finds git's folder for this work tree: .git here or in the nearest folder
// above. In worktrees and submodules .git is a file that names the folder. The caller
// holds the lock.
func (s *Git) gitDir() (string, bool) {
	now := s.disk.Now()
	if age := now.Sub(s.git.none); age >= 0 && age < noneFor {
		return "", false
	}
	if dir, ok := s.gitAt(".", ".git"); ok {
		return dir, true
	}
	for dir := s.disk.FS.Root(); dir != "/" && dir != "."; {
		dir = path.Dir(dir)
		if found, ok := s.gitAt(dir, path.Join(dir, ".git")); ok {
			return found, true
		}
	}
	s.git.none = now
	return "", false
}

func (s *Git) gitAt(tree, name string) (string, bool) {
	info, err := s.disk.FS.Stat(name)
	switch {
	case err != nil:
		return "", false
	case info.Mode.IsDir():
		return name, true
	case info.IsRegular():
		return s.gitFile(tree, name)
	case info.Mode&os.ModeSymlink != 0 && !strings.HasPrefix(name, "/"):
		return s.gitAt(s.disk.FS.Root(), path.Join(s.disk.FS.Root(), name)) // links are followed in such a name
	}
	return "", false
}

// gitFile reads the folder from a file with the line "gitdir: <folder>".
func (s *Git) gitFile(tree, name string) (string, bool) {
	c, err := s.disk.Read(name, 4096, false)
	if err != nil {
		return "", false
	}
	line, _, _ := bytes.Cut(c.Body, []byte("\n"))
	dir, ok := strings.CutPrefix(string(line), "gitdir:")
	dir = strings.TrimSpace(dir)
	if !ok || dir == "" {
		return "", false
	}
	if !path.IsAbs(dir) {
		if tree == "." {
			tree = s.disk.FS.Root()
		}
		dir = path.Join(tree, dir)
	}
	return dir, true
}
