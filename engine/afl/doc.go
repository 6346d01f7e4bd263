// Package afl is the machine of AFL sessions.
//
// A session's design yields checkpoints that a person approves. Workers
// implement them in the order of their dependencies, one attempt at a time;
// each attempt is validated; a failure is classified and routed: the next
// attempt with feedback, or escalation to a person whose answer sets it going
// again.
//
//	the session
//
//	designing ─approved─▶ approved ─delegate─▶ delegating ─complete─▶ completed (final)
//	    ▲ asked, changes      ▲                 │ ▲   │ ▲
//	    └─ requested          │            pause│ │   │ │resolve
//	                          │    specs_changed▼ │   ▼ │escalate
//	                          └──approved── paused   escalated
//	every status but the final ones ─abort─▶ aborted (final); delegating ─nothing_left─▶ aborted
//
//	a checkpoint
//
//	                          question ┌──────────────────┐ answered
//	                             ┌────▶│ waiting_for_human │─────┐
//	                             │     └──────────────────┘     │
//	pending ──────start──────▶ in_progress ◀────────────────────┘
//	   ▲                         │      ▲
//	   │redesign      worker_done▼      │retry_due
//	   │                     validating │           pass
//	   │                         │  └───┼──────────────────▶ completed
//	   │              fail (RETRY)▼      │                       │
//	   │                      retrying ─┘ ◀──────reopened───────┘
//	   │    fail (ESCALATE_*)    ▲
//	   └───── escalated ─────────┘ retry_more; env_fixed goes back to validating,
//	             │                 as revalidate does for a completed checkpoint whose
//	             │                 dependency was reopened and has ended anew
//	             └──skip──▶ aborted (final), as by a removed definition, an
//	                        aborted dependency or an aborted session
//
// What this package holds, in the order in which a reader needs it:
//
//	state.go         state.json; documents.go has the documents of others
//	rules.go         the table: a row for each rule, whose guards are functions elsewhere
//	session.go       the session as one step sees it: settings, wishes, its beginning and end
//	checkpoint.go    a checkpoint as one step sees it, and a transition of one being made
//	definitions.go   what a design says; findings.go says what is wrong with it
//	design.go        when a design is approved, and when it is looked at again
//	lifecycle.go     how a checkpoint is made, starts, is tried again and ends
//	attempt.go       what was handed in for an attempt; work.go says what follows from it
//	validation.go    the runs of an attempt; verdict.go judges them and routes the attempt
//	review.go        the look at the whole
//	questions.go     what persons are asked; awaits.go says what is waited for besides
//	outputs.go       what a state calls for, made by prompt.go, feedback.go, escalation.go,
//	                 and renderings.go of what sources.go finds
//	view.go          what is shown of a session
//
// placet alone writes state.json. No document counts because it is there: an attempt
// counts by what is news since it started, a command runs only once its digest is trusted,
// and the machine works from the definitions that were approved, never from the files.
package afl
