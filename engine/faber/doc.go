// Package faber is the machine of FABER runs.
//
// A run walks five phases, each a list of steps. Upstream's agents and scripts
// execute the steps and write state.json and events/; they pause by setting
// status awaiting_feedback with a feedback_request, and a person answers.
// placet opens the request as files, accepts the answer, moves state.json and
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
// Upstream sets the statuses in between; placet's own edges are the named ones
// (rules.go). A run below a root is served. A run where upstream's later layouts
// put it is foreign: placet answers it, and writes nothing else there.
//
// A coordinator asks a person about several runs at once. It is a class of run with a machine and a
// state document of its own, and reads its runs as their machine does:
//
//	adopted ─▶ collecting ──all_stopped──▶ asking ──all_final──▶ closed (final)
//	               ▲                      │ ▲  │ answers_taken, prompt_renewed
//	               └──────round_over──────┘ └──┘
//
// The state document of a run belongs to upstream, so the family patches it and never encodes it
// as a whole; otherwise it is a family of the kernel [placet/engine/run] like others.
//
//   - state.go reads state.json, and view.go reads the documents beside it
//   - rules.go has the table with its guards, outputs.go what a state calls for, questions.go
//     the questions to people
//   - shapes.go has upstream's five ways to note a step, events.go what has happened, and
//     plan.go what comes next
//   - request.go has request.json and whether it is unchanged, form.go what a person sees,
//     answer.go which answer counts, effect.go what an answer does, decision.go how it moves
//     the run, and closing.go the end of a request that is no longer asked
//   - gates.go has what agents ask before they go on: placet replies, and asks a person where a gate is
//     due (gate_opened: pending, in_progress ─▶ awaiting_feedback); passed.go says which gates are due
//     and which a person has passed, deviations.go where a run left its plan
//   - edit.go has the patch of state.json; event.go, resume.go and context.go write what an
//     agent continues from
//   - issuetext.go has the text of a request for the issue of the run, posting.go the command that
//     posts it, and attempts.go how a command runs again; comments.go chooses the run of a comment and
//     carries it out, and package comment finds its command and its answer
//   - tell.go, explain.go and fabrication.go have what people are told
//   - coordinator.go has the machine of coordinators, prompt.go what a prompt shows, and reply.go which
//     answers to it count
//
// One commit writes request and receipt files first, then events and resume.md, and
// state.json last. A durable receipt is final: if an upstream writer restores an old
// state.json, placet makes the same transition again from the receipt, with the same
// revision, and writes no event twice.
package faber
