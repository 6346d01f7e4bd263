package testoutput

import (
	"strings"
	"unicode/utf8"

	"placet/internal/lazyregexp"
)

// escape matches a terminal's escape sequence: a control sequence, such as a
// colour, or an operating system command, such as a link.
var escape = lazyregexp.New(`\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)`)

// Text returns the text that is classified for a command's two outputs.
func Text(stdout, stderr string) string { return stdout + "\n" + stderr }

// Clean returns a text in the form that is matched and classified: valid UTF-8,
// without escape sequences, with lines that end with \n alone.
func Clean(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	return strings.ReplaceAll(escape.ReplaceAllString(text, ""), "\r\n", "\n")
}

// A line of a log may begin with what is not the command's: the time at which a runner of CI
// noted it, or the name of the program in a group that wrote it.
var (
	stamp = lazyregexp.New(`^\x{FEFF}?(?:[^\t\n]+\t[^\t\n]+\t)?\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)\]?(?: |$)`)
	named = lazyregexp.New(`^(?:\d\d:\d\d:\d\d )?[A-Za-z][\w.-]* +\|(?: |$)`)
)

// Bare returns a clean text without the time or the name before each line: a prefix counts as
// one where more than half of the lines have it.
func Bare(text string) string {
	for _, prefix := range []*lazyregexp.Regexp{stamp, named, stamp} {
		text = without(prefix, text)
	}
	return text
}

func without(prefix *lazyregexp.Regexp, text string) string {
	var bare strings.Builder
	have, lines := 0, 0
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "" {
			bare.WriteString(line)
			continue
		}
		lines++
		if n := prefixLen(prefix, line); n > 0 {
			have++
			line = line[n:]
		}
		bare.WriteString(line)
	}
	if 2*have <= lines || strings.TrimSpace(bare.String()) == "" {
		return text
	}
	return bare.String()
}

// longestPrefix is how much of a line may be its prefix, in bytes.
const longestPrefix = 200

// prefixLen returns the length of a line's prefix. Few lines have a bar or a colon between digits
// at their beginning, and only those are searched.
func prefixLen(prefix *lazyregexp.Regexp, line string) int {
	head := strings.TrimSuffix(line[:min(len(line), longestPrefix)], "\n")
	sign := "|"
	if prefix == stamp {
		sign = ":"
	}
	if !strings.Contains(head, sign) {
		return 0
	}
	return len(prefix.FindString(head))
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
