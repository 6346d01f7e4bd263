package gate

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"placet/engine"
	"placet/templates"
)

// An answer is to what its author saw. A request carries the text of each file that an
// answer is bound to: request.json keeps it and the form shows it, so that a saved form
// says which text its editor contained. A response.json says it by the digests of the
// files. For any other answer nobody can tell what its author saw once such a file was
// written again, whatever the file contains now.

// How much text a request carries, in bytes: for one file, and for all together.
const (
	carriedText = 64 << 10
	carriedAll  = 256 << 10
)

// How much of a text a form shows completely: bytes and lines of one text, bytes of all
// together. Of a longer text it shows the first and the last lines.
const (
	wholeText  = 16 << 10
	wholeLines = 200
	wholeAll   = 64 << 10
	headLines  = 40
	tailLines  = 10
)

// Carry adds the texts of the files that an answer is bound to, as far as there is room.
// text returns the content of the file with the artifact's digest, which the family may
// know already; ok is false if nobody may see it.
func (r *Request) Carry(text func(Artifact) (body string, ok bool)) {
	room := carriedAll
	r.Artifacts = slices.Clone(r.Artifacts)
	for i := range r.Artifacts {
		a := &r.Artifacts[i]
		body, ok := "", false
		if a.Binding && a.SHA256 != "" {
			body, ok = text(*a)
		}
		if a.Text = nil; ok && len(body) <= min(carriedText, room) && isText(body) {
			a.Text, room = &body, room-len(body)
		}
	}
}

// isText reports whether a file can be shown as lines of text.
func isText(s string) bool {
	control := func(c rune) bool { return c < ' ' && !strings.ContainsRune("\t\n\r\f", c) || c == 0x7f }
	return utf8.ValidString(s) && strings.IndexFunc(s, control) < 0
}

// Carried returns the text of the artifact. ok is false if the request carries none, or one
// that does not match its digest.
func (a Artifact) Carried() (text string, ok bool) {
	if a.Text == nil || engine.Sum([]byte(*a.Text)).Hex() != a.SHA256 {
		return "", false
	}
	return *a.Text, true
}

// IsPointer reports whether the content of a file is a pointer of Git LFS: what a person is to decide about
// is elsewhere then.
func IsPointer(text string) bool {
	first, _, _ := strings.Cut(text, "\n")
	return strings.TrimSuffix(first, "\r") == "version https://git-lfs.github.com/spec/v1"
}

// Binding returns the files that an answer is bound to, with the digests that are shown.
func (r Request) Binding() (list []engine.SeenArtifact) {
	for _, a := range r.Artifacts {
		if a.Binding {
			list = append(list, engine.SeenArtifact{Path: a.Path, SHA256: a.SHA256})
		}
	}
	return list
}

// texts returns the texts that a form shows; whole says that they are everything that an
// answer is bound to. Editable texts have marks with the digest around them.
func (r Request) texts(digest engine.Digest, lang string) (list []templates.FormText, whole bool) {
	whole, room := true, wholeAll
	for i, a := range r.Artifacts {
		if !a.Binding {
			continue
		}
		text, ok := a.Carried()
		if !ok {
			whole = false
			continue
		}
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		shown := templates.FormText{
			Title: templates.Phrase(lang, "form.seen.file", "file", a.Path, "n", len(lines), "sum", a.SHA256[:12]), Text: text,
		}
		if IsPointer(text) {
			shown.Title = templates.Phrase(lang, "form.seen.pointer", "file", a.Path, "sum", a.SHA256[:12])
		}
		if len(text) > min(wholeText, room) || len(lines) > wholeLines {
			whole = false
			shown.Text, shown.Between, shown.Tail = ends(lines, lang)
		} else {
			room -= len(text)
			if a.Editable {
				shown.Begin, shown.End = editMarks(i+1, digest, lang)
			}
		}
		list = append(list, shown)
	}
	return list, whole
}

// ends returns the first and the last of many lines, and a text that says how many are
// between them.
func ends(lines []string, lang string) (head, between, tail string) {
	first := min(headLines, len(lines))
	last := min(tailLines, len(lines)-first)
	cut := func(lines []string) string {
		var b strings.Builder
		for _, line := range lines {
			b.WriteString(templates.Cut(line, shownLine) + "\n")
		}
		return b.String()
	}
	if n := len(lines) - first - last; n > 0 {
		between = templates.Phrase(lang, "form.seen.between", "n", n)
	}
	return cut(lines[:first]), between, cut(lines[len(lines)-last:])
}

// ShowsAll reports whether a form of the request shows everything that an answer is bound
// to.
func (r Request) ShowsAll() bool {
	_, whole := r.texts("", templates.English)
	return whole
}

// Rewritten is a file that was written again since a request was issued.
type Rewritten struct {
	Path string
	At   time.Time
}

// checkSeen returns why nobody can tell what the author of an answer saw, or "" if the
// author saw what is shown: a form contains it, or a response names it; otherwise no file
// was written again since the request was issued.
func (a Evaluation) checkSeen(c *Claim) string {
	binding := a.Request.Binding()
	switch {
	case c.Source == FromResponse && c.Seen != nil && !slices.Equal(c.Seen, binding):
		return a.say("claim.seen.other", "file", code(c.Place))
	case len(binding) == 0, c.Source == FromResponse && c.Seen != nil, c.Source == FromForm && a.Request.ShowsAll():
		return ""
	}
	if again := a.Rewritten; again != nil {
		return a.say("claim.seen.again", "file", code(c.Place), "artifact", code(again.Path), "at", again.At.UTC().Format(time.RFC3339), "request", code(a.Request.RequestID))
	}
	return ""
}
