package pal

import (
	"cmp"

	"placet/engine"
	"placet/engine/run"
)

type (
	rule   = run.Rule[State, *view]
	move   = run.Move[State, *view]
	change = run.Change[State, *view]
	status = []engine.Status
)

var (
	unbegun  = status{""}
	live     = status{Pending, Running, Paused}         // of a run that has not ended
	moving   = status{Running, Paused}                  // of a run between start and end
	nonFinal = status{Pending, Ready, Running, Blocked} // of a port that has not ended
	waiting  = status{Pending, Ready, Running}          // of a port that is not blocked
)

// rules is the transition table, with the rows of the format page. The first group with an
// applicable rule moves; within a group the first request decides, and then the first port.
var rules = [][]rule{
	{ofR("R7", live, "cancelled", Cancelled, cancelsAsWished)},
	{
		answered(optAbortRun, ofR("R7", live, "cancelled", Cancelled, cancelsAsTold)),
		answered(optRetry, ofP("P12", status{Blocked, Running}, "retry", Pending, retries)),
		answered(optSkip, ofP("P15", nonFinal, "skipped", Cancelled, skips)),
		answered(optTakeOver, ofP("P16", nonFinal, "taken_over", Complete, takesOver)),
		answered(optAbortPort, ofP("P17", nonFinal, "aborted", Failed, givesUp)),
		answered(optDismiss, ofP("P14", status{Blocked}, "accepted", Complete, accepts)),
		answered(optDismiss, ofP("P13", status{Blocked}, "go_on", Pending, goesOn)),
		answered(optDismiss, ofE("E3", status{Open}, "dismissed", Dismissed, dismisses)),
		answered("", ofE("E2", status{Open}, "answered", Resolved, resolves)),
	},
	{
		awaiting(awaitControl, ofR("R3", status{Running}, "paused", Paused, pauses)),
		awaiting(awaitControl, ofR("R4", status{Paused}, "resumed", Running, resumes)),
	},
	{
		awaiting(awaitSources, ofR("R1", unbegun, "admitted", Pending, admits)),
		ofR("R1b", status{Pending}, "replanned", Pending, replans),
		awaiting(awaitStarting, ofR("R2", status{Pending}, "started", Running, starts)),
	},
	{ofP("P8", waiting, "filed", Blocked, stopsAsFiled)},
	{ofE("E5", unbegun, "auto_resolved", Resolved, notesUnasked), ofE("E1", unbegun, "opened", Open, opensFiled)},
	{ofE("E5", unbegun, "auto_resolved", Resolved, notesTokens), ofE("E1", unbegun, "opened", Open, opensObserved)},
	{
		ofP("P6", status{Running}, "retries_exhausted", Blocked, exhaustedByImpl),
		awaiting(awaitHandIn, ofL("L2", "result_taken", takesResult)), ofL("L3", "impl_failed", countsImpl),
	},
	{
		ofP("P4", status{Running}, "tests_passed", Complete, passes),
		ofP("P5", status{Running}, "passed_but_held", Blocked, passesButHeld),
		ofP("P6", status{Running}, "retries_exhausted", Blocked, exhaustedByTests),
		ofL("L4", "tests_failed", countsTests),
	},
	{ofP("P9", status{Running}, "attempt_unresolved", Blocked, attemptEnds)},
	{
		ofP("P10", status{Pending}, "dependency_failed", Blocked, blocksBehind),
		awaiting(awaitDecision, ofP("P11", status{Blocked}, "unblocked", Pending, unblocks)),
	},
	{ofE("E1", unbegun, "opened", Open, opensDependency)},
	{ofR("R5", status{Running}, "finished", Complete, finishes(false)), ofR("R6", status{Running}, "finished_with_failures", Failed, finishes(true))},
	{ofP("P7", status{Running}, "deadline_passed", Blocked, timesOut)},
	{awaiting(awaitDependencies, ofP("P2", status{Pending}, "dependencies_met", Ready, isMet))},
	{awaiting(awaitSlot, ofP("P3", status{Ready}, "started", Running, startsPort))},
	alongside,
}

// alongside are rows that only move together with another row.
var alongside = []rule{
	newRule("P1", ofPort, unbegun, "admitted", Pending, never), newRule("P1", ofPort, unbegun, "declared", Complete, never),
	newRule("P18", ofPort, nonFinal, "run_cancelled", Cancelled, never),
	newRule("L1", ofLoop, unbegun, "opened", Running, never), newRule("L5", ofLoop, status{Running}, "tests_passed", Success, never),
	newRule("L6", ofLoop, status{Running}, "retries_exhausted", Escalated, never), newRule("L7", ofLoop, status{Running}, "port_ended", Failed, never),
	ofE("E4", status{Open}, "superseded", Dismissed, never),
}

func never(*view, run.On) *turn { return nil }

// turn is a transition that is due.
type turn struct {
	reason string
	causes []engine.Document
	// actor is who makes it; "" means "placet".
	actor string
	// subject names what moves, if that is not the port that the rule applies to.
	subject string
	then    func(*step)
}

// ofR, ofP, ofL and ofE return rules of the run, its ports, their loops and escalations.
func ofR(row string, from status, event string, to engine.Status, when func(*view, run.On) *turn) rule {
	return newRule(row, ofRun, from, event, to, when)
}

func ofP(row string, from status, event string, to engine.Status, when func(*port, run.On) *turn) rule {
	return newRule(row, ofPort, from, event, to, func(r *view, on run.On) *turn { return when(r.ports[on.Subject], on) })
}

func ofL(row, event string, when func(*port, run.On) *turn) rule {
	return newRule(row, ofLoop, status{Running}, event, Running, func(r *view, on run.On) *turn {
		p := r.ports[on.Subject]
		t := when(p, on)
		if t != nil {
			t.subject = loopID(p.id, p.Round)
		}
		return t
	})
}

func ofE(row string, from status, event string, to engine.Status, when func(*view, run.On) *turn) rule {
	return newRule(row, ofEscalation, from, event, to, when)
}

// newRule returns a row of the table. Its move includes the changes that every transition makes.
func newRule(row, of string, from status, event string, to engine.Status, when func(*view, run.On) *turn) rule {
	return rule{Row: row, Of: of, From: from, Event: event, To: status{to}, When: func(r *view, on run.On) *move {
		t := when(r, on)
		if t == nil {
			return nil
		}
		return &move{Reason: t.reason, Causes: t.causes, Actor: t.actor, Subject: t.subject, Then: func(c *change) {
			s := &step{change: c, r: r}
			s.note(of, cmp.Or(t.subject, on.Subject), event)
			if t.then != nil {
				t.then(s)
			}
			s.finish()
		}}
	}}
}

// answered makes an answer with an option trigger the rule; "" means any option.
func answered(option string, r rule) rule {
	r.Asked, r.Option = typeEscalation, option
	return r
}

// awaiting adds to a rule what it waits for.
func awaiting(awaits func(*view, *run.Waiting), r rule) rule {
	r.Awaits = awaits
	return r
}
