package gate

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"placet/engine"
	"placet/templates"
)

// A form counts only if it is what placet wrote, ticks and words apart. Where this
// machine wrote it, the recorded digests decide; elsewhere what placet makes of
// the request. Blanks at the end of a line, which editors take away, are a part of
// the line's end.

// void says why a form that is sent does not count, "" if it does. It adds the words
// among the options to the comment.
func (a Asked) void(d engine.Document, f *filledForm) string {
	blank := f.blank()
	if slices.Contains(d.Issued, engine.Sum([]byte(strings.Join(blank, "\n")+"\n"))) {
		return ""
	}
	first := -1
	var want string
	for _, text := range a.written() {
		own, at, line := f.compare(strings.Split(strings.TrimRight(normal([]byte(text)), "\n"), "\n"), blank, a.Request.names())
		if at < 0 && (d.Issued == nil || slices.Contains(d.Issued, engine.Sum([]byte(text)))) {
			if problem := f.checkOwn(own, a.Request.names()); problem != nil {
				return unusableProblem(d.Path, problem)
			}
			f.gather(own)
			return ""
		}
		if at > first {
			first, want = at, line
		}
	}
	if first < 0 {
		return fmt.Sprintf("%s does not count: it is not the form that this machine wrote. Restore it, or %s", code(d.Path), writeAgain)
	}
	number := first + 1
	if first > f.comment {
		number = f.submit + 1
	}
	want, have := around(want, lineAt(blank, first))
	return fmt.Sprintf("%s does not count: only ticks and the comment may differ from what placet wrote, and line %d does.\n\n- placet wrote %s\n- there stands %s\n\nRestore the line, or %s",
		code(d.Path), number, want, have, writeAgain)
}

// written are the texts that a form may have been written as, by this version of placet
// or by the one before: a form that somebody has begun to fill in outlives an upgrade.
func (a Asked) written() []string {
	if a.Rendered == nil {
		return nil
	}
	var all []string
	for _, text := range a.Rendered() {
		all = append(all, string(text))
		if earlier, ok := templates.Earlier(string(text)); ok {
			all = append(all, earlier)
		}
	}
	return all
}

const writeAgain = "remove the file, and placet writes the form again."

func lineAt(lines []string, i int) string {
	if i >= len(lines) {
		return ""
	}
	return lines[i]
}

// shownBefore is how much of two lines is shown before their first difference, in
// bytes.
const shownBefore = 60

// around shows two lines from a little before their first difference on.
func around(a, b string) (string, string) {
	same := commonBytes(a, b)
	before := ""
	if same > shownBefore {
		cut := same - shownBefore
		for cut > 0 && a[cut]&0xc0 == 0x80 { // inside a character
			cut--
		}
		a, b, before = a[cut:], b[cut:], "…"
	}
	a, b = visible(templates.Cut(a, shownFound)), visible(templates.Cut(b, shownFound))
	if templates.Code(a) == templates.Code(b) {
		a, b = strings.ReplaceAll(a, " ", `\u{20}`), strings.ReplaceAll(b, " ", `\u{20}`)
	}
	return lineAsCode(before + a), lineAsCode(before + b)
}

func lineAsCode(s string) string {
	if strings.TrimSpace(s) == "" {
		return "an empty line"
	}
	return templates.Code(s)
}

// visible shows a line with \u{…} in the place of characters that cannot be seen.
func visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r != ' ' && unicode.IsSpace(r) || dropUnseen(r) < 0 {
			fmt.Fprintf(&b, `\u{%x}`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// dropUnseen returns a character, or -1 for one that cannot be seen.
func dropUnseen(r rune) rune {
	if templates.Clean(string(r)) != string(r) {
		return -1
	}
	return r
}
