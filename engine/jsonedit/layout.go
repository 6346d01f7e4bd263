package jsonedit

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// layout is the layout of new text at one place of a document.
type layout struct {
	body []byte
	// lines is true if each member is on a line of its own.
	lines bool
	// indent is the indentation of the line in which a new value begins, and
	// unit is what each level adds.
	indent, unit string
	eol          string
	separators
	// gap separates a new member from the last one.
	gap string
}

// layoutOf returns the layout of the innermost of the containers.
func layoutOf(body []byte, chain []container) layout {
	c := chain[len(chain)-1]
	s := layout{body: body, eol: lineEnd(body), unit: unit(body, chain)}
	s.separators = separators{colon: fileColon(body, chain[0])}.within(body, c)
	if len(c.members) == 0 {
		outer := len(chain) > 1 && standsInLines(body, chain[len(chain)-2])
		s.lines = outer || breaks(body[c.open:c.close])
		s.indent = lineIndent(body, c.open)
		if s.lines {
			s.indent += s.unit
		}
		return s
	}
	s.lines = standsInLines(body, c)
	s.gap = s.gapOf(c)
	s.indent = lineIndent(body, c.last().start())
	return s
}

// gapOf returns the text between the last member and a new one: the gap before
// the last member that begins a line, if there is one.
func (s layout) gapOf(c container) string {
	for i := len(c.members) - 1; i > 0; i-- {
		gap := s.body[c.members[i-1].value.to:c.members[i].start()]
		if breaks(gap) {
			return s.oneBreak(gap)
		}
	}
	if s.lines {
		return "," + s.eol + lineIndent(s.body, c.members[0].start())
	}
	return s.inlineComma()
}

// inlineComma returns the separator of members on one line: the container's,
// otherwise the file's, otherwise the one that goes with the colon. The file is
// searched only when the separator is needed.
func (s layout) inlineComma() string {
	return cmp.Or(s.comma, firstComma(s.body), commaFor(s.colon))
}

// oneBreak returns a gap without empty lines.
func (s layout) oneBreak(gap []byte) string {
	comma := bytes.IndexByte(gap, ',') + 1
	before, after := gap[:comma], gap[comma:]
	if !breaks(after) {
		return string(gap)
	}
	return string(before) + s.eol + string(after[bytes.LastIndexByte(after, '\n')+1:])
}

// forValue returns the layout for a value that replaces old or goes beside it:
// the layout of old itself if it is an object or array with members.
func (s layout) forValue(old span) layout {
	if !isContainer(s.body, old.from) {
		return s
	}
	c := scan(s.body, old.from)
	if len(c.members) == 0 {
		return s
	}
	s.lines = standsInLines(s.body, c)
	s.separators = s.within(s.body, c)
	if added, ok := ownUnit(s.body, c); ok {
		s.unit = added
	}
	return s
}

// first appends the first member of an empty container, with all white space
// between the brackets.
func (s layout) first(dst []byte, name string, object bool, text []byte) []byte {
	if s.lines {
		dst = append(dst, s.eol+s.indent...)
	}
	dst = s.render(s.name(dst, name, object), text)
	if s.lines {
		dst = append(dst, s.eol+s.indent[:len(s.indent)-len(s.unit)]...)
	}
	return dst
}

// next appends a member after the last one. An element takes the layout of the
// last one, because an array's elements are of one kind.
func (s layout) next(dst []byte, name string, object bool, text []byte, last span) []byte {
	dst = s.name(append(dst, s.gap...), name, object)
	if strings.Contains(s.gap, "\n") {
		s.indent = lineIndent([]byte(s.gap), len(s.gap))
	}
	if !object {
		s = s.forValue(last)
	}
	return s.render(dst, text)
}

func (s layout) name(dst []byte, name string, object bool) []byte {
	if !object {
		return dst
	}
	// Quoting cannot fail, because names come from valid pointers and values.
	dst, _ = jsontext.AppendQuote(dst, name)
	return append(dst, s.colon...)
}

// render appends compact JSON in this layout.
func (s layout) render(dst, text []byte) []byte {
	if !isContainer(text, 0) {
		return append(dst, text...)
	}
	c := scan(text, 0)
	dst = append(dst, text[0])
	if !s.lines {
		s.comma = s.inlineComma()
	}
	inner := s
	inner.indent += s.unit
	for i, m := range c.members {
		if s.lines {
			dst = append(dst, ","[:min(i, 1)]+s.eol+inner.indent...)
		} else if i > 0 {
			dst = append(dst, s.comma...)
		}
		if m.name.from < m.name.to {
			dst = append(append(dst, m.name.of(text)...), s.colon...)
		}
		dst = inner.render(dst, m.value.of(text))
	}
	if s.lines && len(c.members) > 0 {
		dst = append(dst, s.eol+s.indent...)
	}
	return append(dst, text[len(text)-1])
}

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

// lineIndent returns the white space at the beginning of the line of a place.
func lineIndent(body []byte, at int) string {
	start := bytes.LastIndexByte(body[:at], '\n') + 1
	end := start
	for end < at && (body[end] == ' ' || body[end] == '\t') {
		end++
	}
	return string(body[start:end])
}

// unit returns one level of indentation: that of the innermost container that
// shows it, otherwise of the first one in the file, otherwise two spaces.
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

// ownUnit returns how much further a container's members are indented than the
// container.
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

// separators are the texts between names and values, and between members on one
// line, with the white space around them. comma is "" if the text shows none.
type separators struct{ colon, comma string }

// commaFor returns the comma that goes with a colon if the text shows none.
func commaFor(colon string) string {
	if strings.HasSuffix(colon, " ") {
		return ", "
	}
	return ","
}

// fileColon returns the first colon in the file.
func fileColon(body []byte, top container) string {
	if len(top.members) == 0 {
		return ": "
	}
	return colonOf(body, top.members[0], ": ")
}

// within returns the separators that a container shows, and the given ones for
// those that it does not show.
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

// colonOf returns the text between a member's name and value.
func colonOf(body []byte, m member, otherwise string) string {
	if colon := body[m.name.to:m.value.from]; !breaks(colon) {
		return string(colon)
	}
	return otherwise
}

// firstComma returns the first comma of the file that does not end a line, with
// the blanks after it; "" if there is none.
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
