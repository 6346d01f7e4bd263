package testoutput

import "slices"

// ruleSet is a set of rules, one bit each.
type ruleSet uint32

// stems is an automaton (Aho and Corasick's) that finds the stems of all rules
// in one pass. It confuses what would only matter to an expression: letters
// with their other case, a digit with another digit, a blank with a tab. So it
// finds too much at times, and never too little.
type stems struct {
	class   [256]uint8 // bytes that are not told apart have the same class
	classes int
	next    []uint16  // by state*classes+class
	found   []ruleSet // by state
}

// foreign are the letters outside ASCII that (?i) takes for a k and for an s.
// A line that holds one is searched for every rule.
var foreign = []string{"\u212a", "\u017f"}

// newStems builds the automaton. It numbers the rules on the way.
func newStems(rules []*rule) *stems {
	s := &stems{classes: 1}
	for i, r := range rules {
		r.bit = 1 << i
		for _, stem := range slices.Concat(foreign, r.stems) {
			s.classify(stem)
		}
	}
	for b := range s.class {
		s.class[b] = s.class[alike(byte(b))]
	}
	s.grow()
	for _, r := range rules {
		for _, stem := range slices.Concat(foreign, r.stems) {
			s.plant(stem, r.bit)
		}
	}
	s.link()
	return s
}

// alike returns the byte that stands for all those not told apart from b.
func alike(b byte) byte {
	switch {
	case 'A' <= b && b <= 'Z':
		return b + 'a' - 'A'
	case '0' <= b && b <= '9':
		return '0'
	case b == '\t', b == '\f', b == '\r':
		return ' '
	}
	return b
}

func (s *stems) classify(stem string) {
	for _, b := range []byte(stem) {
		if b = alike(b); s.class[b] == 0 {
			s.class[b] = uint8(s.classes)
			s.classes++
		}
	}
}

// grow adds a state.
func (s *stems) grow() uint16 {
	s.next = append(s.next, make([]uint16, s.classes)...)
	s.found = append(s.found, 0)
	return uint16(len(s.found) - 1)
}

// step is the slot for the state that follows at when b is read.
func (s *stems) step(at uint16, b byte) *uint16 {
	return &s.next[int(at)*s.classes+int(s.class[b])]
}

// plant adds a stem to the tree of stems.
func (s *stems) plant(stem string, rules ruleSet) {
	at := uint16(0)
	for _, b := range []byte(stem) {
		to := *s.step(at, b)
		if to == 0 {
			to = s.grow()
			*s.step(at, b) = to
		}
		at = to
	}
	s.found[at] |= rules
}

// link makes the tree an automaton: where it has no branch for a byte, the
// state goes on with the longest end of what was read that begins a stem.
func (s *stems) link() {
	type state struct{ at, back uint16 }
	var queue []state
	for class := range s.classes {
		if to := s.next[class]; to != 0 {
			queue = append(queue, state{to, 0})
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		at, back := queue[0].at, queue[0].back
		s.found[at] |= s.found[back]
		for class := range s.classes {
			to, shorter := &s.next[int(at)*s.classes+class], s.next[int(back)*s.classes+class]
			if *to == 0 {
				*to = shorter
			} else {
				queue = append(queue, state{*to, shorter})
			}
		}
	}
}

// hit is a line, with its newline, in which a stem ends.
type hit struct {
	from, to int
	rules    ruleSet // those whose stems these are
}

// scan returns the hits of a text, in their order. The text's first line counts
// as one that follows a newline, as every other.
func (s *stems) scan(text string) []hit {
	var hits []hit
	from, at, found := 0, *s.step(0, '\n'), ruleSet(0)
	for i := range len(text) {
		b := text[i]
		at = s.next[int(at)*s.classes+int(s.class[b])]
		found |= s.found[at]
		if b != '\n' {
			continue
		}
		if found != 0 {
			hits = append(hits, hit{from, i + 1, found})
		}
		from, found = i+1, 0
	}
	if found != 0 {
		hits = append(hits, hit{from, len(text), found})
	}
	return hits
}
