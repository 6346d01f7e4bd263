package watch

import (
	"math/rand/v2"
	"os"
	"path"
	"time"

	"placet/layout"
)

const (
	// cookieWait is how long the event of a cookie may take.
	cookieWait = time.Second
	// cookieAgain is after how long a blind root is tested again.
	cookieAgain = 30 * time.Second
)

// cookie is the test of one folder: a file that is made and removed at once, and whose
// event must come. Success in adding a watch proves nothing, because some file systems
// accept watches and never report events.
type cookie struct {
	root  string
	name  string // of the file
	in    *os.Root
	made  time.Time
	blind bool
	// heard is true once the event came; from then on the timer has no effect.
	heard bool
	// remote roots are blind and not tested: changes by this machine may raise events, but
	// others change the folder too.
	remote bool
	timer  *time.Timer
}

func (c *cookie) stop() {
	if c.timer != nil {
		c.timer.Stop()
	}
}

// untested registers a test for every root that was not tested yet, or was found blind a
// while ago. The caller holds the lock.
func (w *Watcher) untested() []*cookie {
	if w.closed || !w.home.here() {
		return nil
	}
	roots := w.roots()
	for p := range w.cookies {
		if !roots[p] {
			w.forgetCookie(p)
		}
	}
	var tests []*cookie
	for p := range roots {
		old := w.cookies[p]
		if old != nil && (!old.blind || old.remote || time.Since(old.made) < cookieAgain) {
			continue
		}
		c := &cookie{root: p, name: cookieName(), in: w.home.root, made: time.Now(), blind: old != nil, remote: w.remote(w.watches.paths.abs(p))}
		if w.cookies[p] = c; c.remote {
			c.blind = true
			w.log.Warn("others can change this folder without any file event; looking every 2 s as well", "folder", p)
			continue
		}
		c.timer = time.AfterFunc(cookieWait, func() { w.stale(c) })
		tests = append(tests, c)
	}
	return tests
}

// roots returns the folders to test: the structure folders that are below no other one, or,
// if one does not exist, the nearest existing folder above it.
func (w *Watcher) roots() map[string]bool {
	roots := map[string]bool{}
	for _, n := range w.structure {
		if n.isBelowStructure() {
			continue
		}
		for n != nil && n.sight == missing {
			n = n.parent
		}
		if n != nil && n.sight == watched {
			roots[n.path()] = true
		}
	}
	return roots
}

func cookieName() string {
	return layout.TempName(os.Getpid(), rand.Uint32())
}

// bake makes a test's file and removes it. A root in which no file can be made cannot be
// tested, so its watch is trusted.
func (w *Watcher) bake(c *cookie) {
	name := path.Join(c.root, c.name)
	made, err := touch(c.in, name)
	switch {
	case !made:
		w.mu.Lock()
		defer w.mu.Unlock()
		c.stop()
	case err != nil:
		w.log.Warn("cannot remove a file that placet made to test file events", "file", name, "err", err)
	}
}

// heardCookie handles the event of one of our temporary files, which may be late.
func (w *Watcher) heardCookie(root, name string) {
	c := w.cookies[root]
	if c == nil || c.name != name {
		return
	}
	c.stop()
	c.heard = true
	if c.blind && !c.remote {
		c.blind = false
		w.log.Info("file events come again", "folder", root)
		w.pending.markAll(w.follows)
	}
}

// stale records that a test's event did not come.
func (w *Watcher) stale(c *cookie) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || w.cookies[c.root] != c || c.blind || c.heard {
		return
	}
	c.blind = true
	w.log.Warn("no file events come; looking every 2 s instead", "folder", c.root)
	w.pending.markAll(w.follows)
}

// forgetCookie makes the next round test a root again. The caller holds the lock.
func (w *Watcher) forgetCookie(root string) {
	if c := w.cookies[root]; c != nil {
		c.stop()
		delete(w.cookies, root)
	}
}
