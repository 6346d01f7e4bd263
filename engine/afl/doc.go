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
// rules.go has the table and the guards of the session's rules, checkpoint.go those of its
// checkpoints, outputs.go what a state calls for, questions.go what a person is asked;
// package run does the rest. The family's own ideas: definitions.go and findings.go (what a
// design says and what is wrong with it), judge.go and route.go (what an attempt is worth and
// what becomes of it), attempt.go (what workers hand in), revalidate.go (what is validated
// again).
//
// placet alone writes state.json. Nothing is believed because it lies there:
// an attempt counts by what is news since it started, a command runs only once
// its digest is trusted, and the machine works from the definitions that were
// approved, never from the files.
package afl
