package jsonedit

import (
	"bytes"
	"slices"
	"strings"
)

// standsInLines reports whether a container's first member begins a line.
func standsInLines(body []byte, c container) bool {
	return len(c.members) > 0 && breaks(body[c.open:c.members[0].start()])
}

// lineEnd returns the file's line end.
func lineEnd(body []byte) string {
	if i := bytes.IndexByte(body, '\n'); i > 0 && body[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// lineIndent returns the white space that begins the line of a place.
func lineIndent(body []byte, at int) string {
	start := bytes.LastIndexByte(body[:at], '\n') + 1
	end := start
	for end < at && (body[end] == ' ' || body[end] == '\t') {
		end++
	}
	return string(body[start:end])
}

// unit returns what one level of indentation is: in the innermost container
// that shows it, else in the first one of the file, else two spaces.
func unit(body []byte, chain []container) string {
	for _, c := range slices.Backward(chain) {
		if added, ok := ownUnit(body, c); ok {
			return added
		}
	}
	if added, ok := firstUnit(body, chain[0]); ok {
		return added
	}
	return "  "
}

// ownUnit returns how much further right than itself a container's members
// stand.
func ownUnit(body []byte, c container) (added string, ok bool) {
	if !standsInLines(body, c) {
		return "", false
	}
	added, ok = strings.CutPrefix(lineIndent(body, c.members[0].start()), lineIndent(body, c.open))
	return added, ok && added != ""
}

func firstUnit(body []byte, c container) (added string, ok bool) {
	if added, ok := ownUnit(body, c); ok {
		return added, true
	}
	for _, m := range c.members {
		if isContainer(body, m.value.from) && breaks(m.value.of(body)) {
			if added, ok := firstUnit(body, scan(body, m.value.from)); ok {
				return added, true
			}
		}
	}
	return "", false
}

// separators stand between names and values, and between the members of one
// line, with the white space around them. The comma is "" where none is shown.
type separators struct{ colon, comma string }

// commaFor returns the comma that goes with a colon where none is shown.
func commaFor(colon string) string {
	if strings.HasSuffix(colon, " ") {
		return ", "
	}
	return ","
}

// fileColon returns the colon that the file shows first.
func fileColon(body []byte, top container) string {
	if len(top.members) == 0 {
		return ": "
	}
	return colonOf(body, top.members[0], ": ")
}

// within returns the separators that a container shows, those given for what
// it does not show.
func (s separators) within(body []byte, c container) separators {
	if len(c.members) > 0 && c.isObject(body) {
		if colon := colonOf(body, c.last(), s.colon); colon != s.colon {
			s = separators{colon, commaFor(colon)}
		}
	}
	for i := 1; i < len(c.members); i++ {
		if gap := body[c.members[i-1].value.to:c.members[i].start()]; !breaks(gap) {
			s.comma = string(gap)
			break
		}
	}
	return s
}

// colonOf returns what stands between a member's name and value.
func colonOf(body []byte, m member, otherwise string) string {
	if colon := body[m.name.to:m.value.from]; !breaks(colon) {
		return string(colon)
	}
	return otherwise
}

// firstComma returns the first comma of the file that does not end a line,
// with the blanks behind it; "" if there is none.
func firstComma(body []byte) string {
	dec := newDecoder(body)
	for _, err := dec.ReadToken(); err == nil; _, err = dec.ReadToken() {
		at := space(body, int(dec.InputOffset()))
		if at < len(body) && body[at] == ',' {
			if gap := body[at:space(body, at+1)]; !breaks(gap) {
				return string(gap)
			}
		}
	}
	return ""
}
