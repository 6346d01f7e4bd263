package workspace

import (
	"strings"

	"placet/cmd/placet/console"
	"placet/engine/gate"
	"placet/templates"
)

// Characters of an answer that are shown: of its option or text, and of what goes
// with it.
const (
	ShownAnswer = 100
	shownWith   = 200
)

// Said is a usable answer in words: the options that it chooses, or its text, and
// what goes with them, which begins with a blank where it is not "".
func Said(t Request, r gate.Response) (answer, with string) {
	if t.FreeText {
		return console.Cut(console.OneLine(r.Response), ShownAnswer), ""
	}
	if len(t.Items) > 0 {
		with = picked(t.lang, r.Selected)
	}
	if n := r.Extra.Raw("attempts"); len(n) > 0 {
		with += templates.Phrase(t.lang, "workspace.with.attempts", "n", console.Cut(console.OneLine(string(n)), ShownAnswer))
	}
	for _, e := range r.Edits {
		with += templates.Phrase(t.lang, "workspace.with.edit", "file", console.OneLine(e.Path))
	}
	return console.Cut(console.OneLine(strings.Join(chosenIn(t, r), ", ")), ShownAnswer), with
}

// picked is what an answer selects, in words.
func picked(lang string, selected []string) string {
	if items := console.OneLine(strings.Join(selected, ", ")); items != "" {
		return console.Cut(templates.Phrase(lang, "workspace.with", "items", items), shownWith)
	}
	return ""
}
