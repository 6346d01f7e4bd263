package workspace

import (
	"fmt"

	"placet/cmd/placet/console"
	"placet/engine"
)

// RequestLine is an open request with all that it asks.
type RequestLine struct {
	RequestID string `json:"request_id"`
	// Reference is what approve, reject and respond take: id and short digest.
	Reference       string        `json:"reference"`
	Run             string        `json:"run"`
	Family          string        `json:"family"`
	Type            string        `json:"type"`
	Where           string        `json:"where"`
	Prompt          string        `json:"prompt"`
	Summary         string        `json:"summary"`
	Options         []optionLine  `json:"options"`
	FreeText        bool          `json:"free_text"`
	Multiple        bool          `json:"multiple"`
	CommentRequired []string      `json:"comment_required"`
	Several         []string      `json:"several"`
	Items           []itemLine    `json:"items"`
	DefaultOption   string        `json:"default_option"`
	Level           string        `json:"level"`
	Approvers       []string      `json:"approvers"`
	GatesWait       bool          `json:"gates_wait"`
	Artifacts       []string      `json:"artifacts"`
	Form            string        `json:"form"`
	Response        string        `json:"response"`
	Digest          engine.Digest `json:"digest"`
	RequestedAt     string        `json:"requested_at"`
	Deadline        string        `json:"deadline"`
	Overdue         bool          `json:"overdue"`
	Problem         string        `json:"problem"`
	Answer          *answerLine   `json:"answer"`
}

type optionLine struct {
	ID          string `json:"id"`
	Description string `json:"description"`
	Effect      string `json:"effect"`
}

type itemLine struct {
	ID    string `json:"id"`
	Label string `json:"label"`
}

// GateOf is the gate of an open request.
func (b *Workspace) GateOf(a engine.Asked) engine.Gate {
	return b.facts(a.Run.Family).Config.GateFor(a.Run.Family, a.Type)
}

func (b *Workspace) RequestData(a engine.Asked) RequestLine {
	gate := b.GateOf(a)
	l := RequestLine{
		Level: gate.Level, Approvers: append([]string{}, gate.Approvers...), GatesWait: gate.Waits,
		RequestID: a.Request, Reference: Reference(a), Run: a.Run.String(), Family: a.Run.Family, Type: a.Type, Where: a.Where,
		Prompt: a.Prompt, Summary: a.Summary, Options: []optionLine{}, Items: []itemLine{}, DefaultOption: a.Default, FreeText: a.FreeText, Multiple: a.Multiple,
		CommentRequired: append([]string{}, a.CommentRequired...), Several: append([]string{}, a.Several...), Artifacts: append([]string{}, a.Artifacts...),
		Form: a.Form, Response: a.Response, Digest: a.Digest, RequestedAt: Stamp(a.RequestedAt),
		Deadline: Stamp(a.Deadline), Overdue: a.Overdue, Problem: a.Problem, Answer: b.InPlace(a),
	}
	for _, o := range a.Options {
		l.Options = append(l.Options, optionLine{o.ID, o.Description, o.Effect})
	}
	for _, it := range a.Items {
		l.Items = append(l.Items, itemLine(it))
	}
	return l
}

// answerLine is an answer that stands in place and is not carried out yet, as JSON.
type answerLine struct {
	Response string `json:"response"`
	User     string `json:"user"`
	Source   string `json:"source"`
	// Claimed says that nothing but the answer itself gives the name.
	Claimed bool   `json:"claimed"`
	Shown   string `json:"-"`
}

// InPlace is the answer that stands in place of an open request, nil where there is
// none that can be used.
func (b *Workspace) InPlace(a engine.Asked) *answerLine {
	t := Request{Asked: a}
	d := b.Settled(a.Response, responseFile(a.Request))
	if !d.Present() {
		return nil
	}
	r, err := t.read(d)
	if err != nil || !t.usable(d) {
		return nil
	}
	said, with := t.Said(r)
	author := ShownAuthor(r, d.Known)
	return &answerLine{
		r.Response, r.ProvidedBy.User, r.ProvidedBy.Source, author != r.ProvidedBy.User,
		fmt.Sprintf("%s%s by %s (%s), not carried out yet", said, with, console.OneLine(author), console.OneLine(r.ProvidedBy.Source)),
	}
}
