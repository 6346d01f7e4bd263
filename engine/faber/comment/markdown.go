package comment

import (
	"strings"

	"placet/internal/lazyregexp"
)

// textKind says how a byte of a comment is shown.
type textKind byte

// The kinds of text: plain text, code inside a line, and what does not speak for its author, namely
// blocks of code, quotes, and comments of HTML.
const (
	plainText textKind = iota
	inlineCode
	hiddenText
)

// textKinds returns the kind of each byte of a comment, by the rules of GitHub's Markdown.
func textKinds(body string) []textKind {
	s := &textScanner{body: body, kinds: make([]textKind, len(body)), afterBlank: true}
	for s.at < len(body) {
		s.line()
	}
	return s.kinds
}

// textScanner reads a comment line by line.
type textScanner struct {
	body  string
	kinds []textKind
	at    int
	fence string // the marks that opened a block of code, "" outside of one
	// afterBlank says that no paragraph is open, so that an indented line is code.
	afterBlank bool
}

// opensFence matches the first line of a block of code, also in a list.
var opensFence = lazyregexp.New("^[ \t]*(?:[-*+][ \t]+|[0-9]{1,9}[.)][ \t]+)?(```+|~~~+)([^\n]*)$")

// line reads one line, or several if code or a comment of HTML spans them.
func (s *textScanner) line() {
	end := len(s.body)
	if i := strings.IndexByte(s.body[s.at:], '\n'); i >= 0 {
		end = s.at + i
	}
	line := s.body[s.at:end]
	bare := strings.Trim(line, " \t")
	opened := opensFence.FindStringSubmatch(line)
	switch {
	case s.fence != "":
		s.mark(end, hiddenText)
		if strings.HasPrefix(bare, s.fence) && strings.Trim(bare, s.fence[:1]) == "" {
			s.fence = ""
		}
		s.afterBlank = true
	case bare == "":
		s.at, s.afterBlank = end, true
	case bare[0] == '>':
		s.mark(end, hiddenText)
		s.afterBlank = true
	case opened != nil && (opened[1][0] == '~' || !strings.Contains(opened[2], "`")):
		s.fence = opened[1]
		s.mark(end, hiddenText)
	case s.afterBlank && (strings.HasPrefix(line, "    ") || strings.HasPrefix(strings.TrimLeft(line, " "), "\t")):
		s.mark(end, hiddenText)
	default:
		s.paragraph()
		s.afterBlank = false
	}
	if s.at < len(s.body) {
		s.at++ // the end of the line
	}
}

// mark gives the bytes up to an end a kind.
func (s *textScanner) mark(end int, kind textKind) {
	for ; s.at < end; s.at++ {
		s.kinds[s.at] = kind
	}
}

// paragraph reads plain text up to the end of a line.
func (s *textScanner) paragraph() {
	for s.at < len(s.body) && s.body[s.at] != '\n' {
		rest := s.body[s.at:]
		switch run := len(rest) - len(strings.TrimLeft(rest, "`")); {
		case rest[0] == '\\' && len(rest) > 1 && rest[1] != '\n':
			s.at += 2
		case run > 0:
			if end := closesCode(rest, run); end > 0 {
				s.mark(s.at+end, inlineCode)
			} else {
				s.at += run
			}
		case strings.HasPrefix(rest, "<!--"):
			end := len(rest)
			if i := strings.Index(rest[2:], "-->"); i >= 0 {
				end = 2 + i + len("-->")
			}
			s.mark(s.at+end, hiddenText)
		default:
			s.at++
		}
	}
}

// closesCode returns the end of code that a run of backticks opens, 0 if nothing closes it before the
// paragraph ends.
func closesCode(text string, run int) int {
	if i := strings.Index(text, "\n\n"); i >= 0 {
		text = text[:i]
	}
	for at := run; at < len(text); {
		i := strings.IndexByte(text[at:], '`')
		if i < 0 {
			return 0
		}
		at += i
		n := len(text[at:]) - len(strings.TrimLeft(text[at:], "`"))
		if at += n; n == run {
			return at
		}
	}
	return 0
}

// covered returns a text of the same length in which every byte of a greater kind than most is NUL.
// The ends of lines stay.
func covered(body string, kinds []textKind, most textKind) string {
	b := []byte(body)
	for i := range b {
		if kinds[i] > most && b[i] != '\n' {
			b[i] = 0
		}
	}
	return string(b)
}
