package reconcile

import (
	"context"
	"path"
	"slices"

	"placet/engine"
	"placet/layout"
)

func needsRuns(needs []string) bool { return slices.Contains(needs, engine.NeedRuns) }

// inTurn carries out the plan of the last look. One that was made over what the
// runs of the family know of one another, and that changes what they know, waits for
// the family's turn, is made once more over a fresh answer, and is in the index
// before the turn is given up: so what one run takes up is taken for all others.
func (p *pass) inTurn(ctx context.Context, carry func(context.Context) error) (err error) {
	x := p.l.index(p.f.Run.Family)
	if !p.outOfTurn() {
		return carry(ctx)
	}
	p.waiting(func() { err = x.await(ctx) })
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
	x := p.l.index(p.f.Run.Family)
	return x != nil && !p.sure && needsRuns(p.last.plan.Needs) && x.concerns(p.f.Run, p.last.plan)
}

// concerns reports whether a plan changes one of the files of which a run's entry
// is made. Of nothing else will the others ever know.
func (x *index) concerns(run layout.Run, plan engine.Plan) bool {
	shared := func(p string) bool {
		return slices.ContainsFunc(x.shares, func(rel string) bool { return path.Join(run.Dir, rel) == p })
	}
	return slices.ContainsFunc(plan.Writes, func(d engine.Document) bool { return shared(d.Path) }) ||
		slices.ContainsFunc(plan.Removes, shared) ||
		slices.ContainsFunc(plan.Lines, func(l engine.Line) bool { return shared(l.Path) })
}

// await waits for the family's turn.
func (x *index) await(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case x.turn <- struct{}{}:
		return nil
	}
}
