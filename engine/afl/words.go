package afl

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"placet/engine/testoutput"
	"placet/templates"
)

// How many bytes of a text are shown. The source document has all of it.
const (
	shownName     = 200
	shownSentence = 500
	shownNote     = 64 << 10
)

// phrase returns a word or sentence with its {names} filled in from pairs of name and value. It
// does not look for names in the values.
func phrase(lang, key string, pairs ...any) string {
	return templates.Phrase(lang, "afl."+key, pairs...)
}

// docLine returns the first line of placet's Markdown, which identifies a document as placet's. It
// names the session, the checkpoint ("" for a document of the whole session), the kind, and the
// attempt (0 for none).
func docLine(session, cp, kind string, attempt int) string {
	line := "<!-- placet afl " + session
	if cp != "" {
		line += "/" + cp
	}
	line += " " + kind
	if attempt > 0 {
		line += " " + strconv.Itoa(attempt)
	}
	return line + " -->"
}

// rendered renders a template of the family. Its data are complete: the tests render every
// template.
func rendered(lang, name string, data any) []byte {
	body, err := templates.Render(lang, "afl/"+name, data)
	if err != nil {
		panic("afl: cannot render " + name + ": " + err.Error())
	}
	return []byte(body)
}

// causes returns why an attempt fails with a type and what to do about it, for use if no analysis
// knows better. timeout is the timeout of the validation.
func causes(lang string, t testoutput.Type, timeout time.Duration) (cause, fix string) {
	if _, known := testoutput.Known(string(t)); !known {
		t = testoutput.Unknown
	}
	return phrase(lang, "cause."+string(t), "timeout", lengthWords(timeout)), phrase(lang, "fix."+string(t))
}

// lengthWords formats a duration without its empty parts: "2m", "1m30s".
func lengthWords(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// atMost returns a text without invisible characters, cut to a limit in bytes.
func atMost(s string, limit int) string {
	return templates.Cut(templates.Clean(s), limit)
}

// labelled returns rows of a table, made from pairs of a label's key and a value.
func labelled(lang string, pairs ...string) []templates.FormFact {
	var rows []templates.FormFact
	for i := 0; i+1 < len(pairs); i += 2 {
		rows = append(rows, templates.FormFact{Label: phrase(lang, pairs[i]), Value: templates.OrDash(pairs[i+1])})
	}
	return rows
}

// joined lists names on one line, or returns a dash.
func joined(names []string, separator string) string {
	var list []string
	for _, name := range names {
		if name = templates.Line(name, shownName); name != "" {
			list = append(list, name)
		}
	}
	return templates.OrDash(strings.Join(list, separator))
}

// codes lists names as code spans.
func codes(names []string) string {
	var list []string
	for _, name := range names {
		list = append(list, templates.Code(atMost(name, shownName)))
	}
	return templates.OrDash(strings.Join(list, ", "))
}

// numberedList returns an ordered list of Markdown lines.
func numberedList(lines []string) string {
	numbered := make([]string, len(lines))
	for i, line := range lines {
		numbered[i] = fmt.Sprintf("%d. %s", i+1, line)
	}
	return strings.Join(numbered, "\n")
}

// paragraphs joins blocks of Markdown as paragraphs, or returns a dash.
func paragraphs(blocks []string) string { return templates.OrDash(strings.Join(blocks, "\n\n")) }

// fileLink returns a link to a file of the workspace.
func fileLink(p string) string { return "[" + templates.Inline(p) + "](" + templates.Target(p) + ")" }
