package testoutput

import (
	"iter"
	"strings"
)

// sheet is a text that is searched for rules.
type sheet struct{ text, folded string }

func newSheet(text string) *sheet { return &sheet{text, fold(text)} }

// matches returns the matches of a rule in their order, as the positions that
// [regexp.Regexp.FindStringSubmatchIndex] returns. They equal those of a search
// of the whole text, without those on excepted lines.
func (s *sheet) matches(r *rule) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		for from, to := range s.regions(r) {
			for _, loc := range r.re().FindAllStringSubmatchIndex(s.text[from:to], -1) {
				for i := range loc {
					if loc[i] >= 0 {
						loc[i] += from
					}
				}
				if r.counts(s.text, loc) && !yield(loc) {
					return
				}
			}
		}
	}
}

// count returns how often a rule matches.
func (s *sheet) count(r *rule) (n int) {
	for range s.matches(r) {
		n++
	}
	return n
}

// has reports whether a rule matches.
func (s *sheet) has(r *rule) bool {
	for range s.matches(r) {
		return true
	}
	return false
}

// regions returns ranges of whole lines that together contain every match of a
// rule and cut none in two. They do not overlap.
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

// back returns the earliest position at which a match that extends over the
// line break at may begin. It stops at limit if limit is before at.
func (s *sheet) back(at, limit int) int {
	for at > limit && s.gluedBefore(at) {
		at = lineStart(s.text, at-1)
	}
	return at
}

// ahead returns the end of the lines to which a match that begins before the
// line break at may extend.
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

// lineAfter returns where the line after the one with byte i begins.
func (s *sheet) lineAfter(i int) int { return min(len(s.text), lineEnd(s.text, i)+1) }

// gluedBefore reports whether a match may extend over the line break at:
// whether the line before contains only white space, or one of the words after
// which a rule matches white space. It returns false at the start of the text.
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
