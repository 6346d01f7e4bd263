package templates

import (
	"fmt"
	"net/url"
	"path"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Clean returns a text in which everything can be seen: a character that cannot be seen
// by itself, or that changes how its neighbours look (control, bidi, zero-width),
// appears as its number, \u{200b}. Newlines and tabs stay; CRLF, CR and the Unicode line
// and paragraph separators become newlines, so that no line is hidden from code that
// quotes line by line.
func Clean(s string) string {
	if plain(s) {
		return s
	}
	s = strings.ReplaceAll(strings.ToValidUTF8(s, string(utf8.RuneError)), "\r\n", "\n")
	var b strings.Builder
	before := ' '
	for _, r := range s {
		switch {
		case r == '\r' || r == '\u0085' || r == '\u2028' || r == '\u2029':
			b.WriteByte('\n')
		case r == '\n' || r == '\t' || !unseen(before, r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
		before = r
	}
	return b.String()
}

// Blank reports whether a text shows nothing: it holds at most blanks and hidden
// characters.
func Blank(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return !unicode.IsSpace(r) && !Hidden(r) }) < 0
}

// Dash replaces a text that is empty.
const Dash = "—"

// OrDash returns a text, or the dash if nothing of the text can be seen.
func OrDash(s string) string {
	if Blank(s) {
		return Dash
	}
	return s
}

// plain reports whether s is printable ASCII with newlines and tabs.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= 0x7f || c < ' ' && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// Hidden reports whether a character cannot be seen by itself. It is false for variation
// selectors, because emoji and Japanese names are spelled with them.
func Hidden(r rune) bool {
	return unicode.Is(unicode.Cc, r) ||
		unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r) ||
		unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) ||
		r == '\u2800' // a Braille pattern without dots
}

// unseen reports whether a character after another one is shown as its number.
func unseen(before, r rune) bool { return Hidden(r) || strayVariation(before, r) }

// strayVariation reports whether r is a variation selector that varies nothing: it
// follows a blank, another selector, or a character that is plain text without it.
func strayVariation(before, r rune) bool {
	return unicode.Is(unicode.Variation_Selector, r) &&
		(before < unicode.MaxASCII && !strings.ContainsRune("0123456789#*", before) || unicode.IsSpace(before) || Hidden(before) || unicode.Is(unicode.Variation_Selector, before))
}

// Quoted returns a text in quotation marks like [strconv.Quote], and also escapes the
// characters that strconv takes for printable although they cannot be seen.
func Quoted(s string) string {
	return escapeUnseen(strconv.Quote(s), func(b []byte, r rune) []byte {
		if r > 0xffff {
			return fmt.Appendf(b, `\U%08x`, r)
		}
		return fmt.Appendf(b, `\u%04x`, r)
	})
}

// EscapeJSON returns a JSON text with the same value in which everything can be seen.
// That is possible because only strings of JSON hold characters outside ASCII, and each
// character may be written as \u and its number.
func EscapeJSON(body []byte) []byte {
	return []byte(escapeUnseen(string(body), func(b []byte, r rune) []byte {
		for _, unit := range utf16.Encode([]rune{r}) {
			b = fmt.Appendf(b, `\u%04x`, unit)
		}
		return b
	}))
}

// escapeUnseen returns a text in which each character that cannot be seen is escaped. It
// keeps line ends, tabs and other ASCII controls, which callers have escaped or written
// themselves.
func escapeUnseen(s string, escape func(b []byte, r rune) []byte) string {
	if plain(s) {
		return s
	}
	var b []byte
	before := ' '
	for i, r := range s {
		switch {
		case r >= 0x7f && unseen(before, r):
			b = escape(b, r)
		case r == utf8.RuneError: // possibly one byte that is not a character
			_, n := utf8.DecodeRuneInString(s[i:])
			b = append(b, s[i:i+n]...)
		default:
			b = utf8.AppendRune(b, r)
		}
		before = r
	}
	return string(b)
}

// Quote returns a text as a Markdown block quote, without a final newline. No
// line of the text can leave the quote; a blank line must follow it.
func Quote(s string) string {
	lines := strings.Split(strings.TrimRight(Clean(s), "\n"), "\n")
	for i, line := range lines {
		if strings.TrimSpace(line) == "" {
			lines[i] = ">"
		} else {
			lines[i] = "> " + line
		}
	}
	return strings.Join(lines, "\n")
}

// Fence returns a text as a fenced code block, without a final newline. The
// fence is longer than any run of backticks inside.
func Fence(s string) string { return fence("", s) }

func fence(language, s string) string {
	s = strings.TrimRight(Clean(s), "\n")
	marks := strings.Repeat("`", max(3, longestRun(s, '`')+1))
	return marks + language + "\n" + s + "\n" + marks
}

// Code returns a text as a code span on one line: runs of blanks and line ends become
// single blanks, and the marks are longer than any run of backticks inside. An empty
// text becomes "".
func Code(s string) string {
	if s = OneLine(s); s == "" {
		return `""`
	}
	marks := strings.Repeat("`", longestRun(s, '`')+1)
	if s[0] == '`' || s[len(s)-1] == '`' {
		s = " " + s + " "
	}
	return marks + s + marks
}

// longestRun returns the length of the longest run of a byte in s.
func longestRun(s string, c byte) int {
	longest, run := 0, 0
	for i := range len(s) {
		if s[i] != c {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// Target returns the target of a link to a file of the workspace. Paths are relative to
// the workspace, and so is the target, which begins with a slash.
func Target(p string) string {
	target := url.URL{Path: path.Clean("/" + p)}
	// Parentheses would end the link.
	return strings.NewReplacer("(", "%28", ")", "%29").Replace(target.EscapedPath())
}

// Inline returns a text as one line of Markdown that shows the text and nothing else:
// runs of blanks and line ends become single blanks, and characters that Markdown would
// read as marks are escaped. [Plain] removes the escapes.
func Inline(s string) string {
	s = OneLine(s)
	var b strings.Builder
	for i := range len(s) {
		if marks(s, i) {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// marks reports whether Markdown may read the byte at i of a single line as more than
// itself.
func marks(s string, i int) bool {
	switch c := s[i]; c {
	case '\\', '`', '*', '[', ']', '<', '>', '|', '~', '&':
		return true
	case '_':
		return i == 0 || i == len(s)-1 || !inWord(s[i-1]) || !inWord(s[i+1])
	case '#':
		return i == 0 || i == len(s)-1
	case '-', '+', '=':
		return i == 0
	case '.', ')':
		return i > 0 && (i == len(s)-1 || s[i+1] == ' ') && strings.Trim(s[:i], "0123456789") == ""
	}
	return false
}

// inWord reports whether a byte is a letter, a digit or a part of a character
// outside ASCII.
func inWord(c byte) bool {
	return c >= utf8.RuneSelf || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

// Plain removes the escapes from one line of Markdown: each backslash before ASCII
// punctuation.
func Plain(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && punct(s[i+1]) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func punct(c byte) bool {
	return c >= '!' && c <= '/' || c >= ':' && c <= '@' || c >= '[' && c <= '`' || c >= '{' && c <= '~'
}

// Cut returns a text that is cut and ends with an ellipsis if it has more bytes than the
// limit.
func Cut(s string, limit int) string { return CutWith(s, limit, "…") }

// OneLine returns a text on one line in which everything can be seen.
func OneLine(s string) string { return strings.Join(strings.Fields(Clean(s)), " ") }

// Line is [OneLine] cut to a limit in bytes.
func Line(s string, limit int) string { return Cut(OneLine(s), limit) }

// CutWith returns at most limit bytes of a text, cut between characters, followed by
// more if something was cut.
func CutWith(s string, limit int, more string) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + more
}

// CommandLine returns a command for a person to type into a POSIX shell. The program,
// its verbs and the flags are placet's own words; the arguments may come from anybody's
// documents. They are quoted if a shell would read more than a word in them, and "--"
// comes before them if one of them could be read as a flag.
func CommandLine(program string, args []string, flags ...string) string {
	quoted, dash := make([]string, len(args)), false
	for i, arg := range args {
		quoted[i], dash = ShellWord(arg), dash || strings.HasPrefix(arg, "-")
	}
	words := append([]string{program}, append(quoted, flags...)...)
	if dash {
		words = append(append(append([]string{program}, flags...), "--"), quoted...)
	}
	return strings.Join(words, " ")
}

// ShellWord returns a text as one word of a POSIX shell: unchanged if it is plain,
// otherwise in single quotes.
func ShellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:@%+=,", r)
	}
	if s != "" && s[0] != '=' && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
