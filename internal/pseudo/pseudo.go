// Package pseudo finds untranslated words in texts of the pseudo-language (see package
// templates): those that are outside of ⟦ ⟧ and are no names.
package pseudo

import (
	"regexp"
	"strings"
)

var (
	// translated matches a text that the pseudo-language marks.
	translated = regexp.MustCompile(`⟦[^⟦⟧]*(?:⟧|…)`)
	// row matches letters with single blanks between them. Letters of other scripts are
	// translated already, by a scenario about their language.
	row  = regexp.MustCompile(`\p{Latin}{2,}(?: \p{Latin}{2,})*`)
	word = regexp.MustCompile(`\p{Latin}{2,}`)
	hex  = regexp.MustCompile(`^[a-f]+$`) // a part of a digest
	// code matches names within a text: paths, members, numbers, quoted words, and the
	// beginning of a word that is cut.
	code = regexp.MustCompile(`"[^"\s]*"|[^\s"]*[_/\\{}<>=@.0-9…][^\s"]*`)
)

// Words are those that may be outside of ⟦ ⟧: names, and words from files.
type Words struct {
	names, said map[string]bool
}

// New returns words whose names may be beside any other words.
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

// Say adds the words of a text, and notes which of them are beside one another.
func (w *Words) Say(text string) {
	text = translated.ReplaceAllString(text, " ⟦⟧ ")
	for _, text := range []string{text, strings.Join(strings.Fields(text), " ")} { // also on one line
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

// Outside returns the untranslated rows of words in a text. more, if not nil, is called
// before the first row is returned, and may add words.
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
