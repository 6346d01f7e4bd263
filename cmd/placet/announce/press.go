package announce

import (
	"context"
	"net/url"
	"strings"

	"placet/cmd/placet/answer"
	"placet/cmd/placet/console"
	"placet/cmd/placet/view"
	"placet/cmd/placet/workspace"
	"placet/engine/facade"
	"placet/engine/facade/notify"
	"placet/engine/gate"
	"placet/engine/statedir"
	"placet/templates"
)

// longestWhole and mostLines limit what a message with buttons shows, in bytes and in lines: phones
// show that much beside the buttons. Nobody may approve what is shown only in part.
const (
	longestWhole = 400
	mostLines    = 12
)

// buttons are the verbs that a press may stand for, by the keys of their names.
var buttons = []struct {
	answer.Decision
	key templates.Key
}{{answer.Approving, "notify.press.approve"}, {answer.Rejecting, "notify.press.reject"}}

// presser returns who answers by a press of a button in a message to a target.
func presser(target string) facade.Identity {
	return facade.Identity{Known: "link:" + target, User: target, Source: gate.SourceLink}
}

// addButtons adds to a message the answers that a press may give, if it can show all that they
// decide about, and the page of the request, if the server has an address that others reach.
func (a *Announcer) addButtons(m *notify.Message, t view.Request, private bool, run string) {
	lang := a.b.Current().Language
	if at := strings.TrimSuffix(a.b.Current().Serve.PublicURL, "/"); at != "" {
		m.Page, m.Open = at+"/requests/"+url.PathEscape(m.Request), templates.Text(lang, "notify.press.open")
	}
	text, whole := wholeText(t)
	if private || !whole || !answer.IsDecision(t.OpenRequest) {
		return
	}
	v := a.b.Viewer(presser("?")) // no approver of a gate is known as that
	b := notify.Buttons{Text: text + "\n\n" + run, Shown: t.Digest, Until: t.Deadline}
	for _, d := range buttons {
		option := d.Named(t.OpenRequest)
		if option == "" {
			continue
		}
		if _, err := answer.NewResponse(v, t, answer.Reply{Option: option, By: "link"}); err != nil {
			continue // it would not count
		}
		label := templates.Text(lang, string(d.key))
		if option != d.Verb {
			label += " (" + console.Cut(console.OneLine(option), 30) + ")"
		}
		b.List = append(b.List, notify.Button{Option: option, Label: label})
	}
	m.Buttons = b
}

// wholeText returns all that an answer to a request decides about. whole is false if that is too
// long, or if an answer says more than one option.
func wholeText(t view.Request) (text string, whole bool) {
	if t.FreeText || len(t.Items)+len(t.Unread)+len(t.Editable) > 0 || len(t.Several) > 1 {
		return "", false
	}
	parts := []string{console.Lines(t.Prompt)}
	if t.Summary != "" && t.Summary != t.Prompt {
		parts = append(parts, console.Lines(t.Summary))
	}
	for _, d := range view.Details(t.OpenRequest) {
		parts = append(parts, console.OneLine(d.Label)+":\n"+console.Lines(d.Value))
	}
	var options []string
	for _, name := range t.Artifacts {
		options = append(options, "- "+console.OneLine(name))
	}
	for _, o := range t.Options {
		options = append(options, "• "+console.OneLine(o.ID)+console.Suffix(": ", console.OneLine(o.Says())))
	}
	text = strings.Join(append(parts, strings.Join(options, "\n")), "\n\n")
	return text, len(text) <= longestWhole && strings.Count(text, "\n") < mostLines
}

// press gives the answer that a code stands for, as an editor could. It refuses one to a request
// that is closed, or that was shown differently; whatever else an answer must be, the gate says.
func (a *Announcer) press(ctx context.Context, l statedir.Link) (known bool, err error) {
	v := a.b.Viewer(presser(l.Target))
	at, err := view.ExactRequest(v, l.Request)
	if err != nil {
		return a.only == "", templates.Errorf("page.no.asked")
	}
	r := answer.Reply{Option: l.Option, By: l.Target}
	t, open := view.OpenRequestAt(v, at)
	switch {
	case !open:
		return true, closedBefore(v, at, r)
	case !view.IsShown(v, t.OpenRequest, string(l.Digest)) || len(view.ChangedLines(v, t)) > 0:
		return true, templates.Errorf("page.no.shown")
	}
	_, err = answer.Submit(ctx, v, t, r)
	return true, err
}

// closedBefore returns why a press does not count for a request that is not open, nil if the press
// itself has closed it.
func closedBefore(v *workspace.Workspace, at view.RequestAt, r answer.Reply) error {
	c, ok := view.ClosedRequest(v, at)
	by := c.Receipt.ProvidedBy
	switch {
	case !ok:
		return templates.Errorf("page.no.asked")
	case by.Source == gate.SourceLink && by.User == r.By && answer.Took(c, r):
		return nil
	}
	return templates.Errorf("page.no.closed", "answer", c)
}

// Press answers for the code in a call that a button has made. The error says why the press does not
// count. It must not be called before Begin has returned.
func (a *Announcer) Press(ctx context.Context, text string) error {
	if a.notifier == nil {
		return a.b.Stateless
	}
	return a.notifier.Press(ctx, text)
}
