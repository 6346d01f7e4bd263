package optimizer

import (
	"fmt"

	"placet/engine"
	"placet/engine/gate"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// move is a transition being made: the state after it, and why.
type move struct {
	r     *reading
	st    State
	now   text
	edge  engine.Edge
	actor string
	why   string
	cause map[string]engine.Digest
}

// move begins a transition. Causes are names relative to the run directory.
func (r *reading) move(event string, to engine.Status, why string, causes ...engine.Document) *move {
	m := &move{
		r: r, st: r.st.clone(), now: seconds(r.Snap.Now), actor: "placet", why: templates.Cut(why, engine.LongestReason),
		edge: engine.Edge{Of: ofCycle, From: r.st.Status, Event: event, To: to}, cause: map[string]engine.Digest{},
	}
	m.st.Status = to
	m.st.Revision++
	for _, d := range causes {
		m.cause[cause(r.Snap.Rel(d.Path))] = d.Sum
	}
	return m
}

// plan is the move with all that the new state calls for, in one commit.
func (m *move) plan() engine.Plan {
	r, st := m.r, &m.st
	st.Last = &LastTransition{
		Edge: m.edge.Event, From: m.edge.From, To: m.edge.To, At: m.now, Actor: m.actor, Reason: m.why, Cause: m.cause,
	}
	body, err := st.encode()
	if err != nil {
		panic(err) // texts, numbers and lists of them
	}
	if len(body) > layout.LimitState {
		r.Notes.Beside(r.doc.Path, fmt.Sprintf("cannot go on: state.json would have %d bytes, more than the %d that anybody reads", len(body), layout.LimitState))
		return engine.Plan{}
	}
	after := *r
	after.st, after.seq, after.begun = *st, st.Revision, true
	p := after.owed(true)
	p.Writes = append(p.Writes, engine.Document{Path: r.doc.Path, Kind: engine.KindState, Body: body, Over: r.doc.Sum})
	p.Lines = append(p.Lines, r.line(*st, engine.Sum(body)))
	p.Transitions = []engine.Transition{{Edge: m.edge, Cause: m.cause, Actor: m.actor, Reason: m.why}}
	return p
}

// line is the journal's line of the transition that made a state, with the digest
// of the document that holds it.
func (r *reading) line(st State, sum engine.Digest) engine.Line {
	l := st.Last
	body, err := schemas.Line(schemas.Object{
		{Name: "seq", Value: st.Revision}, {Name: "at", Value: l.At}, {Name: "edge", Value: l.Edge}, {Name: "from", Value: text(l.From)},
		{Name: "to", Value: l.To}, {Name: "actor", Value: l.Actor}, {Name: "reason", Value: l.Reason}, {Name: "cause", Value: l.Cause}, {Name: "state", Value: sum},
	})
	if err != nil {
		panic(err) // texts and a map of them
	}
	return engine.Line{Path: r.Path("events.jsonl"), Revision: st.Revision, Body: body}
}

// ask opens a request, whose id is a function of the transition that opens it.
// What it shows must be in the new state by then.
func (m *move) ask(typ, purpose, subject string, deadline text) *Request {
	q := &Request{
		ID: requestPrefix(typ) + id(m.r.Snap.Key.ID, m.st.Revision, purpose), Type: typ, Revision: m.st.Revision, OpenedAt: m.now,
		Status: open, Subject: text(subject), Deadline: deadline,
	}
	m.st.Requests = append(m.st.Requests, q)
	after := *m.r
	after.st = m.st
	body := after.requestJSON(q)
	earlier := *q
	if again, ok := m.r.folder(q.ID).Reissued(func(at, deadline string) []byte {
		earlier.OpenedAt, earlier.Deadline = text(at), text(deadline)
		after.st.Deadline = earlier.Deadline
		return after.requestJSON(&earlier)
	}); ok {
		q.OpenedAt, q.Deadline, body = earlier.OpenedAt, earlier.Deadline, again
	}
	q.Digest = text(engine.Sum(body))
	return q
}

// requestPrefix begins the ids of a type's requests.
func requestPrefix(typ string) string { return typ + "-" }

// end closes a request.
func (m *move) end(q *Request, result, reason string) {
	q.Status, q.Reason = result, text(reason)
	q.ClosedAt, q.ReceivedAt, q.ClosedRevision = m.now, m.now, m.st.Revision
}

// endAll closes every open request but one.
func (m *move) endAll(result, reason string) {
	for _, q := range m.st.Requests {
		if q.Status == open {
			m.end(q, result, reason)
		}
	}
}

// take closes the request that an answer answers, and names the answer as the
// cause.
func (m *move) take(a *answer) *move {
	if !a.Counts() {
		panic("optimizer: an answer that was not verified")
	}
	q := m.st.request(a.id)
	m.end(q, gate.Accepted, a.Reason())
	if a.revision > 0 { // the receipt is fact: it stays as it is
		q.ClosedRevision, q.ClosedAt, q.ReceivedAt = a.revision, a.decidedAt, a.receivedAt
	}
	q.Response, q.Selected, q.Comment = text(a.Response), a.Selected, text(a.Comment)
	q.By, q.KnownAs, q.Late = &By{User: a.By.User, Source: a.By.Source}, a.Known, a.late
	q.Answer, q.AnswerDigest, q.View = text(a.path), text(a.Sum), text(a.Digest)
	m.cause[a.path] = a.Sum
	m.actor = engine.Person(a.By.User)
	return m
}
