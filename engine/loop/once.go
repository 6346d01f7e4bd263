package loop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"placet/engine"
	"placet/layout"
)

const (
	// settleWait is how long Once waits for one file to settle.
	settleWait = 2 * time.Second
	// settlePoll is the least time between two looks at an unsettled file.
	settlePoll = 10 * time.Millisecond
	// onceRounds is how often Once goes through all runs because one of them moved: other
	// runs may need what it writes.
	onceRounds = 64
)

// Once settles every run and returns. It waits for files to settle and for locks, never for
// a time that a machine named. While git rewrites the tree it decides nothing and only
// reports on the runs. The error names the runs that it could not continue, and folders
// that cannot be listed; the report is valid for the others.
func (l *Loop) Once(ctx context.Context) (Report, error) {
	o := &settling{session: newSession(l, nil, nil), runs: map[string]*onceRun{}}
	var walkErr error
	l.actions.takeNews() // the first round looks at all runs
	var told map[string]bool
	for range onceRounds {
		w := walk{list: l.o.Store.List}
		found := l.walk(&w)
		walkErr = w.err()
		for _, x := range l.peers {
			x.walked(found, w.hides)
			x.markAll()
		}
		l.sweep(w.folders())
		sideBySide(context.Background(), l.o.Workers, o.todo(found, told), func(out *onceRun) { o.settle(ctx, out) })
		told = l.actions.takeNews()
		if ctx.Err() != nil || o.held != "" || !o.wrote() && len(told) == 0 {
			break
		}
	}
	r, err := o.report(ctx)
	l.saveOnce(o)
	return r, errors.Join(ctx.Err(), walkErr, err, l.o.Store.Flush())
}

// saveOnce stores what was seen for the next start.
func (l *Loop) saveOnce(o *settling) {
	var all []Found
	for _, out := range o.runs {
		all = append(all, out.f)
	}
	l.SaveCache(all)
}

// settling is one call of Once.
type settling struct {
	*session
	mu    sync.Mutex
	held  string
	runs  map[string]*onceRun // state → its result
	order []string
}

// onceRun is the result for one run.
type onceRun struct {
	f     Found
	p     *pass          // the last pass; nil for final runs
	idle  *storedIdle    // nil if the run was looked at
	calm  engine.Summary // the summary of an idle run
	moved int
	wrote bool // in the last round
	err   error
}

// wrote reports whether the last round wrote anything.
func (o *settling) wrote() bool {
	for _, out := range o.runs {
		if out.wrote {
			return true
		}
	}
	return false
}

// todo returns the runs to look at in a round: all at first, later those that are new,
// those that need files of others and those of which an action ended. It drops runs that
// vanished.
func (o *settling) todo(found []Found, told map[string]bool) []*onceRun {
	before := o.runs
	o.runs, o.order = map[string]*onceRun{}, nil
	var todo []*onceRun
	for _, f := range found {
		out := before[f.Run.State]
		if out == nil {
			out = &onceRun{f: f}
			todo = append(todo, out)
		} else if out.wrote = false; out.needs() || told[f.Run.State] {
			todo = append(todo, out)
		}
		o.runs[f.Run.State] = out
		o.order = append(o.order, f.Run.State)
	}
	return todo
}

// needs reports whether a run depends on what others do. The committer of an answer is
// fixed for its content: no other run changes it.
func (out *onceRun) needs() bool {
	others := func(need string) bool { return !strings.HasPrefix(need, engine.CommitterNeed) }
	return out.p != nil && slices.ContainsFunc(out.p.last.snap.Needs, others) || out.idle != nil && slices.ContainsFunc(out.idle.Needs, others)
}

// settle gives one run its passes, until no file of it is being written any more or the
// time to wait is over. For a final run that placet never moved, it reads only the state
// document.
func (o *settling) settle(ctx context.Context, out *onceRun) {
	if status := o.l.Summarize(out.f); out.p == nil && status.Final && !status.Touched {
		return
	}
	if out.p == nil && o.isAsLeft(out) {
		return
	}
	o.working.acquire()
	defer o.working.release()
	p := o.newPass(o.registry.newActive(out.f))
	out.p, out.idle = p, nil
	var since patience
	for {
		r := p.run(ctx)
		if out.err = r.err; errors.Is(r.err, errPaused) {
			o.hold(out)
			break
		}
		if r.outcome == more {
			continue
		}
		if r.outcome == failed || !since.waits(p, o.l.o.Now()) {
			break
		}
		if out.err = o.l.o.Pause(ctx, max(p.last.loaded.Again.Sub(o.l.o.Now()), settlePoll)); out.err != nil {
			break
		}
	}
	out.moved += p.transitions
	out.wrote = p.wrote
	if out.err == nil && !p.wrote {
		o.l.store(out.f, p.last, nil)
	}
}

// isAsLeft reports whether a run is unchanged since an earlier placet left it, and if so
// takes over the stored summary.
func (o *settling) isAsLeft(out *onceRun) bool {
	if _, held := o.l.o.Store.Paused(); held {
		return false
	}
	if o.l.actions.isUnderWay(out.f.Run.State) {
		return false
	}
	rec, run := o.l.Stored().get(out.f)
	if run.Idle == nil || !o.l.o.Store.Holds(out.f.Run, rec) {
		return false
	}
	out.calm, out.idle = run.Summary, run.Idle
	return true
}

// hold records that git is rewriting the tree. It looks at the run all the same, so that
// the report can describe it.
func (o *settling) hold(out *onceRun) {
	reason, held := o.l.o.Store.Paused()
	if !held {
		reason = errPaused.Error() // it is over by now
	}
	o.mu.Lock()
	if o.held == "" {
		o.held = reason
	}
	o.mu.Unlock()
	out.p.last, out.err = out.p.look()
}

// patience holds for each file since when it has been waited for.
type patience map[string]time.Time

// waits reports whether a file is being written that has not been waited for long enough.
func (since *patience) waits(p *pass, now time.Time) bool {
	if *since == nil {
		*since = patience{}
	}
	wait := false
	for _, d := range p.last.snap.Docs {
		if !d.Unsettled() {
			continue
		}
		first, ok := (*since)[d.Path]
		if !ok {
			first = now
			(*since)[d.Path] = now
		}
		wait = wait || now.Sub(first) < settleWait
	}
	return wait
}

// report returns the report on all runs.
func (o *settling) report(ctx context.Context) (Report, error) {
	r := Report{Runs: len(o.order), Held: o.held}
	var errs []error
	for _, state := range o.order {
		out := o.runs[state]
		r.Moved += out.moved
		if out.idle != nil {
			r.addRest(out.calm, out.idle)
		}
		if out.p == nil {
			continue
		}
		var stuck *stuckError
		is := errors.As(out.err, &stuck)
		r.add(out.f, out.p, is)
		if out.err != nil && !is && ctx.Err() == nil {
			errs = append(errs, fmt.Errorf("%s: %w", out.f.Key(), out.err))
		}
	}
	r.tidy()
	return r, errors.Join(errs...)
}

// Report is what Once found and did.
type Report struct {
	// Runs is the number of runs, Waiting how many of them wait for a person.
	Runs, Waiting int
	// Moved is the number of transitions committed.
	Moved int
	// Unsettled are the files, by path, that were still being written when the time to wait
	// for them was over.
	Unsettled []string
	// Torn are the files, by path, that cannot be read and may be half written, so that no
	// note says yet what is wrong with them.
	Torn []string
	// Settling are the files, by path, that are read and count unless their writers go on:
	// nothing is wrong with them, but others may follow.
	Settling []string
	// Notes are the paths of the problem notes beside the files of runs that can move.
	Notes []string
	// Wake is the earliest time at which time alone may move something; zero if there is
	// none.
	Wake time.Time
	// Held says why nothing was decided, "" if something could be.
	Held string
	// Stuck are the keys of runs whose machine never reaches an empty plan.
	Stuck []string
}

// add adds a run's last pass to the report.
func (r *Report) add(f Found, p *pass, stuck bool) {
	if stuck {
		r.Stuck = append(r.Stuck, f.Key().String())
	}
	for _, d := range p.last.snap.Docs {
		switch {
		case d.Unsettled() && d.Path == engine.NeedPeers:
			_, writing := p.l.peers[f.Run.Family].entries()
			r.Unsettled = append(r.Unsettled, writing...)
		case d.Unsettled():
			r.Unsettled = append(r.Unsettled, d.Path)
		case d.Kind == layout.KindProblem && !d.Absent() && strings.HasSuffix(d.Path, ".md"):
			r.Notes = append(r.Notes, d.Path)
		}
	}
	for _, h := range p.last.plan.Pending {
		if h.Counts {
			r.Settling = append(r.Settling, h.Path)
		} else {
			r.Torn = append(r.Torn, h.Path)
		}
	}
	// An open request may exist that the state does not record.
	if summarize(f, p.last.snap.Doc(f.Run.State)).Waiting || len(openRequests(p.last.snap.Docs)) > 0 {
		r.Waiting++
	}
	r.Wake = earlier(r.Wake, p.wake())
}

// addRest adds a run to the report that is unchanged since an earlier placet left it.
func (r *Report) addRest(status engine.Summary, rest *storedIdle) {
	r.Notes = append(r.Notes, rest.Notes...)
	if status.Waiting {
		r.Waiting++
	}
	r.Wake = earlier(r.Wake, rest.Wake)
}

// tidy sorts the lists and removes duplicates: several runs may need the same file.
func (r *Report) tidy() {
	for _, list := range []*[]string{&r.Unsettled, &r.Torn, &r.Settling, &r.Notes, &r.Stuck} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
}
