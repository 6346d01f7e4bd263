package enginetest

import (
	"context"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"placet/engine"
	"placet/engine/loop"
	"placet/engine/store/fs"
	"placet/engine/store/memfs"
	"placet/templates"
)

// Desk is a workspace on a disk in memory in which a test tells a story by hand:
// the real store and the real loop serve it, time passes only where the story
// says so, and every step and every rest is held against the laws.
type Desk struct {
	T testing.TB
	// Case may be changed while the story is told: its settings, and what is
	// trusted.
	Case  *Case
	w     *world
	story *transcript

	// Lax leaves the laws of rests out: a story about answers that contradict one
	// another breaks what they take for granted.
	Lax bool

	mu    sync.Mutex
	taken []engine.Transition // since the story last asked
}

// AtDesk begins a case's story, with its files in place, and has it told. The
// case's steps are not taken. What a story leaves in the pseudo-language is not recorded:
// it changes with every sentence.
func AtDesk(t *testing.T, s Suite, c Case, story func(*Desk)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := &Desk{T: t}
		if s.Config.Language != templates.Pseudo { // no run of a workspace speaks it
			d.story = newTranscript(t)
		}
		d.w = newWorld(s, c, newJudge(t, s).machine(), telling{byHand: true, moved: func(tr engine.Transition) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.taken = append(d.taken, tr)
		}})
		d.Case = &d.w.c
		d.w.boot()
		for _, p := range d.w.first() {
			d.w.disk.Put(p, c.Files[p])
		}
		story(d)
	})
}

// Tree is the workspace as it is.
func (d *Desk) Tree() Tree { return d.w.tree() }

// Has reports whether a file is there.
func (d *Desk) Has(path string) bool { _, ok := d.w.disk.Get(path); return ok }

// Read returns a file, and fails the test without it.
func (d *Desk) Read(path string) string {
	d.T.Helper()
	body, ok := d.w.disk.Get(path)
	if !ok {
		d.T.Fatalf("there is no %s; there are %q", path, d.Tree().Paths())
	}
	return body
}

// Put puts a file into place.
func (d *Desk) Put(path, body string) { d.w.disk.Put(path, body) }

// PutBack writes a state document of a run as it was before a commit that a crash ended: what
// came after it has never had its name.
func (d *Desk) PutBack(run, path, body string) {
	d.Put(path, body)
	if err := d.w.record.Issue(run, []engine.Document{{Path: path, Body: []byte(body)}}); err != nil {
		d.T.Fatal(err)
	}
}

// Remove removes a file.
func (d *Desk) Remove(path string) { d.w.disk.Delete(path) }

// Move renames a file or a folder, and makes the folders above its new name.
func (d *Desk) Move(from, to string) {
	d.T.Helper()
	d.w.disk.PutDir(path.Dir(to))
	if err := d.w.disk.Rename(from, to, fs.Replace); err != nil {
		d.T.Fatal(err)
	}
}

// BeforeChange has something happen before the k-th call from now, from 1, by which
// placet changes something. It returns whether that call has come by now.
func (d *Desk) BeforeChange(k int, do func()) (come func() bool) {
	first, done := 0, false
	d.w.disk.Hook(func(c memfs.Call) error {
		switch {
		case c.Change == 0 || done:
		case first == 0 && k > 1:
			first = c.Change
		case k == 1 || c.Change-first == k-1:
			done = true
			do()
		}
		return nil
	})
	return func() bool { return done }
}

// Now is the time of the story.
func (d *Desk) Now() time.Time { return time.Now() }

// Pass lets time pass while nobody looks.
func (d *Desk) Pass(by time.Duration) { pass(by) }

// Restart ends placet and starts it anew: what it had not carried out is not done,
// and how actions ended is forgotten.
func (d *Desk) Restart() { d.w.boot() }

// Rows are the rows that were put into a database, in their order.
func (d *Desk) Rows(path string) []engine.Row { return d.w.out.clone().rows[path] }

// Alive are the ids of the actions under way, sorted.
func (d *Desk) Alive() []string {
	var ids []string
	for id := range d.w.facts().Alive {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// EndCommand ends the command whose id ends so; see [EndCommand].
func (d *Desk) EndCommand(suffix string, e engine.Ended) {
	d.T.Helper()
	id, err := EndCommand(suffix, e).take(d.w.out, time.Now())
	if err != nil {
		d.T.Fatal(err)
	}
	d.w.loop.ActionEnded(id)
}

// Lock has a database locked by another program, or not any more.
func (d *Desk) Lock(path string, locked bool) { d.w.out.lock(path, locked) }

// Settle has placet look until it has nothing left to do, and returns the
// transitions that it made.
func (d *Desk) Settle() []engine.Transition {
	d.T.Helper()
	d.take()
	if err := d.w.settle(); err != nil {
		d.T.Fatalf("it does not settle: %v\n%s", err, d.Notes())
	}
	taken := d.take()
	d.story.rest(d.T, d.Tree(), taken)
	if !d.Lax {
		d.w.restLaws(d.T)
	}
	return taken
}

func (d *Desk) take() []engine.Transition {
	d.mu.Lock()
	defer d.mu.Unlock()
	taken := d.taken
	d.taken = nil
	return taken
}

// Look has placet look once, at once, and returns what it found.
func (d *Desk) Look() loop.Report {
	d.T.Helper()
	r, err := d.w.loop.Once(context.Background())
	if err != nil {
		d.T.Fatal(err)
	}
	return r
}

// Notes are the problem notes, in full.
func (d *Desk) Notes() string {
	all, tree := "", d.Tree()
	for _, p := range tree.Paths() {
		if strings.HasSuffix(p, "problem.md") {
			all += p + ":\n" + tree[p]
		}
	}
	return all
}

// PassUntil lets time pass until a moment, if that is still to come.
func (d *Desk) PassUntil(at time.Time) { pass(time.Until(at)) }

// Fail makes placet's k-th file call from now, from 1, return an error.
func (d *Desk) Fail(k int, err error) { d.w.disk.FailAt(k, err) }
