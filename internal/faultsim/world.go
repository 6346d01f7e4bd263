package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"placet/engine"
	"placet/engine/loop"
	"placet/engine/store"
	"placet/engine/store/fs"
	"placet/engine/store/memfs"
	"placet/layout"
)

// clock is a time that advances with every reading, and when the scenario says so.
type clock struct {
	mu sync.Mutex
	at time.Time
}

// tick is how much a reading advances the clock.
const tick = 100 * time.Microsecond

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(tick)
	return c.at
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// promise is a document that was reported as decided: it must never be lost or changed.
type promise struct{ path, body string }

// world is one execution: a disk, and placet running on it, until a crash.
type world struct {
	sc    *scene
	lab   *lab
	disk  *memfs.FS
	clock *clock
	step  int
	level uint64 // how many crashes came before

	// record is placet's record of its writes, which outlives the disk.
	record *memfs.Record

	store *store.Store
	loop  *loop.Loop
	// unlock releases the workspace, as the death of a process does.
	unlock func()
	boots  uint64

	promised []promise
	// published is the highest revision that was reported, by state document.
	published map[string]int
	begun     map[string]int

	// troubles are what happens at the calls of this execution, in order.
	troubles []trouble
	crashed  *memfs.FS // what is left after the crash
	moved    bool      // something was reported as decided in this execution
	// disturbed says that something went wrong, or somebody else acted, since the
	// pass of placet began.
	disturbed bool
	spoke     bool // somebody else wrote
	erred     int  // calls that returned an error
	// lied says that an fsync has lost what it was to write. excused says that
	// since then placet has been killed, or has stopped and was started again:
	// what was lost is missing, and nobody can know it. That is the one thing that
	// the commit does not promise.
	lied, excused bool
	stale         bool // and restored what was before
	// watch sees every call before it is made.
	watch func(memfs.Call)
	trace io.Writer
}

// errDown says that the execution has ended with a crash.
var errDown = errors.New("the machine has crashed")

// newWorld returns the world before the i-th step of a scene.
func (l *lab) newWorld(sc *scene, i int) *world {
	w := l.worldOn(sc, sc.before[i].KillClone(), sc.starts[i])
	w.step, w.record = i, sc.records[i].Clone()
	return w
}

func (l *lab) worldOn(sc *scene, disk *memfs.FS, at time.Time) *world {
	w := &world{sc: sc, lab: l, disk: disk, clock: &clock{at: at}, published: map[string]int{}, begun: map[string]int{}}
	disk.SetClock(w.clock.now)
	if sc.variant.on != nil {
		sc.variant.on(disk)
	}
	disk.Hook(w.hook)
	return w
}

// wait is how long a machine is down after a crash: until left-overs are old
// enough to be swept.
const wait = time.Minute

// after returns the world after a crash, of power or of placet alone.
func (w *world) after(disk *memfs.FS, power bool) *world {
	next := w.lab.worldOn(w.sc, disk, w.clock.at.Add(wait))
	next.step, next.level, next.record = w.step, w.level+1, w.record.Clone()
	next.promised = slices.Clip(w.promised)
	for state, r := range w.published {
		next.published[state] = r
	}
	for id, n := range w.begun {
		next.begun[id] = n
	}
	next.spoke, next.stale = w.spoke, w.stale
	next.erred = w.erred
	next.lied, next.excused = w.lied && !power, w.excused || w.lied && !power
	return next
}

// hook is called before each file call.
func (w *world) hook(c memfs.Call) error {
	if w.crashed != nil {
		return memfs.ErrCrashed
	}
	err := w.strike(c)
	if w.trace != nil {
		w.tell(c, err)
	}
	if w.crashed == nil && w.watch != nil {
		w.watch(c)
	}
	return err
}

func (w *world) tell(c memfs.Call, err error) {
	what := ""
	if err != nil {
		what = "   ← " + err.Error()
	}
	fmt.Fprintf(w.trace, "  %4d %-9s %s%s\n", c.N, c.Op, c.Name, what)
}

// boot starts placet.
func (w *world) boot() error {
	n := w.level<<40 + w.boots<<32
	w.boots++
	random := func() uint64 {
		n++
		z := n * 0x9e3779b97f4a7c15
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		return z ^ z>>27
	}
	fsys := fs.FS(w.disk)
	if w.lab.wrap != nil {
		fsys = w.lab.wrap(fsys)
	}
	w.store = store.New(fsys, store.Options{Now: w.clock.now, Parallel: 1, Many: w.sc.variant.many, Random: random, Record: w.record})
	unlock, err := w.store.LockWorkspace()
	if err != nil {
		return err
	}
	w.unlock = unlock
	w.loop = loop.New(loop.Options{
		Store: w.store, Families: []loop.Family{w.sc.family}, Workers: 1, Now: w.clock.now,
		Facts:     func(string) engine.Environment { return w.sc.facts },
		Begin:     func(a engine.Action) { w.begun[a.ID]++ },
		Observers: loop.Observers{{Moved: func(run layout.Run, _ engine.Transition) { w.publish(run) }}},
		Pause: func(_ context.Context, d time.Duration) error {
			if w.crashed != nil {
				return errDown
			}
			w.clock.add(d)
			return nil
		},
	})
	return nil
}

// publish notes the promises of a transition that was reported.
func (w *world) publish(run layout.Run) {
	if w.crashed != nil {
		return
	}
	w.moved = true
	w.vow(run.Dir + "/")
	if body, ok := w.disk.Get(run.State); ok {
		w.published[run.State] = max(w.published[run.State], revisionOf(body))
	}
}

// vow promises all immutable documents below a folder.
func (w *world) vow(dir string) {
	w.disk.Each(func(name string, body []byte) {
		if strings.HasPrefix(name, dir) && immutable(name) && !slices.ContainsFunc(w.promised, func(p promise) bool { return p.path == name }) {
			w.promised = append(w.promised, promise{name, string(body)})
		}
	})
}

// calm is how long files stand unchanged before a pass.
const calm = 3 * time.Second

// looks is how many passes placet may need to become idle: more than the number of
// calls for which an error lasts.
const looks = 64

// settle lets placet make passes until it has nothing left to do. It starts placet
// again if it stopped or could not start.
func (w *world) settle() error {
	var err error
	for range looks {
		w.clock.add(calm)
		if w.loop == nil {
			if err = w.boot(); err != nil {
				if w.crashed != nil {
					return errDown
				}
				continue
			}
		}
		err = w.look()
		switch {
		case w.crashed != nil:
			return errDown
		case errors.Is(err, store.ErrStopped):
			w.unlock()
			w.excused = w.excused || w.lied
			w.loop = nil
		case err == nil:
			return nil
		}
	}
	return fmt.Errorf("it does not settle: %w", err)
}

func (w *world) look() error {
	if w.sc.together {
		if err := w.together(); err != nil {
			return err
		}
	}
	r, err := w.loop.Once(context.Background())
	switch {
	case err != nil:
		return err
	case len(r.Stuck) > 0:
		return fmt.Errorf("stuck: %q", r.Stuck)
	case len(r.Unsettled) > 0 || r.Held != "":
		return fmt.Errorf("still being written: %q, held %q", r.Unsettled, r.Held)
	}
	return nil
}

// together evaluates all runs and commits their plans in shared rounds, until no
// run has a plan.
func (w *world) together() error {
	for range looks {
		found, err := w.loop.Runs()
		if err != nil {
			return err
		}
		var plans []store.Ready
		for _, f := range found {
			snap, _, err := w.loop.Snapshot(f)
			if err != nil {
				return err
			}
			plan, err := f.Family.Machine.Step(snap)
			if err != nil {
				return err
			}
			if len(plan.Writes)+len(plan.Removes)+len(plan.Lines) > 0 {
				plans = append(plans, store.Ready{Run: f.Run, Plan: plan})
			}
		}
		if len(plans) == 0 {
			return nil
		}
		var errs []error
		for i, err := range w.store.CommitTogether(plans) {
			if errs = append(errs, err); err == nil && len(plans[i].Plan.Transitions) > 0 {
				w.publish(plans[i].Run)
			}
		}
		if err := errors.Join(errs...); err != nil {
			return err
		}
	}
	return nil
}

// take takes the world's step and settles.
func (w *world) take() error {
	s := w.sc.steps[w.step]
	w.clock.add(s.after)
	s.do(w.disk)
	return w.rest()
}

// rest settles the world. If something went wrong on the way, or others wrote,
// placet makes one more pass, as it would after the event.
func (w *world) rest() error {
	err := w.settle()
	for err == nil && w.disturbed {
		w.disturbed = false
		w.clock.add(wait)
		err = w.settle()
	}
	if err == nil {
		if w.level == 0 || w.moved {
			w.vow("")
		}
		err = w.strikeAtRest()
	}
	return err
}
