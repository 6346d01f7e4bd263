package afl

import "placet/engine"

// Statuses of a session.
const (
	Designing  engine.Status = "designing"  // checkpoints not approved
	Approving  engine.Status = "approved"   // definitions being applied
	Delegating engine.Status = "delegating" // attempts may start, also during a review
	Paused     engine.Status = "paused"     // nothing starts
	Escalated  engine.Status = "escalated"  // of a session or a checkpoint: a person must decide
	Completed  engine.Status = "completed"  // of a session: final; of a checkpoint: passed, a review may reopen it
	Aborted    engine.Status = "aborted"    // final
)

// Statuses of a checkpoint, besides escalated, completed and aborted.
const (
	Pending    engine.Status = "pending"           // waits for dependencies, a slot or the session
	InProgress engine.Status = "in_progress"       // a worker has the attempt
	Validating engine.Status = "validating"        // the attempt awaits its verdict
	Retrying   engine.Status = "retrying"          // the next attempt starts at retry_at
	Waiting    engine.Status = "waiting_for_human" // the worker asked
)

// What moves.
const (
	ofSession    = "session"
	ofCheckpoint = "checkpoint"
)

// Events of a session.
const (
	seen             = "seen"
	adopted          = "adopted" // of a checkpoint, too
	specsRead        = "specs_read"
	approvalAsked    = "approval_asked"
	changesRequested = "changes_requested"
	approvedEvent    = "approved"
	delegate         = "delegate"
	pauseEvent       = "pause"
	specsChanged     = "specs_changed"
	resume           = "resume"
	escalate         = "escalate"
	resolve          = "resolve"
	reviewOpened     = "review_opened"
	reviewBlocking   = "review_blocking"
	complete         = "complete"
	nothingLeft      = "nothing_left"
	abort            = "abort"
)

// Events of a checkpoint.
const (
	defined           = "defined"
	redefined         = "redefined"
	removed           = "removed"
	sessionAborted    = "session_aborted"
	dependencyAborted = "dependency_aborted"
	start             = "start"
	workerDone        = "worker_done"
	question          = "question"
	workerFailed      = "worker_failed"
	answered          = "answered"
	unanswerable      = "unanswerable"
	workerRestart     = "worker_restart"
	workerLost        = "worker_lost"
	trusted           = "trusted"
	rerun             = "rerun"
	runLost           = "run_lost"
	awaitAnalysis     = "await_analysis"
	pass              = "pass"
	fail              = "fail"
	retryDue          = "retry_due"
	retryMore         = "retry_more"
	redesign          = "redesign"
	envFixed          = "env_fixed"
	skip              = "skip"
	skipForcedEvent   = "skip_forced"
	reopenedEvent     = "reopened"
	revalidate        = "revalidate"
)

// edges is the table: what is possible. step.go says which edge is taken now.
var edges = append(sessionEdges(), checkpointEdges()...)

// row is one line of the format page: every from with every to, where several
// words stand there, or each from with itself.
func rows(of string, from []engine.Status, event string, to ...engine.Status) []engine.Edge {
	var list []engine.Edge
	for _, f := range from {
		if len(to) == 0 {
			list = append(list, engine.Edge{Of: of, From: f, Event: event, To: f})
		}
		for _, t := range to {
			list = append(list, engine.Edge{Of: of, From: f, Event: event, To: t})
		}
	}
	return list
}

type status = []engine.Status

// asking are the session's statuses in which checkpoints may await approval.
var asking = status{Designing, Paused, Escalated}

func sessionEdges() []engine.Edge {
	var list []engine.Edge
	add := func(from status, event string, to ...engine.Status) {
		list = append(list, rows(ofSession, from, event, to...)...)
	}
	add(status{""}, seen, Designing)
	add(status{""}, adopted, Completed)
	add(asking, specsRead)
	add(asking, approvalAsked)
	add(asking, changesRequested)
	add(asking, approvedEvent, Approving)
	add(status{Approving}, delegate, Delegating)
	add(status{Delegating}, pauseEvent, Paused)
	add(status{Escalated}, pauseEvent)
	add(status{Delegating}, specsChanged, Paused)
	add(status{Escalated}, specsChanged)
	add(status{Paused}, resume, Delegating)
	add(status{Escalated}, resume)
	add(status{Delegating, Paused}, escalate, Escalated)
	add(status{Escalated}, resolve, Delegating, Paused)
	add(status{Delegating}, reviewOpened)
	add(status{Delegating}, reviewBlocking)
	add(status{Delegating}, complete, Completed)
	add(status{Delegating}, nothingLeft, Aborted)
	add(status{Designing, Approving, Delegating, Paused, Escalated}, abort, Aborted)
	return list
}

func checkpointEdges() []engine.Edge {
	var list []engine.Edge
	add := func(from status, event string, to ...engine.Status) {
		list = append(list, rows(ofCheckpoint, from, event, to...)...)
	}
	working := status{InProgress, Waiting}
	unfinished := status{Pending, InProgress, Validating, Retrying, Waiting, Escalated}
	add(status{""}, defined, Pending)
	add(status{""}, adopted, Completed)
	add(append(status{Completed}, unfinished...), redefined, Pending)
	add(unfinished, removed, Aborted)
	add(unfinished, sessionAborted, Aborted)
	add(status{Pending}, dependencyAborted, Aborted)
	add(status{Pending}, start, InProgress)
	add(working, workerDone, Validating)
	add(working, question, Waiting)
	add(working, workerFailed, Retrying, Escalated)
	add(status{Waiting}, answered, InProgress)
	add(status{Waiting}, unanswerable, Escalated)
	add(status{InProgress}, workerRestart)
	add(status{InProgress}, workerLost)
	add(status{Validating}, trusted)
	add(status{Validating}, rerun)
	add(status{Validating}, runLost)
	add(status{Validating}, awaitAnalysis)
	add(status{Validating}, pass, Completed)
	add(status{Validating}, fail, Retrying, Escalated)
	add(status{Retrying}, retryDue, InProgress)
	add(status{Escalated}, retryMore, Retrying)
	add(status{Escalated}, redesign, Pending)
	add(status{Escalated}, envFixed, Validating)
	add(status{Escalated}, skip, Aborted)
	add(status{Escalated}, skipForcedEvent, Aborted)
	add(status{Completed}, reopenedEvent, Retrying)
	add(status{Completed}, revalidate, Validating)
	return list
}

// final reports whether a session's status has no way out.
func final(s engine.Status) bool { return s == Completed || s == Aborted }

// over reports whether a checkpoint needs nothing more.
func over(s engine.Status) bool { return s == Completed || s == Aborted }
