package workspace

import (
	"slices"
	"strings"
	"unicode/utf8"

	"placet/cmd/placet/console"
	"placet/engine"
)

// Details are what a request shows besides its prompt, its summary, its options and its items.
func Details(a engine.OpenRequest) []engine.Fact {
	return slices.DeleteFunc(slices.Clone(a.Details), func(f engine.Fact) bool { return f.Value == a.Summary })
}

// How much of a request a list shows, in characters, and of its prompt in lines.
const (
	ListedLines   = 4
	ListedPrompt  = 200
	ListedSummary = 160
	ListedItem    = 120
	// ShownItems is how many of a request's items the inbox shows.
	ShownItems = 5
)

// IsListed reports whether a list shows all that an answer decides about. Of a request of
// which it shows less, it names the command that shows the request, and none that answers.
func IsListed(a engine.OpenRequest) bool {
	fits := func(text string, most int) bool { return utf8.RuneCountInString(console.OneLine(text)) <= most }
	cut := func(it engine.RequestItem) bool { return !fits(it.Label, ListedItem) }
	unsaid := func(o engine.RequestOption) bool { return !fits(o.Says(), ShownAnswer) }
	return fits(a.Prompt, ListedPrompt) && strings.Count(strings.TrimSpace(a.Prompt), "\n") < ListedLines && fits(a.Summary, ListedSummary) && len(a.Items) <= ShownItems &&
		len(Details(a)) == 0 && len(a.Several) < 2 &&
		!slices.ContainsFunc(a.Items, cut) && !slices.ContainsFunc(a.Options, unsaid)
}

// ToAnswer lists the commands with which a list has a request answered: those that answer
// it, or, where the list shows less than an answer decides about, the one that shows it.
func ToAnswer(lang string, a engine.OpenRequest, full bool) (commands []string, listed bool) {
	if IsListed(a) {
		return HowToAnswer(lang, a, full), true
	}
	name := a.Request
	if full {
		name = a.Run.String() + ":" + name
	}
	return []string{console.Typed("show", name)}, false
}
