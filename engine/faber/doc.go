// Package faber is the machine of FABER runs.
//
// A run walks five phases, each a list of steps. Upstream's agents and scripts
// execute the steps and write state.json and events/; they pause by setting
// status awaiting_feedback with a feedback_request, and a person answers.
// placet opens the request as files, takes the answer, moves state.json and
// writes what the agent reads next. It starts no step and completes no phase.
//
//	                     request_opened (form written)
//	                          ┌────┐
//	                          │    ▼
//	pending ─▶ in_progress ─▶ awaiting_feedback ──answered_continue,revise,retry,skip──▶ in_progress
//	   │            │               │    │                     expired
//	   │            │               │    └──answered_abort, expired──▶ cancelled (final)
//	   │            │               │                                      ▲
//	   └────────────┴───────────────┴──────────cancel_asked────────────────┤
//	 paused ───────────────────────────────────cancel_asked────────────────┤
//	 failed ──answered_retry──▶ in_progress;  answered_abort, cancel_asked─┘
//	 completed (final)
//
// The states between are upstream's to set; placet's own edges are the ones
// with names (rules.go). A run is served where it lies below a root, foreign
// where upstream's later layouts put it: a foreign run is answered, and nothing
// else is ever written there.
//
// The family is one of the kernel [placet/engine/run], whose state document belongs to
// upstream: it is patched, never encoded as a whole. state.go reads state.json, view.go
// what stands beside it; rules.go holds the table with its guards, outputs.go what a
// state calls for, questions.go what persons are asked.
//
// What upstream records: shapes.go (five ways to note a step), events.go (what has happened),
// plan.go (what comes next).
//
// A request: request.go (request.json, and whether it is as it was issued), form.go (what is
// shown), answer.go (which answer counts), effect.go (what an answer does), decision.go (how
// it moves the run), closing.go (what became of a request that is asked no longer).
//
// What placet writes besides: edit.go (the patch of state.json), event.go, resume.go and
// context.go (what an agent goes on by). What people are told: tell.go, explain.go,
// fabrication.go.
//
// The order in one commit is request and receipt files, events and resume.md,
// state.json last. A receipt is fact once durable: where an upstream writer puts an old
// state.json back, the same transition is made again from it, with the same
// revision, and no event is written twice.
package faber
