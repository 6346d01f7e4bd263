package web

import (
	"cmp"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"placet/cmd/placet/answer"
	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/facade"
	"placet/engine/gate"
	"placet/schemas"
	"placet/templates"
)

// requestView is a request's page.
type requestView struct {
	pageHead
	Family, Type, Heading, Where, RunName, RunPath, Reference, Path, Due, Approvers string
	Overdue, Closed, Open                                                           bool
	Since                                                                           time.Time
	shownView
	Receipt []engine.Fact
	// Said is what became of an answer, InPlace the answer that stands there, and Problem
	// why it cannot be used.
	Said, InPlace, Problem string
	// Answer is the one that closed the request, with its author.
	Answer string
	answerForm
}

// shownView is what a person is shown of a request beside its first line.
type shownView struct {
	Body, Summary template.HTML
	// Written is what Body and Summary show, as it was written: of Markdown not every word is
	// shown. It is "" where nothing is shown as Markdown.
	Written string
	// Context is what the request says besides, in a line each where that is enough.
	Context, LongContext []engine.Fact
	Artifacts            []artifactView
}

// answerForm is the form in which a request is answered.
type answerForm struct {
	// Form is its id in the page, Action where it is sent.
	Form, Action, Secret string
	MayAnswer, FreeText  bool
	// Outdated says why nobody can answer: what is asked about is not what is there now.
	Outdated       string
	Digest         engine.Digest
	Options, Items []optionView
	ItemsMax       int
	ItemsWith      string
	Editable       []engine.EditableFile
	// Given is the answer that was sent and refused: nobody types it again.
	Given answer.Reply
}

// answerFormOf is the form of an open request.
func answerFormOf(o engine.OpenRequest, id, action, secret string, may bool) answerForm {
	f := answerForm{Form: id, Action: action, Secret: secret, MayAnswer: may, FreeText: o.FreeText, Digest: o.Digest}
	for _, changed := range o.Changed {
		f.MayAnswer = false
		f.Outdated = templates.Phrase(o.Lang, "page.outdated", "file", console.OneLine(changed.Path))
	}
	kind := "radio"
	if len(o.Several) > 0 {
		kind = "checkbox"
	}
	for _, one := range o.Options {
		f.Options = append(f.Options, optionView{
			ID: console.OneLine(one.ID), Description: console.OneLine(one.Description), Effect: console.OneLine(one.Effect), Kind: kind,
			NeedsComment: slices.Contains(o.CommentRequired, one.ID),
		})
	}
	for _, one := range o.Items {
		f.Items = append(f.Items, optionView{ID: console.OneLine(one.ID), Description: console.OneLine(one.Label)})
	}
	f.ItemsMax, f.ItemsWith = o.ItemsMax, console.OneLine(strings.Join(o.ItemsWith, ", "))
	return f
}

// optionView is an option or an item.
type optionView struct {
	ID, Description, Effect, Kind string
	NeedsComment, Chosen          bool
}

// artifactView is a file that the request shows.
type artifactView struct {
	Path, Class, Word, Link, Content string
	Binding                          bool
	// Opened says that the content is shown at once: an answer depends on it, and it is short.
	Opened bool
	Diff   []diffLine
}

// requestPage shows a request.
func (a *App) requestPage(c *facade.Call) (int, any, error) {
	v := a.reader(c)
	at, err := requestNamed(v, c)
	if err != nil {
		return 0, nil, err
	}
	page := a.requestView(c, v, at)
	switch sent := c.Text("sent"); {
	case sent == "taken" && page.Answer != "":
		page.Said = templates.Text(page.Lang, "page.sent")
	case sent == "written" && page.Open:
		page.Said = templates.Text(page.Lang, "page.written")
	}
	return 0, nil, a.show(c, http.StatusOK, page.Lang, "request", page)
}

// requestView is a request as its page shows it.
func (a *App) requestView(c *facade.Call, v *workspace.Workspace, at view.RequestAt) requestView {
	name := at.Found.Key().String() + ":" + at.ID
	page := requestView{
		pageHead: a.head(c, "request", at.ID), Path: RequestPath(name),
		Family: at.Found.Run.Family, RunName: console.Brief(at.Found.Key()), RunPath: runPath(at.Found.Key().String()), Reference: at.ID,
	}
	page.Request, page.Run = at.ID, at.Found.Key().String()
	t, open := view.OpenRequestAt(v, at)
	if open {
		page.fillOpen(v, t, c.Who)
		d := view.OpenDataOf(v, t)
		page.fillShown(v, page.Lang, page.Path, d.Context, d.Artifacts)
		return page
	}
	page.fillClosed(view.ClosedDataOf(v, at))
	return page
}

// fillOpen fills in what is asked.
func (p *requestView) fillOpen(v *workspace.Workspace, t view.Request, who facade.Identity) {
	o := t.OpenRequest
	p.Open, p.answerForm = true, answerFormOf(o, "answer", p.Path, p.CSRF, who.May(facade.Decide))
	p.Type, p.Where, p.Since, p.Reference = console.OneLine(o.Type), console.OneLine(o.Where), o.RequestedAt, o.Reference
	p.fillQuestion(o.Prompt, o.Summary)
	p.Due, p.Overdue, p.Approvers = due(p.Lang, o), o.Overdue, console.OneLine(strings.Join(o.Approvers, ", "))
	p.Problem = console.Lines(o.Problem)
	p.Editable = slices.Clone(o.Editable)
	if o.Answer != nil {
		p.InPlace = o.Answer.Text
	}
}

// fillQuestion shows a question.
func (p *requestView) fillQuestion(prompt, summary string) {
	p.Heading, p.Body, p.Summary, p.Written = questionOf(p.Lang, prompt, summary, p.Reference)
	p.Title = console.Cut(p.Heading, 80)
}

// questionOf is a question as pages show it: its first line as a heading, else the
// reference, the rest as Markdown, and all as it was written where something is shown as
// Markdown.
func questionOf(lang, prompt, summary, reference string) (heading string, body, more template.HTML, written string) {
	first, rest, _ := strings.Cut(strings.TrimSpace(prompt), "\n")
	heading = cmp.Or(console.OneLine(strings.TrimSpace(strings.TrimLeft(first, "#"))), reference)
	if strings.TrimSpace(rest) != "" {
		body, written = rendered(lang, rest), console.Lines(prompt)
	}
	if strings.TrimSpace(summary) != "" && !strings.Contains(prompt, summary) {
		more, written = rendered(lang, summary), strings.TrimPrefix(written+"\n\n"+console.Lines(summary), "\n\n")
	}
	return heading, body, more, written
}

// fillShown fills in what the request is about.
func (p *shownView) fillShown(v *workspace.Workspace, lang, path string, context schemas.Raw, files []view.ArtifactLine) {
	for _, fact := range gate.ContextFacts(context, lang) {
		fact = engine.Fact{Label: console.OneLine(fact.Label), Value: console.Lines(fact.Value)}
		if len(fact.Value) <= shortContext && !strings.Contains(fact.Value, "\n") {
			p.Context = append(p.Context, fact)
		} else {
			p.LongContext = append(p.LongContext, fact)
		}
	}
	for i, f := range files {
		p.Artifacts = append(p.Artifacts, artifactOf(v, lang, path, i+1, f))
	}
}

// shortContext is how long a value may be that stands in a line, in bytes.
const shortContext = 120

// shownArtifact is how much of a file its page shows, in bytes.
const shownArtifact = 64 << 10

// openedArtifact is how large a file may be that is shown at once, in bytes.
const openedArtifact = 4 << 10

// diffLine is a line of what changed.
type diffLine struct{ Class, Text string }

// diffLines gives lines of a unified diff their classes.
func diffLines(lines []string, more int) (all []diffLine) {
	classes := map[byte]string{'+': "added", '-': "removed", '@': "hunk"}
	for _, line := range lines {
		class := "same"
		if line != "" && classes[line[0]] != "" {
			class = classes[line[0]]
		}
		all = append(all, diffLine{class, line})
	}
	if more > 0 {
		all = append(all, diffLine{"hunk", "…"})
	}
	return all
}

// artifactOf is a file as it was when the request was made, and as it is.
func artifactOf(v *workspace.Workspace, lang, page string, n int, f view.ArtifactLine) artifactView {
	artifact := artifactView{Path: console.OneLine(f.Path), Binding: f.Binding, Class: "done", Word: templates.Text(lang, "page.unchanged")}
	if f.Now == "" {
		artifact.Class, artifact.Word = "alarm", templates.Text(lang, "page.gone")
		if f.SHA256 == "" {
			artifact.Class = "runs"
		}
		return artifact
	}
	artifact.Link = "/api/v1" + page + fmt.Sprintf("/artifacts/%d", n)
	now := v.Artifact(f.Path)
	if f.Changed() {
		artifact.Class, artifact.Word = "alarm", templates.Text(lang, "page.changed")
		artifact.Diff = diffLines(view.Difference(v, f, now))
	}
	if now.Present() && len(now.Body) <= shownArtifact && utf8.Valid(now.Body) {
		artifact.Content = console.Lines(string(now.Body))
		artifact.Opened = f.Binding && len(now.Body) <= openedArtifact
	}
	return artifact
}

// fillClosed fills in what became of a request.
func (p *requestView) fillClosed(d view.ClosedData) {
	p.Closed = true
	p.fillQuestion(d.Prompt, "")
	p.Type = console.OneLine(d.Type)
	add := func(key, value string) {
		if value != "" {
			p.Receipt = append(p.Receipt, engine.Fact{Label: templates.Text(p.Lang, key), Value: console.OneLine(value)})
		}
	}
	r := d.Receipt
	if r == nil {
		add("page.result", d.Doubt)
		return
	}
	add("page.result", r.Result)
	said := r.Response
	if len(r.Selected) > 0 {
		said += " (" + strings.Join(r.Selected, ", ") + ")"
	}
	if said != "" {
		p.Answer = phrase(p.Lang, "page.closed.by", "response", said, "user", d.User)
		add("page.given", p.Answer)
	}
	add("page.comment", r.Comment)
	add("page.decided", r.DecidedAt)
	add("page.known", strings.Join(r.KnownAs, ", "))
	add("page.file", d.File)
	add("page.problems", d.Doubt)
}

// postRequest takes the answer of a form. What became of it is shown on the request's page;
// an answer that was refused stays in the form.
func (a *App) postRequest(c *facade.Call) (int, any, error) {
	if !c.Who.May(facade.Read) { // the page shows the request
		return 0, nil, facade.Deny(http.StatusForbidden, "role", "page.no.role", "role", facade.Read)
	}
	form, err := url.ParseQuery(string(c.Raw))
	if err != nil {
		return 0, nil, facade.Deny(http.StatusUnprocessableEntity, "invalid", "page.no.form")
	}
	v := a.reader(c)
	at, err := requestNamed(v, c)
	if err != nil {
		return 0, nil, err
	}
	r := answer.Reply{Option: form.Get("response"), Selected: form["selected"], Comment: form.Get("comment"), By: c.Who.User}
	if chosen := form["option"]; len(chosen) > 0 {
		r.Option, r.More = chosen[0], chosen[1:]
	}
	if t, open := view.OpenRequestAt(v, at); open {
		r.Edits = editsIn(form, t.Editable)
	}
	status, _, err := a.answer(c.Context(), v, c.Who, at, form.Get("digest"), r)
	var p *facade.Problem
	switch {
	case errors.As(err, &p):
		page := a.requestView(c, v, at)
		page.Refused = p.In(page.Lang)
		switch p.Code {
		case "stale":
			page.Refused = templates.Text(page.Lang, "page.stale")
		case "closed":
			page.Refused = page.instead(p)
		}
		page.give(r)
		return 0, nil, a.show(c, p.Status, page.Lang, "request", page)
	case err != nil:
		return 0, nil, err
	}
	sent := "taken"
	if status == http.StatusAccepted {
		sent = "written"
	}
	http.Redirect(c.Writer, c.Request, RequestPath(at.Found.Key().String()+":"+at.ID)+"?sent="+sent, http.StatusSeeOther)
	return 0, nil, nil
}

// editField begins the name of a field that holds the text of a file; its number follows.
const editField = "edit-"

// editsIn are the texts that somebody changed in a form. Browsers send every line end as CR LF.
func editsIn(form url.Values, files []engine.EditableFile) (edits []gate.Edit) {
	for _, f := range files {
		sent, ok := form[editField+strconv.Itoa(f.N)]
		if !ok {
			continue
		}
		if strings.ReplaceAll(sent[0], "\r\n", "\n") != f.Text {
			edits = append(edits, gate.Edit{Path: f.Path, Text: sent[0]})
		}
	}
	return edits
}

// instead says what was decided in place of an answer that was sent.
func (p *requestView) instead(problem *facade.Problem) string {
	if len(p.Receipt) == 0 {
		return problem.In(p.Lang)
	}
	return phrase(p.Lang, "page.instead", "answer", cmp.Or(p.Answer, p.Receipt[0].Value))
}

// give puts an answer that was refused back into the form.
func (p *requestView) give(r answer.Reply) {
	p.Given = r
	for _, e := range r.Edits {
		for i, f := range p.Editable {
			if f.Path == e.Path {
				p.Editable[i].Text = e.Text
			}
		}
	}
	for i, o := range p.Options {
		p.Options[i].Chosen = o.ID == r.Option || slices.Contains(r.More, o.ID)
	}
	for i, o := range p.Items {
		p.Items[i].Chosen = slices.Contains(r.Selected, o.ID)
	}
}
