package faber

import (
	"cmp"
	"slices"
	"strings"

	"placet/engine"
	"placet/engine/gate"
	"placet/templates"
)

// oneLine returns a text on one line, cut at n characters.
func oneLine(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > n {
		return string(runes[:n]) + "…"
	}
	return s
}

// effect is the effect of choosing an option of a request. [acceptedAnswer.decide] carries it out,
// and a person saw its words.
type effect struct {
	*outcome
	words string // "" for the words of the outcome
	name  string // the step that the words name
}

// outcome is what an effect does to the run: the edge that it takes, the status that its step gets
// ("" for none), and whether the run continues at the next step or at this one.
type outcome struct {
	action, event string
	to, step      engine.Status
	next          bool
	words         string
}

// Outcomes of an answer. The first four let the run continue: with the next step, with the step
// that the answer permits and does not complete, with the step that continues with the answer, or
// with the step that asked and is not finished.
var (
	completes = &outcome{"continue", answeredContinue, InProgress, Completed, true, "continue"}
	licenses  = &outcome{"continue", answeredContinue, InProgress, "", false, "license"}
	runsOn    = &outcome{"continue", answeredContinue, InProgress, InProgress, false, "continue"}
	informs   = &outcome{"continue", answeredContinue, InProgress, "", false, "inform"}
	revises   = &outcome{"revise", answeredRevise, InProgress, InProgress, false, "revise"}
	retries   = &outcome{"retry", answeredRetry, InProgress, InProgress, false, "retry"}
	skips     = &outcome{"skip", answeredSkip, InProgress, Skipped, true, "skip"}
	aborts    = &outcome{"abort", answeredAbort, Cancelled, "", false, "abort"}
)

// effect returns the effect of an option, or of an answer in free words.
func (q *question) effect(req gate.Request, response string) effect {
	return q.effectOf(req, response, q.permits(req, response))
}

// effectOf returns the effect of an option. goesOn is the outcome of an answer that lets the run
// continue.
func (q *question) effectOf(req gate.Request, response string, goesOn *outcome) effect {
	e := effect{outcome: outcomeOf(req, response), name: unnamed}
	if q.phase != "" && q.step != "" {
		e.name = where(q.phase, q.step)
	}
	if e.outcome != completes {
		return e
	}
	e.outcome = goesOn
	next, planned := q.view.plan().next(q.phase, q.step, q.view.state.shape)
	switch {
	case goesOn == informs:
	case !req.FreeText() && !agrees(req, response):
		e.name, e.words = response, completes.words
	case goesOn == licenses && q.ownGate && q.gate.Kind == phaseEntry:
		e.name, e.words = q.phase, "license.phase"
	case goesOn != completes:
	case planned:
		e.name = where(next.Phase, next.ID)
	default:
		e.words = "continue.last"
	}
	return e
}

// permits returns what a continuing answer does to the step. The kind of the gate decides if the
// request names a gate. Otherwise a request of upstream's comes inside a step, after it, or before
// it. Free words, a choice and a confirmation that a step asks for before it has ended are for that
// step; free words are even if nothing shows that it began. An approval comes after a step, which
// it completes, unless the step is destructive, or its entry says pending and it has no step_start
// event.
func (q *question) permits(req gate.Request, response string) *outcome {
	if q.ownGate {
		switch q.gate.Kind {
		case phaseEntry, irreversible, stepGate:
			return licenses
		case "input":
			return runsOn
		}
		return completes
	}
	e, ok := q.view.state.shape.find(q.phase, q.step)
	started := q.view.events.started(plannedStep{Phase: q.phase, ID: q.step})
	switch {
	case req.FreeText():
		return informs
	case q.view.isDestructive(q.phase, q.step) || ok && e.status == string(Pending) && !started:
		return licenses
	case (started || ok && e.status == string(InProgress)) && asksInside(req, response):
		return informs
	}
	return completes
}

// asksInside reports whether an answer is one that a step needs to go on: a confirmation, or a
// choice that is no decision about the step. A step that asks for a review or an approval has ended.
func asksInside(req gate.Request, response string) bool {
	if isWord(response, []string{"confirm"}) || req.Type == "confirmation" {
		return true
	}
	return !gate.Decides(req.Type) && !agrees(req, response)
}

// unnamed replaces the name of a step that the state does not name yet.
const unnamed = "…"

// shownName is how much of the name of a step or an option an effect shows, in bytes.
const shownName = 60

// message describes the effect.
func (e effect) message() templates.Message {
	name := templates.Cut(oneLine(templates.Clean(e.name), shownName), shownName)
	return templates.NewMessage(templates.Key("faber.effect."+cmp.Or(e.words, e.outcome.words)), "name", name)
}

// shownEffect returns the effect of the response that a person was shown: the current one, or one
// that other settings or another step gave. ok is false if that effect is no longer possible. A
// request of an older version showed no effects; its effect is the current one.
func (o *request) shownEffect(response string) (e effect, ok bool) {
	shown := ""
	for _, option := range o.req.Options {
		if option.ID == response {
			shown = option.Effect
		}
	}
	now := o.q.effect(o.req, response)
	if shown == "" || now.message().Says(shown) {
		return now, true
	}
	for _, goesOn := range []*outcome{completes, licenses, runsOn, informs} {
		if e := o.q.effectOf(o.req, response, goesOn); e.message().Says(shown) {
			return e, true
		}
	}
	if later := (effect{now.outcome, now.words, unnamed}); later.message().Says(shown) {
		return now, true // the step was still unknown
	}
	if o.view.Held || o.view.Snap.In("metadata.json").Unsettled() {
		o.view.Held = true // the file being written may name the plan that was shown
		return e, false
	}
	o.refuse(o.view.Say("faber.note.effect", "response", quote(response), "shown", quote(shown), "effect", quote(now.message().In(o.view.Lang))))
	return e, false
}

// outcomeOf returns the outcome of an answer. The word decides, and then the type of request: a
// type that placet does not know is a choice among its options.
func outcomeOf(req gate.Request, response string) *outcome {
	_, asksForDecision := defaultOptions[req.Type]
	switch {
	case req.FreeText():
		return completes
	case isWord(response, []string{"request_changes"}):
		return revises
	case isWord(response, []string{"retry"}):
		return retries
	case isWord(response, []string{"skip"}):
		return skips
	case agrees(req, response):
		return completes
	case isWord(response, ownRefusals) || gate.Decides(req.Type) && gate.Refuses(response) && !offers(req, ownRefusals):
		return aborts
	case gate.Refuses(response):
		return revises // never continues, not even as one choice of many
	case asksForDecision:
		return revises
	}
	return completes
}

// The table's own words for agreeing and refusing. In a request about a decision that offers none
// of them, the gate's other words replace them.
var (
	ownApprovals = []string{"approve", "confirm"}
	ownRefusals  = []string{"reject", "cancel", "abort"}
)

// agrees reports whether an option approves what the request asks about.
func agrees(req gate.Request, response string) bool {
	return isWord(response, ownApprovals) || gate.Decides(req.Type) && gate.Approves(response) && !offers(req, ownApprovals)
}

func isWord(word string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return gate.Fold(w) == gate.Fold(word) })
}

// offers reports whether a request offers one of the words.
func offers(req gate.Request, words []string) bool {
	return slices.ContainsFunc(req.Options, func(o gate.Option) bool { return isWord(o.ID, words) })
}

// disagrees reports whether a reviewer who had further options did not agree: the response is a
// refusal or an option that placet does not know.
func disagrees(h *HistoryEntry) bool {
	return h.Action == revises.action && !isWord(h.Response, []string{"request_changes"}) && strings.TrimSpace(h.Response) != ""
}
