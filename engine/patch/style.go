package patch

import (
	"bytes"
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

// unit returns what one level of indentation is in the file, two spaces if it
// shows none.
func unit(body []byte, top container) string {
	if added, ok := shownUnit(body, top); ok {
		return added
	}
	return "  "
}

// shownUnit looks for the first container whose members stand further right
// than itself.
func shownUnit(body []byte, c container) (added string, ok bool) {
	if standsInLines(body, c) {
		outer, inner := lineIndent(body, c.open), lineIndent(body, c.members[0].start())
		if added, ok := strings.CutPrefix(inner, outer); ok && added != "" {
			return added, true
		}
	}
	for _, m := range c.members {
		if isContainer(body, m.value.from) && breaks(m.value.of(body)) {
			if added, ok := shownUnit(body, scan(body, m.value.from)); ok {
				return added, true
			}
		}
	}
	return "", false
}

// defaults returns the separators that the file uses: the first colon, and the
// first comma that does not end a line.
func defaults(body []byte, top container) [2]string {
	colon, comma := ": ", ""
	if len(top.members) > 0 {
		colon = colonOf(body, top.members[0], colon)
	}
	comma = firstComma(body)
	if comma == "" {
		comma = "," + strings.TrimLeft(colon, " \t:")
		if strings.HasSuffix(colon, " ") {
			comma = ", "
		}
	}
	return [2]string{colon, comma}
}

// spacing returns the separators of a container, or those given where it shows
// none.
func spacing(body []byte, c container, file [2]string) (colon, comma string) {
	colon, comma = file[0], file[1]
	if len(c.members) > 0 && c.isObject(body) {
		colon = colonOf(body, c.last(), colon)
	}
	for i := 1; i < len(c.members); i++ {
		if gap := body[c.members[i-1].value.to:c.members[i].start()]; !breaks(gap) {
			return colon, string(gap)
		}
	}
	return colon, comma
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
	for i := 0; i < len(body); i++ {
		switch body[i] {
		case '"':
			i = stringEnd(body, i) - 1
		case ',':
			if gap := body[i:space(body, i+1)]; !breaks(gap) {
				return string(gap)
			}
		}
	}
	return ""
}
