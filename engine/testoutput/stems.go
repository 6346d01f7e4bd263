package testoutput

import (
	"slices"
	"strings"
)

// foreign are the letters outside ASCII that (?i) matches with k and with s. A line
// with one of them is searched for every rule.
var foreign = []string{"\u212a", "\u017f"}

// fold returns a text in which stems are searched: with letters in lower case, 0
// for every digit, and a blank for other white space. It conflates characters that
// an expression may distinguish, so that the search finds too much at times, but
// never too little. A newline precedes the text, so that its first line is like
// every other.
func fold(text string) string {
	var folded strings.Builder
	folded.Grow(len(text) + 1)
	folded.WriteByte('\n')
	for i := range len(text) {
		b := text[i]
		switch {
		case 'A' <= b && b <= 'Z':
			b += 'a' - 'A'
		case '0' <= b && b <= '9':
			b = '0'
		case b == '\t', b == '\f', b == '\r':
			b = ' '
		}
		folded.WriteByte(b)
	}
	return folded.String()
}

// hit is a line, with its newline, in which a stem ends.
type hit struct{ from, to int }

// hits returns the lines that hold a stem of a rule, in their order.
func (s *sheet) hits(r *rule) []hit {
	var found []hit
	for _, stem := range r.stems() {
		for from := 0; from < len(s.folded); {
			at := strings.Index(s.folded[from:], stem)
			if at < 0 {
				break
			}
			end := from + at + len(stem) - 2 // the position in the text of the stem's last byte
			line := hit{lineStart(s.text, end), s.lineAfter(end)}
			found = append(found, line)
			from = line.to // the newline in the folded text, with which a stem may begin
		}
	}
	slices.SortFunc(found, func(a, b hit) int { return a.from - b.from })
	return slices.Compact(found)
}
