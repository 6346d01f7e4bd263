package enginetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"placet/engine"
	"placet/engine/loop"
	"placet/engine/store"
	"placet/engine/store/memfs"
	"placet/layout"
)

// world is one execution of a scenario on a disk in memory, by the real store and
// the real loop. It lives in a bubble: time passes when the scenario says so, and
// while the loop waits.
type world struct {
	suite   Suite
	c       Case
	machine engine.Machine
	disk    *memfs.FS
	asked   map[string]bool // the types of the requests that were open in an idle state
	// record outlives placet and the disk, as the state folder does.
	record *memfs.Record
	how    telling

	// like, if not nil, are the expected idle states, and mend may replace an error
	// with which settling ends. equal is the suite's PowerCut if that applies.
	like  []rest
	mend  func(error) error
	equal func(Tree) Tree

	store *store.Store
	loop  *loop.Loop
	// look lets the loop settle the workspace.
	look func() (loop.Report, error)

	out *outside
}

// telling is how a scenario is run; the zero telling is the plain way.
type telling struct {
	// byHand leaves it to the test how long half a write is waited for.
	byHand            bool
	workers, parallel int
	// moved is called for every transition.
	moved func(engine.Transition)
	// piecemeal puts the files of the beginning in place one by one.
	piecemeal bool
	// restarts starts placet again before every pass.
	restarts bool
	// twice makes every pass twice.
	twice bool
}

// newWorld returns a world before its scenario begins.
func newWorld(s Suite, c Case, m engine.Machine, how telling) *world {
	w := &world{suite: s, c: c, machine: m, how: how, out: newOutside(s), asked: map[string]bool{}}
	w.look = func() (loop.Report, error) { return w.loop.Once(context.Background()) }
	pass(time.Until(c.Now))
	w.disk, w.record = memfs.New(nil), &memfs.Record{}
	return w
}

// rest is a world that is idle after a step of its scenario.
type rest struct {
	tree   Tree
	disk   *memfs.FS
	record *memfs.Record
	out    *outside
	at     time.Time
}

// worldAt returns the world before the i-th step of a scenario, as an earlier
// execution left it. placet has just started there.
func worldAt(s Suite, c Case, how telling, rests []rest, i int) *world {
	w := newWorld(s, c, s.Machine, how)
	if i > 0 {
		from := rests[i-1]
		pass(time.Until(from.at))
		w.disk, w.record, w.out = from.disk.KillClone(), from.record.Clone(), from.out.clone()
	}
	w.boot()
	return w
}

// pass lets time pass.
func pass(d time.Duration) {
	timer := time.NewTimer(d)
	<-timer.C
}

// boot starts placet.
func (w *world) boot() {
	w.out.restart()
	parallel := max(w.how.parallel, 1)
	w.record.Surface = w.surface
	w.store = store.New(w.disk, store.Options{Parallel: parallel, Record: w.record})
	w.loop = loop.New(loop.Options{
		Store:    w.store,
		Families: []loop.Family{{Layout: w.suite.Layout, Machine: w.machine}},
		Facts:    func(string) engine.Environment { return w.facts() },
		Lookup:   w.suite.Lookup,
		Begin:    w.out.begin,
		End:      w.out.end,
		Workers:  max(w.how.workers, 1),
		Observers: loop.Observers{{Moved: func(_ layout.Run, t engine.Transition) {
			if w.how.moved != nil {
				w.how.moved(t)
			}
		}}},
	})
}

// facts returns the case's settings, and which actions run.
func (w *world) facts() engine.Environment {
	f := factsOf(w.suite, w.c)
	if w.c.Agree != nil {
		w.c.Agree(w.tree(), &f)
	}
	w.out.facts(&f, func(outcome string) bool {
		_, there := w.disk.Get(outcome)
		return there
	})
	return f
}

func factsOf(s Suite, c Case) engine.Environment {
	f := engine.Environment{Config: s.Config, Trusted: map[engine.Digest]bool{}, Alive: map[string]bool{}}
	if c.Config != nil {
		f.Config.Gates = maps.Clone(f.Config.Gates)
		c.Config(&f.Config)
	}
	for _, d := range c.Trusted {
		f.Trusted[d] = true
	}
	return f
}

// deliver carries out the actions that were begun for databases and tells the
// loop. It reports whether one has ended.
func (w *world) deliver() bool {
	told := w.out.deliver(time.Now())
	for _, id := range told {
		w.loop.ActionEnded(id)
	}
	return len(told) > 0
}

// mostDeliveries is how often in a row an action may end and cause another pass.
const mostDeliveries = 64

// looks makes passes until no action ends any more.
func (w *world) looks() (loop.Report, error) {
	for range mostDeliveries {
		r, err := w.look()
		if err != nil || w.disk.Crashed() || !w.deliver() {
			return r, err
		}
	}
	return loop.Report{}, errors.New("it does not settle: it wants something of a database again and again")
}

// errDown says that the machine crashed during the scenario.
var errDown = errors.New("the machine has crashed")

// calm is how long files stand unchanged before a pass, so that placet can
// use them at once.
const calm = 3 * time.Second

// halfWrite is longer than the time for which content that ends too early may be
// half of a write.
const halfWrite = 11 * time.Second

// settle lets placet make passes until it has nothing left to do. It returns errDown
// if the machine crashed meanwhile, otherwise the error that kept it from settling.
func (w *world) settle() error {
	pass(calm)
	var err error
	for range 8 {
		if w.how.restarts {
			w.boot()
		}
		var r loop.Report
		r, err = w.looks()
		switch {
		case w.disk.Crashed():
			return errDown
		case len(r.Stuck) > 0:
			return fmt.Errorf("it does not settle: stuck %q", r.Stuck)
		case err == nil && (len(r.Unsettled) > 0 || r.Held != ""):
			err = fmt.Errorf("it does not settle: still being written %q, held %q", r.Unsettled, r.Held)
		case err == nil && len(r.Torn)+len(r.Settling) > 0 && !w.how.byHand:
			// The result depends on the time alone, and a crash takes some.
			pass(halfWrite)
			continue
		case err == nil:
			return nil
		}
		pass(time.Second)
	}
	return err
}

// begins puts the case's files in place; nothing is settled yet.
func (w *world) begins() error {
	for _, p := range w.first() {
		w.disk.Put(p, w.c.Files[p])
		if w.how.piecemeal {
			if err := w.settle(); err != nil {
				return err
			}
		}
	}
	return nil
}

// first returns the paths of the case's files, the state documents last: without
// one there is no run, so that a run never sees a part of its files.
func (w *world) first() []string {
	paths := w.c.Files.Paths()
	state := func(p string) int {
		if run, ok := w.suite.Layout.At(p); ok && run.State == p {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(paths, func(a, b string) int { return state(a) - state(b) })
	return paths
}

// act takes a step. It returns an error if the tree is not what the step expects.
func (w *world) act(step Step) (err error) {
	defer func() {
		if problem := recover(); problem != nil {
			err = fmt.Errorf("cannot take the step %q: %v", step.Name, problem)
		}
	}()
	pass(step.After)
	if id, err := step.take(w.out, time.Now()); err != nil {
		return err
	} else if id != "" {
		w.loop.ActionEnded(id)
	}
	before, after := w.tree(), w.tree()
	if step.Do == nil {
		return nil
	}
	step.Do(after)
	for _, p := range after.Paths() {
		if content, there := before[p]; !there || content != after[p] {
			w.disk.Put(p, after[p])
		}
	}
	for _, p := range before.Paths() {
		if _, there := after[p]; !there {
			w.disk.Delete(p)
		}
	}
	return step.record(w.record, w.suite.Layout, before, after)
}

// tree returns the present workspace.
func (w *world) tree() Tree { return Tree(w.disk.Tree()) }

// tell runs the whole scenario, until an error ends it. After the beginning and
// after every step, when everything has settled, it calls then with the number
// of steps so far.
func (w *world) tell(then func(steps int)) error {
	w.boot()
	for i := range len(w.c.Steps) + 1 {
		if err := w.take(i); err != nil {
			return fmt.Errorf("%s: %w", w.c.where(i), err)
		}
		then(i)
	}
	return nil
}

// take takes the i-th step, the 0th being the beginning, and settles.
func (w *world) take(i int) error {
	var err error
	if i == 0 {
		err = w.begins()
	} else {
		err = w.act(w.c.Steps[i-1])
	}
	if err != nil {
		return err
	}
	if err = w.settle(); err != nil && w.mend != nil {
		err = w.mend(err)
	}
	if err == nil && w.how.twice {
		err = w.settle()
	}
	if err == nil && w.like != nil {
		err = w.compare(w.like[i].tree)
	}
	if err == nil {
		err = w.out.after(w.suite, w.tree())
	}
	return err
}

// compare returns an error if the tree is not the expected one.
func (w *world) compare(want Tree) error {
	got := w.tree()
	diff := w.suite.difference(want, got)
	if diff != "" && w.equal != nil {
		diff = w.suite.difference(w.equal(want.Clone()), w.equal(got))
	}
	if diff != "" {
		return fmt.Errorf("the tree is another one (-without +with):\n%s", diff)
	}
	return nil
}

// where says how far the scenario has come.
func (c Case) where(steps int) string {
	if steps == 0 {
		return "at the beginning"
	}
	name := c.Steps[steps-1].Name
	if name == "" {
		name = fmt.Sprint("step ", steps)
	}
	return "after " + name
}
