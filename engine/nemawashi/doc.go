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
// Where to look:
//
//   - rules.go: the transition table
//   - view.go: what is read; explain.go: what people are told
//   - command.go: what creators ask for with files
//   - questions.go and shown.go: what people are asked and shown
//   - job.go: how a job begins and ends; progress.go: the status of its parts
//   - send.go: what a provider gets; outputs.go: what a state calls for
//   - payload.go: how a payload becomes what is shown and carried out, with the help of address.go,
//     draft.go and calendar.go
//   - watchdog.go: a creator of actions like any other
//
// Package run does the rest.
package nemawashi
