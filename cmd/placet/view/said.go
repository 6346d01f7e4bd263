package view

import (
	"slices"
	"strings"
	"time"

	"placet/cmd/placet/console"
	"placet/engine"
	"placet/engine/gate"
	"placet/templates"
)

// Said returns a usable answer in words: the options that it chooses, or its text, and what
// goes with them, which begins with a blank unless it is "".
func Said(t Request, r gate.Response) (answer, with string) {
	if t.FreeText {
		return console.Cut(console.OneLine(r.Response), ShownAnswer), ""
	}
	if len(t.Items) > 0 {
		with = picked(t.Spoken, r.Selected)
	}
	if n := r.Extra.Raw("attempts"); len(n) > 0 {
		with += templates.Phrase(t.Spoken, "workspace.with.attempts", "n", console.Cut(console.OneLine(string(n)), ShownAnswer))
	}
	for _, e := range r.Edits {
		with += templates.Phrase(t.Spoken, "workspace.with.edit", "file", console.OneLine(e.Path))
	}
	return console.Cut(console.OneLine(strings.Join(ChosenIn(t, r), ", ")), ShownAnswer), with
}

// Due says until when a request can be answered, how long that is, what happens without an
// answer, and since when nobody waits for one any more. moment returns a time as the surface
// shows times.
func Due(lang string, now time.Time, o engine.OpenRequest, moment func(time.Time) string) string {
	said := templates.Text(lang, "page.unlimited")
	switch {
	case o.Overdue:
		said = templates.Phrase(lang, "page.overdue", "at", moment(o.Deadline))
	case !o.Deadline.IsZero():
		said = templates.Phrase(lang, "page.until", "at", moment(o.Deadline), "left", console.Left(lang, now, o.Deadline)) + console.Suffix(", ", console.OneLine(o.AtDeadline))
	}
	return said + console.Suffix(", ", SinceNobodyWaits(lang, now, o))
}

// Effects says in words what the options of an answer do.
func Effects(t Request, resp gate.Response) string {
	var all []string
	for _, id := range ChosenIn(t, resp) {
		for _, o := range t.Options {
			if o.ID == id && o.Effect != "" {
				all = append(all, console.Cut(console.OneLine(o.Effect), ShownAnswer))
			}
		}
	}
	return console.Cut(strings.Join(all, "; "), shownWith)
}

// AnswerIn returns the answer in a document, spelled as the request spells it, and what is
// known of its author. ok is false if it does not fit the request as it is shown now, or the
// gate.
func AnswerIn(t Request, d engine.Document, g engine.Gate) (r gate.Response, known []string, ok bool) {
	asked := gate.EvaluationOf(t.OpenRequest, g)
	asked.Fact = t.fact
	decision, wrong := asked.Check(d)
	a := decision.Given()
	return gate.Response{Response: a.Response, Selected: a.Selected, Comment: a.Comment, Edits: a.Edits, ProvidedBy: a.By, Extra: a.Extra}, a.Known, wrong == ""
}

// ChosenIn returns the options that an answer chooses, each once, sorted.
func ChosenIn(t Request, r gate.Response) []string {
	ids := []string{r.Response}
	if len(t.Several) > 0 {
		ids = append(ids, r.Selected...)
	}
	slices.Sort(ids)
	return slices.DeleteFunc(slices.Compact(ids), func(id string) bool {
		return !slices.ContainsFunc(t.Options, func(o engine.RequestOption) bool { return o.ID == id })
	})
}

// ShownAuthor returns the author of an answer for people, in a language: a name that is not the
// file's owner's is a claim.
func ShownAuthor(lang string, r gate.Response, known []string) string {
	return r.ProvidedBy.Shown(lang, append(slices.Clone(known), "claimed:"+r.ProvidedBy.User))
}
