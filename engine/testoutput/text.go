package testoutput

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// escape matches a terminal's escape sequence: a control sequence, such as a
// colour, or an operating system command, such as a link.
var escape = regexp.MustCompile(`\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)`)

// Text returns the text that is classified for a command's two outputs.
func Text(stdout, stderr string) string { return stdout + "\n" + stderr }

// Clean returns a text in the form that is matched and classified: valid UTF-8,
// without escape sequences, with lines that end with \n alone.
func Clean(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	return strings.ReplaceAll(escape.ReplaceAllString(text, ""), "\r\n", "\n")
}

// maxLine is the longest kept line in bytes: minified sources and JSON reports
// have lines of megabytes.
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

// lineStart returns where the line with byte i begins.
func lineStart(text string, i int) int { return strings.LastIndexByte(text[:i], '\n') + 1 }

// lineEnd returns where the line with byte i ends, without its newline.
func lineEnd(text string, i int) int {
	if n := strings.IndexByte(text[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(text)
}
