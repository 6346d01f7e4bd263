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
//	view.go          the session as one step sees it: settings, control, its beginning and end
//	checkpoint.go    a checkpoint as one step sees it, and a transition in the making
//	definitions.go   the design; findings.go finds what is wrong with it
//	design.go        when a design is approved, and when it needs another approval
//	lifecycle.go     how a checkpoint is created, starts, retries and ends
//	attempt.go       the documents submitted for an attempt; work.go has their consequences
//	stopped.go       what a person is asked if the files of a validation command have changed
//	validation.go    the runs of an attempt; verdict.go judges them and routes the attempt
//	actions.go       the commands: worker, validation, oracle and reviewer
//	review.go        the review of the whole; passreview.go has that of each checkpoint
//	questions.go     the questions to people; explain.go has what else a session waits for
//	code.go          the code around the places that an output names
//	outputs.go       what a state calls for, made by prompt.go, feedback.go, escalation.go
//	                 and renderings.go from what sources.go finds
//	tell.go          what people see of a session
//
// Only placet writes state.json. A document does not count because it exists: only news
// since the start of an attempt counts for it, a command runs only once its digest is
// trusted, and the machine works from the approved definitions, never from the files.
package afl
