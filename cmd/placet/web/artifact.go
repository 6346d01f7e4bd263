package web

import (
	"html/template"
	"path"
	"strings"
	"unicode/utf8"

	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/templates"
)

// artifactView is a file that the request shows.
type artifactView struct {
	view.ArtifactLine
	Class, Word, Link string
	// Changes is what changed since the file was shown, and Text the file itself; Title says as of
	// when. Source is the source of a text that is shown as Markdown.
	Changes, Text template.HTML
	Title, Source string
	// Cut says what of the text is left out, CutChanges of the changes, and Missing why a text or its
	// changes cannot be shown; "" for nothing.
	Cut, CutChanges, Missing string
	// Opened says that the text is shown at once.
	Opened bool
}

// room is how much of its files a page still shows. A page stays quick, whatever a request shows.
type room struct {
	lines, bytes int
	folded       bool // only short files are shown at once
}

// These limit what a page shows: lines of code and of changes, of one file and of all, and bytes.
const (
	fileLines, pageLines = 2000, 4000
	codeBytes, pageBytes = 128 << 10, 640 << 10
	openedBytes          = 4 << 10 // of a file that is shown at once beside others' questions
)

func newRoom() *room { return &room{lines: pageLines, bytes: pageBytes} }

// artifactOf returns the view of a file as it was when the request was made, and as it is.
func artifactOf(v *workspace.Workspace, lang, link string, f view.ArtifactLine, r *room) artifactView {
	a := artifactView{ArtifactLine: f, Class: "done", Word: templates.Text(lang, "page.unchanged"), Title: templates.Text(lang, "page.content")}
	now := v.Artifact(f.Path)
	switch {
	case f.Now == "" && f.SHA256 == "":
		a.Class, a.Word = "runs", templates.Text(lang, "page.gone")
		return a
	case f.Now == "":
		a.Class, a.Word = "alarm", templates.Text(lang, "page.gone")
	case f.Pointer:
		a.Class, a.Word = "alarm", templates.Text(lang, "page.pointer")
	}
	if f.Now != "" {
		a.Link = link
	}
	if !f.Changed() {
		a.fill(lang, string(now.Body), r)
		a.Opened = !r.folded || f.Binding && len(now.Body) <= openedBytes
		return a
	}
	if f.Now != "" {
		a.Class, a.Word = "alarm", templates.Text(lang, "page.changed")
	}
	before, known := view.ShownVersion(v, f)
	if !known {
		a.Missing = templates.Text(lang, "page.notkept")
		a.Title = templates.Text(lang, "page.content.now")
		a.fill(lang, string(now.Body), r)
		return a
	}
	a.Title = templates.Text(lang, "page.content.shown")
	a.Opened = f.Now == ""
	if f.Now != "" {
		lines, more := view.DifferenceBetween(before, now, r.take(fileLines))
		r.lines -= len(lines)
		a.Changes, a.CutChanges = diffHTML(lines), cutWords(lang, more)
		if len(lines) == 0 {
			a.Changes, a.Missing = "", templates.Text(lang, "page.notcompared")
		}
	}
	a.fill(lang, before, r)
	return a
}

// take returns how many lines a file may have.
func (r *room) take(most int) int { return max(0, min(most, r.lines)) }

// fill shows a text as what its name says that it is.
func (a *artifactView) fill(lang, body string, r *room) {
	switch ext := strings.ToLower(path.Ext(a.Path)); {
	case body == "":
	case !utf8.ValidString(body):
		a.Missing = templates.Text(lang, "page.nottext")
	case ext == ".md" || ext == ".markdown":
		kept, more := cutText(body, min(longestMarkdown, r.bytes), len(body))
		r.bytes -= len(kept)
		if a.Cut = cutWords(lang, more); kept != "" {
			a.Text, a.Source = rendered(lang, kept, 3), templates.Clean(kept)
		}
	default:
		kept, more := cutText(body, min(codeBytes, r.bytes), r.take(fileLines))
		r.bytes -= len(kept)
		r.lines -= strings.Count(kept, "\n")
		if a.Cut = cutWords(lang, more); kept == "" {
			return
		}
		kept = strings.TrimSuffix(templates.Clean(kept), "\n")
		if ext == ".diff" || ext == ".patch" {
			a.Text = diffHTML(strings.Split(kept, "\n"))
		} else {
			a.Text = highlight(languageOf(a.Path), kept)
		}
	}
}

// cutText returns the beginning of a text within two limits, and how many lines are missing: whole
// lines, unless the first is longer than all that is shown.
func cutText(body string, most, lines int) (kept string, more int) {
	kept = body
	if len(kept) > most {
		kept = strings.ToValidUTF8(kept[:max(0, most)], "")
		kept = kept[:strings.LastIndexByte(kept, '\n')+1]
		if kept == "" {
			kept = strings.ToValidUTF8(body[:max(0, most)], "")
		}
	}
	at := 0
	for range lines {
		n := strings.IndexByte(kept[at:], '\n')
		if n < 0 {
			at = len(kept)
			break
		}
		at += n + 1
	}
	kept = kept[:at]
	if rest := body[len(kept):]; rest != "" {
		more = strings.Count(strings.TrimSuffix(rest, "\n"), "\n") + 1
	}
	return kept, more
}

// cutWords says how many lines are not shown, "" for none.
func cutWords(lang string, more int) string {
	if more == 0 {
		return ""
	}
	return phrase(lang, "page.cut", "n", more)
}
