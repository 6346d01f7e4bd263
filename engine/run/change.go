package run

import (
	"cmp"
	"slices"
	"strings"

	"placet/engine"
	"placet/engine/gate"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// Change is a transition being made. State is the run's state after it.
type Change[S, V any] struct {
	State    *S
	Revision int
	// Now is the time of the transition, in the format of the documents.
	Now Text
	// Before is the run before the transition.
	Before *Run[S, V]

	head   Head
	actor  string
	cause  map[string]engine.Digest
	found  map[string]any
	bodies map[string][]byte // the request.json of each request that it opens
	writes []engine.Document
	also   []engine.Transition
	events []schemas.Object
}

// Write adds documents that are written before the state that refers to them.
func (c *Change[S, V]) Write(docs ...engine.Document) { c.writes = append(c.writes, docs...) }

// Also adds another transition to the same commit.
func (c *Change[S, V]) Also(t engine.Transition) { c.also = append(c.also, t) }

// Event adds a line of the family's own to the journal, in place of the line that describes the
// transition as [Last] does. The family numbers it; the kernel adds revision and the digest of
// the state.
func (c *Change[S, V]) Event(line schemas.Object) { c.events = append(c.events, line) }

// Keep passes a value to the run after the transition, where [Once] returns it under that name:
// something that the transition computed and that no file holds yet.
func (c *Change[S, V]) Keep(name string, v any) { c.found[name] = v }

// transition returns the plan of a transition, with everything that the new state calls for.
func (f *Family[S, V]) transition(r *Run[S, V], t dueRule[S, V]) engine.Plan {
	c := f.change(r, t)
	edge := f.edge(r, t)
	c.make(edge, t)
	last := *c.head.Last
	body, err := f.Format.Encode(*c.State)
	if err != nil {
		r.CannotWrite(err)
	}
	if r.Unwritable != nil {
		return engine.Plan{}
	}
	if len(body) > layout.LimitState {
		r.Notes.Beside(r.Doc.Path, r.Say("run.state.large", "n", len(body), "most", layout.LimitState, "noun", f.noun(r.Lang)))
		return engine.Plan{}
	}
	state := engine.Document{Path: r.Doc.Path, Kind: engine.KindState, Body: body, Over: r.Doc.Sum}
	after := c.made(state)
	p := after.outputs(true)
	if f.Actions != nil {
		before, _ := f.Actions(r.v)
		after.act(&p, func(a engine.Action) bool { return isNamed(before, a.ID) })
	}
	p.Writes = slices.Concat(c.writes, p.Writes, []engine.Document{state})
	if f.hasJournal() {
		p.Lines = append(p.Lines, f.lines(r.Path(journalFile), *last, c.Revision, engine.Sum(body))...)
	}
	p.Transitions = []engine.Transition{{Edge: edge, Subject: t.subject(f), Cause: last.Cause, Actor: last.Actor, Reason: last.Reason}}
	p.Transitions = append(p.Transitions, c.also...)
	return p
}

// change begins a transition on a copy of the state.
func (f *Family[S, V]) change(r *Run[S, V], t dueRule[S, V]) *Change[S, V] {
	st := deepCopy(r.State)
	c := &Change[S, V]{
		State: &st, Now: f.Stamp(r.Snap.Now), Before: r, head: f.Format.Head(&st), actor: cmp.Or(t.move.Actor, "placet"),
		cause: map[string]engine.Digest{}, found: map[string]any{}, bodies: map[string][]byte{},
	}
	*c.head.Revision++
	c.Revision = *c.head.Revision
	if a := t.on.Answer; a.HasReceipt() && c.head.History != nil {
		c.Now = Text(a.receipt.DecidedAt) // a state that keeps its history takes its time from the receipt
	}
	for _, d := range t.move.Causes {
		c.cause[f.Folder+r.Snap.Rel(d.Path)] = d.Sum
	}
	return c
}

// make changes the state as the rule requires.
func (c *Change[S, V]) make(edge engine.Edge, t dueRule[S, V]) {
	f := c.Before.f
	switch parts := f.parts(edge.Of); {
	case parts == nil:
		*c.head.Status = edge.To
	case parts.Enter != nil:
		parts.Enter(c, t.on.Subject, edge.To)
	}
	if f.Always != nil {
		f.Always(c)
	}
	c.closeAnswered(t.on.Answer)
	if t.move.Then != nil {
		t.move.Then(c)
	}
	last := c.last(edge, t)
	if c.head.History != nil && c.Before.Begun {
		*c.head.History = append(*c.head.History, (*c.Before.head.Last).past())
	}
	*c.head.Last = last
}

// made returns the run after a transition. A state of another program depends on the documents
// around it, so it is read again with those that the transition writes.
func (c *Change[S, V]) made(state engine.Document) *Run[S, V] {
	r := c.Before
	if r.f.Shared == nil {
		after := c.After()
		for _, q := range after.Requests() {
			if body := c.bodies[q.ID]; body != nil {
				after.issue(q).wasMade(body)
			}
		}
		return after
	}
	s := r.Snap
	s.Docs = slices.Clone(s.Docs)
	for _, d := range append(slices.Clip(c.writes), state) {
		d.Sum, d.Changed = engine.Sum(d.Body), s.Now
		d.Issued = []engine.Digest{d.Sum}
		i, there := slices.BinarySearchFunc(s.Docs, d.Path, func(d engine.Document, p string) int { return strings.Compare(d.Path, p) })
		if there {
			d.Issued = append(slices.Clone(s.Docs[i].Issued), d.Sum)
			s.Docs[i] = d
			continue
		}
		s.Docs = slices.Insert(s.Docs, i, d)
	}
	after := r.f.open(s)
	*r.facts = append(*r.facts, *after.facts...)
	after.facts = r.facts
	return after
}

// edge returns the edge of a move.
func (f *Family[S, V]) edge(r *Run[S, V], t dueRule[S, V]) engine.Edge {
	from := r.statusOf(t.rule.Of, t.on)
	to := t.rule.tos(from)
	if len(to) > 1 {
		to = []engine.Status{t.move.To}
	}
	return engine.Edge{Of: t.rule.Of, From: from, Event: t.rule.Event, To: to[0]}
}

// subject returns the part of the run that moves, "" for the run itself.
func (t dueRule[S, V]) subject(f *Family[S, V]) string {
	if f.parts(t.rule.Of) != nil {
		return cmp.Or(t.move.Subject, t.on.Subject)
	}
	return ""
}

// last returns the state's record of a transition.
func (c *Change[S, V]) last(edge engine.Edge, t dueRule[S, V]) *Last {
	f := c.Before.f
	l := &Last{
		Event: edge.Event, From: edge.From, To: edge.To, At: c.Now, Actor: c.actor,
		Reason: templates.Cut(t.move.Reason, engine.LongestReason), Cause: c.cause,
	}
	l.Events = c.events
	subject := t.subject(f)
	switch {
	case !f.hasJournal():
		l.Of, l.Subject, l.Also = edge.Of, &subject, []Moved{}
	case f.Parts != nil:
		subject = cmp.Or(subject, c.Before.Snap.Key.ID)
		l.Of, l.Subject, l.Row, l.Also = edge.Of, &subject, t.rule.Row, f.moved(c.also)
	}
	return l
}

// moved returns the state's record of the other transitions of a commit.
func (f *Family[S, V]) moved(also []engine.Transition) (list []Moved) {
	for _, t := range also {
		list = append(list, Moved{Event: t.Event, Row: f.row(t.Edge), Of: t.Of, Subject: t.Subject, From: t.From, To: t.To})
	}
	return list
}

// row returns the name of the rule of an edge, "" if it has none.
func (f *Family[S, V]) row(e engine.Edge) string {
	for _, r := range slices.Concat(f.Rules...) {
		if r.Of == e.Of && r.Event == e.Event && slices.Contains(r.From, e.From) && slices.Contains(r.tos(e.From), e.To) {
			return r.Row
		}
	}
	return ""
}

func (l *Last) past() Past { return Past{l.Event, l.At, l.Actor, l.Reason} }

// lines returns the journal lines of the transition that made a state, each with the digest of
// the state document.
func (f *Family[S, V]) lines(journal string, l Last, revision int, sum engine.Digest) (lines []engine.Line) {
	for _, e := range l.Events {
		e = append(slices.Clip(e), schemas.Member{Name: "revision", Value: revision}, schemas.Member{Name: "state", Value: sum})
		lines = append(lines, engine.Line{Path: journal, Revision: revision, Body: Must(schemas.Line(e))})
	}
	if lines == nil {
		lines = append(lines, f.line(journal, l, revision, sum))
	}
	return lines
}

// line returns the journal line of a transition for which the family adds no lines of its own.
func (f *Family[S, V]) line(journal string, l Last, revision int, sum engine.Digest) engine.Line {
	o := schemas.Object{{Name: "seq", Value: revision}, {Name: "at", Value: l.At}, {Name: "edge", Value: l.Event}}
	if f.Parts != nil {
		o = append(o, schemas.Member{Name: "subject", Value: l.Subject})
	} else {
		o = append(o, schemas.Member{Name: "from", Value: Text(l.From)}, schemas.Member{Name: "to", Value: l.To})
	}
	o = append(o, schemas.Object{
		{Name: "actor", Value: l.Actor}, {Name: "reason", Value: l.Reason}, {Name: "cause", Value: l.Cause}, {Name: "state", Value: sum},
	}...)
	return engine.Line{Path: journal, Revision: revision, Body: Must(schemas.Line(o))}
}

// Ask opens a request. Everything that the request shows must already be in the new state.
func (c *Change[S, V]) Ask(q Request) *Request {
	asked := &q
	asked.Revision, asked.OpenedAt, asked.Status = c.Revision, c.Now, Open
	*c.head.Requests = append(*c.head.Requests, asked)
	after := c.After()
	body := after.newIssue(asked).body()
	earlier := *asked
	if again, ok := c.Before.Folder(asked.ID).Reissued(func(at, deadline string) []byte {
		earlier.OpenedAt, earlier.Deadline = Text(at), Text(deadline)
		return after.newIssue(&earlier).body()
	}); ok {
		asked.OpenedAt, asked.Deadline, body = earlier.OpenedAt, earlier.Deadline, again
	}
	asked.Digest, c.bodies[asked.ID] = Text(engine.Sum(body)), body
	return asked
}

// Requests returns the requests of the state after the transition.
func (c *Change[S, V]) Requests() []*Request { return *c.head.Requests }

// Close closes an open request without an answer.
func (c *Change[S, V]) Close(q *Request, result, reason string) {
	q.Status, q.Reason = result, Text(reason)
	q.ClosedAt, q.ReceivedAt, q.ClosedRevision = c.Now, c.Now, c.Revision
}

// CloseAll closes every open request.
func (c *Change[S, V]) CloseAll(result, reason string) {
	for _, q := range *c.head.Requests {
		if q.Status == Open {
			c.Close(q, result, reason)
		}
	}
}

// closeAnswered closes the request that an answer answers, and names the answer as the cause; or
// it closes the request whose deadline passed.
func (c *Change[S, V]) closeAnswered(a *Answer) {
	switch {
	case a == nil:
		return
	case !a.Counts():
		panic("run: an answer that was not verified")
	case a.Expired():
		c.expire(a)
		return
	}
	q := findRequest(*c.head.Requests, a.Request.ID)
	c.Close(q, gate.Accepted, a.Reason())
	c.asRecorded(q, a)
	q.Answered(a.Decision)
	q.Answer, q.Late = Text(a.path), a.Late
	c.cause[a.path] = a.Sum
	c.actor = engine.Person(a.By.User)
}

// asRecorded takes the times from the answer's receipt, which is a fact.
func (c *Change[S, V]) asRecorded(q *Request, a *Answer) {
	if rc := a.receipt; rc != nil {
		q.ClosedRevision, q.ClosedAt, q.ReceivedAt = rc.Revision, Text(rc.DecidedAt), Text(rc.ReceivedAt)
	}
}

// expire closes the request whose deadline passed.
func (c *Change[S, V]) expire(a *Answer) {
	q := findRequest(*c.head.Requests, a.Request.ID)
	c.Close(q, gate.Expired, a.Decision.Why(c.Before.Say("run.reason.expired")))
	q.Response = Text(a.Response)
	c.asRecorded(q, a)
}
