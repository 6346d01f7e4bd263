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

// requestView is a request's page: its question, or how it ended.
type requestView struct {
	pageHead
	Key       engine.Key // of the run
	Reference string
	Ask       *asked       // nil if the request is closed
	Closed    *view.Closed // nil if it is open
	worded
	shown
	ending  // of a closed request
	Receipt []engine.Fact
	// Said is the outcome of an answer that was sent, and Answer the one that closed the request,
	// with its author.
	Said, Answer string
	// Before is the request that the reader answered before this one, nil if they came another way.
	// Next is the name of the request that replaced this one, "" for none.
	Before *answeredRow
	Next   string
}

// Name returns the whole name of the request.
func (p requestView) Name() string { return p.Run + ":" + p.Request }

// worded is a question as pages show it.
type worded struct {
	Heading       string
	Body, Summary template.HTML
	// Written is the source of Body and Summary, because Markdown does not show every word. It is ""
	// if nothing is shown as Markdown.
	Written string
}

// shown is the content of a request besides its question.
type shown struct {
	contextView
	Artifacts []artifactView
	// Since is what changed since the last round, "" if there was none.
	Since template.HTML
}

// asked is an open request with the form in which it is answered.
type asked struct {
	view.Request
	// FormID is the form's id in the page, and Secret is sent with it.
	FormID, Secret string
	may            bool
	// Closing says why no answer would count now, and what can be done; "" if one would.
	Closing string
	// Given is the answer that was sent and refused, so that nobody has to type it again.
	Given answer.Reply
}

// MayAnswer reports whether the reader may answer what is shown.
func (a asked) MayAnswer() bool { return a.may && a.Closing == "" && len(a.Changed) == 0 }

// Outdated returns a file that has changed since it was asked about, "" if a person can answer.
func (a asked) Outdated() (file string) {
	for _, changed := range a.Changed {
		file = changed.Path
	}
	return file
}

// IsQuick reports whether one press answers: the request has an option that agrees and one that
// refuses.
func (a asked) IsQuick() bool {
	yes, no := answer.Approving.Named(a.OpenRequest), answer.Rejecting.Named(a.OpenRequest)
	return answer.IsDecision(a.OpenRequest) && !a.IsElsewhere(yes) && !a.IsElsewhere(no)
}

// Role returns what an option stands for: yes, no, or "".
func (a asked) Role(id string) string {
	switch id {
	case answer.Approving.Named(a.OpenRequest):
		return "yes"
	case answer.Rejecting.Named(a.OpenRequest):
		return "no"
	}
	return ""
}

// IsAlone reports whether an option excludes all others, and TakesItems whether items go with it.
func (a asked) IsAlone(id string) bool {
	return len(a.Several) > 0 && !slices.Contains(a.Several, id)
}

func (a asked) TakesItems(id string) bool { return slices.Contains(a.ItemsWith, id) }

// IsElsewhere reports whether an option counts only at the command line.
func (a asked) IsElsewhere(id string) bool { return slices.Contains(a.AtCommandLine, id) }

// attemptsField is the field for a number of attempts.
type attemptsField struct {
	Option string
	Most   int
	Given  string
}

// Attempts returns the field for a number of attempts, nil if no option takes one.
func (a asked) Attempts() *attemptsField {
	option, most := answer.TakesAttempts(a.OpenRequest)
	if option == "" {
		return nil
	}
	f := &attemptsField{Option: option, Most: most}
	if a.Given.Attempts != nil {
		f.Given = strconv.Itoa(*a.Given.Attempts)
	}
	return f
}

// TakesAttempts reports whether an option takes a number of attempts.
func (a asked) TakesAttempts(id string) bool {
	option, _ := answer.TakesAttempts(a.OpenRequest)
	return id == option
}

// Kind returns the input type of the options: radio for one of them, checkbox for any number.
func (a asked) Kind() string {
	if len(a.Several) > 0 {
		return "checkbox"
	}
	return "radio"
}

// NeedsComment reports whether an option asks for a comment.
func (a asked) NeedsComment(id string) bool { return slices.Contains(a.CommentRequired, id) }

// Chosen and Selected report whether the answer that was refused had an option or an item.
func (a asked) Chosen(id string) bool {
	return id == a.Given.Option || slices.Contains(a.Given.More, id)
}

func (a asked) Selected(id string) bool { return slices.Contains(a.Given.Selected, id) }

// Typed returns the text of a file for its field: as it was sent, else as it was asked about.
func (a asked) Typed(f engine.EditableFile) asTyped {
	for _, e := range a.Given.Edits {
		if e.Path == f.Path {
			return asTyped(e.Text)
		}
	}
	return asTyped(f.Text)
}

// requestPage shows a request.
func (a *App) requestPage(c *facade.Call) (int, any, error) {
	v := a.reader(c)
	at, err := requestNamed(v, c)
	if err != nil {
		return 0, nil, err
	}
	page := requestViewOf(a, c, v, at)
	switch sent := c.Text("sent"); {
	case sent == "taken" && page.Answer != "":
		page.Said = templates.Text(page.Lang, "page.sent")
	case sent == "written" && page.Ask != nil:
		page.Said = templates.Text(page.Lang, "page.written")
	}
	if before, err := requestAmong(v, c.Text("after"), c.Who.Sees); err == nil {
		if closed, ok := view.ClosedRequest(v, before); ok && !closed.IsDoubtful() {
			page.Before = &answeredRow{Name: before.Name(), Question: firstLine(closed.Prompt, ""), ending: endingOf(page.Lang, closed)}
		}
	}
	return 0, nil, a.show(c, http.StatusOK, page.Lang, "request", page)
}

// requestViewOf returns the view of a request for its page.
func requestViewOf(a *App, c *facade.Call, v *workspace.Workspace, at view.RequestAt) requestView {
	page := requestView{pageHead: a.head(c, "request", at.ID), Key: at.Found.Key(), Reference: at.ID}
	page.Request, page.Run = at.ID, page.Key.String()
	t, open := view.OpenRequestAt(v, at)
	if open {
		page.Ask = &asked{Request: t, FormID: "answer", Secret: page.CSRF, may: c.Who.May(facade.Decide)}
		page.Reference = t.Reference
		page.fillQuestion(t.Prompt, t.Summary)
		page.Ask.close(v, page.Lang, c.Who.User)
		d := view.OpenDataOf(v, t)
		page.shown = shownOf(v, page.Lang, view.NameOf(t.OpenRequest), d.Context, d.Artifacts, d.Since, newRoom())
		return page
	}
	d := view.ClosedDataOf(v, at)
	page.Closed = &d.Closed
	page.fillQuestion(d.Prompt, "")
	page.fillReceipt(d.Closed)
	r := newRoom()
	r.folded = true
	page.shown = shownOf(v, page.Lang, at.Name(), d.Context, d.Artifacts, d.Since, r)
	return page
}

// close closes the form of a request if no answer of its reader would count.
func (a *asked) close(v *workspace.Workspace, lang, user string) {
	if !a.may || len(a.Changed) > 0 {
		return
	}
	err := answer.WhyNoneCounts(v, a.Request, user)
	if p := (*console.Problem)(nil); errors.As(err, &p) {
		a.Closing = templates.In(lang, p)
		if p.Kind == console.KindNotApprover {
			a.Closing = templates.Text(lang, "page.no.approver")
		}
	}
}

// fillQuestion shows a question.
func (p *requestView) fillQuestion(prompt, summary string) {
	p.worded = wordedOf(p.Lang, prompt, summary, p.Reference)
	p.Title = console.Cut(p.Heading, 80)
}

// wordedOf returns a question for pages: its first line, or else the reference, as a heading, the
// rest as Markdown, and the source of all if something is shown as Markdown.
func wordedOf(lang, prompt, summary, reference string) (w worded) {
	first, rest, _ := strings.Cut(strings.TrimSpace(prompt), "\n")
	w.Heading = cmp.Or(console.OneLine(strings.TrimSpace(strings.TrimLeft(first, "#"))), reference)
	if strings.TrimSpace(rest) != "" {
		w.Body, w.Written = rendered(lang, rest, 2), console.Lines(prompt)
	}
	if strings.TrimSpace(summary) != "" && !strings.Contains(prompt, summary) {
		w.Summary, w.Written = rendered(lang, summary, 2), strings.TrimPrefix(w.Written+"\n\n"+console.Lines(summary), "\n\n")
	}
	return w
}

// shownOf returns the content of a request besides its question, as far as there is room for it.
func shownOf(v *workspace.Workspace, lang, name string, context schemas.Raw, files []view.ArtifactLine, since string, r *room) (s shown) {
	s.contextView = contextOf(lang, context)
	if since != "" {
		since = templates.CutWith(templates.Clean(since), longestSince, "\n"+templates.Text(lang, "form.cut"))
		s.Since = diffHTML(strings.Split(since, "\n"))
	}
	for i, f := range files {
		s.Artifacts = append(s.Artifacts, artifactOf(v, lang, fmt.Sprintf("/api/v1%s/artifacts/%d", RequestPath(name), i+1), f, r))
	}
	return s
}

// longestSince limits what a page shows of the changes since the last round, in bytes.
const longestSince = 64 << 10

// ending is how a request ended, for people.
type ending struct {
	// Look is the style of Label: done for yes, alarm for no, off for no answer, else runs.
	Look, Label string
	// Sentence says all, but for the time.
	Sentence string
	At       *time.Time
}

// endingOf returns how a request ended.
func endingOf(lang string, c view.Closed) ending {
	e := ending{Look: "off", Label: templates.Text(lang, "page.closed"), At: moment(c.DecidedAt)}
	switch {
	case c.Result == "", c.IsDoubtful(): // what it says may be made up
		e.Look, e.Sentence = "alarm", c.Doubt
	case c.Response != "":
		e.Look, e.Label = lookOfAnswer(c), answerLabel(c)
		key := "page.ended.answered"
		if c.User == "" || c.Result != gate.Accepted {
			key = "page.ended.default"
		}
		e.Sentence = phrase(lang, key, "answer", e.Label, "who", c.User)
	default:
		e.Label, e.Sentence = templates.Text(lang, "page.how."+c.Result), templates.Text(lang, "page.ended."+c.Result)
	}
	return e
}

// lookOfAnswer returns the look of an answer: a no is not green.
func lookOfAnswer(c view.Closed) string {
	asked := engine.OpenRequest{Type: c.Type, Options: c.Options}
	switch c.Response {
	case answer.Approving.Named(asked):
		return "done"
	case answer.Rejecting.Named(asked):
		return "alarm"
	}
	return "runs"
}

// answerLabel returns the words of an answer: the labels of the options, or the text.
func answerLabel(c view.Closed) string {
	all := []string{c.Response}
	if slices.Contains(c.Selected, c.Response) {
		all = nil
	}
	all = append(all, c.Selected...)
	for i, id := range all {
		for _, o := range c.Options {
			if o.ID == id {
				all[i] = optionLabel(o)
			}
		}
	}
	return console.Cut(console.OneLine(strings.Join(all, ", ")), shownQuestion)
}

// longestLabel limits a description that stands for its option, in bytes.
const longestLabel = 60

// optionLabel returns what people call an option: its description if that is short, else its id.
func optionLabel(o engine.RequestOption) string {
	if o.Description != "" && len(o.Description) <= longestLabel {
		return o.Description
	}
	return o.ID
}

// moment returns the time that a text is, nil if it is none.
func moment(text string) *time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return nil
	}
	return &t
}

// fillReceipt fills in how a request ended.
func (p *requestView) fillReceipt(c view.Closed) {
	p.ending = endingOf(p.Lang, c)
	add := func(key, value string) {
		if value != "" {
			p.Receipt = append(p.Receipt, engine.Fact{Label: templates.Text(p.Lang, key), Value: value})
		}
	}
	if c.Result == "" {
		return
	}
	if c.Response != "" {
		p.Answer = phrase(p.Lang, "page.closed.by", "response", p.Label, "user", c.User)
	}
	add("page.comment", c.Comment)
	if c.Reason != c.Response {
		add("page.reason", c.Reason)
	}
	add("page.known", strings.Join(c.KnownAs, ", "))
	add("page.file", c.File)
	add("page.problems", c.Doubt)
	if next := c.SupersededBy; next != "" {
		p.Next = p.Run + ":" + next
	}
}

// postRequest takes the answer of a form. The request's page then shows the outcome; a refused
// answer stays in the form.
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
	if n, err := strconv.Atoi(strings.TrimSpace(form.Get("attempts"))); err == nil {
		r.Attempts = &n
	}
	if chosen := form["option"]; len(chosen) > 0 {
		r.Option, r.More = chosen[0], chosen[1:]
	}
	t, open := view.OpenRequestAt(v, at)
	if open {
		r.Edits = editsIn(form, t.Editable)
	}
	status, _, err := a.answer(c.Context(), v, c.Who, at, form.Get("digest"), r)
	var p *facade.Problem
	switch {
	case errors.As(err, &p):
		page := requestViewOf(a, c, v, at)
		page.Refused = p.In(page.Lang)
		switch p.Code {
		case "stale":
			page.Refused = templates.Text(page.Lang, "page.stale")
		case "closed":
			page.Refused = page.instead(p)
		}
		if page.Ask != nil {
			page.Ask.Given = r
		}
		return 0, nil, a.show(c, p.Status, page.Lang, "request", page)
	case err != nil:
		return 0, nil, err
	}
	to := RequestPath(at.Name()) + "?sent=taken"
	if status == http.StatusAccepted {
		to = RequestPath(at.Name()) + "?sent=written"
	} else if next, ok := nextOf(c, v, t.OpenRequest); open && ok {
		to = RequestPath(view.NameOf(next)) + "?after=" + url.QueryEscape(at.Name())
	}
	http.Redirect(c.Writer, c.Request, to, http.StatusSeeOther)
	return 0, nil, nil
}

// editField is the beginning of a field's name that holds the text of a file. The file's number
// follows.
const editField = "edit-"

// editsIn returns the texts that were changed in a form. Browsers send every line end as CR LF.
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

// instead says what was decided instead of an answer that was sent.
func (p *requestView) instead(problem *facade.Problem) string {
	if p.Sentence == "" {
		return problem.In(p.Lang)
	}
	return phrase(p.Lang, "page.instead", "answer", cmp.Or(p.Answer, p.Label))
}
