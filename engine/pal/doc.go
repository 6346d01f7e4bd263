// Package pal is the machine of orchestrations: sets of ports, which are work packages
// with dependencies. A pair of workers does each port: one implements, one tests, and
// what fails goes back, until after max_retries failures a person decides.
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
// rules.go has the table: the first group that applies moves, one commit moves a port and
// all that depends on it. moves.go has what the rules of the run change, portmoves.go those
// of its ports, escalations.go what opens and closes escalations. sources.go, spec.go and
// plan.go read what is to be done; handins.go reads what the workers hand in; outputs.go
// writes sessions, inboxes, channels and reports; commands.go begins the workers' commands.
package pal
