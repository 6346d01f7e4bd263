// Package pal is the machine of orchestrations: sets of ports, which are work packages
// with dependencies. A pair of workers does each port: one implements, the other tests
// and returns what fails. After max_retries failures a person decides.
//
//	run         pending ─started─▶ running ⇄ paused
//	                                  └─▶ complete · failed · cancelled (final)
//
//	port        pending ─▶ ready ─▶ running ─tests_passed─▶ complete (final)
//	               ▲ ▲                 │ ▲
//	               │ └── retry, go_on ─┤ │ the next try
//	               └ unblocked ─ blocked ◀┘ ─▶ failed · cancelled · complete (final)
//
//	loop        running: awaits result n, then feedback n ─▶ success · escalated · failed (final)
//	escalation  open ─▶ resolved · dismissed (final)
//
// rules.go has the table. The first group with an applicable rule moves, and one commit
// moves a port and everything that depends on it.
//
//   - moves.go: what the rules of the run change; portmoves.go: those of its ports
//   - escalations.go: what opens and closes escalations
//   - sources.go, spec.go and plan.go: the design
//   - handins.go: the documents that the workers submit
//   - outputs.go: sessions, inboxes, channels and reports
//   - commands.go: the workers' commands
package pal
