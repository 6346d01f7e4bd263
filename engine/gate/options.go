package gate

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.mau.fi/util/confusable"
	"golang.org/x/text/unicode/norm"

	"placet/templates"
)

// Option is one of the words that answer a request.
type Option struct {
	ID          string `json:"id"`
	Description string `json:"description"`
	// Effect says in a few words what choosing the option does. It comes from the machine
	// that does it; "" if a version without effects wrote the request.
	Effect string `json:"effect,omitzero"`
	// Words are further names of the option besides its id, in forms, in response.json and
	// on the command line. They are not written to request.json.
	Words []string `json:"-"`
}

// Item is one of the things of which an answer may pick any number.
type Item struct {
	ID    string `json:"id"`
	Label string `json:"label"`
	// Priority is the family's word for the importance of the item, "" for none.
	Priority string `json:"priority,omitzero"`
	// Words are further names of the item besides its id. They are not written to
	// request.json.
	Words []string `json:"-"`
}

// submitID is the text of the last item of every form. No option may have this name.
const submitID = "submit this answer"

// Fold returns the common form of all spellings of one option: letters without regard to
// case, no surrounding blanks, and one hyphen for each run of hyphens, underscores and
// blanks inside.
func Fold(word string) string {
	var b strings.Builder
	between := false
	for _, r := range strings.TrimSpace(word) {
		if r == '-' || r == '_' || unicode.IsSpace(r) {
			if !between {
				b.WriteByte('-')
			}
			between = true
			continue
		}
		between = false
		b.WriteRune(foldRune(r))
	}
	return b.String()
}

// foldRune returns the smallest of the letters that differ from r only in case.
func foldRune(r rune) rune {
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	return least
}

// Match returns the option that a word names, by its id or one of its further words, with
// the id as the request spells it. Only the whole word counts.
func Match(options []Option, word string) (id string, ok bool) {
	return Request{Options: options}.names().match(word)
}

// name is one name of an option or an item, with its id.
type name struct{ id, word, folded string }

type names []name

func newNames(ids ...string) (all names) {
	for _, id := range ids {
		all = append(all, name{id, id, Fold(id)})
	}
	return all
}

// names returns the names of a request's options and items: the ids, and then the further
// words.
func (r Request) names() names {
	all := newNames(append(optionIDs(r.Options), itemIDs(r.Items)...)...)
	for _, o := range r.Options {
		all = all.also(o.ID, o.Words)
	}
	return append(all, r.itemNames()[len(r.Items):]...)
}

// itemNames returns the names of a request's items: the ids, and then the further words.
func (r Request) itemNames() names {
	all := newNames(itemIDs(r.Items)...)
	for _, it := range r.Items {
		all = all.also(it.ID, it.Words)
	}
	return all
}

// also returns the names with further words of an id.
func (all names) also(id string, words []string) names {
	for _, word := range words {
		all = append(all, name{id, word, Fold(word)})
	}
	return all
}

// match returns the id that a whole word names.
func (all names) match(word string) (id string, ok bool) {
	folded := Fold(word)
	for _, n := range all {
		if folded != "" && n.folded == folded {
			return n.id, true
		}
	}
	return "", false
}

// named returns the id that the text of an item names: that of the longest name with which
// the text begins and after which a colon or the end follows.
func (all names) named(text string) (string, bool) {
	folded := Fold(text)
	found, length := "", 0
	for _, n := range all {
		rest, ok := strings.CutPrefix(folded, n.folded)
		if ok && (rest == "" || beginsDescription(rest)) && len(n.folded) > length {
			found, length = n.id, len(n.folded)
		}
	}
	return found, length > 0
}

// beginsDescription reports whether a folded text begins like a description after the name
// of an item.
func beginsDescription(text string) bool {
	return strings.HasPrefix(text, ":") || strings.HasPrefix(text, "-:")
}

// mostOptions is how many options and items a request may have together.
const mostOptions = 1000

// CheckOptions returns why the ids of a request's options and items, and their further
// words, cannot be offered together: one is empty, has invisible characters, mixes scripts,
// is the form's own word, looks like another or like a word that agrees or refuses; or
// there are too many. It returns nil if they can.
func CheckOptions(ids []string) error {
	if len(ids) > mostOptions {
		return templates.Errorf("gate.option.many", "n", len(ids), "most", mostOptions)
	}
	seen, looks := map[string]string{Fold(submitID): submitID}, map[string]string{}
	for _, id := range ids {
		if strings.TrimSpace(id) == "" {
			return templates.Errorf("gate.option.nameless")
		}
		if !utf8.ValidString(id) || strings.ContainsFunc(id, unseen) {
			return templates.Errorf("gate.option.unseen", "option", strconv.QuoteToASCII(id))
		}
		if scripts := MixedScripts(id); scripts != nil {
			return templates.Errorf("gate.option.scripts", "option", strconv.QuoteToASCII(id), "scripts", allOf(scripts))
		}
		earlier, ok := seen[Fold(id)]
		switch {
		case ok && earlier == submitID:
			return templates.Errorf("gate.option.submit", "option", strconv.Quote(id))
		case ok:
			return templates.Errorf("gate.option.same", "one", strconv.Quote(earlier), "other", strconv.Quote(id))
		}
		seen[Fold(id)] = id
		if word := imitated(id); word != "" {
			return templates.Errorf("gate.option.imitates", "option", strconv.QuoteToASCII(id), "word", strconv.Quote(word))
		}
		for _, look := range Looks(id) {
			if earlier, ok := looks[look]; ok && earlier != id {
				return templates.Errorf("gate.option.alike", "one", strconv.QuoteToASCII(earlier), "other", strconv.QuoteToASCII(id))
			}
			looks[look] = id
		}
	}
	return checkPrefixes(ids)
}

// allOf returns a list of scripts as a message.
func allOf(scripts []string) any {
	var list any = scripts[0]
	for _, s := range scripts[1:] {
		list = templates.NewMessage("list.and", "all", list, "last", s)
	}
	return list
}

// checkPrefixes returns which of the ids, or of the form's own words, would be read as
// another one once the other is followed by a colon and its description, or nil.
func checkPrefixes(ids []string) error {
	all := newNames(append(slices.Clone(ids), submitID)...)
	for _, short := range all {
		for _, long := range all {
			rest, ok := strings.CutPrefix(long.folded, short.folded)
			switch {
			case !ok || !beginsDescription(rest):
			case short.id == submitID:
				return templates.Errorf("gate.option.begins", "option", strconv.QuoteToASCII(long.id))
			default:
				return templates.Errorf("gate.option.alike", "one", strconv.QuoteToASCII(short.id), "other", strconv.QuoteToASCII(long.id))
			}
		}
	}
	return nil
}

func optionIDs(options []Option) []string {
	ids := make([]string, len(options))
	for i, o := range options {
		ids[i] = o.ID
	}
	return ids
}

func itemIDs(items []Item) []string {
	ids := make([]string, len(items))
	for i, it := range items {
		ids[i] = it.ID
	}
	return ids
}

// several returns the ids of the options that may be chosen together, in the request's
// order.
func (r Request) several() []string {
	together := map[string]bool{}
	for _, id := range r.Several {
		together[Fold(id)] = true
	}
	return slices.DeleteFunc(optionIDs(r.Options), func(id string) bool { return !together[Fold(id)] })
}

// words returns all names of a request's options and items.
func (r Request) words() (words []string) {
	for _, n := range r.names() {
		words = append(words, n.word)
	}
	return words
}

// spelled returns the id of the option that a word names, as the request spells it, or
// another word unchanged.
func (r Request) spelled(word string) string {
	if id, ok := Match(r.Options, word); ok {
		return id
	}
	return word
}

// approving and refusing are the words that agree and refuse, whatever a family does with
// them. No option may imitate one; a refusing word never lets anything go on.
var (
	approving = []string{
		"approve", "confirm", "accept", "yes", "y", "ok", "go", "proceed", "continue", "ship", "merge",
	}
	refusing = []string{
		"reject", "cancel", "abort", "no", "n", "deny", "decline", "refuse", "stop", "disapprove",
	}
)

// Approves reports whether a word is one of those that agree, in any spelling.
func Approves(word string) bool { return isOne(approving, word) }

// Refuses reports whether a word is one of those that refuse, in any spelling.
func Refuses(word string) bool { return isOne(refusing, word) }

// Decides reports whether a type of request asks for a decision. In such a request, every
// word that agrees or refuses stands for the family's own word, unless one of those words
// is offered; and its answer produces an approval event.
func Decides(typ string) bool {
	return typ == "approval" || typ == "confirmation" || typ == "review"
}

func isOne(words []string, word string) bool {
	_, ok := newNames(words...).match(word)
	return ok
}

// Looks returns the ways in which a person may read a word: its skeleton (UTS #39) after
// normalization, unchanged and in small letters, folded. Words that share one cannot be
// distinguished.
func Looks(word string) []string {
	looks := []string{Fold(Skeleton(word)), Fold(Skeleton(strings.ToLower(word)))}
	return slices.Compact(looks)
}

// Skeleton returns the common form of words that look alike (UTS #39), after normalization.
func Skeleton(word string) string { return confusable.Skeleton(norm.NFKC.String(word)) }

// imitable maps the looks of the words that no option may imitate, in small and in capital
// letters, to these words.
var imitable = func() map[string]string {
	looks := map[string]string{}
	for _, word := range slices.Concat(approving, refusing, []string{submitID}) {
		for _, look := range slices.Concat(Looks(word), Looks(strings.ToUpper(word))) {
			looks[look] = word
		}
	}
	return looks
}()

// imitated returns the word that another word looks like but is not, "" for none.
func imitated(word string) string {
	for _, look := range Looks(word) {
		if of := imitable[look]; of != "" && Fold(of) != Fold(word) {
			return of
		}
	}
	return ""
}

// unseen reports whether a character is forbidden in a word that answers: it has no look of
// its own, it varies another, or this program does not know it.
func unseen(r rune) bool {
	return !unicode.IsGraphic(r) || templates.Hidden(r) || unicode.Is(unicode.Variation_Selector, r)
}

// together are the scripts that are written together (UTS #39, highly restrictive). Any
// other script must be alone.
var together = [][]string{
	{"Latin", "Han", "Hiragana", "Katakana"},
	{"Latin", "Han", "Bopomofo"},
	{"Latin", "Han", "Hangul"},
}

// MixedScripts returns scripts of a word's letters that nobody writes together, sorted; nil
// if the letters have one script or a permitted combination.
func MixedScripts(word string) []string {
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

// isOf reports whether a character belongs to one of the scripts.
func isOf(r rune, scripts []string) bool {
	return slices.ContainsFunc(scripts, func(name string) bool { return unicode.Is(unicode.Scripts[name], r) })
}

// scriptOf returns the script of a letter.
func scriptOf(r rune) string {
	for name, table := range unicode.Scripts {
		if unicode.Is(table, r) {
			return name
		}
	}
	return "unknown"
}
