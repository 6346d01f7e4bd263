package afl

import (
	"slices"

	"placet/engine"
	"placet/engine/run"
)

// Statuses of a session.
const (
	Designing  engine.Status = "designing"  // the checkpoints are not approved
	Approving  engine.Status = "approved"   // the approved definitions are being applied
	Delegating engine.Status = "delegating" // attempts may start, even during a review
	Paused     engine.Status = "paused"     // nothing starts
	Escalated  engine.Status = "escalated"  // of a session or a checkpoint: a person has to decide
	Completed  engine.Status = "completed"  // of a session: final; of a checkpoint: passed, but a review may reopen it
	Aborted    engine.Status = "aborted"    // final
)

// Statuses of a checkpoint, besides escalated, completed and aborted.
const (
	Pending    engine.Status = "pending"           // waits for dependencies, a slot or the session
	InProgress engine.Status = "in_progress"       // a worker works on the attempt
	Validating engine.Status = "validating"        // the attempt awaits its verdict
	Retrying   engine.Status = "retrying"          // the next attempt starts at retry_at
	Waiting    engine.Status = "waiting_for_human" // the worker has asked a question
)

// The two kinds of things that move.
const (
	ofSession    = "session"
	ofCheckpoint = "checkpoint"
)

type (
	rule   = run.Rule[State, *session]
	move   = run.Move[State, *session]
	change = run.Change[State, *session]
	status = []engine.Status
)

var (
	unbegun = status{""}
	active  = status{Designing, Approving, Delegating, Paused, Escalated}
	// asking are the statuses in which a session's checkpoints may await approval.
	asking = status{Designing, Paused, Escalated}
	// working are the statuses of a checkpoint while a worker works on it.
	working    = status{InProgress, Waiting}
	unfinished = status{Pending, InProgress, Validating, Retrying, Waiting, Escalated}
	afterFail  = status{Retrying, Escalated}
)

// rules is the transition table. The first group with an applicable rule moves; within a group the
// first request decides, and then the first checkpoint.
var rules = [][]rule{
	{ofS(unbegun, "adopted", status{Completed}, adoptCompleted)},
	{ofS(unbegun, "seen", status{Designing}, begin)},
	// An aborted session is final, but its checkpoints still end one by one.
	{{Of: ofCheckpoint, From: unfinished, Event: "session_aborted", To: status{Aborted}, When: each(endWithSession), Ended: true}},

	{ofS(active, "abort", status{Aborted}, abortAsWished)},
	{
		answered(typeEscalation, optAbort, ofS(active, "abort", status{Aborted}, abortAsTold)),
		answered(typeApproval, optReject, ofS(active, "abort", status{Aborted}, abortAsTold)),
	},

	// Rules about the design.
	{ofS(asking, "specs_read", nil, readNewSpecs)},
	{ofS(status{Delegating}, "specs_changed", status{Paused}, pauseForSpecs), ofS(status{Escalated}, "specs_changed", nil, pauseForSpecs)},
	{
		awaiting(awaitResume, ofS(status{Paused}, "resume", status{Delegating}, resume)),
		awaiting(awaitResume, ofS(status{Escalated}, "resume", nil, resume)),
	},
	{{Of: ofSession, From: asking, Event: "approved", To: status{Approving}, Asked: typeApproval, Option: optApprove, Or: true, When: approve}},
	{answered(typeApproval, optChanges, ofS(asking, "changes_requested", nil, noteChanges))},
	{awaiting(awaitDesign, ofS(asking, "approval_asked", nil, askApproval))},
	{
		ofC(unbegun, "adopted", status{Completed}, adopt),
		ofC(unbegun, "defined", status{Pending}, define),
		ofC(append(status{Completed}, unfinished...), "redefined", status{Pending}, redefine),
		ofC(unfinished, "removed", status{Aborted}, remove),
	},
	{ofS(status{Approving}, "delegate", status{Delegating}, delegate)},

	// Rules about people's answers on checkpoints.
	{
		awaiting(cpAwaits(awaitAnswer), byAnswer(status{Waiting}, "answered", status{InProgress}, typeClarification, optAnswer, keepAnswer)),
		byAnswer(status{Waiting}, "worker_done", status{Validating}, typeClarification, optValidate, validateAsTold),
		byAnswer(status{Waiting}, "unanswerable", status{Escalated}, typeClarification, optEscalate, escalateQuestion),
		awaiting(cpAwaits(awaitAnswer), byAnswer(status{Escalated}, "retry_more", status{Retrying}, typeEscalation, optRetryMore, retryMore)),
		byAnswer(status{Escalated}, "redesign", status{Pending}, typeEscalation, optRedesign, redesign),
		byAnswer(status{Escalated}, "env_fixed", status{Validating}, typeEscalation, optEnvFixed, validateFixed),
		byAnswer(status{Escalated}, "skip", status{Aborted}, typeEscalation, optSkip, skip),
		byAnswer(status{Escalated}, "skip_forced", status{Aborted}, typeEscalation, optSkipForced, skip),
		byAnswer(status{Completed}, "accepted", nil, typePassed, optAccept, acceptPassByPerson),
		byAnswer(status{Completed}, "reopened", status{Retrying}, typePassed, optReopenPass, reopenPassByPerson),
		byAnswer(status{Validating}, "rerun", nil, typeInterrupted, optRunAgain, func(s *step, _ *run.Answer) { s.runAgain() }),
		byAnswer(status{InProgress}, "worker_restart", nil, typeInterrupted, optRunAgain, func(s *step, _ *run.Answer) { s.restart() }),
		byAnswer(status{InProgress}, "worker_done", status{Validating}, typeInterrupted, optValidate, validateAsTold),
		answered(typeChanged, optRun, rule{Of: ofCheckpoint, From: status{Validating}, Event: "trusted", When: runAsTold}),
		answered(typeChanged, engine.TrustChanges, rule{Of: ofCheckpoint, From: status{Validating}, Event: "trusted", When: runAsTold}),
		byAnswer(status{Validating}, "unanswerable", status{Escalated}, typeChanged, optEscalate, escalateChanged),
		answered(typeInterrupted, optFailed, rule{Of: ofCheckpoint, From: status{Validating}, Event: "fail", To: afterFail, When: failLostRun}),
		answered(typeInterrupted, optFailed, rule{Of: ofCheckpoint, From: status{InProgress}, Event: "worker_failed", To: afterFail, When: failLostWorker}),
	},

	// Rules about an attempt: submitted documents first, then the outcomes of commands.
	{
		ofC(working, "worker_done", status{Validating}, workerCompletes),
		ofC(working, "worker_failed", afterFail, workerFails),
		ofC(working, "question", status{Waiting}, workerAsks),
		ofC(working, "worker_done", status{Validating}, resultComes),
		ofC(working, "question", status{Waiting}, hookReportsQuestion),
		ofC(status{InProgress}, "worker_done", status{Validating}, hookSignals),
		ofC(status{InProgress}, "worker_restart", nil, restartAnswered),
		ofC(status{InProgress}, "worker_lost", nil, loseWorker),
		awaiting(cpAwaits(awaitWorker), ofC(working, "worker_done", status{Validating}, commandEnds)),
		ofC(working, "worker_failed", afterFail, commandFails),
		ofC(status{Validating}, "trusted", nil, trustCommand),
		ofC(status{Validating}, "command_changed", nil, askChanged),
		ofC(status{Validating}, "rerun", nil, rerun),
		ofC(status{Validating}, "run_lost", nil, loseRun),
		ofC(status{Validating}, "await_analysis", nil, waitForAnalysis),
		awaiting(cpAwaits(awaitVerdict), ofC(status{Validating}, "pass", status{Completed}, pass)),
		ofC(status{Validating}, "fail", afterFail, fail),
	},

	// Rules about the review of each checkpoint.
	{
		awaiting(cpAwaits(awaitPassReview), ofC(status{Completed}, "accepted", nil, acceptPass)),
		ofC(status{Completed}, "reopened", status{Retrying}, reopenPass),
		ofC(status{Completed}, "review_restarted", nil, restartReviewer),
		ofC(status{Completed}, "review_asked", nil, askInstead),
	},

	// Rules that follow for the session, and from it.
	{ofS(status{Delegating, Paused}, "escalate", status{Escalated}, escalateSession)},
	{ofS(status{Escalated}, "resolve", status{Delegating, Paused}, resolve)},
	{ofS(status{Delegating}, "pause", status{Paused}, pauseAsWished), ofS(status{Escalated}, "pause", nil, pauseAsWished)},
	{ofC(status{Pending}, "dependency_aborted", status{Aborted}, endWithDependency)},
	{ofC(status{Completed}, "reopened", status{Retrying}, reopen)},
	{awaiting(cpAwaits(awaitRetry), ofC(status{Retrying}, "retry_due", status{InProgress}, retry))},
	{awaiting(cpAwaits(awaitRevalidation), ofC(status{Completed}, "revalidate", status{Validating}, revalidate))},
	{awaiting(cpAwaits(awaitStart), ofC(status{Pending}, "start", status{InProgress}, start))},

	// Rules about the end, and the review of the whole before it.
	{ofS(status{Delegating}, "nothing_left", status{Aborted}, endEmpty)},
	{ofS(status{Delegating}, "complete", status{Completed}, completeUnreviewed)},
	{ofS(status{Delegating}, "review_opened", nil, openReview)},
	{
		answered(typeReview, "", ofS(status{Delegating}, "complete", status{Completed}, acceptByPerson)),
		answered(typeReview, "", ofS(status{Delegating}, "review_blocking", nil, blockByPerson)),
	},
	{awaiting(awaitReview, ofS(status{Delegating}, "complete", status{Completed}, acceptByReport))},
	{ofS(status{Delegating}, "review_blocking", nil, blockByReport)},
}

// ofS returns a rule of the session.
func ofS(from status, event string, to status, when func(*session, run.On) *move) rule {
	return rule{Of: ofSession, From: from, Event: event, To: to, When: when}
}

// ofC returns a rule of its checkpoints.
func ofC(from status, event string, to status, when func(*checkpoint) *move) rule {
	return rule{Of: ofCheckpoint, From: from, Event: event, To: to, When: each(when)}
}

// each applies when to the checkpoint that the rule is about.
func each(when func(*checkpoint) *move) func(*session, run.On) *move {
	return func(r *session, on run.On) *move { return when(r.checkpoint(on.Subject)) }
}

// answered makes an answer trigger the rule.
func answered(typ, option string, r rule) rule {
	r.Asked, r.Option = typ, option
	return r
}

// byAnswer returns a rule of the checkpoints that an answer triggers, whatever else is true; then
// makes its changes. An escalation is only decided after the session has escalated, because an
// answer may come between the two.
func byAnswer(from status, event string, to status, typ, option string, then func(*step, *run.Answer)) rule {
	when := func(r *session, on run.On) *move {
		if typ == typeEscalation && r.run.State.Status != Escalated {
			return nil
		}
		return r.checkpoint(on.Subject).move(on.Answer.Why(), func(s *step) { then(s, on.Answer) })
	}
	return answered(typ, option, rule{Of: ofCheckpoint, From: from, Event: event, To: to, When: when})
}

// awaiting adds to a rule what it waits for.
func awaiting(awaits func(*session, *run.Waiting), r rule) rule {
	r.Awaits = awaits
	return r
}

// cpAwaits calls awaits with the checkpoint that the rule is about.
func cpAwaits(awaits func(*checkpoint, *run.Waiting)) func(*session, *run.Waiting) {
	return func(r *session, w *run.Waiting) { awaits(r.checkpoint(w.Subject), w) }
}

// isFinal reports whether a session with this status has ended, and whether a checkpoint with it
// needs nothing more.
func isFinal(s engine.Status) bool { return s == Completed || s == Aborted }

// closeOf closes the open requests of a checkpoint, or the session's own if cp is "", of the given
// types or all.
func closeOf(c *change, cp, result, reason string, types ...string) {
	for _, q := range c.Requests() {
		if q.Status == run.Open && string(q.Subject) == cp && (len(types) == 0 || slices.Contains(types, q.Type)) {
			c.Close(q, result, reason)
		}
	}
}
