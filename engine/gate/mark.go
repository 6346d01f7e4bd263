package gate

import (
	"fmt"
	"regexp"
	"strings"

	"placet/engine"
	"placet/templates"
)

// The marks of a form are HTML comments, each a line of its own. The two that
// enclose the answer carry the beginning of the digest: no prompt can hold the
// mark of its own form.
var (
	firstLine = regexp.MustCompile(`^<!-- placet request (\S+) (sha256:[0-9a-f]{64}) -->$`)
	boxLine   = regexp.MustCompile(`^( *- )\[([ xX])\] (.*)$`)
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

// marks reports whether a line begins like the mark of a part, whatever hint
// follows.
func marks(line, part string, d engine.Digest) bool {
	return strings.HasPrefix(strings.TrimLeft(line, " \t"), strings.TrimSuffix(mark(part, d, ""), " -->"))
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

// normal returns a text as it is compared: without byte order mark, and with LF at
// the ends of lines.
func normal(body []byte) string {
	s := strings.TrimPrefix(string(body), "\ufeff")
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}
