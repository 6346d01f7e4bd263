package testoutput

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// escape matches a terminal's escape sequence: a control sequence, such as a
// colour, or an operating system command, such as a link.
var escape = regexp.MustCompile(`\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)`)

// escapeHere is escape at the start of the text. It is many times faster on a
// long text, since Go can match it in one pass.
var escapeHere = regexp.MustCompile(`^(?:` + escape.String() + `)`)

// Text returns the text that is classified for a command's two outputs.
func Text(stdout, stderr string) string { return stdout + "\n" + stderr }

// Clean returns a text as it is matched and classified: valid UTF-8, without
// escape sequences, its lines ended by \n alone.
func Clean(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	return strings.ReplaceAll(withoutEscapes(text), "\r\n", "\n")
}

func withoutEscapes(text string) string {
	at := strings.IndexByte(text, '\x1b')
	if at < 0 {
		return text
	}
	var out strings.Builder
	out.Grow(len(text))
	for at >= 0 {
		out.WriteString(text[:at])
		text = text[at:]
		skip := 0
		if loc := escapeHere.FindStringIndex(text); loc != nil {
			skip = loc[1]
		} else {
			out.WriteByte(text[0])
			skip = 1
		}
		text = text[skip:]
		at = strings.IndexByte(text, '\x1b')
	}
	out.WriteString(text)
	return out.String()
}

// maxLine bounds a line that is kept, in bytes: minified sources and JSON
// reports have lines of megabytes.
const maxLine = 2000

// short returns a line of at most maxLine bytes.
func short(line string) string {
	if len(line) <= maxLine {
		return line
	}
	cut := maxLine - len("…")
	for !utf8.RuneStart(line[cut]) {
		cut--
	}
	return line[:cut] + "…"
}

// lineStart returns where the line begins that holds the byte at i.
func lineStart(text string, i int) int { return strings.LastIndexByte(text[:i], '\n') + 1 }

// lineEnd returns where the line ends that holds the byte at i, without its
// newline.
func lineEnd(text string, i int) int {
	if n := strings.IndexByte(text[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(text)
}
