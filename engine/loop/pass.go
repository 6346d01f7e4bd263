package loop

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"placet/engine"
	"placet/engine/store"
	"placet/layout"
	"placet/templates"
)

const (
	// maxSteps is how many steps one pass carries out; the next pass does the rest, so that
	// a busy run does not keep others waiting. It is also how often the same step is
	// carried out while nobody else changes a document: a machine that asks for it once
	// more goes in circles.
	maxSteps = 64
	// maxConflicts is how often in a row a commit may find that somebody wrote in between
	// before the run has to wait.
	maxConflicts = 16
	// pastWait is how long a wake-up time that has passed may wait.
	pastWait = time.Second
)

// errPaused says that git is rewriting the tree, so nothing is decided.
var errPaused = templates.Errorf("loop.git")

// pass carries out one run's plans until they are empty, in a session of Watch or Once.
type pass struct {
	looker

	began       time.Time   // when the pass began
	transitions int         // how many it has committed
	wrote       bool        // something was committed, begun or ended
	steps       *stepCounts // the steps since the plan was last empty
	swept       bool        // it has looked for left-overs
	left        bool        // some left-overs must be removed later
	last        look        // the last look
}

// newPass returns a pass of a run. It follows the run's folder before the folder is read.
func (s *session) newPass(lv *activeRun) *pass {
	p := &pass{looker: looker{l: s.l, s: s, lv: lv, f: s.registry.found(lv.knownRun), needs: lv.needs}, began: time.Now(), steps: lv.taken}
	var anew bool
	s.registry.do(func() {
		if anew = lv.anew || lv.dirs == nil; anew {
			lv.anew, lv.dirs = false, nil
		}
	})
	if anew && s.w != nil {
		s.queue.distrust(lv.state)
		s.w.Forget(lv.state)
		s.rank(lv)
		s.follow(lv, []string{p.f.Run.Dir})
	}
	return p
}

// run looks and carries out plans until the plan is empty, or the pass has done as much as
// it may.
func (p *pass) run(ctx context.Context) result {
	p.git, p.volatile = nil, nil
	p.needs = p.known(p.needs)
	var before step
	for steps, conflicts := 0, 0; ; {
		if err := p.settled(ctx); err != nil {
			return result{outcome: failed, err: err}
		}
		p.steps.seen(p.last.snap.Docs)
		now := stepOf(p.last.plan)
		switch {
		case p.idle(p.last.plan):
			p.steps = nil
			return result{outcome: idle, at: p.again(time.Time{})}
		case p.steps.times(now) == maxSteps:
			return result{outcome: failed, err: p.stuck()}
		case steps == maxSteps:
			return result{outcome: more}
		case now == before && now.file != "":
			// Somebody removes what the last step wrote, which moved nothing. The run must
			// wait, as after any pass that moves nothing.
			return result{outcome: more}
		}
		if until, early := p.tooSoon(p.last.plan); early {
			return result{outcome: later, at: p.again(until)}
		}
		err := p.carry(ctx)
		switch {
		case err == nil && p.s.yields(p.lv):
			return result{outcome: more}
		case err == nil:
			before, steps, conflicts = now, steps+1, 0
		case errors.Is(err, store.ErrConflict) && conflicts < maxConflicts:
			conflicts++
			p.s.queue.distrust(p.lv.state)
		default:
			return result{outcome: failed, err: err}
		}
	}
}

// settled looks until the look finds something to do, or until everything that the run
// depends on was followed before the look. The look after a commit sees what happens before
// that commit.
func (p *pass) settled(ctx context.Context) error {
	for range maxSteps {
		if err := p.may(ctx); err != nil {
			return err
		}
		p.looking()
		lk, err := p.look()
		if err != nil {
			return err
		}
		p.last = lk
		early := p.s.tooEarly(p.lv, lk, p.f.Run, p.heard != nil) && (p.idle(lk.plan) || p.heard != nil)
		swept := p.sweep(lk.loaded.Temps)
		if !early && !swept {
			return nil
		}
		if swept {
			p.s.queue.distrust(p.lv.state)
		}
	}
	return fmt.Errorf("cannot come to rest: the %s machine needs other folders at every look", p.f.Run.Family)
}

// looking records that the run is about to be read: the look will see what has marked the
// run until now, including its own commits, and later changes mark it again. For a run of a
// sparse family it collects the folders that have changed since the last look, unless the
// whole run must be read. Another pass renews watches that are not to be trusted.
func (p *pass) looking() {
	marked, whole := p.s.queue.beginLook(p.lv.state)
	if marked {
		p.volatile = nil
	}
	p.heard = nil
	anew, heard := p.s.registry.takeHeard(p.lv)
	if anew {
		p.s.queue.markHeard(p.lv.state)
	}
	looked := p.lv.looks > 0 || p.last.loaded.Look > 0
	if looked && !whole && !anew && p.s.w != nil && layout.IsSparse(p.f.Family.Layout) {
		p.heard = heard
	}
}

// tooSoon reports whether a plan must not be carried out yet, and until when. Once does not
// wait for vanished files.
func (p *pass) tooSoon(plan engine.Plan) (until time.Time, is bool) {
	if p.s.w == nil {
		return time.Time{}, false
	}
	return p.lv.absence.debounce(p.l.o.Now(), p.last.loaded, plan)
}

// sweep removes what a crash left in the run's folder, once per pass, and reports whether
// it did. It may have restored a state document, so everything seen before is invalid. A
// later pass tries again to remove what cannot be removed yet.
func (p *pass) sweep(temps []string) bool {
	if p.swept || len(temps) == 0 {
		return false
	}
	p.swept = true
	dirs := map[string]bool{}
	for _, name := range temps {
		dirs[path.Dir(name)] = true
	}
	p.left = len(p.l.sweep(dirs)) > 0
	return true
}

// sweepAgain is after how long left-overs that could not be removed are looked for again.
const sweepAgain = 6 * time.Second

// sweep removes placet's own left-overs from folders, and returns those folders in which
// some remain.
//
// It also sweeps the folders above them: if a root does not exist yet, the watcher makes
// its test file in the nearest folder that does.
func (l *Loop) sweep(dirs map[string]bool) (left map[string]bool) {
	left = map[string]bool{}
	all := map[string]bool{}
	for dir := range dirs {
		for ; !all[dir]; dir = path.Dir(dir) {
			all[dir] = true
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(all)) {
		more, err := l.o.Store.Sweep(dir)
		if err != nil {
			l.o.Log.Debug("cannot remove temporary files", "dir", dir, "err", err)
		}
		if more {
			left[dir] = true
		}
	}
	return left
}

// may returns an error if nothing may be decided now.
func (p *pass) may(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if _, held := p.l.o.Store.Paused(); held {
		return errPaused
	}
	p.l.logStale(p.l.o.Store.Stale())
	return nil
}

// idle reports whether a plan leaves nothing to do. An action stays in the plan for as long
// as it runs: nothing is to be done for it once it has begun, nor for an action that must
// end once it was asked to, and its end is forgotten if the facts hold one.
func (p *pass) idle(plan engine.Plan) bool {
	return !writes(plan) &&
		!slices.ContainsFunc(plan.Actions, func(a engine.Action) bool { return !p.l.actions.hasBegun(a.ID) }) &&
		!slices.ContainsFunc(plan.Ends, func(id string) bool { return p.hasEnd(id) || !p.l.actions.hasEnded(id) })
}

// hasEnd reports whether the last look knew how an action ended.
func (p *pass) hasEnd(id string) bool {
	_, ok := p.last.snap.Facts.Ended[id]
	return ok
}

func writes(plan engine.Plan) bool {
	return len(plan.Transitions) > 0 || len(plan.Writes) > 0 || len(plan.Removes) > 0 || len(plan.Lines) > 0
}

// carry carries out the plan of the last look: commit, notify, end, begin.
func (p *pass) carry(ctx context.Context) error {
	if writes(p.last.plan) {
		if err := p.inTurn(ctx); err != nil {
			return err
		}
	}
	plan := p.last.plan
	for _, t := range plan.Transitions {
		p.transitions++
		for _, o := range p.l.o.Observers {
			o.Moved(p.f.Run, t)
		}
	}
	for _, id := range plan.Ends {
		had := p.hasEnd(id)
		if p.l.actions.end(id) || had {
			p.wrote = true
			p.l.o.End(id)
		}
		if had {
			p.l.actions.forget(id)
		}
	}
	for _, a := range plan.Actions {
		if p.l.actions.begin(a, p.f.Run.State) {
			p.wrote = true
			p.l.o.Begin(a)
		}
	}
	return nil
}

// lookHolds is how long a look remains valid while the pass waits for locks: for that long,
// a second look is assumed to find the same in files that are written without locks.
const lookHolds = 200 * time.Millisecond

// locked commits under the locks of the run, if it has any, which other writers of the run
// take. It looks again once it holds them, unless nothing that is written under the locks
// has changed.
func (p *pass) locked(ctx context.Context) (err error) {
	if len(p.f.Run.Locks) == 0 {
		return p.commit(ctx)
	}
	unlock, err := p.l.o.Store.Lock(ctx, p.f.Run, p.s.waiting)
	if err != nil {
		return err
	}
	defer unlock()
	if p.writesOwn(p.last.plan) || time.Since(p.last.began) < lookHolds && p.l.o.Store.UnchangedLocked(p.f.Run, p.last.loaded.Look) {
		return p.commit(ctx)
	}
	if p.last, err = p.look(); err != nil {
		return err
	}
	return p.commit(ctx)
}

// writesOwn reports whether a plan writes only what placet alone writes, which may come
// before or after anything that others write under the run's locks.
func (p *pass) writesOwn(plan engine.Plan) bool {
	shared := func(name string) bool {
		file, ok := p.f.Family.Layout.File(p.f.Run, strings.TrimPrefix(name, p.f.Run.Dir+"/"))
		return !ok || file.Writer != layout.Placet
	}
	return len(plan.Lines) == 0 && !slices.ContainsFunc(plan.Removes, shared) &&
		!slices.ContainsFunc(plan.Writes, func(d engine.Document) bool { return shared(d.Path) })
}

// commit makes the plan of the last look durable. It refuses a plan that may not be carried
// out, whatever led to it.
func (p *pass) commit(ctx context.Context) error {
	plan := p.last.plan
	if !writes(plan) {
		return nil
	}
	if err := p.l.legal(p.f, plan); err != nil {
		return err
	}
	if err := p.may(ctx); err != nil {
		return err
	}
	_, early := p.tooSoon(plan)
	if early || p.outOfTurn() {
		return store.ErrConflict // a look under the run's locks made another plan
	}
	if p.last.submitted != nil && !p.s.registry.takeSubmission(p.last.submitted) {
		return store.ErrConflict // it was taken back
	}
	var err error
	p.s.waiting(func() {
		began := time.Now()
		if err = p.l.o.Store.Commit(p.f.Run, p.f.Family.Layout, plan); err == nil {
			took := time.Since(began)
			for _, o := range p.l.o.Observers {
				o.Committed(p.f.Run, plan, took)
			}
		}
	})
	if p.last.submitted != nil {
		p.s.committed(p.last.submitted, err)
	}
	if err != nil {
		return err
	}
	p.wrote = true
	p.count(plan)
	return nil
}

// legal returns an error for a transition that is not a row of the machine's table.
func (l *Loop) legal(f Found, plan engine.Plan) error {
	rows := l.edges[f.Family.Layout.Name()]
	for _, t := range plan.Transitions {
		if !rows[t.Edge] {
			return fmt.Errorf("cannot carry out a plan of the %s machine: %s %q from %q to %q is no row of its table (a bug)",
				f.Run.Family, t.Of, t.Event, t.From, t.To)
		}
	}
	return nil
}

// wake returns when time alone may move the run, or when a file of it may have settled: the
// zero time means never.
func (p *pass) wake() time.Time {
	return earlier(p.last.plan.Wake, p.last.loaded.Again)
}

// earlier returns the earlier of two times; the zero time means never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// again returns when to look at the run again if nothing happens before, at until at the
// latest. A time that has passed, although the plan is empty, waits for something else (a
// deadline does not override an answer that is being written): it is no reason to look
// without a pause.
func (p *pass) again(until time.Time) time.Time {
	now, wake := p.last.snap.Now, p.last.plan.Wake
	if !wake.IsZero() && !wake.After(now) {
		wake = now.Add(pastWait)
	}
	wake = earlier(earlier(wake, p.last.loaded.Again), until)
	if p.left {
		wake = earlier(wake, now.Add(sweepAgain))
	}
	return wake
}

// outcome is how a pass ends.
type outcome uint8

const (
	// idle means that nothing is to be done, until a time or a change.
	idle outcome = iota
	// later means that something is to be done, after a time.
	later
	// more means that more is to be done now, after other runs.
	more
	// failed means that an error keeps the run from continuing.
	failed
)

// result is the result of a pass.
type result struct {
	outcome outcome
	// at is when to look at the run again if nothing happens before; zero: never.
	at  time.Time
	err error // if outcome is failed
}
