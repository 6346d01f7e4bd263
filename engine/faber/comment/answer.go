package comment

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"placet/engine/gate"
	"placet/templates"
)

// longestSentence is the longest text that is read as sentences, in characters.
const longestSentence = 500

// Question is a request as a comment answers it.
type Question struct {
	gate.Request
	// Agrees and Refuses say what an option leads to.
	Agrees, Refuses func(option string) bool
}

// AnswerTo returns the answer that the text before a command gives to a question. The problem is the
// zero Message if there is one.
func (c Command) AnswerTo(q Question) (response, comment string, problem templates.Message) {
	if q.FreeText() {
		if text := strings.TrimSpace(c.text); text != "" {
			return text, "", problem
		}
		return "", "", templates.NewMessage("faber.comment.empty")
	}
	line, rest := c.firstLine()
	if id := q.chosen(line); id != "" {
		response, comment = id, rest
	} else if id, after := q.leading(line); id != "" {
		response, comment = id, strings.TrimSpace(after+"\n"+rest)
	} else if response = c.sentence(q, line); response == "" {
		return "", "", templates.NewMessage("faber.comment.unclear", "options", strings.Join(q.IDs(), ", "))
	} else {
		comment = strings.TrimSpace(c.text)
	}
	if comment == "" && slices.ContainsFunc(q.CommentRequired, func(id string) bool { return gate.Fold(id) == gate.Fold(response) }) {
		return "", "", templates.NewMessage("faber.comment.needed", "option", response)
	}
	return response, comment, problem
}

// IDs returns the ids of the options.
func (q Question) IDs() (ids []string) {
	for _, o := range q.Options {
		ids = append(ids, o.ID)
	}
	return ids
}

// chosen returns the option that a line is: its id, its number, or a word that agrees or refuses in
// place of the only such option.
func (q Question) chosen(line string) string {
	if id, ok := gate.Match(q.Options, line); ok {
		return id
	}
	if n, err := strconv.Atoi(line); err == nil && n >= 1 && n <= len(q.Options) {
		return q.Options[n-1].ID
	}
	if !gate.Decides(q.Type) {
		return ""
	}
	switch {
	case gate.Approves(line):
		return q.only(q.Agrees)
	case gate.Refuses(line):
		return q.only(q.Refuses)
	}
	return ""
}

// only returns the option that fits, "" if none or several do.
func (q Question) only(fits func(id string) bool) string {
	ids := slices.DeleteFunc(q.IDs(), func(id string) bool { return !fits(id) })
	if len(ids) != 1 {
		return ""
	}
	return ids[0]
}

// separators stand between an option at the beginning of a line and a comment.
const separators = ":,-–."

// leading returns the option with which a line begins, and the comment behind a separator.
func (q Question) leading(line string) (id, comment string) {
	ids := q.IDs()
	slices.SortFunc(ids, func(a, b string) int { return cmp.Compare(utf8.RuneCountInString(b), utf8.RuneCountInString(a)) })
	runes := []rune(line)
	for _, id := range ids {
		n := utf8.RuneCountInString(id)
		if n > len(runes) || gate.Fold(string(runes[:n])) != gate.Fold(id) {
			continue
		}
		rest := strings.TrimLeft(string(runes[n:]), " \t")
		mark, size := utf8.DecodeRuneInString(rest)
		if rest == "" || !strings.ContainsRune(separators, mark) {
			return "", ""
		}
		after := rest[size:]
		if after != "" && mark != ':' && strings.TrimLeft(after, " \t") == after {
			return "", "" // a part of a word, as in "approve-all"
		}
		return id, strings.TrimSpace(after)
	}
	return "", ""
}

// phrases are the words by which a sentence names an option. They also exclude an option that is not
// offered: "needs changes, approve later" does not approve.
var phrases = map[string][]string{
	"approve":         {"approve", "approves", "approved", "lgtm"},
	"confirm":         {"confirm", "confirmed", "confirms"},
	"reject":          {"reject", "rejected", "rejects"},
	"cancel":          {"cancel", "cancelled", "canceled"},
	"request-changes": {"request changes", "requested changes", "changes requested", "needs changes"},
	"retry":           {"retry", "retried", "try again", "run again"},
	"skip":            {"skip", "skipped"},
	"abort":           {"abort", "aborted"},
}

// doubts are the words that make a sentence say something else than its option.
var doubts = []string{
	"not", "no", "nor", "neither", "never", "cannot", "hardly", "unless", "if", "but", "until", "till", "before", "after", "once", "when", "while",
	"without", "except", "instead", "rather", "would", "could", "should", "may", "might", "want", "ask",
	"dont", "doesnt", "didnt", "wont", "cant", "isnt", "arent", "wouldnt", "shouldnt", "couldnt",
}

// hesitations are the words with which a sentence begins that takes back another.
var hesitations = []string{"but", "however", "wait", "hold", "stop", "unless", "except", "only"}

// spokenWord is a word of a text.
type spokenWord struct {
	text     string // in small letters
	code     bool
	sentence int // the number of its sentence
	begins   bool
}

// sentence returns the only option that a short text names in sentences, "" if it names none or
// several, or if it is in doubt. line is its first line.
func (c Command) sentence(q Question, line string) string {
	text := covered(c.text, c.kinds, inlineCode)
	if utf8.RuneCountInString(strings.TrimSpace(c.text)) > longestSentence || strings.Contains(text, "~~") {
		return ""
	}
	words, asked := spokenWords(text, c.kinds)
	id, at := q.named(words)
	if id == "" || isHesitant(words) || q.numbersAnother(id, line) {
		return ""
	}
	for _, sentence := range at {
		if asked[sentence] || isDoubtful(words, sentence) {
			return ""
		}
	}
	return id
}

// numbersAnother reports whether a line begins with the number of another option.
func (q Question) numbersAnother(id, line string) bool {
	digits := line[:len(line)-len(strings.TrimLeft(line, "0123456789"))]
	n, err := strconv.Atoi(digits)
	return err == nil && n >= 1 && n <= len(q.Options) && q.Options[n-1].ID != id
}

// named returns the only option that words name, and the sentences that name it.
func (q Question) named(words []spokenWord) (id string, sentences []int) {
	key := ""
	for k, list := range q.names() {
		for _, phrase := range list {
			for _, at := range mentions(words, phrase) {
				if key != "" && key != k {
					return "", nil
				}
				key, sentences = k, append(sentences, at)
			}
		}
	}
	for _, o := range q.Options {
		if gate.Fold(o.ID) == key {
			return o.ID, sentences
		}
	}
	return "", nil
}

// names returns the phrases that name an option, by its folded id: those of the known options,
// and of each other option its id.
func (q Question) names() map[string][]string {
	names := map[string][]string{}
	for key, list := range phrases {
		names[gate.Fold(key)] = list
	}
	for _, o := range q.Options {
		if key := gate.Fold(o.ID); names[key] == nil {
			names[key] = []string{spaced(strings.ToLower(o.ID))}
		}
	}
	return names
}

// spaced returns a word with blanks in the place of hyphens and underlines.
func spaced(word string) string { return strings.NewReplacer("-", " ", "_", " ").Replace(word) }

// mentions returns the sentences that contain a phrase outside of code.
func mentions(words []spokenWord, phrase string) (sentences []int) {
	parts := strings.Split(phrase, " ")
	for i := range words {
		whole := !words[i].code && spaced(words[i].text) == phrase
		for n := 0; !whole && n < len(parts) && i+n < len(words) && !words[i+n].code && words[i+n].text == parts[n]; n++ {
			whole = n == len(parts)-1 && words[i].sentence == words[i+n].sentence
		}
		if whole {
			sentences = append(sentences, words[i].sentence)
		}
	}
	return sentences
}

// isDoubtful reports whether a sentence has a word that makes it say something else.
func isDoubtful(words []spokenWord, sentence int) bool {
	return slices.ContainsFunc(words, func(w spokenWord) bool {
		return w.sentence == sentence && (slices.Contains(doubts, w.text) || strings.HasSuffix(strings.ReplaceAll(w.text, "’", "'"), "n't"))
	})
}

// isHesitant reports whether a sentence or a line begins with a word that takes something back.
func isHesitant(words []spokenWord) bool {
	for i, w := range words {
		if w.begins && (slices.Contains(hesitations, w.text) || w.text == "not" && i+1 < len(words) && words[i+1].text == "yet") {
			return true
		}
	}
	return false
}

// spokenWords splits a text into its words, and says which sentences ask something. A sentence ends
// with its mark or its paragraph: a line may end in the middle of one. A hyphen, an underline or an
// apostrophe is a part of a word.
func spokenWords(text string, kinds []textKind) (words []spokenWord, asked map[int]bool) {
	asked = map[int]bool{}
	number, begins, lineEnds := 0, true, 0
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		if end := wordEnd(text, at); end > at {
			if word := strings.Trim(strings.ToLower(text[at:end]), "-_'’"); word != "" {
				words = append(words, spokenWord{word, kinds[at] == inlineCode, number, begins})
				begins, lineEnds = false, 0
			}
			at = end
			continue
		}
		next := text[at+size:]
		ends := r == '!' || r == '?' || r == ';' || r == '.' && (next == "" || strings.ContainsAny(next[:1], " \t\n\x00)\"'"))
		if r == '\n' {
			lineEnds++
			begins = true
		}
		if asked[number] = asked[number] || r == '?'; ends || lineEnds == 2 {
			number, begins, lineEnds = number+1, true, 0
		}
		at += size
	}
	return words, asked
}

// wordEnd returns the end of the word that begins at a place, the place itself if none does.
func wordEnd(text string, at int) int {
	for at < len(text) {
		r, size := utf8.DecodeRuneInString(text[at:])
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && !strings.ContainsRune("-_'’", r) {
			break
		}
		at += size
	}
	return at
}

// IsReserved reports whether words that go on from an option take it back, as in "approve not yet".
func IsReserved(text string) bool {
	words, asked := spokenWords(text, make([]textKind, len(text)))
	return asked[0] || isDoubtful(words, 0) || isHesitant(words)
}
