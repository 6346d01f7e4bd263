// Package optimizer is the machine of the workflow optimizer's cycles.
//
// A run is one cycle of one workflow. Somebody writes trigger.json; three
// signals decide the automation level (10 report, 20 script analysis, 30
// evaluation); a command or an agent carries the level out; placet writes its report
// and records it in the audit database; a person judges level and suggestions in
// one form; the answer becomes goal.json, silence becomes the timeout's fallback
// goal, and open issues start the next cycle.
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
// rules.go has the transition table, outputs.go plans what a state calls for, and
// questions.go asks people; package run does the rest. The family's own parts are:
//
//   - signals.go and kpi.go: which level
//   - attempts.go: the command of a level
//   - stats.go and report.go: the findings in the records, and the report
//   - ledger.go and rows.go: the rows for the audit database
//   - goal.go: the goal that follows from an answer
//   - related.go and opengoals.go: which run takes up which goal
//   - tickets.go: a ticket for each directive
//
// Agents write the inputs, upstream's tools write their own files, and the reviewer
// writes the answer; placet writes everything else. The files are the record, and the
// database is a copy for others to read.
package optimizer
