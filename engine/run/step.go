package run

import (
	"maps"
	"slices"
	"strings"

	"placet/engine"
	"placet/engine/gate"
	"placet/templates"
)

// Family implements [engine.Machine].
func (f *Family[S, V]) Family() string { return f.Name }

// Edges implements [engine.Machine].
func (f *Family[S, V]) Edges() []engine.Edge { return f.edges() }

// ReadProgress implements [engine.Progressing].
func (f *Family[S, V]) ReadProgress(path string, body []byte) (engine.Progress, error) {
	if f.Progress == nil {
		return engine.Progress{}, templates.Errorf("run.volatile.none", "family", f.Name)
	}
	return f.Progress(path, body)
}

// Step implements [engine.Machine].
func (f *Family[S, V]) Step(s engine.Snapshot) (engine.Plan, error) {
	b := f.open(s)
	needs := f.needs(b)
	if len(s.Lacks(needs)) > 0 {
		return engine.Plan{Needs: slices.Concat(needs, *b.facts)}, nil
	}
	p, moved := f.next(b)
	if !moved && !hasWrites(p) {
		f.rest(b, &p)
	}
	p.Needs, p.Follow, p.Pending = slices.Concat(needs, *b.facts), b.watch(), b.Pending
	p.WakeAt(b.Wake)
	if f.Thresholds != nil && b.Usable() {
		p.Thresholds = f.Thresholds(b.v)
	}
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
	if f.Shared != nil {
		return f.nextShared(b)
	}
	if p = f.outputs(b, false); hasWrites(p) {
		if b.maybeAnswered() {
			return engine.Plan{}, false
		}
		if b.Problem = f.unproven(b); b.Problem != "" {
			return engine.Plan{}, false
		}
		return p, false
	}
	if t, ok := b.first(); ok {
		made := f.transition(b, t)
		return made, len(made.Transitions) > 0
	}
	return p, false
}

// nextShared is next for a state of others. It may be an older one that somebody put back:
// what moves it goes before what it calls for.
func (f *Family[S, V]) nextShared(b *bound[S, V]) (p engine.Plan, moved bool) {
	if t, ok := b.first(); ok {
		if p = f.transition(b, t); len(p.Transitions) > 0 {
			return p, true
		}
	}
	return f.outputs(b, false), false
}

// unproven says why nothing follows from an answer that only the state knows, "" where
// something may. Without a journal anybody may have written the state: where a gate asks
// for more than a claim, either this machine did, or the answer or its receipt is there.
// Elsewhere it is enough that the answer is not certainly fabricated.
func (f *Family[S, V]) unproven(b *bound[S, V]) string {
	if !b.Begun || f.Shared != nil || f.hasJournal() || b.Doc.IssuedHere() {
		return ""
	}
	fabricated := len(b.fabrications()) > 0
	for _, q := range b.Requests() {
		if (fabricated || gate.Demands(b.gate(q))) && !b.isProven(q) {
			return b.withHelp(b.Say("run.state.unproven", "request", q.ID), f.Anew)
		}
	}
	return ""
}

// isProven reports whether something besides the state shows what became of a request:
// this machine's receipt, the answer itself where it was given to this very request, or
// the deadline.
func (b *bound[S, V]) isProven(q *Request) bool {
	switch {
	case b.HasReceipt(q):
		return true
	case q.Status == gate.Expired:
		return q.Deadline != "" && !b.Snap.Now.Before(q.Deadline.Time())
	case q.Status != gate.Accepted:
		return true // nobody decided
	}
	d := b.Folder(q.ID).Doc
	if string(d.Sum) != string(q.Digest) || d.Issued != nil && !d.IssuedHere() {
		return false
	}
	a := b.LateAnswer(q)
	return a != nil && a.Response == string(q.Response) && slices.Equal(a.Selected, q.Selected) && a.Comment == string(q.Comment) && slices.Equal(a.Edits, q.Edits)
}

// HasReceipt reports whether this machine wrote the receipt that stands beside a closed
// request, and it says what the state says of it.
func (r *Run[S]) HasReceipt(q *Request) bool {
	f := r.Folder(q.ID)
	return f.Receipt != nil && f.ReceiptDoc.IssuedHere() && f.Receipt.Repeats(r.Receipt(q))
}

// Judge returns the family's view of a run. ok is true where its state may be told to
// others as what was decided: it can be used, and more than the file itself shows who
// answered where a gate asks for that.
func (f *Family[S, V]) Judge(s engine.Snapshot) (v V, ok bool) {
	b := f.open(s)
	return b.v, b.Begun && b.Usable() && f.unproven(b) == ""
}

// watch are the folders in which others may write what moves the run.
func (b *bound[S, V]) watch() []string {
	switch {
	case b.f.Watch != nil:
		return b.f.Watch(b.v)
	case b.Begun && b.f.Final(b.status()):
		return nil
	}
	return []string{b.Snap.Dir}
}

// rest adds what is due while nothing is written: notes, commands under way, and the end
// of actions that nobody wants any more.
func (f *Family[S, V]) rest(b *bound[S, V], p *engine.Plan) {
	if b.Problem != "" && !b.Torn {
		b.Notes.Beside(b.Doc.Path, b.Problem)
	}
	about, bad := f.badSettings(b)
	if b.Begun && b.Usable() && !bad {
		f.judgeAll(b)
		f.act(b, p, func(engine.Action) bool { return true })
	}
	b.noteFabrications()
	mayNote := func(note string) bool { return f.Shared == nil || f.Shared.MayNote(b.v, note) }
	b.Notes.Limit(mayNote)
	b.Notes.Plan(b.Snap, p, func(note string) bool {
		return b.Held || b.Torn || bad && !slices.Contains(about, note) || !mayNote(note)
	})
}

// badSettings reports whether settings of others that the run reads cannot be used, and
// the notes about them.
func (f *Family[S, V]) badSettings(b *bound[S, V]) (about []string, bad bool) {
	if f.BadSettings == nil || !b.Usable() {
		return nil, false
	}
	return f.BadSettings(b.v)
}

// judgeAll judges whatever notes are about, whichever rule came first.
func (f *Family[S, V]) judgeAll(b *bound[S, V]) {
	if !f.Final(b.status()) {
		for _, q := range b.open() {
			b.Answer(q)
		}
	}
	f.Notes(b.v)
	b.noteClosed()
}

// act adds to a plan the commands that the state names and whose end is not there, and
// ends those that it does not name. wasRecorded says which were recorded before.
func (f *Family[S, V]) act(b *bound[S, V], p *engine.Plan, wasRecorded func(engine.Action) bool) {
	named := p.Actions
	if f.Actions != nil {
		var due []engine.Action
		named, due = f.Actions(b.v)
		for _, a := range due {
			a.Recorded = wasRecorded(a)
			p.Actions = append(p.Actions, a)
		}
	}
	p.Ends = f.unwanted(b, named)
}

// unwanted are the run's actions, under way or ended, that the state names no longer.
func (f *Family[S, V]) unwanted(b *bound[S, V], named []engine.Action) []string {
	ids := slices.Concat(slices.Collect(maps.Keys(b.Snap.Facts.Alive)), slices.Collect(maps.Keys(b.Snap.Facts.Ended)))
	ids = slices.DeleteFunc(ids, func(id string) bool {
		return !strings.HasPrefix(id, b.Actions()) || isNamed(named, id) || f.Keeps != nil && f.Keeps(b.v, id)
	})
	slices.Sort(ids)
	return slices.Compact(ids)
}

func isNamed(list []engine.Action, id string) bool {
	return slices.ContainsFunc(list, func(a engine.Action) bool { return a.ID == id })
}

// Actions begins the ids of all actions of the run.
func (r *Run[S]) Actions() string { return r.Snap.Key.String() + "/" }
