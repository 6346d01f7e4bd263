package faber

import (
	"cmp"
	"slices"
	"strings"

	"placet/engine"
	"placet/engine/gate"
	"placet/templates"
)

// oneLine is a text on one line, cut at n characters.
func oneLine(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > n {
		return string(runes[:n]) + "…"
	}
	return s
}

// effect is what choosing an option of a request does. [acceptedAnswer.decide] carries it
// out, and its words are what a person was shown.
type effect struct {
	*outcome
	words string // "" for those of the outcome
	name  string // what stands in them
}

// outcome is what an effect does to the run: the edge that it takes, the status that its step
// gets, "" for none, and whether the run goes on at the next step or at this one.
type outcome struct {
	action, event string
	to, step      engine.Status
	next          bool
	words         string
}

// What an answer can do. The first three go on: with the next step, with the step that
// the answer permits and does not complete, or with the step that goes on with the answer.
var (
	completes = &outcome{"continue", answeredContinue, InProgress, Completed, true, "continue"}
	licenses  = &outcome{"continue", answeredContinue, InProgress, "", false, "license"}
	runsOn    = &outcome{"continue", answeredContinue, InProgress, InProgress, false, "continue"}
	revises   = &outcome{"revise", answeredRevise, InProgress, InProgress, false, "revise"}
	retries   = &outcome{"retry", answeredRetry, InProgress, InProgress, false, "retry"}
	skips     = &outcome{"skip", answeredSkip, InProgress, Skipped, true, "skip"}
	aborts    = &outcome{"abort", answeredAbort, Cancelled, "", false, "abort"}
)

// effect is what an option does, or an answer in free words.
func (q *question) effect(req gate.Request, response string) effect {
	return q.effectOf(req, response, q.permits())
}

// effectOf is the effect of an option where an answer that goes on does goesOn.
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
	case !req.FreeText() && !agrees(req, response):
		e.name, e.words = response, completes.words
	case goesOn != completes:
	case planned:
		e.name = where(next.Phase, next.ID)
	default:
		e.words = "continue.last"
	}
	return e
}

// permits says what a continuing answer does to the step. With a gate, its
// kind says it. A request of upstream's own stands either behind a step (which
// is then completed) or in front of it: in front where the step is destructive,
// or where its entry says pending and no step_start event exists.
func (q *question) permits() *outcome {
	if q.ownGate {
		switch q.gate.Kind {
		case "phase_entry", "destructive":
			return licenses
		case "input":
			return runsOn
		}
		return completes
	}
	e, ok := q.view.state.shape.find(q.phase, q.step)
	if q.view.isDestructive(q.phase, q.step) || ok && e.status == string(Pending) && !q.view.events.started(plannedStep{Phase: q.phase, ID: q.step}) {
		return licenses
	}
	return completes
}

// unnamed stands for a step that the state does not name yet.
const unnamed = "…"

// shownName is how much of a step or an option an effect names, in bytes.
const shownName = 60

// message says what the effect does.
func (e effect) message() templates.Message {
	name := templates.Cut(oneLine(templates.Clean(e.name), shownName), shownName)
	return templates.NewMessage(templates.Key("faber.effect."+cmp.Or(e.words, e.outcome.words)), "name", name)
}

// shownEffect is the effect of the response that a person was shown: the present one, or
// else one of other settings or another step. ok is false where it can no longer be carried
// out. The effect of a request that showed none, by an older version, is the present one.
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
	for _, goesOn := range []*outcome{completes, licenses, runsOn} {
		if e := o.q.effectOf(o.req, response, goesOn); e.message().Says(shown) {
			return e, true
		}
	}
	if later := (effect{now.outcome, now.words, unnamed}); later.message().Says(shown) {
		return now, true // nobody knew yet which step it would be
	}
	if o.view.Held || o.view.Snap.In("metadata.json").Unsettled() {
		o.view.Held = true // what is being written may name the plan that was shown
		return e, false
	}
	o.refuse(o.view.Say("faber.note.effect", "response", quote(response), "shown", quote(shown), "effect", quote(now.message().In(o.view.Lang))))
	return e, false
}

// outcomeOf is what an answer does. The word decides, and then the type of request: one that
// placet does not know is a choice among its options.
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
		return revises // never goes on, not even as one choice of many
	case asksForDecision:
		return revises
	}
	return completes
}

// The table's own words that agree and refuse. In a request about a decision the
// other words of the gate stand for them where it offers none of them.
var (
	ownApprovals = []string{"approve", "confirm"}
	ownRefusals  = []string{"reject", "cancel", "abort"}
)

// agrees reports whether an option is the one that lets what is asked about happen.
func agrees(req gate.Request, response string) bool {
	return isWord(response, ownApprovals) || gate.Decides(req.Type) && gate.Approves(response) && !offers(req, ownApprovals)
}

func isWord(word string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return gate.Fold(w) == gate.Fold(word) })
}

// offers reports whether a request offers one of some words.
func offers(req gate.Request, words []string) bool {
	return slices.ContainsFunc(req.Options, func(o gate.Option) bool { return isWord(o.ID, words) })
}

// disagrees reports whether the reviewer was offered more and did not agree: the
// words of a refusal, or of an option that placet does not know.
func disagrees(h *HistoryEntry) bool {
	return h.Action == revises.action && !isWord(h.Response, []string{"request_changes"}) && strings.TrimSpace(h.Response) != ""
}
