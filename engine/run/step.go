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
func (f *Family[S, V]) Family() string { return f.Layout.Name() }

// Edges implements [engine.Machine].
func (f *Family[S, V]) Edges() []engine.Edge { return f.edges() }

// ReadProgress implements [engine.Progressing].
func (f *Family[S, V]) ReadProgress(path string, body []byte) (engine.Progress, error) {
	if f.Progress == nil {
		return engine.Progress{}, templates.Errorf("run.volatile.none", "family", f.Family())
	}
	return f.Progress(path, body)
}

// Step implements [engine.Machine].
func (f *Family[S, V]) Step(s engine.Snapshot) (engine.Plan, error) {
	r := f.open(s)
	var needs []string
	if r.Usable() {
		needs = f.Needs(r.v)
	}
	if len(s.Lacks(needs)) > 0 {
		return engine.Plan{Needs: slices.Concat(needs, *r.facts)}, nil
	}
	p, moved := r.next()
	if !moved && !hasWrites(p) {
		r.rest(&p)
	}
	p.Needs, p.Follow, p.Pending = slices.Concat(needs, *r.facts), r.watch(), r.Pending
	p.WakeAt(r.Wake)
	if f.Thresholds != nil && r.Usable() {
		p.Thresholds = f.Thresholds(r.v)
	}
	return p, nil
}

func hasWrites(p engine.Plan) bool { return len(p.Writes)+len(p.Removes)+len(p.Lines) > 0 }

// next returns what to do now: nothing while the state cannot be used; otherwise the
// missing outputs of the state; otherwise the first rule that applies.
func (r *Run[S, V]) next() (p engine.Plan, moved bool) {
	if !r.Usable() {
		return p, false
	}
	if r.f.Shared != nil {
		return nextShared(r)
	}
	if p = r.outputs(false); hasWrites(p) {
		if maybeAnswered(r) {
			return engine.Plan{}, false
		}
		if r.Problem = unproven(r); r.Problem != "" {
			return engine.Plan{}, false
		}
		return p, false
	}
	if t, ok := r.first(); ok {
		made := r.f.transition(r, t)
		return made, len(made.Transitions) > 0
	}
	return p, false
}

// nextShared is next for a state of another program. That state may be an older one that
// somebody restored, so rules come before outputs.
func nextShared[S, V any](r *Run[S, V]) (p engine.Plan, moved bool) {
	if t, ok := r.first(); ok {
		if p = r.f.transition(r, t); len(p.Transitions) > 0 {
			return p, true
		}
	}
	return r.outputs(false), false
}

// unproven returns why nothing may follow from an answer that only the state records, or
// "". Without a journal anybody may have written the state: if a gate demands more than a
// claim, either this machine wrote the state, or the answer or its receipt exists.
// Otherwise it is enough that the answer is not certainly fabricated.
func unproven[S, V any](r *Run[S, V]) string {
	if !r.Begun || r.f.Shared != nil || r.f.hasJournal() || r.Doc.IssuedHere() {
		return ""
	}
	fabricated := len(fabrications(r)) > 0
	for _, q := range r.Requests() {
		if i := r.issue(q); (fabricated || gate.Demands(i.gate())) && !i.isProven() {
			return withHelp(&r.Input, r.Say("run.state.unproven", "request", q.ID), r.f.Anew)
		}
	}
	return ""
}

// isProven reports whether something besides the state shows the result of a request: this
// machine's receipt, the answer itself if it was given to this very request, or the
// deadline.
func (i *issue[S, V]) isProven() bool {
	switch {
	case i.hasReceipt():
		return true
	case i.Status == gate.Expired:
		return i.Deadline != "" && !i.r.Snap.Now.Before(i.Deadline.Time())
	case i.Status != gate.Accepted:
		return true // nobody decided
	}
	d := i.dir.Doc
	if string(d.Sum) != string(i.Digest) || d.Issued != nil && !d.IssuedHere() {
		return false
	}
	a := i.r.LateAnswer(i.Request)
	return a != nil && a.Response == string(i.Response) && slices.Equal(a.Selected, i.Selected) && a.Comment == string(i.Comment) && slices.Equal(a.Edits, i.Edits)
}

func (i *issue[S, V]) hasReceipt() bool {
	return i.dir.Receipt != nil && i.dir.ReceiptDoc.IssuedHere() && i.dir.Receipt.Repeats(i.receipt())
}

// HasReceipt reports whether this machine wrote the receipt of a closed request, and the
// receipt agrees with the state.
func (r *Run[S, V]) HasReceipt(q *Request) bool { return r.issue(q).hasReceipt() }

// Judge returns the family's view of a run. ok is true if others may be told that what its
// state says was decided: the state can be used, and if a gate demands it, more than the
// file itself shows who answered.
func (f *Family[S, V]) Judge(s engine.Snapshot) (v V, ok bool) {
	r := f.open(s)
	return r.v, r.Begun && r.Usable() && unproven(r) == ""
}

// watch returns the folders in which others may write files that move the run.
func (r *Run[S, V]) watch() []string {
	switch {
	case r.f.Watch != nil:
		return r.f.Watch(r.v)
	case r.Begun && r.f.Final(r.status()):
		return nil
	}
	return []string{r.Snap.Dir}
}

// rest adds what is due while nothing is written: notes, commands under way, and the end of
// actions that the state no longer names.
func (r *Run[S, V]) rest(p *engine.Plan) {
	if r.Problem != "" && !r.Torn {
		r.Notes.Beside(r.Doc.Path, r.Problem)
	}
	about, bad := r.badSettings()
	if r.Begun && r.Usable() && !bad {
		r.judgeAll()
		r.act(p, func(engine.Action) bool { return true })
	}
	noteFabrications(r)
	mayNote := func(note string) bool { return r.f.Shared == nil || r.f.Shared.MayNote(r.v, note) }
	r.Notes.Limit(mayNote)
	r.Notes.Plan(r.Snap, p, func(note string) bool {
		return r.Held || r.Torn || bad && !slices.Contains(about, note) || !mayNote(note)
	})
}

// badSettings reports whether settings of others that the run reads cannot be used, and
// returns the notes about them.
func (r *Run[S, V]) badSettings() (about []string, bad bool) {
	if r.f.BadSettings == nil || !r.Usable() {
		return nil, false
	}
	return r.f.BadSettings(r.v)
}

// judgeAll judges everything that notes are about, whichever rule came first.
func (r *Run[S, V]) judgeAll() {
	if !r.f.Final(r.status()) {
		for _, q := range r.open() {
			r.Answer(q)
		}
	}
	r.f.Notes(r.v)
	noteClosed(r)
}

// act adds to a plan the commands that the state names and that have not ended, and ends
// those that it does not name. wasRecorded reports which ones were recorded before.
func (r *Run[S, V]) act(p *engine.Plan, wasRecorded func(engine.Action) bool) {
	named := p.Actions
	if r.f.Actions != nil {
		var due []engine.Action
		named, due = r.f.Actions(r.v)
		for _, a := range due {
			a.Recorded = wasRecorded(a)
			p.Actions = append(p.Actions, a)
		}
	}
	p.Ends = r.unwanted(named)
}

// unwanted returns the run's actions, under way or ended, that the state no longer names.
func (r *Run[S, V]) unwanted(named []engine.Action) []string {
	ids := slices.Concat(slices.Collect(maps.Keys(r.Snap.Facts.Alive)), slices.Collect(maps.Keys(r.Snap.Facts.Ended)))
	ids = slices.DeleteFunc(ids, func(id string) bool {
		return !strings.HasPrefix(id, r.Actions()) || isNamed(named, id) || r.f.Keeps != nil && r.f.Keeps(r.v, id)
	})
	slices.Sort(ids)
	return slices.Compact(ids)
}

func isNamed(list []engine.Action, id string) bool {
	return slices.ContainsFunc(list, func(a engine.Action) bool { return a.ID == id })
}

// Actions returns the prefix of the ids of all actions of the run.
func (r *Run[S, V]) Actions() string { return r.Snap.Key.String() + "/" }
