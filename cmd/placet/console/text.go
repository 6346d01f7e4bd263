package console

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"placet/engine"
	"placet/templates"
)

// CutLast is strings.Cut at the last separator.
func CutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// First is the first argument, "" where there is none.
func First(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// Suffix is s after a gap, or nothing.
func Suffix(gap, s string) string {
	if s == "" {
		return ""
	}
	return gap + s
}

// Plain strips what an error of the file system says twice: call and path.
func Plain(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}

// Text that comes from files must go through line or paragraph before it is
// shown: without control, bidi and zero-width characters no file can move the
// cursor, hide a word or reverse a sentence.

// OneLine returns s cleaned and in one line.
func OneLine(s string) string {
	return strings.Join(strings.Fields(templates.Clean(s)), " ")
}

// Lines returns s cleaned, its lines kept and none of them blank at the end.
func Lines(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(templates.Clean(l), " \t\r")
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// Typed is a command of placet's for a person to type, about things that
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

// Cut shortens s to n characters, the last of them an ellipsis.
func Cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return strings.TrimRight(string([]rune(s)[:n-1]), " ") + "…"
}

// Age is how long ago a moment was, in its largest unit; "" for no moment.
func Age(now, then time.Time) string {
	if then.IsZero() {
		return ""
	}
	switch d := now.Sub(then); {
	case d < time.Second:
		return "now"
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

// Moment is a time as people read it, in their own zone.
func Moment(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }

// uuidLength is the length of the last part of an id that nobody reads whole.
const uuidLength = 36

// Brief is a run's name as lists show it: a uuid is cut to its first eight
// characters, which name the run as well.
func Brief(k engine.Key) string {
	name := k.String()
	if last := path.Base(name); len(last) == uuidLength {
		name = name[:len(name)-uuidLength+8]
	}
	return OneLine(name)
}

// Plural is a count with its noun.
func Plural(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}

// Title is a word of a document as a heading: "error_resolution" becomes
// "Error Resolution".
func Title(word string) string {
	parts := strings.FieldsFunc(OneLine(word), func(r rune) bool { return r == '_' || r == ' ' })
	for i, p := range parts {
		first, size := utf8.DecodeRuneInString(p)
		parts[i] = strings.ToUpper(string(first)) + p[size:]
	}
	return strings.Join(parts, " ")
}
