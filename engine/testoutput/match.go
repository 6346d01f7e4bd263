package testoutput

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Passed reports whether a command that finished passes: it did not time out,
// its exit code is 0, and the expected text, if any, was found without a marker
// of a failure. [Match] returns matched and marker.
func Passed(exit *int, timedOut bool, expected string, matched *bool, marker *string) bool {
	if timedOut || exit == nil || *exit != 0 {
		return false
	}
	return wanted(expected) == "" || matched != nil && *matched && marker == nil
}

// Match reports whether one of the outputs contains the expected text, and
// which marker of a failure they contain: in the lines of the expected text, in
// the three lines after it, or, for some markers, anywhere. Both results are
// nil if no text is expected; marker is nil if no marker was found. The outputs
// are matched as they are given, whatever their length; see [Window].
//
// If the expected text begins or ends with a letter, a digit or "_", none of
// these may be beside it; if it begins or ends with a digit, nor may "." or ","
// with a digit on its other side. Letters and digits are Unicode's.
func Match(expected string, outputs ...string) (matched *bool, marker *string) {
	want := wanted(expected)
	if want == "" {
		return nil, nil
	}
	matched = new(bool)
	for _, output := range outputs {
		for _, text := range readings(output) {
			s := newSheet(text)
			blocks := s.blocks(want)
			*matched = *matched || len(blocks) > 0
			if marker == nil {
				marker = s.marker(blocks)
			}
		}
	}
	return matched, marker
}

// readings returns the texts of an output that are matched: the clean one, and if its lines have
// a prefix, also the one without. The expected text may be in either.
func readings(output string) []string {
	clean := Clean(output)
	if bare := Bare(clean); bare != clean {
		return []string{clean, bare}
	}
	return []string{clean}
}

// wanted returns the expected text in the form that is searched for.
func wanted(expected string) string {
	return strings.TrimSpace(strings.ReplaceAll(expected, "\r\n", "\n"))
}

// block is a range of whole lines.
type block struct{ from, to int }

// blocks returns the lines of every occurrence of the text, each with the three
// lines after it. They may overlap.
func (s *sheet) blocks(want string) []block {
	var found []block
	lineTo := 0
	for at := range occurrences(s.text, want) {
		end := at + len(want)
		if end <= lineTo || !bounded(s.text, at, end) {
			continue // the block exists already, or the text is part of a longer word
		}
		b := block{from: lineStart(s.text, at), to: lineEnd(s.text, end-1)}
		lineTo = b.to
		for range 3 {
			b.to = lineEnd(s.text, min(len(s.text), b.to+1))
		}
		found = append(found, b)
	}
	return found
}

// marker returns the first marker of a failure in the blocks, or otherwise the
// first that counts anywhere, or nil.
func (s *sheet) marker(blocks []block) *string {
	for loc := range s.matches(ruleNear) {
		for len(blocks) > 0 && blocks[0].to < loc[1] {
			blocks = blocks[1:]
		}
		if len(blocks) > 0 && blocks[0].from <= loc[0] {
			return new(matched(s.text, loc))
		}
	}
	for loc := range s.matches(ruleAny) {
		return new(strings.TrimSpace(matched(s.text, loc)))
	}
	return nil
}

// bounded reports whether text[at:end] is a whole word or number, not part of a
// longer one.
func bounded(text string, at, end int) bool {
	first, _ := utf8.DecodeRuneInString(text[at:end])
	last, _ := utf8.DecodeLastRuneInString(text[at:end])
	before, n := utf8.DecodeLastRuneInString(text[:at])
	beforeThat, _ := utf8.DecodeLastRuneInString(text[:at-n])
	after, n := utf8.DecodeRuneInString(text[end:])
	afterThat, _ := utf8.DecodeRuneInString(text[end+n:])
	return edge(first, before, beforeThat) && edge(last, after, afterThat)
}

// edge reports whether a token may end with the character own, given the
// characters beside and beyond it.
func edge(own, beside, beyond rune) bool {
	switch {
	case !inWord(own):
		return true
	case inWord(beside):
		return false
	case unicode.IsDigit(own) && (beside == '.' || beside == ','):
		return !unicode.IsDigit(beyond)
	}
	return true
}

func inWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// occurrences returns every position of want, which is not empty, in the text.
// Occurrences may overlap. It takes time in proportion to the length of both
// (the algorithm of Knuth, Morris and Pratt).
func occurrences(text, want string) iter.Seq[int] {
	return func(yield func(int) bool) {
		back := borders(want)
		for i, n := 0, 0; ; i++ {
			if n == 0 {
				next := strings.IndexByte(text[min(i, len(text)):], want[0])
				if next < 0 {
					return
				}
				i += next
			}
			if i >= len(text) {
				return
			}
			for n > 0 && text[i] != want[n] {
				n = back[n-1]
			}
			if text[i] == want[n] {
				n++
			}
			if n < len(want) {
				continue
			}
			if !yield(i + 1 - n) {
				return
			}
			n = back[n-1]
		}
	}
}

// borders returns, for every prefix of s, the length of its longest proper
// prefix that is also its suffix.
func borders(s string) []int {
	back := make([]int, len(s))
	for i, n := 1, 0; i < len(s); i++ {
		for n > 0 && s[i] != s[n] {
			n = back[n-1]
		}
		if s[i] == s[n] {
			n++
		}
		back[i] = n
	}
	return back
}
