package run

import (
	"slices"

	"placet/engine"
	"placet/engine/gate"
)

// Rule is a row of the transition table: what moves, from where, by which event, to
// where, and when.
type Rule[S, V any] struct {
	Of    string
	From  []engine.Status // {""} where the run begins
	Event string
	To    engine.Status
	// Asked is the type of request of which an answer takes the rule, and Option the
	// one option of it that does; "" for any. The answer is what When gets, nil where
	// there is none; an answer that is fact takes the rule before all others.
	Asked, Option string
	// Expires is the type of request whose deadline takes the rule.
	Expires string
	// When returns the transition that is due now, nil for none.
	When func(v V, a *Answer) *Move[S]
	// Awaits says what a person or an agent can do to have the rule apply. It is
	// called where When returned nil.
	Awaits func(v V, w *Waiting)
}

// Move is a transition that is due.
type Move[S any] struct {
	// Reason says why, in words that the state keeps.
	Reason string
	// Causes are the files that caused it.
	Causes []engine.Document
	// Actor is "placet" where it is empty.
	Actor string
	// Answer is the one that the transition takes, besides the one of the rule.
	Answer *Answer
	// Then changes the state. nil: nothing but the status changes.
	Then func(*Change[S])
	// Hold says that the answer is fact and cannot be carried out yet: nothing
	// passes it, and nothing moves.
	Hold bool
}

// edges are the rules as a table, in which each edge stands once.
func (f *Family[S, V]) edges() []engine.Edge {
	var list []engine.Edge
	for _, r := range f.Rules {
		for _, from := range r.From {
			if e := (engine.Edge{Of: r.Of, From: from, Event: r.Event, To: r.To}); !slices.Contains(list, e) {
				list = append(list, e)
			}
		}
	}
	return list
}

// from are the rules that leave a status.
func (f *Family[S, V]) from(s engine.Status) []*Rule[S, V] {
	var list []*Rule[S, V]
	for i := range f.Rules {
		if slices.Contains(f.Rules[i].From, s) {
			list = append(list, &f.Rules[i])
		}
	}
	return list
}

// taken is a rule with the transition that it makes now.
type taken[S, V any] struct {
	rule   *Rule[S, V]
	move   *Move[S]
	answer *Answer
	// expired is the request whose deadline passed, nil for none.
	expired *Request
}

// first finds the rule that applies now. An answer whose receipt is durable while its
// transition is not comes before all others.
func (f *Family[S, V]) first(b *bound[S, V]) (t taken[S, V], ok bool) {
	if b.unsureReceipt() || f.Undecidable != nil && f.Undecidable(b.v) {
		return t, false
	}
	rules := f.from(b.status())
	for _, q := range b.open() {
		if a := b.ahead(q); a != nil {
			if t, ok = f.carryOut(b, rules, q, a); ok {
				return t, !t.move.Hold
			}
		}
	}
	for _, r := range rules {
		if t, ok = f.applies(b, r); ok {
			return t, !t.move.Hold
		}
	}
	return t, false
}

// carryOut finds the rule that an answer takes that is fact already.
func (f *Family[S, V]) carryOut(b *bound[S, V], rules []*Rule[S, V], q *Request, a *Answer) (t taken[S, V], ok bool) {
	for _, r := range rules {
		switch {
		case a.Expired() && r.Expires == q.Type:
			t = taken[S, V]{rule: r, move: r.When(b.v, a), answer: a, expired: q}
		case !a.Expired() && r.takes(q, a):
			t = taken[S, V]{rule: r, move: r.When(b.v, a), answer: a}
		default:
			continue
		}
		if t.move != nil {
			return t, true
		}
	}
	return t, false
}

func (r *Rule[S, V]) takes(q *Request, a *Answer) bool {
	return r.Asked == q.Type && (r.Option == "" || r.Option == a.Response)
}

// applies reports whether a rule applies now.
func (f *Family[S, V]) applies(b *bound[S, V], r *Rule[S, V]) (t taken[S, V], ok bool) {
	t.rule = r
	switch {
	case r.Expires != "":
		t.answer, t.expired = b.expires(r.Expires)
		if t.answer == nil {
			return t, false
		}
	case r.Asked != "":
		if q := b.Open(r.Asked); q != nil {
			if a := b.Answer(q); a != nil && r.takes(q, a) {
				t.answer = a
			}
		}
	}
	t.move = r.When(b.v, t.answer)
	return t, t.move != nil
}

// expires is the deadline of an open request where it takes a rule now: nobody has
// answered, and no answer may be on its way.
func (b *bound[S, V]) expires(typ string) (*Answer, *Request) {
	q := b.Open(typ)
	if q == nil || q.Deadline == "" || !b.Due(q.Deadline) || b.Answer(q) != nil || b.Held {
		return nil, nil
	}
	folder := b.Folder(q.ID)
	asked := b.evaluation(q)
	c := gate.Claim{Source: gate.FromDeadline, RequestID: q.ID, Place: folder.Doc.Path, At: b.Snap.Now}
	c.Response, c.Digest = asked.Request.Default, asked.View
	d, problem := gate.Verify(c, asked)
	if problem != "" {
		b.Notes.Add(folder.Dir+"/problem.md", problem)
		return nil, nil
	}
	return &Answer{Decision: d, Request: q}, q
}
