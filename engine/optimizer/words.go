package optimizer

import (
	"strings"

	"placet/templates"
)

// How much of a text is shown, in bytes. The document it comes from has all
// of it.
const (
	shownField    = 80
	shownName     = 200
	shownSentence = 2000
)

// phrase returns a word or sentence with its {names} filled in, which are
// given as pairs of name and value. A value is never searched for names.
func phrase(lang, key string, pairs ...any) string {
	return templates.Phrase(lang, "optimizer."+key, pairs...)
}

// visible reports whether anything of a text can be seen.
func visible(s string) bool { return !templates.Blank(s) }

// oneLine is a text on one line in which all can be seen, cut to a limit in bytes.
func oneLine(s string, limit int) string {
	return templates.Cut(strings.Join(strings.Fields(templates.Clean(s)), " "), limit)
}
