package answer

import (
	"slices"

	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/engine"
	"placet/engine/gate"
	"placet/templates"
)

// Decision is a verb that stands for one option.
type Decision struct {
	Verb string
	// Words name its option, in the order in which they are tried.
	Words []string
	// Means reports whether a word means the same in a request about a decision that offers
	// none of Words.
	Means func(word string) bool
}

var (
	Approving = Decision{"approve", []string{"approve", "confirm", "accept", "appropriate"}, gate.Approves}
	Rejecting = Decision{"reject", []string{"reject", "cancel", "abort"}, gate.Refuses}
	Steering  = Decision{"steer", []string{"steer", "request_changes"}, func(string) bool { return false }}
)

// Named returns the option that the verb names, "" if there is none or several could be meant.
func (d Decision) Named(a engine.OpenRequest) string {
	all := Options(a)
	for _, word := range d.Words {
		if id, ok := gate.Match(all, word); ok {
			return id
		}
	}
	all = slices.DeleteFunc(all, func(o gate.Option) bool { return !d.Means(o.ID) })
	if len(all) == 1 && gate.Decides(a.Type) {
		return all[0].ID
	}
	return ""
}

// IsDecision reports whether one press may answer a request: it is about a decision, and has an
// option that agrees and another that refuses.
func IsDecision(a engine.OpenRequest) bool {
	yes, no := Approving.Named(a), Rejecting.Named(a)
	return gate.Decides(a.Type) && yes != "" && no != "" && yes != no && len(a.Several) == 0
}

// option returns the option that the verb stands for, "" if there is none.
func (d Decision) option(a engine.OpenRequest) string {
	if id := d.Named(a); id != "" {
		return id
	}
	if d.Verb == Approving.Verb {
		return a.Default
	}
	return ""
}

// Pick chooses the option that a verb stands for. It never answers a request without that
// option by a similar one.
func (d Decision) Pick(t view.Request) (string, error) {
	if id := d.option(t.OpenRequest); id != "" {
		return id, nil
	}
	p := console.Refused("workspace.pick", "verb", d.Verb, "request", t.Label(), "options", Offers(t))
	if d.Verb == Rejecting.Verb && t.NoReject != "" {
		return "", p.Try("say.text", "text", console.OneLine(t.NoReject))
	}
	if t.FreeText {
		return "", console.Refused("workspace.pick.words", "verb", d.Verb, "request", t.Label()).Try("say.text", "text", inWords(view.Reference(t.OpenRequest)))
	}
	// placet does not decide which option is meant: the first may be the contrary.
	return "", p.Try("workspace.respond.option", "request", view.Reference(t.OpenRequest))
}

// Options returns the options of an open request, as they are matched.
func Options(a engine.OpenRequest) []gate.Option {
	return gate.EvaluationOf(a, engine.Gate{}).Request.Options
}

// Offers returns a list of a request's options in words.
func Offers(t view.Request) templates.Message {
	if t.FreeText || len(t.Options) == 0 {
		return templates.NewMessage("workspace.options.none")
	}
	return templates.Untranslated(List(Options(t.OpenRequest)))
}
