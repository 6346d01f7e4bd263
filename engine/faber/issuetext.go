package faber

import (
	"slices"
	"strings"

	"placet/engine"
	"placet/engine/gate"
	"placet/layout"
	"placet/templates"
)

// The issue channel shows a request as a comment on the issue of its run. issuetext.go has the text,
// posting.go the command that posts it.

// Limits of the parts of a comment that others write, in characters.
const (
	postedPrompt   = 16_000
	longestSummary = 4_000
)

// isAnnounced reports whether the requests of the run have texts for the issue.
func (r *view) isAnnounced() bool {
	return r.cfg.Issue.Enabled && !r.foreign() && r.workID() != ""
}

// beside returns the name of a file of the request that belongs to the present view, as form.md or
// form-<8>.md does.
func (o *request) beside(stem, ext string) string {
	return stem + strings.TrimSuffix(strings.TrimPrefix(o.form, "form"), ".md") + ext
}

// commentFile returns the text for the issue if it is missing. It belongs to a form and is never
// rewritten.
func (o *request) commentFile() []engine.Document {
	name := o.beside("issue-comment", ".md")
	if !o.view.isAnnounced() || has(o.folder, name) {
		return nil
	}
	body, err := o.commentText()
	if err != nil {
		o.view.run.CannotWrite(err)
		return nil
	}
	return []engine.Document{{Path: o.path(name), Kind: layout.FaberText, Body: body}}
}

// commentText returns the text for the issue. It is English, whatever the language of the workspace
// is: the seed's words and commands are.
func (o *request) commentText() ([]byte, error) {
	q := o.q
	data := templates.IssueCommentData{
		RunID: o.view.Snap.Key.ID, Short: uuidOf(o.view), RequestID: o.folder.ID, Phase: capital(neutral(q.phase)), Step: neutral(q.step),
		Prompt: neutralBlock(q.Prompt, postedPrompt), Summary: neutralBlock(q.shown.Summary, longestSummary),
		Options: q.listed(), Approves: offers(gate.Request{Options: q.describe(templates.English)}, []string{"approve"}),
	}
	if at := moment(q.RequestedAt); !at.IsZero() {
		data.Requested = at.UTC().Format("2006-01-02 15:04 UTC")
	}
	if ids := q.options(); len(ids) > 0 {
		data.First = neutralFence(ids[0])
	}
	for _, a := range o.req.Artifacts {
		data.Artifacts = append(data.Artifacts, templates.IssueArtifact{Shown: linked(a.Path), Missing: layout.Safe(a.Path) && o.view.digestNow(a) == ""})
	}
	if o.form != "form.md" {
		data.Changed = neutral(strings.Join(o.moved, ", "))
	}
	text, err := templates.Render(templates.English, "faber/issue-comment", data)
	return []byte(text), err
}

// uuidOf returns the last part of the run's id.
func uuidOf(r *view) string {
	id := r.Snap.Key.ID
	return id[strings.LastIndexByte(id, '/')+1:]
}

// listed returns the options as numbered lines.
func (q *question) listed() (lines []templates.IssueOption) {
	for i, o := range q.describe(templates.English) {
		lines = append(lines, templates.IssueOption{Number: i + 1, Name: neutral(o.ID), Says: o.Description})
	}
	return lines
}

// capital returns a word with a capital letter.
func capital(word string) string {
	if word == "" {
		return ""
	}
	return strings.ToUpper(word[:1]) + word[1:]
}

// neutral returns a text of others on one line that shows the text and addresses nobody.
func neutral(s string) string { return unaddressed(templates.Inline(s)) }

// unaddressed keeps "@name" from notifying anybody.
func unaddressed(s string) string { return strings.ReplaceAll(s, "@", "@\u200b") }

// neutralFence returns a text that can stand in a fenced block.
func neutralFence(s string) string { return strings.ReplaceAll(templates.OneLine(s), "`", "'") }

// startsBlock are what a line begins with that would end the block of a text, or look like a part of
// the comment.
var startsBlock = []string{"#", "```", "~~~", "---", "_", "<"}

// neutralBlock returns a text of several lines that cannot look like another part of the comment.
func neutralBlock(s string, most int) string {
	lines := strings.Split(strings.Trim(templates.Clean(cutRunes(s, most)), "\n"), "\n")
	for i, line := range lines {
		bare := strings.TrimLeft(line, " \t")
		if slices.ContainsFunc(startsBlock, func(mark string) bool { return strings.HasPrefix(bare, mark) }) {
			line = line[:len(line)-len(bare)] + `\` + bare
		}
		lines[i] = unaddressed(line)
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// cutRunes returns at most n characters of a text.
func cutRunes(s string, n int) string {
	if runes := []rune(s); len(runes) > n {
		return string(runes[:n]) + "…"
	}
	return s
}

// linked returns the link to an artifact, or its path if it is outside the workspace.
func linked(p string) string {
	if !layout.Safe(p) {
		return templates.Code(p)
	}
	return "[" + neutral(p[strings.LastIndexByte(p, '/')+1:]) + "](/" + percentEncoded(p) + ")"
}

// percentEncoded returns a path as it stands in an address: everything but letters, digits, "-",
// ".", "_", "~" and "/" is encoded.
func percentEncoded(p string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(p) {
		switch c := p[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-._~/", c) >= 0:
			b.WriteByte(c)
		default:
			b.WriteString(string([]byte{'%', hex[c>>4], hex[c&15]}))
		}
	}
	return b.String()
}
