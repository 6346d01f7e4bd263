package gate

import (
	"bytes"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"placet/engine"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// Texts are the words of a form that its family chooses.
type Texts struct {
	// Lang is the language: en, ko or ja.
	Lang string
	// Title is the heading, "" for a general one; a form with a [Block] has none.
	Title string
	// Where is the place in the run: phase and step, checkpoint, …
	Where string
	// Lines are further lines of Markdown below the prompt, quoted already.
	Lines []string
}

// How much of a request a form shows, in bytes. Longer text is cut and says
// so; request.json has all of it.
const (
	shownPrompt  = 64 << 10
	shownContext = 64 << 10
	shownLine    = 500
)

// largestForm leaves as much of a form's limit to the reviewer's comment.
const largestForm = layout.LimitText / 2

// Form renders a request for a person: what is asked, quoted, and below it the
// part that is read, which ends with the item that sends the answer. digest is
// that of what is shown. The error says why the request cannot be asked.
func Form(r Request, digest engine.Digest, t Texts) ([]byte, error) {
	if err := CheckOptions(r.words()); err != nil {
		return nil, err
	}
	render := generalForm
	if r.Block != nil {
		render = blockForm
	}
	text, err := render(r, digest, t)
	if err != nil {
		return nil, err
	}
	if len(text) > largestForm {
		return nil, fmt.Errorf("cannot write the form of %q: it takes %d bytes, a form may have %d: put what is long into a file and name that", r.RequestID, len(text), largestForm)
	}
	return []byte(text), nil
}

// generalForm renders the form of a request that has no block.
func generalForm(r Request, digest engine.Digest, t Texts) (string, error) {
	title := t.Title
	if title == "" {
		title = templates.Text(t.Lang, "form.title")
	}
	lines, shown := t.Lines, contextShown(r, t.Lang)
	if text, ok := markdown(r.Context); ok {
		lines, shown = append(slices.Clip(lines), markdownLines(text, t.Lang)...), ""
	}
	return templates.Render(t.Lang, "kernel/form", templates.FormData{
		First:       firstMark(r.RequestID, digest),
		Title:       templates.Cut(title, shownLine),
		Facts:       facts(r, t),
		Prompt:      templates.CutWith(templates.Clean(r.Prompt), shownPrompt, "\n\n"+templates.Text(t.Lang, "form.cut")),
		Lines:       lines,
		Artifacts:   artifacts(r.Artifacts, t.Lang),
		Context:     shown,
		AnswerMark:  mark(partAnswer, digest, ""),
		CommentMark: mark(partComment, digest, templates.Text(t.Lang, "form.comment.mark")),
		FreeText:    r.FreeText(),
		Several:     len(r.several()) > 0,
		Options:     optionLines(r, t.Lang),
		Items:       itemLines(r),
		Submit:      submitLine(t.Lang),
	})
}

// contextShown is a request's context as a form shows it.
func contextShown(r Request, lang string) string {
	return templates.CutWith(templates.Clean(context(r.Context)), shownContext, "\n"+templates.Text(lang, "form.cut"))
}

// markdownContext is a context that is one text of Markdown.
const markdownContext = "markdown"

// markdown is the text of a context that holds nothing but one.
func markdown(raw schemas.Raw) (text string, ok bool) {
	if raw.Null() {
		return "", false
	}
	members, err := schemas.Members(raw)
	if err != nil || len(members) != 1 || members[0].Name != markdownContext {
		return "", false
	}
	return members.Raw(markdownContext).Text()
}

// markdownLines is such a text as a form shows it: quoted.
func markdownLines(text, lang string) []string {
	if templates.Blank(text) {
		return nil
	}
	text = templates.CutWith(templates.Clean(text), shownContext, "\n"+templates.Text(lang, "form.cut"))
	return []string{"**" + templates.Text(lang, "form.context") + "**:", "", templates.Quote(text)}
}

// facts are the lines that say which run is asking.
func facts(r Request, t Texts) []templates.FormFact {
	var all []templates.FormFact
	for _, f := range []struct{ key, value string }{
		{"run", r.Family + "/" + r.Run},
		{"where", t.Where},
		{"type", r.Type},
		{"requested", r.RequestedAt},
		{"deadline", r.Deadline},
		{"default", r.Default},
		{"may", strings.Join(r.MayAnswer, ", ")},
	} {
		if f.value != "" {
			all = append(all, templates.FormFact{Label: templates.Text(t.Lang, "form."+f.key), Value: templates.Cut(f.value, shownLine)})
		}
	}
	return all
}

// artifacts are the links to the files of a request. A path is relative to
// the workspace, and so is the link: it begins with a slash.
func artifacts(list []Artifact, lang string) []templates.FormArtifact {
	var all []templates.FormArtifact
	for _, a := range list {
		state := templates.Text(lang, "form.missing")
		if a.SHA256 != "" {
			state = "sha256:" + a.SHA256
		}
		if !a.Binding {
			state += ", " + templates.Text(lang, "form.information")
		}
		link := url.URL{Path: path.Clean("/" + a.Path)}
		// Parentheses would end the link.
		target := strings.NewReplacer("(", "%28", ")", "%29").Replace(link.EscapedPath())
		all = append(all, templates.FormArtifact{Path: a.Path, Link: target, State: state})
	}
	return all
}

// context returns a request's context indented, "" where it says nothing.
func context(raw schemas.Raw) string {
	if members, err := schemas.Members(raw); err == nil && len(members) == 0 || raw.Null() {
		return ""
	}
	text, err := schemas.Encode(raw)
	if err != nil {
		return string(raw)
	}
	return strings.TrimSpace(string(text))
}

func optionLines(r Request, lang string) []string {
	several := r.several()
	var lines []string
	for _, o := range r.Options {
		text := o.Description
		if o.Effect != "" {
			text = engine.Says(templates.Cut(text, shownLine), o.Effect)
		}
		for _, mark := range []struct {
			ids  []string
			word string
		}{{r.CommentRequired, "form.required"}, {several, "form.together"}} {
			if slices.Contains(mark.ids, o.ID) {
				text = strings.TrimSpace(text + " (" + templates.Text(lang, mark.word) + ")")
			}
		}
		if o.Effect == "" {
			text = templates.Cut(text, shownLine)
		}
		lines = append(lines, itemLine(o.ID, text))
	}
	return lines
}

func itemLines(r Request) []string {
	var lines []string
	for _, it := range r.Items {
		lines = append(lines, itemLine(it.ID, templates.Cut(it.Label, shownLine)))
	}
	return lines
}

// itemLine is the task-list item of an id.
func itemLine(id, description string) string {
	text := templates.Inline(id)
	if d := templates.Inline(description); d != "" {
		text += ": " + d
	}
	return "- [ ] " + text
}

// Ticked reports whether something seems to be ticked in a form, however its editor
// writes that, whether or not the form can be read; the form's own words on how,
// in backquotes, are not meant.
func Ticked(form []byte) bool {
	form = bytes.ToLower(bytes.ReplaceAll(form, []byte("`[x]`"), nil))
	return bytes.Contains(form, []byte("[x]")) || bytes.Contains(form, []byte(`[x\]`))
}
