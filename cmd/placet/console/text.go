package console

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"placet/engine"
	"placet/templates"
)

// CutLast is like strings.Cut, but cuts at the last separator.
func CutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// First returns the first argument, "" if there is none.
func First(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// Suffix returns s after a gap, or "" if s is empty.
func Suffix(gap, s string) string {
	if s == "" {
		return ""
	}
	return gap + s
}

// Plain removes from an error of the file system the call and the path, which
// the message around it repeats.
func Plain(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}

// Text from files is cleaned before it is shown: without control, bidi and zero-width characters no
// file can move the cursor, hide a word or reverse a sentence. Templates, tables and the values of
// sentences clean it themselves (printed.go); what is put together by hand goes through OneLine or
// Lines.

// OneLine returns s cleaned and in one line.
func OneLine(s string) string {
	return templates.OneLine(s)
}

// Lines returns s cleaned, its lines kept and none of them blank at the end.
func Lines(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(templates.Clean(l), " \t\r")
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// Typed returns a command of placet for a person to type, with arguments that
// documents name.
func Typed(verb string, args ...string) string {
	for i, arg := range args {
		args[i] = OneLine(arg)
	}
	return templates.CommandLine("placet "+verb, args)
}

// Indent puts prefix before every line of s.
func Indent(s, prefix string) string {
	return prefix + strings.ReplaceAll(s, "\n", "\n"+prefix)
}

// Wrap breaks a line at blanks into lines of at most so many columns. A word that is wider has
// a line of its own.
func Wrap(line string, columns int) string {
	var lines []string
	for _, word := range strings.Fields(line) {
		last := len(lines) - 1
		if last >= 0 && Columns(lines[last])+1+Columns(word) <= columns {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return strings.Join(lines, "\n")
}

// Cut shortens s to n characters, the last of them an ellipsis.
func Cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return strings.TrimRight(string([]rune(s)[:n-1]), " ") + "…"
}

// Age returns how long ago a moment was, in a language and in the largest unit; "" for
// the zero time.
func Age(lang string, now, then time.Time) string {
	if then.IsZero() {
		return ""
	}
	switch d := now.Sub(then); {
	case d < time.Second:
		return templates.Text(lang, "console.now")
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	default:
		return fmt.Sprintf("%dd", int(d.Hours()/24))
	}
}

// Left returns how long it is until a moment, in a language and rounded to the largest unit.
func Left(lang string, now, at time.Time) string {
	half := 30 * time.Second
	switch d := at.Sub(now); {
	case d < time.Minute:
		half = 0
	case d >= 48*time.Hour:
		half = 12 * time.Hour
	case d >= time.Hour:
		half = 30 * time.Minute
	}
	return Age(lang, at.Add(half), now)
}

// Ago returns how long ago a moment was, or when a future one will be.
func Ago(lang string, now, t time.Time) string {
	d := now.Sub(t)
	switch {
	case d < -time.Minute:
		return t.UTC().Format("2006-01-02 15:04 UTC")
	case d < time.Minute:
		return templates.Text(lang, "page.now")
	case d < time.Hour:
		return templates.Phrase(lang, "page.minutes", "n", int(d.Minutes()))
	case d < 48*time.Hour:
		return templates.Phrase(lang, "page.hours", "n", int(d.Hours()))
	}
	return templates.Phrase(lang, "page.days", "n", int(d.Hours()/24))
}

// Moment returns a time for people, in their own zone.
func Moment(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }

// uuidLength is the length of an id that nobody reads whole.
const uuidLength = 36

// Brief returns a run's name for lists: a uuid is cut to its first eight
// characters, which also name the run.
func Brief(k engine.Key) string {
	name := k.String()
	if last := path.Base(name); len(last) == uuidLength {
		name = name[:len(name)-uuidLength+8]
	}
	return OneLine(name)
}

// Title returns a word of a document as a heading: "error_resolution" becomes
// "Error Resolution".
func Title(word string) string {
	parts := strings.FieldsFunc(OneLine(word), func(r rune) bool { return r == '_' || r == ' ' })
	for i, p := range parts {
		first, size := utf8.DecodeRuneInString(p)
		parts[i] = strings.ToUpper(string(first)) + p[size:]
	}
	return strings.Join(parts, " ")
}

// wide lists the characters that take two columns of a terminal: Hangul, Han,
// kana, full-width forms and pictures.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x1100, Hi: 0x115f, Stride: 1}, {Lo: 0x2e80, Hi: 0x303e, Stride: 1}, {Lo: 0x3041, Hi: 0xa4cf, Stride: 1},
		{Lo: 0xa960, Hi: 0xa97f, Stride: 1}, {Lo: 0xac00, Hi: 0xd7a3, Stride: 1}, {Lo: 0xf900, Hi: 0xfaff, Stride: 1},
		{Lo: 0xfe30, Hi: 0xfe6f, Stride: 1}, {Lo: 0xff00, Hi: 0xff60, Stride: 1}, {Lo: 0xffe0, Hi: 0xffe6, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x1f300, Hi: 0x1f64f, Stride: 1}, {Lo: 0x1f680, Hi: 0x1f6ff, Stride: 1}, {Lo: 0x1f900, Hi: 0x1f9ff, Stride: 1},
		{Lo: 0x20000, Hi: 0x3fffd, Stride: 1},
	},
}

// ColumnsOfRune returns how many columns a character takes: none for one that
// combines with the one before.
func ColumnsOfRune(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case unicode.Is(wide, r):
		return 2
	}
	return 1
}

// Columns returns how many columns of a terminal a text without control
// characters takes.
func Columns(s string) int {
	n := 0
	for _, r := range s {
		n += ColumnsOfRune(r)
	}
	return n
}

// CutColumns shortens s to n columns, the last of them an ellipsis.
func CutColumns(s string, n int) string {
	if Columns(s) <= n {
		return s
	}
	used := 0
	for i, r := range s {
		if used += ColumnsOfRune(r); used > n-1 {
			return strings.TrimRight(s[:i], " ") + "…"
		}
	}
	return s
}
