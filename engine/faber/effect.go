package faber

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"placet/engine/gate"
	"placet/templates"
)

// effect is what choosing an option of a request does. [answers.decide] carries it
// out, and its words are what a person was shown.
type effect struct {
	action  string
	permits int    // of a step that goes on: completes, licensed, runsOn
	key     string // of its words
	name    string // what stands in them
}

// effect is what an option does, or an answer in words.
func (r *questions) effect(q question, req gate.Request, response string) effect {
	return r.effectOf(q, req, response, r.permits(q))
}

func (r *questions) effectOf(q question, req gate.Request, response string, permits int) effect {
	e := effect{action: action(req, response), name: unnamed}
	if q.phase != "" && q.step != "" {
		e.name = where(q.phase, q.step)
	}
	switch e.action {
	case actAbort, actRetry, actSkip, actRevise:
		e.key = e.action
		return e
	}
	e.permits, e.key = permits, actContinue
	next, planned := r.plan().next(q.phase, q.step, r.State.shape)
	switch {
	case !req.FreeText() && !agrees(req, response):
		e.name = response
	case permits == licensed:
		e.key = "license"
	case permits == runsOn:
	case planned:
		e.name = where(next.Phase, next.ID)
	default:
		e.key = "continue.last"
	}
	return e
}

// unnamed stands for a step that the state does not name yet.
const unnamed = "…"

// shownName is how much of a step or an option an effect names, in bytes.
const shownName = 60

// words say the effect in a language.
func (e effect) words(lang string) string {
	return templates.Phrase(lang, "faber.effect."+e.key, "name", templates.Cut(oneLine(templates.Clean(e.name), shownName), shownName))
}

// says reports whether these are the effect's words, in whatever language.
func (e effect) says(words string) bool {
	return slices.ContainsFunc(templates.Languages(), func(lang string) bool { return e.words(lang) == words })
}

// shownEffect is the effect that a person was shown of the response: what the
// machine makes of it now, or else what it made of it when the settings or the
// step were others. ok is false where it can no longer be carried out. A request
// of a version that showed none means what it means now.
func (r *answers) shownEffect(o *open, response string) (e effect, ok bool) {
	shown := ""
	for _, option := range o.req.Options {
		if option.ID == response {
			shown = option.Effect
		}
	}
	now := r.effect(o.q, o.req, response)
	if shown == "" || now.says(shown) {
		return now, true
	}
	for _, permits := range []int{completes, licensed, runsOn} {
		if e := r.effectOf(o.q, o.req, response, permits); e.says(shown) {
			return e, true
		}
	}
	if later := (effect{key: now.key, name: unnamed}); later.says(shown) {
		return now, true // nobody knew yet which step it would be
	}
	if r.Held || r.Snap.In("metadata.json").Unsettled() {
		r.Held = true // what is being written may name the plan that was shown
		return e, false
	}
	r.refuse(o, fmt.Sprintf("the answer %s was shown as %s, and would now be another: %s. It is held. Restore what changed, or remove request.json and answer what is asked then.",
		quote(response), quote(shown), quote(now.words(cmp.Or(r.language(), templates.English)))))
	return e, false
}

// action is what an answer does. The word decides, not the type of request.
func action(req gate.Request, response string) string {
	if req.FreeText() {
		return actContinue
	}
	switch gate.Fold(response) {
	case gate.Fold("request_changes"):
		return actRevise
	case gate.Fold("retry"):
		return actRetry
	case gate.Fold("skip"):
		return actSkip
	}
	switch {
	case agrees(req, response):
		return actContinue
	case isWord(response, ownRefusals) || gate.Decides(req.Type) && gate.Refuses(response) && !offers(req, ownRefusals):
		return actAbort
	case gate.Refuses(response):
		return actRevise // never goes on, not even as one choice of many
	}
	switch kindOf(req.Type, len(req.Options)) {
	case "selection", "clarification":
		return actContinue
	}
	return actRevise
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
	return h.Action == actRevise && !isWord(h.Response, []string{"request_changes"}) && strings.TrimSpace(h.Response) != ""
}
