package testoutput

import "strings"

// place is a byte position in a text and the number of its line.
type place struct{ at, line int }

// places returns the ends of a rule's matches.
func (s *sheet) places(r *rule) []place {
	var found []place
	at, line := 0, 0
	for loc := range s.matches(r) {
		end := loc[1] - 1
		line += strings.Count(s.text[at:end], "\n")
		at = end
		found = append(found, place{at, line})
	}
	return found
}

// near returns the ends of the matches of two rules that are at most so many
// lines apart.
func (s *sheet) near(a, b *rule, lines int) []int {
	as := s.places(a)
	if len(as) == 0 {
		return nil
	}
	bs := s.places(b)
	return append(within(as, bs, lines), within(bs, as, lines)...)
}

// within returns those places in some that are at most so many lines away from
// one in others. Both lists are in the order of the text.
func within(some, others []place, lines int) []int {
	var at []int
	i := 0
	for _, p := range some {
		for i < len(others) && others[i].line < p.line-lines {
			i++
		}
		if i < len(others) && others[i].line <= p.line+lines {
			at = append(at, p.at)
		}
	}
	return at
}
