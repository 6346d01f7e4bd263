package afl

import (
	"fmt"
	"maps"
	"slices"

	"placet/engine"
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
	id    string      // of the checkpoint; "" for the session
	c     *Checkpoint // the checkpoint after it; nil for the session
	actor string
	why   string
	cause map[string]engine.Digest
}

// session begins a move of the session.
func (r *reading) session(event string, to engine.Status, why string, cause map[string]engine.Digest) *move {
	m := r.move(engine.Edge{Of: ofSession, From: r.st.Status, Event: event, To: to}, why, cause)
	m.st.Status = to
	return m
}

// checkpointMove begins a move of a checkpoint.
func (r *reading) checkpointMove(id, event string, to engine.Status, why string, cause map[string]engine.Digest) *move {
	var from engine.Status
	if c := r.checkpoint(id); c != nil {
		from = c.Status
	}
	m := r.move(engine.Edge{Of: ofCheckpoint, From: from, Event: event, To: to}, why, cause)
	m.id, m.c = id, m.st.Checkpoints[id]
	if m.c == nil {
		m.c = &Checkpoint{}
		m.st.Checkpoints[id] = m.c
	}
	if from != to {
		m.c.Status, m.c.Since = to, Since{Revision: m.st.Revision, At: m.now}
	}
	m.c.Revision = m.st.Revision
	return m
}

func (r *reading) move(edge engine.Edge, why string, cause map[string]engine.Digest) *move {
	m := &move{r: r, st: r.st.clone(), now: millis(r.Snap.Now), edge: edge, actor: "placet", why: templates.Cut(why, engine.LongestReason), cause: cause}
	m.st.Revision++
	m.st.UpdatedAt = m.now
	if m.cause == nil {
		m.cause = map[string]engine.Digest{}
	}
	return m
}

// by says who caused the move.
func (m *move) by(actor string) *move {
	m.actor = actor
	return m
}

// plan is the move with all that the new state calls for, in one commit.
func (m *move) plan() engine.Plan {
	r, st := m.r, &m.st
	if final(st.Status) && st.FinishedAt == "" {
		st.FinishedAt = m.now
	}
	st.Last = &LastTransition{
		Edge: m.edge.Event, Of: m.edge.Of, Subject: m.subject(), From: m.edge.From, To: m.edge.To,
		At: m.now, Actor: m.actor, Reason: m.why, Cause: m.cause,
	}
	before := map[string]bool{}
	for _, a := range r.wanted(r.st) {
		before[a.ID] = true
	}
	after := *r
	after.st, after.seq = *st, st.Revision
	after.index(*st)
	p := after.owed(*st, true)
	p.Actions = after.actions(*st)
	for i := range p.Actions {
		p.Actions[i].Recorded = before[p.Actions[i].ID]
	}
	p.Ends = after.unwanted(p.Actions)
	body, err := st.encode()
	if err != nil {
		panic(err) // texts, numbers, maps and lists of them
	}
	if len(body) > layout.LimitState {
		r.Notes.Beside(r.doc.Path, fmt.Sprintf("cannot go on: state.json would have %d bytes, more than the %d that anybody reads; begin a new session for what is left", len(body), layout.LimitState))
		return engine.Plan{}
	}
	p.Writes = append(p.Writes, engine.Document{Path: r.doc.Path, Kind: engine.KindState, Body: body, Over: r.doc.Sum})
	p.Lines = append(p.Lines, r.line(*st, engine.Sum(body)))
	p.Transitions = []engine.Transition{{
		Edge: m.edge, Subject: m.id, Cause: maps.Clone(m.cause), Actor: m.actor, Reason: m.why,
	}}
	return p
}

func (m *move) subject() string {
	if m.edge.Of == ofSession {
		return m.r.sessionID()
	}
	return m.id
}

// line is the journal's line of the transition that made a state, with the digest
// of the document that holds it.
func (r *reading) line(st State, sum engine.Digest) engine.Line {
	l := st.Last
	body, err := schemas.Line(schemas.Object{
		{Name: "seq", Value: st.Revision}, {Name: "at", Value: l.At}, {Name: "edge", Value: l.Edge}, {Name: "subject", Value: l.Subject},
		{Name: "actor", Value: l.Actor}, {Name: "reason", Value: l.Reason}, {Name: "cause", Value: l.Cause}, {Name: "state", Value: sum},
	})
	if err != nil {
		panic(err)
	}
	return engine.Line{Path: r.Path("events.jsonl"), Revision: st.Revision, Body: body}
}

// close ends the open requests of a checkpoint, or the session's own for "",
// of the given types or all.
func (m *move) close(cp, status, reason string, types ...string) {
	for _, id := range slices.Sorted(maps.Keys(m.st.Requests)) {
		q := m.st.Requests[id]
		if q.Status == open && string(q.Checkpoint) == cp && (len(types) == 0 || slices.Contains(types, q.Type)) {
			m.end(q, status, reason)
		}
	}
}

// end closes one request.
func (m *move) end(q *Request, status, reason string) {
	q.Status, q.Reason = status, text(reason)
	q.ClosedAt, q.ClosedRevision = m.now, m.st.Revision
}

// take closes the request that an answer answers.
func (m *move) take(a *answer) *move {
	if !a.Counts() {
		panic("afl: an answer that was not verified")
	}
	q := m.st.Requests[a.id]
	m.end(q, accepted, a.Reason())
	if a.revision > 0 { // the receipt is fact: it stays as it is
		q.ClosedRevision = a.revision
	}
	q.Option, q.Selected, q.Comment = text(a.Response), a.Selected, text(a.Comment)
	q.AnsweredBy, q.Source, q.KnownAs = text(a.By.User), text(a.By.Source), a.Known
	q.Answer, q.ResponseDigest, q.View = text(a.path), text(a.Sum), text(a.Digest)
	if a.at != "" {
		q.ClosedAt = a.at
	}
	m.cause[a.path] = a.Sum
	return m.by(engine.Person(a.By.User))
}

// document is a file of placet's own in the session's folder.
func (r *reading) document(rel string, body []byte) engine.Document {
	f, _ := layout.AFL{}.File(layout.Run{}, rel)
	return engine.Document{Path: r.Path(rel), Kind: f.Kind, Body: body}
}
