package run

import (
	"slices"
	"strings"

	"placet/engine"
)

// Family implements [engine.Machine].
func (f *Family[S, V]) Family() string { return f.Name }

// Edges implements [engine.Machine].
func (f *Family[S, V]) Edges() []engine.Edge { return f.edges() }

// Step implements [engine.Machine].
func (f *Family[S, V]) Step(s engine.Snapshot) (engine.Plan, error) {
	b := f.open(s)
	needs := f.needs(b)
	if len(s.Lacks(needs)) > 0 {
		return engine.Plan{Needs: needs}, nil
	}
	p, moved := f.next(b)
	if !moved && !hasWrites(p) {
		f.rest(b, &p)
	}
	p.Needs, p.Follow, p.Holding = needs, f.Watch(b.v), b.Holding
	p.WakeAt(b.Wake)
	return p, nil
}

func (f *Family[S, V]) needs(b *bound[S, V]) []string {
	if b.Usable() {
		return f.Needs(b.v)
	}
	return nil
}

func hasWrites(p engine.Plan) bool { return len(p.Writes)+len(p.Removes)+len(p.Lines) > 0 }

// next is what is to be done now: nothing while the state cannot be used; else what the
// state calls for and is not there; else the first rule that applies.
func (f *Family[S, V]) next(b *bound[S, V]) (p engine.Plan, moved bool) {
	if !b.Usable() {
		return p, false
	}
	if p = f.outputs(b, false); hasWrites(p) {
		return p, false
	}
	if t, ok := f.first(b); ok {
		made := f.commit(b, t)
		return made, len(made.Transitions) > 0
	}
	return p, false
}

// rest adds what is due while nothing is written: notes, and the end of actions that
// nobody wants any more.
func (f *Family[S, V]) rest(b *bound[S, V], p *engine.Plan) {
	if b.Problem != "" && !b.Torn {
		b.Notes.Beside(b.Doc.Path, b.Problem)
	}
	if b.Begun && b.Usable() {
		f.judgeAll(b)
		p.Ends = f.unwanted(b, p.Actions)
	}
	b.Notes.Plan(b.Snap, p, func(string) bool { return b.Held || b.Torn })
}

// judgeAll judges whatever notes are about, whichever rule came first.
func (f *Family[S, V]) judgeAll(b *bound[S, V]) {
	for _, q := range b.open() {
		b.Answer(q)
	}
	f.Notes(b.v)
	b.noteClosed()
}

// unwanted are the run's actions, under way or ended, that the state names no longer.
func (f *Family[S, V]) unwanted(b *bound[S, V], wanted []engine.Action) []string {
	var ids []string
	add := func(id string) {
		named := slices.ContainsFunc(wanted, func(a engine.Action) bool { return a.ID == id })
		if strings.HasPrefix(id, b.Actions()) && !named && (f.Keeps == nil || !f.Keeps(b.v, id)) && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	for id := range b.Snap.Facts.Alive {
		add(id)
	}
	for id := range b.Snap.Facts.Ended {
		add(id)
	}
	slices.Sort(ids)
	return ids
}

// Actions begins the ids of all actions of the run.
func (r *Run[S]) Actions() string { return r.Snap.Key.String() + "/" }
