// Package nemawashi is the machine of nemawashi actions: a mail, a meeting or a request to
// HR that somebody drafts, a person approves, and placet carries out, once.
//
//	               cancel, expires_at
//	        ┌────────────────────────────────▶ canceled, expired (final)
//	        │
//	pending ──▶ drafted ──▶ approval_pending ──▶ approved ──▶ executing ──▶ executed (final)
//	              ▲   steer, │         │ reject      │            │  ▲
//	              └──revise──┘         ▼             │            ▼  │ retry
//	              ▲                 rejected         │           failed ──▶ canceled
//	              └──────────────revise──────────────┘             give up
//
// rules.go has the table, view.go what is read, explain.go what people are told, command.go what creators ask for by files, questions.go and
// shown.go what persons are asked and shown, job.go how a job begins and ends,
// progress.go where its parts stand, send.go what is
// given to a provider, and outputs.go what a state calls for. payload.go makes of a
// payload what is shown and carried out; address.go, draft.go and calendar.go help it.
// watchdog.go is a creator like others. Package run does the rest.
package nemawashi
