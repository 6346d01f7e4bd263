package loop

import (
	"bytes"
	"context"
	"path"
	"slices"
	"time"

	"placet/engine"
	"placet/layout"
)

// answer returns the document that answers a run's need for the others. If the document is
// unsettled, again is when to ask again. sure requires entries that were compared with the
// files a moment ago, as does every run if no Watch keeps the entries up to date.
func (l *Loop) answer(f Found, sure bool) (d engine.Document, again time.Time, err error) {
	x := l.peers[f.Run.Family]
	if x == nil {
		return engine.Document{Path: engine.NeedPeers, Err: errUnrelated}, time.Time{}, nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.refresh(sure || l.serving.Load() == nil); err != nil {
		return d, again, err
	}
	x.peer(f.Run)
	if again, unknown := x.unknown(); unknown {
		x.asked[f.Run.State] = given{unsure: true}
		return engine.Document{Path: engine.NeedPeers, Err: engine.ErrUnsettled}, again, nil
	}
	delete(x.asked, f.Run.State) // the run gets an answer now
	if err := x.relate(); err != nil {
		return d, again, err
	}
	body := x.answers[f.Run.ID]
	x.asked[f.Run.State] = given{body: body}
	return engine.Document{Path: engine.NeedPeers, Body: body, Sum: engine.Sum(body)}, time.Time{}, nil
}

// relate computes the answers from the entries that are known now, and schedules the runs
// whose answer has changed.
func (x *peers) relate() (err error) {
	if x.answers != nil && !x.stale.Load() {
		return nil
	}
	defer x.bug(&err)
	entries := map[string][]byte{}
	for _, p := range x.runs {
		if len(p.entry) > 0 {
			entries[p.run.ID] = p.entry
		}
	}
	if x.answers = x.m.Relate(entries); x.answers == nil {
		x.answers = map[string][]byte{}
	}
	x.stale.Store(false)
	x.wake()
	return nil
}

// wake schedules the runs whose answer has changed.
func (x *peers) wake() {
	s := x.l.serving.Load()
	for state, was := range x.asked {
		if s != nil && (was.unsure || !bytes.Equal(was.body, x.answers[x.runs[state].run.ID])) {
			s.queue.mark(state)
		}
	}
}

// updateFactor is how many times as long as an update took the next one waits, so that of
// many runs that change at once most are in the next update.
const updateFactor = 4

// run keeps the entries up to date until the context ends.
func (x *peers) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-x.marks.pending:
		}
		began := time.Now()
		x.update()
		if pause(ctx, updateFactor*time.Since(began)) != nil {
			return
		}
	}
}

// update reads the entries that may have changed, and schedules the runs whose answer is
// another one now.
func (x *peers) update() {
	x.mu.Lock()
	defer x.mu.Unlock()
	err := x.refresh(false)
	if _, unknown := x.unknown(); err == nil && !unknown && x.stale.Load() && len(x.asked) > 0 {
		err = x.relate()
	}
	if err != nil {
		x.l.o.Log.Debug("nobody is told of the other runs", "err", err)
	}
}

// passed marks a run's entry after a pass over it.
func (x *peers) passed(p *pass) {
	if !x.needed.Load() {
		return
	}
	if !p.last.began.IsZero() && !needsPeers(p.last.plan.Needs) {
		x.mu.Lock()
		delete(x.asked, p.f.Run.State)
		x.mu.Unlock()
	}
	x.mark(p.f.Run.State)
}

func needsPeers(needs []string) bool { return slices.Contains(needs, engine.NeedPeers) }

// inTurn carries out the plan of the last look. A plan that was based on what the runs of
// the family know of one another, and that changes what they know, waits for the family's
// turn, is made again from a fresh answer, and becomes known before the turn is released:
// so what one run takes is taken for all others.
func (p *pass) inTurn(ctx context.Context) (err error) {
	if !p.outOfTurn() {
		return p.locked(ctx)
	}
	x := p.l.peers[p.f.Run.Family]
	p.s.waiting(func() {
		select {
		case <-ctx.Done():
			err = ctx.Err()
		case x.turn <- struct{}{}:
		}
	})
	if err != nil {
		return err
	}
	defer func() { <-x.turn }()
	p.sure = true
	defer func() { p.sure = false }()
	if p.last, err = p.look(); err != nil {
		return err
	}
	defer x.passed(p)
	return p.locked(ctx)
}

// outOfTurn reports whether the plan of the last look needs the family's turn and does not
// have it.
func (p *pass) outOfTurn() bool {
	return !p.sure && needsPeers(p.last.plan.Needs) && p.l.peers[p.f.Run.Family].concerns(p.f.Run, p.last.plan)
}

// concerns reports whether a plan changes one of the files from which a run's entry is
// derived. The others never learn of anything else.
func (x *peers) concerns(run layout.Run, plan engine.Plan) bool {
	if x == nil {
		return false
	}
	shared := func(p string) bool {
		return slices.ContainsFunc(x.shares, func(rel string) bool { return path.Join(run.Dir, rel) == p })
	}
	return slices.ContainsFunc(plan.Writes, func(d engine.Document) bool { return shared(d.Path) }) ||
		slices.ContainsFunc(plan.Removes, shared) ||
		slices.ContainsFunc(plan.Lines, func(l engine.Line) bool { return shared(l.Path) })
}
