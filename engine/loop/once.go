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
	// settleWait is how long Once waits for one file to stand still.
	settleWait = 2 * time.Second
	// settlePoll is the least time between two looks meanwhile.
	settlePoll = 10 * time.Millisecond
	// onceRounds is how often Once goes through all runs because one of them
	// moved: what one writes, others may need.
	onceRounds = 64
)

// Once settles everything that is there and returns. It waits for files to
// stand still and for locks, never for a moment that a machine named. While git
// rewrites the tree it decides nothing and says how things stand. The error
// names the runs that it could not go on with, and folders that cannot be
// listed; the report holds for the others.
func (l *Loop) Once(ctx context.Context) (Report, error) {
	o := &settling{session: newSession(l, nil, nil), runs: map[string]*onceRun{}}
	var walkErr error
	l.actions.takeNews() // all are looked at
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

// settling is one Once.
type settling struct {
	*session
	mu    sync.Mutex
	held  string
	runs  map[string]*onceRun // state → what came of it
	order []string
}

// onceRun is what came of one run.
type onceRun struct {
	f     Found
	p     *pass          // the last one; nil for final runs
	idle  *storedIdle    // nil where it was looked at
	calm  engine.Summary // of one that is idle
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

// todo are the runs to look at in a round: all at first, later those that are
// new, those that need files of others and those of which an action ended. Runs
// that vanished are dropped.
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

// needs reports whether a run depends on what others do. Who committed an answer is settled
// for its content: no other run changes that.
func (out *onceRun) needs() bool {
	others := func(need string) bool { return !strings.HasPrefix(need, engine.CommitterNeed) }
	return out.p != nil && slices.ContainsFunc(out.p.last.snap.Needs, others) || out.idle != nil && slices.ContainsFunc(out.idle.Needs, others)
}

// settle gives one run its passes, until no file of it is being written any
// more or the time to wait is over. Of a final run that placet never moved the
// state document alone is read.
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

// isAsLeft takes a run as an earlier placet left it, if it still is.
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

// hold notes that git is rewriting the tree. The run is looked at all the same,
// so that the report can say how it stands.
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

// patience counts for each file how long it was waited for.
type patience map[string]time.Time

// waits reports whether any file is being written that was not waited for long
// enough.
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

// report sums up.
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
	// Unsettled are the files, by path, that were still being written when the
	// time to wait for them was over.
	Unsettled []string
	// Torn are the files, by path, that cannot be read and may be half of a write:
	// no note says yet what is wrong with them.
	Torn []string
	// Notes are the paths of the problem notes that stand beside the files of
	// runs that can move.
	Notes []string
	// Wake is the earliest moment at which time alone may move something; zero
	// if there is none.
	Wake time.Time
	// Held says why nothing was decided, "" if it was.
	Held string
	// Stuck are the keys of runs whose machine does not come to rest.
	Stuck []string
}

// add takes one run's last pass into the report.
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
		r.Torn = append(r.Torn, h.Path)
	}
	// A request may stand of which the state does not tell.
	if summarize(f, p.last.snap.Doc(f.Run.State)).Waiting || len(openRequests(p.last.snap.Docs)) > 0 {
		r.Waiting++
	}
	r.Wake = earlier(r.Wake, p.wake())
}

// addRest takes a run into the report that is as an earlier placet left it.
func (r *Report) addRest(status engine.Summary, rest *storedIdle) {
	r.Notes = append(r.Notes, rest.Notes...)
	if status.Waiting {
		r.Waiting++
	}
	r.Wake = earlier(r.Wake, rest.Wake)
}

// tidy sorts the lists; a file that several runs need is named once.
func (r *Report) tidy() {
	for _, list := range []*[]string{&r.Unsettled, &r.Torn, &r.Notes, &r.Stuck} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
}
