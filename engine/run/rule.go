package run

import (
	"slices"

	"placet/engine"
)

// Rule is a row of the transition table: what moves, from and to which status, by which
// event, and when.
type Rule[S, V any] struct {
	// Row is the name of the rule in the state and for people, "" if the event is enough.
	Row string
	// Of is what the rule moves: the run, or parts of it; see [Parts].
	Of    string
	From  []engine.Status // {""} if the rule begins it
	Event string
	// To is the new status; empty if the status does not change. If there are several,
	// [Move.To] selects one.
	To []engine.Status
	// Asked is the type of request whose answer triggers the rule, and Option is the only
	// option that does; "" for any. An answer with a durable receipt triggers its rule
	// before all others.
	Asked, Option string
	// Or says that the rule may also apply without such an answer.
	Or bool
	// Expires is the type of request whose deadline triggers the rule.
	Expires string
	// When returns the transition that is due now, nil for none.
	When func(V, On) *Move[S, V]
	// Awaits says what a person or an agent can do to make the rule apply. It is called
	// while the run is in a status that the rule leaves.
	Awaits func(V, *Waiting)
	// Ended says that the rule is for parts of a run that has itself ended.
	Ended bool
}

// On is the argument of a rule.
type On struct {
	// Subject is the part of the run, "" for the run itself.
	Subject string
	// Answer is the answer that triggers the rule, or nil.
	Answer *Answer
}

// Parts describes one kind of parts, for families whose runs have parts with statuses of
// their own.
type Parts[S, V any] struct {
	// Of is the name of the kind in rules.
	Of string
	// All returns the subjects for which the rules of these parts are evaluated, in order.
	All func(V) []string
	// Status returns the status of a part, "" if the state does not know the part.
	Status func(V, On) engine.Status
	// Enter moves a part to a status, in a transition. nil: [Move.Then] does.
	Enter func(c *Change[S, V], subject string, to engine.Status)
}

// Move is a transition that is due.
type Move[S, V any] struct {
	// To is the new status, if the rule has several.
	To engine.Status
	// Subject names the part that moves if it is not the one for which the rule was
	// evaluated.
	Subject string
	// Reason says why. The state keeps it.
	Reason string
	// Causes are the files that caused it.
	Causes []engine.Document
	// Actor is who moves it; "" stands for "placet".
	Actor string
	// Answer is an answer that the transition uses besides the one of the rule.
	Answer *Answer
	// Then changes the state. nil: only the status changes.
	Then func(*Change[S, V])
	// Blocks says that the move is not possible yet, and that no later rule may apply
	// before it.
	Blocks bool
}

// tos returns the statuses to which a rule leads from a status.
func (r *Rule[S, V]) tos(from engine.Status) []engine.Status {
	if len(r.To) == 0 {
		return []engine.Status{from}
	}
	return r.To
}

// edges returns the rules as a table of distinct edges.
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

// first returns the rule that applies now. An answer with a durable receipt but no durable
// transition comes before all others.
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

// replayed returns the rule for an answer that already has a durable receipt.
func (r *Run[S, V]) replayed() (t dueRule[S, V], ok bool) {
	for _, q := range r.open() {
		i := r.issue(q)
		a := i.ahead()
		if a == nil {
			continue
		}
		if !a.Expired() { // the receipt counts, whatever else exists
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

// carryOut returns the rule of a group that an answer, or a deadline that passed, triggers.
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

// ofGroup returns the rule of a group for the first request, and then for the first part,
// to which one applies.
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

// takes returns what may trigger a rule of a group: the answer to the request, or its
// deadline; nil for none.
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

// applies reports whether a rule applies now to its argument.
func (r *Run[S, V]) applies(rule *Rule[S, V], on On) (t dueRule[S, V], ok bool) {
	if rule.Ended != r.f.Final(r.status()) || !slices.Contains(rule.From, r.statusOf(rule.Of, on)) {
		return t, false
	}
	m := rule.When(r.v, on)
	return dueRule[S, V]{rule, m, on}, m != nil
}

// statusOf returns the status of the thing that a rule is about.
func (r *Run[S, V]) statusOf(of string, on On) engine.Status {
	if parts := r.f.parts(of); parts != nil {
		return parts.Status(r.v, on)
	}
	return r.status()
}

// parts returns the parts of a kind, or nil if rules of that kind are about the run itself.
func (f *Family[S, V]) parts(of string) *Parts[S, V] {
	if i := slices.IndexFunc(f.Parts, func(p Parts[S, V]) bool { return p.Of == of }); i >= 0 {
		return &f.Parts[i]
	}
	return nil
}
