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

// Desk is a workspace on a disk in memory in which a test runs a scenario step by
// step. The real store and the real loop serve it, time passes only when the
// scenario says so, and every step and every idle state is checked against the laws.
type Desk struct {
	T testing.TB
	// Case may be changed during the scenario: its settings, and what is trusted.
	Case  *Case
	w     *world
	story *transcript

	// Lax skips the laws for idle states: a scenario about contradictory answers
	// breaks their assumptions.
	Lax bool

	mu    sync.Mutex
	taken []engine.Transition // since the scenario last asked
}

// AtDesk starts a case's scenario with the case's files in place, and calls story. It
// does not take the case's steps. Nothing is recorded of a scenario in the
// pseudo-language, because the result changes with every sentence.
func AtDesk(t *testing.T, s Suite, c Case, story func(*Desk)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := &Desk{T: t}
		if s.Config.Language != templates.Pseudo { // no run of a workspace has this language
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

// Tree returns the present workspace.
func (d *Desk) Tree() Tree { return d.w.tree() }

// Has reports whether a file exists.
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

// PutBack restores a state document of a run from before a commit that a crash ended: the new
// content never got its name.
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

// BeforeChange calls do before the k-th call from now, from 1, with which placet
// changes something. It returns a function that reports whether that call has come.
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

// Now returns the time of the scenario.
func (d *Desk) Now() time.Time { return time.Now() }

// Pass lets time pass without a pass of placet.
func (d *Desk) Pass(by time.Duration) { pass(by) }

// Restart ends placet and starts it again: actions not yet carried out are lost,
// and the ends of actions are forgotten.
func (d *Desk) Restart() { d.w.boot() }

// Rows returns the rows that were put into a database, in their order.
func (d *Desk) Rows(path string) []engine.Row { return d.w.out.clone().rows[path] }

// Alive returns the ids of the actions under way, sorted.
func (d *Desk) Alive() []string {
	var ids []string
	for id := range d.w.facts().Alive {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// EndCommand ends the command whose id ends in suffix; see [EndCommand].
func (d *Desk) EndCommand(suffix string, e engine.Ended) {
	d.T.Helper()
	id, err := EndCommand(suffix, e).take(d.w.out, time.Now())
	if err != nil {
		d.T.Fatal(err)
	}
	d.w.loop.ActionEnded(id)
}

// Lock lets another program lock a database, or unlock it.
func (d *Desk) Lock(path string, locked bool) { d.w.out.lock(path, locked) }

// Settle lets placet make passes until it has nothing left to do, and returns the
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

// Look lets placet make one pass at once, and returns its report.
func (d *Desk) Look() loop.Report {
	d.T.Helper()
	r, err := d.w.loop.Once(context.Background())
	if err != nil {
		d.T.Fatal(err)
	}
	return r
}

// Notes returns the problem notes, in full.
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
