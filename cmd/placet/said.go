package main

import (
	"strings"

	"placet/engine/gate"
)

// Characters of an answer that are shown: of its option or text, and of what goes
// with it.
const (
	shownAnswer = 100
	shownWith   = 200
)

// said is a usable answer in words: the options that it chooses, or its text, and
// what goes with them, which begins with a blank where it is not "".
func (t target) said(r gate.Response) (answer, with string) {
	if t.FreeText {
		return cut(line(r.Response), shownAnswer), ""
	}
	if len(t.Items) > 0 {
		with = picked(r.Selected)
	}
	if n := r.Extra.Raw("attempts"); len(n) > 0 {
		with += " with attempts " + cut(line(string(n)), shownAnswer)
	}
	return cut(line(strings.Join(t.chosen(r), ", ")), shownAnswer), with
}

// picked is what an answer selects, in words.
func picked(selected []string) string {
	return cut(suffix(" with ", line(strings.Join(selected, ", "))), shownWith)
}
