package run

import (
	"slices"

	"placet/engine"
)

// Rule is a row of the transition table: what moves, from where, by which event, to
// where, and when.
type Rule[S, V any] struct {
	// Row names the rule in the state and to people, "" where the event is enough.
	Row string
	// Of is what moves: the run, or parts of it; see [Parts].
	Of    string
	From  []engine.Status // {""} where it begins
	Event string
	// To is where it goes; none: it stays where it is. Where there are several,
	// [Move.To] says which.
	To []engine.Status
	// Asked is the type of request of which an answer takes the rule, and Option the
	// one option of it that does; "" for any. An answer that is fact takes the rule
	// before all others.
	Asked, Option string
	// Or says that the rule may apply without such an answer, too.
	Or bool
	// Expires is the type of request whose deadline takes the rule.
	Expires string
	// When returns the transition that is due now, nil for none.
	When func(V, On) *Move[S, V]
	// Awaits says what a person or an agent can do to have the rule apply. It is
	// called where the run stands in a status that the rule leaves.
	Awaits func(V, *Waiting)
	// Ended says that the rule is about parts of a run that has ended itself.
	Ended bool
}

// On is what a rule is asked about.
type On struct {
	// Subject is the part of the run, "" for the run itself.
	Subject string
	// Answer is the one that takes the rule, nil for none.
	Answer *Answer
}

// Parts is one kind of parts, for families whose runs have parts with statuses of their
// own.
type Parts[S, V any] struct {
	// Of is what rules call a part.
	Of string
	// All are the subjects about which rules of these parts are asked, in their order.
	All func(V) []string
	// Status is that of a part, "" where the state does not know it.
	Status func(V, On) engine.Status
	// Enter has a part go to a status, in a transition. nil: [Move.Then] does.
	Enter func(c *Change[S, V], subject string, to engine.Status)
}

// Move is a transition that is due.
type Move[S, V any] struct {
	// To is where it goes, where its rule names several.
	To engine.Status
	// Subject names the part that moves where it is another than the one that the rule
	// was asked about.
	Subject string
	// Reason says why, in words that the state keeps.
	Reason string
	// Causes are the files that caused it.
	Causes []engine.Document
	// Actor is "placet" where it is empty.
	Actor string
	// Answer is the one that the transition takes, besides the one of the rule.
	Answer *Answer
	// Then changes the state. nil: nothing but the status changes.
	Then func(*Change[S, V])
	// Blocks says that what would move cannot yet, and that nothing passes it.
	Blocks bool
}

// tos are where a rule leads from a status.
func (r *Rule[S, V]) tos(from engine.Status) []engine.Status {
	if len(r.To) == 0 {
		return []engine.Status{from}
	}
	return r.To
}

// edges are the rules as a table, in which each edge stands once.
func (f *Family[S, V]) edges() []engine.Edge {
	var list []engine.Edge
	add := func(e engine.Edge) {
		if !slices.Contains(list, e) {
			list = append(list, e)
		}
	}
	for _, r := range slices.Concat(f.Rules...) {
		for _, from := range r.From {
			for _, to := range r.tos(from) {
				add(engine.Edge{Of: r.Of, From: from, Event: r.Event, To: to})
			}
		}
	}
	return list
}

// dueRule is a rule with the transition that it makes now.
type dueRule[S, V any] struct {
	rule *Rule[S, V]
	move *Move[S, V]
	on   On
}

// first finds the rule that applies now. An answer whose receipt is durable while its
// transition is not comes before all others.
func (r *Run[S, V]) first() (t dueRule[S, V], ok bool) {
	if _, bad := r.badSettings(); bad || unsureReceipt(r) || r.Unsure {
		return t, false
	}
	if t, ok = r.replayed(); ok {
		return t, !t.move.Blocks
	}
	for _, group := range r.f.Rules {
		if t, ok = r.ofGroup(group); ok {
			return t, !t.move.Blocks
		}
	}
	return t, false
}

// replayed finds the rule that an answer takes that is fact already.
func (r *Run[S, V]) replayed() (t dueRule[S, V], ok bool) {
	for _, q := range r.open() {
		i := r.issue(q)
		a := i.ahead()
		if a == nil {
			continue
		}
		if !a.Expired() { // it stands, whatever else is there
			i.answer = i.ahead
		}
		for _, group := range r.f.Rules {
			if t, ok = r.carryOut(group, a); ok {
				return t, true
			}
		}
	}
	return t, false
}

// carryOut finds the rule of a group that an answer takes, or a deadline that passed.
func (r *Run[S, V]) carryOut(group []Rule[S, V], a *Answer) (t dueRule[S, V], ok bool) {
	for i := range group {
		if rule := &group[i]; rule.matches(a) {
			if t, ok = r.applies(rule, On{string(a.Request.Subject), a}); ok {
				return t, true
			}
		}
	}
	return t, false
}

func (r *Rule[S, V]) matches(a *Answer) bool {
	if a.Expired() {
		return r.Expires == a.Request.Type
	}
	return r.Asked == a.Request.Type && (r.Option == "" || r.Option == a.Response)
}

// ofGroup finds the first request, and then the first part, to which a rule of a group
// applies.
func (r *Run[S, V]) ofGroup(group []Rule[S, V]) (t dueRule[S, V], ok bool) {
	for _, q := range r.open() {
		if a := r.issue(q).takes(group); a != nil {
			if t, ok = r.carryOut(group, a); ok {
				return t, true
			}
		}
	}
	subjects := []string{""}
	if parts := r.f.parts(group[0].Of); parts != nil {
		subjects = parts.All(r.v)
	}
	for _, subject := range subjects {
		for i := range group {
			if rule := &group[i]; rule.Asked == "" && rule.Expires == "" || rule.Or {
				if t, ok = r.applies(rule, On{Subject: subject}); ok {
					return t, true
				}
			}
		}
	}
	return t, false
}

// takes is what may take a rule of a group: the answer to the request, or its deadline;
// nil for none.
func (i *issue[S, V]) takes(group []Rule[S, V]) *Answer {
	for n := range group {
		switch i.Type {
		case group[n].Asked:
			return i.answer()
		case group[n].Expires:
			return i.expiry()
		}
	}
	return nil
}

// applies reports whether a rule applies now to what it is asked about.
func (r *Run[S, V]) applies(rule *Rule[S, V], on On) (t dueRule[S, V], ok bool) {
	if rule.Ended != r.f.Final(r.status()) || !slices.Contains(rule.From, r.statusOf(rule.Of, on)) {
		return t, false
	}
	m := rule.When(r.v, on)
	return dueRule[S, V]{rule, m, on}, m != nil
}

// statusOf is where something stands that a rule is about.
func (r *Run[S, V]) statusOf(of string, on On) engine.Status {
	if parts := r.f.parts(of); parts != nil {
		return parts.Status(r.v, on)
	}
	return r.status()
}

// parts are the parts of a kind, nil where rules of that kind are about the run itself.
func (f *Family[S, V]) parts(of string) *Parts[S, V] {
	if i := slices.IndexFunc(f.Parts, func(p Parts[S, V]) bool { return p.Of == of }); i >= 0 {
		return &f.Parts[i]
	}
	return nil
}
