// Package ask is the machine of asks: one question to a person, and one answer.
//
// An asker (an agent, a script, a verb) writes ask.json. placet opens one request, a
// person answers it, and placet writes answer.json, for which the asker waits. Nothing is
// carried out.
//
//	   asked          answered
//	──────────▶ open ───────────▶ answered (final)
//	  │          │ ├─ expired ───▶ expired (final)
//	  │          │ └─ superseded ▶ superseded (final)
//	  │          │ withdrawn
//	  │ dropped  ▼
//	  └────────▶ withdrawn (final)
//
// rules.go has the table, outputs.go the documents that a state requires, questions.go the
// person's question, and round.go what the person reads about the ask before; package run does
// the rest. document.go says what ask.json may hold, and why an ask is refused.
package ask
