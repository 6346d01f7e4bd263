// Package optimizer is the machine of the workflow optimizer's cycles.
//
// A run is one cycle of one workflow. Somebody writes trigger.json; three
// signals decide the automation level (10 report, 20 script analysis, 30
// evaluation); the level is carried out, by a command or by an agent; its report
// is written and recorded in the audit database; a person judges level and
// suggestions in one form; the answer becomes goal.json, silence becomes the
// timeout's fallback goal, and open issues start the next cycle.
//
//	   triggered        collected, continued       decided
//	──────────────▶ context ──────────────▶ deciding ──────────────▶ running ◀─┐
//	                  │ declined                                      │  │ └────┘ retrieved,
//	                  ▼                                  level_failed │  │        retried,
//	                failed (final) ◀──────────────────────────────────┘  │        demoted
//	                  ▲ stopped, from each of the five                   │ reported
//	                  │                                                  ▼
//	                goal (final) ◀──answered, timed_out── awaiting_human ◀──recorded── reporting
//
// rules.go has the table, outputs.go what a state calls for, questions.go what persons
// are asked; package run does the rest. The family's own ideas:
// signals.go and kpi.go (which level), attempts.go (a level's command), stats.go
// and report.go (what was found), ledger.go and rows.go (what the audit database
// is owed), goal.go (what
// an answer comes to), related.go and opengoals.go (which run takes up which
// goal), tickets.go (a ticket for each directive).
//
// Agents write the inputs, upstream's tools their own files, the reviewer the
// answer; everything else is placet's. The files stay the record: the database
// is a copy for others to read.
package optimizer
