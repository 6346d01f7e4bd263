package reconcile

import (
	"bytes"
	"context"
	"path"
	"slices"
	"time"

	"placet/engine"
	"placet/layout"
)

// answer is the document that answers a run's need for the others. Where it is
// unsettled, again is when to ask again. sure asks for entries that were compared
// with the files a moment ago, as does every run where no Watch keeps them.
func (l *Loop) answer(f Found, sure bool) (d engine.Document, again time.Time, err error) {
	x := l.peers[f.Run.Family]
	if x == nil {
		return engine.Document{Path: engine.NeedRuns, Err: errUnrelated}, time.Time{}, nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.refresh(sure || l.serving.Load() == nil); err != nil {
		return d, again, err
	}
	p := x.peer(f.Run)
	if again, unknown := x.unknown(); unknown {
		x.setAsked(p, true)
		p.unsure = true
		return engine.Document{Path: engine.NeedRuns, Err: engine.ErrUnsettled}, again, nil
	}
	x.setAsked(p, false) // it is told now
	if err := x.relate(); err != nil {
		return d, again, err
	}
	x.setAsked(p, true)
	p.told = x.answers[f.Run.ID]
	return engine.Document{Path: engine.NeedRuns, Body: p.told, Sum: engine.Sum(p.told)}, time.Time{}, nil
}

// setAsked notes whether a run is told of the others.
func (x *peers) setAsked(p *peer, asked bool) {
	switch {
	case asked && !p.asked:
		x.askers++
	case !asked && p.asked:
		x.askers--
	}
	p.asked, p.unsure, p.told = asked, false, nil
}

// relate makes the answers of the entries that are known by now, and has those
// looked at again who were told otherwise.
func (x *peers) relate() (err error) {
	if x.answers != nil && !x.stale {
		return nil
	}
	defer x.bug(&err)
	began := time.Now()
	entries := map[string][]byte{}
	for _, p := range x.runs {
		if len(p.entry) > 0 {
			entries[p.run.ID] = p.entry
		}
	}
	answers := x.m.Relate(entries)
	if answers == nil {
		answers = map[string][]byte{}
	}
	x.answers, x.stale = answers, false
	x.wake()
	x.related, x.relating = time.Now(), time.Since(began)
	return nil
}

// wake has those looked at again who were told otherwise.
func (x *peers) wake() {
	s := x.l.serving.Load()
	for state, p := range x.runs {
		if p.asked && (p.unsure || !bytes.Equal(p.told, x.answers[p.run.ID])) && s != nil {
			s.queue.mark(state)
		}
	}
}

// relateFactor is how many times as long as it took nobody is looked at again after
// answers were made anew: of many runs that change at once most are in the next.
const relateFactor = 4

// update reads what was called into question, and has those looked at again whose
// answer is another one by now: at once, or shortly after the last time.
func (x *peers) update() {
	if !x.needed.Load() {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.refresh(false); err != nil {
		x.l.o.Log.Debug("cannot look at what others must know of a run", "err", err)
	}
	if x.due || !x.stale || x.askers == 0 {
		return
	}
	wait := relateFactor*x.relating - time.Since(x.related)
	if x.due = wait > 0; !x.due {
		x.tell()
		return
	}
	time.AfterFunc(wait, func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.due = false
		x.tell()
	})
}

// tell makes the answers anew, if all is known.
func (x *peers) tell() {
	if _, unknown := x.unknown(); unknown || !x.built {
		return
	}
	if err := x.relate(); err != nil {
		x.l.o.Log.Debug("nobody is told of the other runs", "err", err)
	}
}

// passed looks at a run after a pass over it.
func (x *peers) passed(p *pass) {
	if x == nil || !x.needed.Load() {
		return
	}
	x.mark(p.f.Run.State)
	x.mu.Lock()
	if x.runs != nil && !p.last.began.IsZero() && !needsPeers(p.last.plan.Needs) {
		x.setAsked(x.peer(p.f.Run), false)
	}
	x.mu.Unlock()
	x.update()
}

func needsPeers(needs []string) bool { return slices.Contains(needs, engine.NeedRuns) }

// inTurn carries out the plan of the last look. One that was made over what the
// runs of the family know of one another, and that changes what they know, waits for
// the family's turn, is made once more over a fresh answer, and is known before the
// turn is given up: so what one run takes up is taken for all others.
func (p *pass) inTurn(ctx context.Context, carry func(context.Context) error) (err error) {
	if !p.outOfTurn() {
		return carry(ctx)
	}
	x := p.l.peers[p.f.Run.Family]
	p.waiting(func() {
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
	return carry(ctx)
}

// outOfTurn reports whether the plan of the last look needs the family's turn, and
// does not have it.
func (p *pass) outOfTurn() bool {
	return !p.sure && needsPeers(p.last.plan.Needs) && p.l.peers[p.f.Run.Family].concerns(p.f.Run, p.last.plan)
}

// concerns reports whether a plan changes one of the files of which a run's entry
// is made. Of nothing else will the others ever know.
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
