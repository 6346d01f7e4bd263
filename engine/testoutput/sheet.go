package testoutput

import (
	"iter"
	"strings"
)

// sheet is a text in which rules are searched.
type sheet struct{ text, folded string }

func newSheet(text string) *sheet { return &sheet{text, fold(text)} }

// matches returns the matches of a rule in their order, as the places that
// [regexp.Regexp.FindStringSubmatchIndex] gives. They are those of a search of
// the whole text.
func (s *sheet) matches(r *rule) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		for from, to := range s.regions(r) {
			for _, loc := range r.re.FindAllStringSubmatchIndex(s.text[from:to], -1) {
				for i := range loc {
					if loc[i] >= 0 {
						loc[i] += from
					}
				}
				if !yield(loc) {
					return
				}
			}
		}
	}
}

// has reports whether a rule matches.
func (s *sheet) has(r *rule) bool {
	for range s.matches(r) {
		return true
	}
	return false
}

// regions returns the stretches of whole lines that hold every match of a rule
// and cut none in two. They do not overlap.
func (s *sheet) regions(r *rule) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		from, to := 0, 0
		for _, h := range s.hits(r) {
			start := s.back(h.from, to)
			if start == to && s.gluedBefore(start) || start < to {
				to = s.ahead(r, max(to, h.to))
				continue
			}
			if from < to && !yield(from, to) {
				return
			}
			from, to = start, s.ahead(r, h.to)
		}
		if from < to {
			yield(from, to)
		}
	}
}

// back returns where a match that goes on behind the line break at may begin,
// but no earlier place than limit, where that is one before at.
func (s *sheet) back(at, limit int) int {
	for at > limit && s.gluedBefore(at) {
		at = lineStart(s.text, at-1)
	}
	return at
}

// ahead returns the end of the lines to which a match may go on that begins
// before the line break at.
func (s *sheet) ahead(r *rule, at int) int {
	if r.quoted {
		if n := strings.IndexByte(s.text[at:], '\''); n >= 0 {
			at = s.lineAfter(at + n)
		}
	}
	for at < len(s.text) && s.gluedBefore(at) {
		at = s.lineAfter(at)
	}
	return at
}

// lineAfter returns where the line after that of the byte at i begins.
func (s *sheet) lineAfter(i int) int { return min(len(s.text), lineEnd(s.text, i)+1) }

// gluedBefore reports whether a match may go on over the line break at: whether
// the line before has nothing but white space, or the words after which some
// rule wants white space. At the start of the text it may not.
func (s *sheet) gluedBefore(at int) bool {
	if at == 0 {
		return false
	}
	switch strings.TrimSpace(s.text[lineStart(s.text, at-1):at]) {
	case "", "E", "FAIL", "[ERROR]":
		return true
	}
	return false
}
