package slack

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"placet/engine"
	"placet/engine/gate"
	"placet/templates"
)

// Post is a request for a message.
type Post struct {
	// Lang is the language of the words around the request's own texts.
	Lang    string
	Request gate.Request
	Run     engine.Key
	// Shown is the digest of what is shown.
	Shown engine.Digest
	// Text is the family's text; its zero value stands for the request's own
	// words.
	Text Text
	// Form is the file in which people can answer the request.
	Form string
	// AtDeadline says what happens if nobody has answered by the deadline, if there is one.
	AtDeadline string
}

// Text is a family's text about a request in a message.
type Text struct {
	// Parts are paragraphs that replace the summary. Each names the file that holds
	// the rest of a long one.
	Parts []Part
	// Draft is a text that is shown unchanged, "" for none, and DraftFile is its file.
	Draft, DraftFile string
	// Buttons replace the buttons for each option.
	Buttons []Button
	// Thread says that the request is asked in the thread of the run's first
	// one.
	Thread bool
}

// Part is a paragraph. File holds all of it; Short says that Text is only its beginning.
type Part struct {
	Text, File string
	Short      bool
}

// Button is an option that people can press.
type Button struct {
	ID, Label, Style string
	// Option is the id of the request's option.
	Option string
	// Value comes back when the button is pressed. The digest of what is shown
	// is added to it.
	Value string
}

// Primary and Danger are the styles of buttons.
const (
	Primary = "primary"
	Danger  = "danger"
)

// mostButtons is how many options may have a button.
const mostButtons = 5

// buttons returns the buttons of a request. It returns none if an answer needs more than
// a press and a few words.
func (p Post) buttons() []Button {
	if p.Text.Buttons != nil {
		list := slices.Clone(p.Text.Buttons)
		for i := range list {
			list[i].Value += "|shown=" + p.Shown.Hex()
		}
		return list
	}
	q := p.Request
	if len(q.Several) > 0 || len(q.Items) > 0 || len(q.Options) > mostButtons || q.FreeText() {
		return nil
	}
	var list []Button
	for i, o := range q.Options {
		b := Button{
			ID: fmt.Sprintf("hitl_option_%d", i), Label: o.ID, Option: o.ID,
			Value: fmt.Sprintf("run=%s|request_id=%s|option=%d|shown=%s", p.Run, q.RequestID, i, p.Shown.Hex()),
		}
		if strings.Count(b.Value, "|") != 3 || units(b.Value) > mostValue || units(oneLine(b.Label)) > mostButton {
			return nil
		}
		list = append(list, b)
	}
	return list
}

// page collects the paragraphs of a message.
type page struct {
	lang   string
	blocks []block
	// cut says that a part of the request is missing.
	cut bool
}

// add adds a text between the texts before and after, in at most so many sections. A text
// that is cut says so, and names the file that holds all of it.
func (g *page) add(text, file string, most int, before, after string) (sections int) {
	size := mostSection - units(before+after)
	list, whole := chunks(text, size, most)
	marker := ""
	if !whole {
		g.cut, marker = true, "\n"+templates.Phrase(g.lang, "slack.cut", "file", cut(file, mostFile))
		list, _ = chunks(text, size-units(marker), most)
	}
	for i, piece := range list {
		if piece = before + piece + after; i == len(list)-1 {
			piece += marker
		}
		g.blocks = append(g.blocks, section(piece))
	}
	return len(list)
}

// body returns the message of a request without its buttons.
func (p Post) body() page {
	g := page{lang: p.Lang, blocks: []block{{Type: "header", Text: plain(templates.Text(p.Lang, "slack.title"), mostHeader)}}}
	bold, prompt := "*", strings.TrimSpace(p.Request.Prompt)
	if strings.ContainsAny(prompt, "\r\n") {
		bold = "" // the marks would not span lines
	}
	g.add(prompt, p.Form, mostPrompt, bold, bold)
	parts := p.Text.Parts
	if parts == nil {
		parts = p.details()
		g.cut = g.cut || len(p.Request.Unread()) > 0
	}
	left := mostParts
	for i, part := range parts {
		others := len(parts) - 1 - i // each has at least one section
		left -= g.add(part.Text, part.File, left-others, "", "")
		g.cut = g.cut || part.Short
	}
	g.add(p.Text.Draft, p.Text.DraftFile, mostDraft, "```\n", "\n```")
	g.add(p.effects(), p.Form, mostEffects, "", "")
	return g
}

// details returns what the request shows besides its question, nil for nothing.
func (p Post) details() []Part {
	var lines []string
	for _, d := range p.Request.Details(p.Lang) {
		switch {
		case d.Label == "summary": // it is shown without its label
			lines = append(lines, d.Value)
		case strings.Contains(d.Value, "\n"):
			lines = append(lines, d.Label+":\n"+d.Value)
		default:
			lines = append(lines, d.Label+": "+d.Value)
		}
	}
	if lines == nil {
		return nil
	}
	return []Part{{Text: strings.Join(lines, "\n\n"), File: p.Form}}
}

// effects returns the run that asks, the files that the request shows, the effect of each
// option, and what happens without an answer, one per line.
func (p Post) effects() string {
	lines := []string{templates.Phrase(p.Lang, "slack.run", "run", p.Run.String(), "type", p.Request.Type)}
	if files := p.Request.Artifacts; len(files) > 0 && p.Text.Parts == nil {
		var names []string
		for _, f := range files {
			names = append(names, f.Path)
		}
		lines = append(lines, templates.Phrase(p.Lang, "slack.shows", "files", strings.Join(names, ", ")))
	}
	for _, o := range p.Request.Options {
		line := "• *" + oneLine(o.ID) + "*"
		if o.Description != "" {
			line += ": " + oneLine(o.Description)
		}
		if o.Effect != "" {
			line += " → " + oneLine(o.Effect)
		}
		lines = append(lines, line)
	}
	if p.Request.Deadline != "" {
		lines = append(lines, templates.Phrase(p.Lang, "slack.deadline", "at", p.Request.Deadline, "then", p.AtDeadline))
	}
	return strings.Join(lines, "\n")
}

// Message is the argument of chat.postMessage and chat.update.
type Message struct {
	Channel  string  `json:"channel,omitempty"`
	TS       string  `json:"ts,omitempty"`        // of the message to change
	ThreadTS string  `json:"thread_ts,omitempty"` // of the thread's first message
	User     string  `json:"user,omitempty"`      // the only user who sees it
	Text     string  `json:"text"`
	Blocks   []block `json:"blocks,omitempty"`
}

// Encode returns the message as JSON.
func (m Message) Encode() []byte { return encode(m) }

func encode(v any) []byte {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // it holds only texts and lists of texts
	}
	return body
}

// Ask returns the message that asks. It has buttons if presses can be verified and the
// message shows the whole request.
func (p Post) Ask(canPress bool) Message {
	body := p.body()
	m := Message{Text: cut(p.Request.Prompt, mostSection), Blocks: body.blocks}
	list := p.buttons()
	if !canPress || body.cut || len(list) == 0 {
		how := templates.Phrase(p.Lang, "slack.answer", "request", Escape(p.Request.RequestID), "form", cut(p.Form, mostFile))
		m.Blocks = append(m.Blocks, section(how))
		return m
	}
	row := block{Type: "actions", ID: "hitl"}
	for _, b := range list {
		row.Elements = append(row.Elements, element{Type: "button", Text: plain(b.Label, mostButton), ActionID: b.ID, Value: b.Value, Style: b.Style})
	}
	m.Blocks = append(m.Blocks, row)
	return m
}

// Closed returns the message that replaces the one that asked, given the request's
// receipt.
func (p Post) Closed(rc gate.Receipt) Message {
	m := Message{Text: cut(p.Request.Prompt, mostSection), Blocks: p.body().blocks}
	m.Blocks = append(m.Blocks, section(cut(closing(p.Lang, rc), mostSection)))
	return m
}

// closing says how a request ended, and which request replaces it.
func closing(lang string, rc gate.Receipt) string {
	next := ""
	if rc.SupersededBy != "" {
		next = templates.Phrase(lang, "slack.replaced", "request", rc.SupersededBy)
	}
	if rc.Result != gate.Accepted {
		return cmp.Or(next, templates.Phrase(lang, "slack.closed", "result", rc.Result, "at", rc.DecidedAt))
	}
	key := "slack.answered"
	switch rc.Response {
	case "approve", "reject", "steer":
		key += "." + rc.Response
	}
	words := templates.Phrase(lang, key, "answer", oneLine(rc.Response), "user", rc.ProvidedBy.Shown(lang, rc.KnownAs), "at", rc.DecidedAt)
	if next != "" {
		words += "; " + next
	}
	return words
}

// Response returns the body for a response URL: words beside the message, which only
// the user who pressed a button sees.
func Response(text string) []byte {
	return encode(map[string]any{"response_type": "ephemeral", "replace_original": false, "text": cut(text, mostSection)})
}

// Plain is a message of a few words.
func Plain(text string) Message { return Message{Text: cut(text, mostSection)} }
