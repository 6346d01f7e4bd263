// Package pseudo finds, in what was said in the pseudo-language (see package templates), the
// words that stand outside of ⟦ ⟧ and are no names: nobody translated them.
package pseudo

import (
	"regexp"
	"strings"
)

var (
	// translated is what the pseudo-language marks.
	translated = regexp.MustCompile(`⟦[^⟦⟧]*(?:⟧|…)`)
	// row are letters with single blanks between them. Those of other scripts were
	// translated, by a story about their language.
	row  = regexp.MustCompile(`\p{Latin}{2,}(?: \p{Latin}{2,})*`)
	word = regexp.MustCompile(`\p{Latin}{2,}`)
	hex  = regexp.MustCompile(`^[a-f]+$`) // a part of a digest
	// code are names within a text: paths, members, numbers, what is between quotation marks,
	// and the beginning of a word that is cut.
	code = regexp.MustCompile(`"[^"\s]*"|[^\s"]*[_/\\{}<>=@.0-9…][^\s"]*`)
)

// Words are those that may stand outside of ⟦ ⟧: names, and what files say.
type Words struct {
	names, said map[string]bool
}

// New returns words of which the names may stand beside any others.
func New(names ...string) *Words {
	w := &Words{map[string]bool{}, map[string]bool{}}
	w.Name(names...)
	return w
}

// Name adds the words of names.
func (w *Words) Name(names ...string) {
	for _, name := range names {
		for _, one := range word.FindAllString(name, -1) {
			w.names[one] = true
		}
	}
}

// Say adds the words of a text, and which of them stand beside one another.
func (w *Words) Say(text string) {
	text = translated.ReplaceAllString(text, " ⟦⟧ ")
	for _, text := range []string{text, strings.Join(strings.Fields(text), " ")} { // on one line, too
		for _, found := range row.FindAllString(text, -1) {
			words := strings.Fields(found)
			for i, one := range words {
				w.said[one] = true
				if i > 0 {
					w.said[words[i-1]+" "+one] = true
				}
			}
		}
	}
}

// Outside returns the rows of words of a text that nobody translated. more, if not nil, is
// called before the first is returned, and may add words.
func (w *Words) Outside(text string, more func()) (rows []string) {
	text = code.ReplaceAllString(translated.ReplaceAllString(text, " ⟦⟧ "), " ⟦⟧ ")
	for _, found := range row.FindAllString(text, -1) {
		words := strings.Fields(found)
		if w.know(words) {
			continue
		}
		if more != nil {
			more()
			more = nil
		}
		if !w.know(words) {
			rows = append(rows, found)
		}
	}
	return rows
}

func (w *Words) know(words []string) bool {
	for i, one := range words {
		if w.names[one] || hex.MatchString(one) {
			continue
		}
		if !w.said[one] || i > 0 && !w.names[words[i-1]] && !w.said[words[i-1]+" "+one] {
			return false
		}
	}
	return true
}
