package gate

import (
	"slices"
	"strings"
	"unicode"

	"go.mau.fi/util/confusable"
	"golang.org/x/text/unicode/norm"

	"placet/templates"
)

// The words that agree and refuse, whatever a family makes of them. None may be
// imitated by an option; a refusing one never lets anything go on.
var (
	approving = []string{
		"approve", "confirm", "accept", "yes", "y", "ok", "go", "proceed", "continue", "ship", "merge",
	}
	refusing = []string{
		"reject", "cancel", "abort", "no", "n", "deny", "decline", "refuse", "stop", "disapprove",
	}
)

// Approves reports whether a word is one of those that agree, however it is folded.
func Approves(word string) bool { return isOne(approving, word) }

// Refuses reports whether a word is one of those that refuse, however it is folded.
func Refuses(word string) bool { return isOne(refusing, word) }

// Decides reports whether a type of request is about a decision. In one that is, every
// word that agrees or refuses stands for the family's own, where none of those is
// offered; and its answer earns an approval event.
func Decides(typ string) bool {
	return typ == "approval" || typ == "confirmation" || typ == "review"
}

func isOne(words []string, word string) bool {
	_, ok := match(words, word)
	return ok
}

// Looks are what a person may take a word for: its skeleton (UTS #39) after
// normalization, as it stands and in small letters, folded. Words that share one
// cannot be told apart.
func Looks(word string) []string {
	normal := norm.NFKC.String(word)
	looks := []string{Fold(confusable.Skeleton(normal)), Fold(confusable.Skeleton(strings.ToLower(normal)))}
	return slices.Compact(looks)
}

// imitable are the words that no option may imitate by the looks that they have
// in small and in capital letters.
var imitable = func() map[string]string {
	looks := map[string]string{}
	for _, word := range slices.Concat(approving, refusing, []string{submitID}) {
		for _, look := range slices.Concat(Looks(word), Looks(strings.ToUpper(word))) {
			looks[look] = word
		}
	}
	return looks
}()

// imitated is the word that another looks like without being it, "" for none.
func imitated(word string) string {
	for _, look := range Looks(word) {
		if of := imitable[look]; of != "" && Fold(of) != Fold(word) {
			return of
		}
	}
	return ""
}

// unseen reports whether a character must not stand in a word that answers: it has
// no look of its own, it varies another, or this program does not know it.
func unseen(r rune) bool {
	return !unicode.IsGraphic(r) || templates.Hidden(r) || unicode.Is(unicode.Variation_Selector, r)
}

// together are the scripts that are written side by side (UTS #39, highly
// restrictive). Any other script stands alone.
var together = [][]string{
	{"Latin", "Han", "Hiragana", "Katakana"},
	{"Latin", "Han", "Bopomofo"},
	{"Latin", "Han", "Hangul"},
}

// mixed are scripts of a word's letters that nobody writes together, sorted; nil
// where the letters are of one script or go together.
func mixed(word string) []string {
	var scripts []string
	for _, r := range word {
		if !unicode.IsLetter(r) || unicode.In(r, unicode.Common, unicode.Inherited) || isOf(r, scripts) {
			continue
		}
		scripts = append(scripts, scriptOf(r))
		if len(scripts) > 1 && !slices.ContainsFunc(together, func(set []string) bool { return within(scripts, set) }) {
			slices.Sort(scripts)
			return scripts
		}
	}
	return nil
}

func within(some, all []string) bool {
	return !slices.ContainsFunc(some, func(one string) bool { return !slices.Contains(all, one) })
}

// isOf reports whether a character is of one of some scripts.
func isOf(r rune, scripts []string) bool {
	return slices.ContainsFunc(scripts, func(name string) bool { return unicode.Is(unicode.Scripts[name], r) })
}

// scriptOf is the script of a letter.
func scriptOf(r rune) string {
	for name, table := range unicode.Scripts {
		if unicode.Is(table, r) {
			return name
		}
	}
	return "unknown"
}
