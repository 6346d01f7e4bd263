package gate

import (
	"fmt"
	"regexp"
	"strings"

	"placet/engine"
	"placet/templates"
)

// The marks of a form are HTML comments, each on a line of its own; an editor
// may have wrapped them. The two that enclose what is read carry the beginning
// of the digest: no prompt can hold the mark of its own form.
var (
	firstLine = regexp.MustCompile(`^<!--\s+placet\s+request\s+(\S+)\s+(sha256:[0-9a-f]{64})\s*-->[ \t]*(?:\n|$)`)
	markStart = regexp.MustCompile(`^[ \t]*<!--\s*placet\s+(answer|comment)\s+([0-9a-f]{8})\b[^>]*?-->`)
)

// The parts of a form that are read.
const (
	partAnswer  = "answer"
	partComment = "comment"
)

// nonce is the part of a digest that a form's marks carry.
func nonce(d engine.Digest) string {
	hex := d.Hex()
	return hex[:min(len(hex), 8)]
}

func firstMark(id string, d engine.Digest) string {
	return fmt.Sprintf("<!-- placet request %s %s -->", id, d)
}

// mark is the comment that begins a part; what is to be done there may follow
// the nonce.
func mark(part string, d engine.Digest, hint string) string {
	if hint != "" {
		hint = ": " + hint
	}
	return fmt.Sprintf("<!-- placet %s %s%s -->", part, nonce(d), hint)
}

// submitLine is the last item of a form. Its first words are the same in every
// language.
func submitLine(lang string) string {
	line := "- [ ] " + submitID
	if hint := templates.Text(lang, "form.submit"); hint != "" {
		line += ": " + templates.Inline(hint)
	}
	return line
}

// headings are the titles of a part in all languages, folded. They stand in
// for a mark that an editor or a person has lost.
func headings(part string) map[string]bool {
	all := map[string]bool{}
	for _, lang := range templates.Languages() {
		all[Fold(templates.Text(lang, "form."+part))] = true
	}
	return all
}

// normal returns a form as it is read: without byte order mark, and with LF at
// the ends of lines.
func normal(body []byte) string {
	s := strings.TrimPrefix(string(body), "\ufeff")
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}
