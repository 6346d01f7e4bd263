package slack

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/slack-go/slack"

	"placet/engine"
	"placet/engine/gate"
	"placet/schemas"
)

// Post is a request as a message shows it.
type Post struct {
	Request gate.Request
	Run     engine.Key
	// Shown is the digest of what is shown.
	Shown engine.Digest
	// Text is what its family says, the zero value for the request's own words.
	Text Text
	// Form is the file in which it can be answered.
	Form string
}

// Text is what a family says of a request in a message.
type Text struct {
	// Parts are paragraphs in place of the summary, each with the file that holds the
	// rest of it where that is long.
	Parts []Part
	// Draft is a text that is shown as it is, "" for none, and DraftFile where it stands.
	Draft, DraftFile string
	// Buttons take the place of one button for each option.
	Buttons []Button
	// Thread has the request asked in the thread of the run's first one.
	Thread bool
}

// Part is a paragraph.
type Part struct{ Text, File string }

// Button is an option that can be pressed.
type Button struct {
	ID, Label, Style string
	// Option is the id of the request's option that it stands for.
	Option string
	Value  string
}

// Styles of buttons.
const (
	Primary = string(slack.StylePrimary)
	Danger  = string(slack.StyleDanger)
)

// mostButtons is how many options may have a button.
const mostButtons = 5

// buttons are those of a request, none where its answer needs more than a press and a few
// words.
func (p Post) buttons() []Button {
	if p.Text.Buttons != nil {
		return p.Text.Buttons
	}
	q := p.Request
	if len(q.Several) > 0 || len(q.Options) > mostButtons || q.FreeText() {
		return nil
	}
	var list []Button
	for i, o := range q.Options {
		b := Button{
			ID: fmt.Sprintf("hitl_option_%d", i), Label: o.ID, Option: o.ID,
			Value: fmt.Sprintf("run=%s|request_id=%s|option=%d|shown=%s", p.Run, q.RequestID, i, p.Shown.Hex()),
		}
		if strings.Count(b.Value, "|") != 3 || units(b.Value) > mostValue {
			return nil
		}
		list = append(list, b)
	}
	return list
}

// body is a request without what one can press. whole is false where something of it is
// cut.
func (p Post) body() (blocks []slack.Block, whole bool) {
	q := p.Request
	blocks = []slack.Block{
		slack.NewHeaderBlock(plain("Approval requested", mostHeader)),
		section("*" + cut(strings.Join(strings.Fields(q.Prompt), " "), mostSection) + "*"),
	}
	parts := p.Text.Parts
	if summary := p.summary(); parts == nil && summary != "" {
		parts = []Part{{summary, p.Form}}
	}
	whole = true
	for i, part := range parts {
		// The others have one section each at least.
		list, all := chunks(part.Text, mostSection, mostParts-(len(parts)-1-i))
		for _, piece := range list {
			blocks = append(blocks, section(piece))
		}
		if !all {
			whole, blocks = false, append(blocks, rest(part.File))
		}
	}
	list, all := chunks(p.Text.Draft, mostSection-8, mostDraft)
	for _, piece := range list {
		blocks = append(blocks, section("```\n"+piece+"\n```"))
	}
	if !all {
		whole, blocks = false, append(blocks, rest(p.Text.DraftFile))
	}
	return append(blocks, p.context()...), whole
}

// summary is what the context of a request calls so, "" for nothing.
func (p Post) summary() string {
	var context struct {
		Summary string `json:"summary"`
	}
	if schemas.Decode("", "context", p.Request.Context, &context) != nil {
		return ""
	}
	return context.Summary
}

// rest says where the whole of a text stands.
func rest(file string) slack.Block {
	return section("… cut here: the whole of it is in " + cut(file, mostSection/2))
}

// context are the files that the request shows, and what each option does.
func (p Post) context() []slack.Block {
	var lines []string
	if files := p.Request.Artifacts; len(files) > 0 && p.Text.Parts == nil {
		var names []string
		for _, f := range files {
			names = append(names, f.Path)
		}
		lines = append(lines, "Shows "+cut(strings.Join(names, ", "), mostSection/2))
	}
	for _, o := range p.Request.Options {
		line := "• *" + cut(o.ID, mostButton) + "*"
		if words := cmp.Or(o.Effect, o.Description); words != "" {
			line += ": " + cut(strings.Join(strings.Fields(words), " "), 500)
		}
		lines = append(lines, line)
	}
	var blocks []slack.Block
	for len(lines) > 0 {
		text, n := lines[0], 1
		for n < len(lines) && units(text)+units(lines[n]) < mostSection-1 {
			text, n = text+"\n"+lines[n], n+1
		}
		if blocks, lines = append(blocks, section(text)), lines[n:]; len(blocks) == 3 {
			break
		}
	}
	return blocks
}

// Message is what chat.postMessage and chat.update take.
type Message struct {
	Channel  string       `json:"channel,omitempty"`
	TS       string       `json:"ts,omitempty"`        // of the message that is changed
	ThreadTS string       `json:"thread_ts,omitempty"` // of the thread's first message
	User     string       `json:"user,omitempty"`      // who alone sees it
	Text     string       `json:"text"`
	Blocks   slack.Blocks `json:"blocks,omitzero"`
}

// Encode returns the message as JSON.
func (m Message) Encode() []byte { return encode(m) }

func encode(v any) []byte {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // texts and lists of them
	}
	return body
}

// Ask is the message that asks, with buttons where presses can be verified and all of it is
// shown.
func (p Post) Ask(canPress bool) Message {
	body, whole := p.body()
	m := Message{Text: cut(p.Request.Prompt, mostSection), Blocks: slack.Blocks{BlockSet: body}}
	list := p.buttons()
	if !canPress || !whole || len(list) == 0 {
		how := fmt.Sprintf("Answer on the machine: `placet show %s`, or in %s", Escape(p.Request.RequestID), cut(p.Form, mostSection/2))
		m.Blocks.BlockSet = append(m.Blocks.BlockSet, section(how))
		return m
	}
	row := slack.NewActionBlock("hitl")
	for _, b := range list {
		element := slack.NewButtonBlockElement(b.ID, b.Value, plain(b.Label, mostButton))
		element.Style = slack.Style(b.Style)
		row.Elements.ElementSet = append(row.Elements.ElementSet, element)
	}
	m.Blocks.BlockSet = append(m.Blocks.BlockSet, row)
	return m
}

// Closed is the message that takes the place of one that asked, by the request's receipt.
func (p Post) Closed(rc gate.Receipt) Message {
	body, _ := p.body()
	m := Message{Text: cut(p.Request.Prompt, mostSection), Blocks: slack.Blocks{BlockSet: body}}
	m.Blocks.BlockSet = append(m.Blocks.BlockSet, section(cut(closing(rc), mostSection)))
	return m
}

// closing says how a request ended.
func closing(rc gate.Receipt) string {
	past := map[string]string{"approve": "approved", "reject": "rejected", "steer": "changes requested"}
	words := past[rc.Response]
	switch {
	case rc.SupersededBy != "":
		return "replaced by " + rc.SupersededBy
	case rc.Result != gate.Accepted:
		return rc.Result + " at " + rc.DecidedAt
	case words == "":
		words = strings.TrimSpace("answered " + strings.Join(strings.Fields(rc.Response), " "))
	}
	return fmt.Sprintf("%s by %s at %s", words, rc.ProvidedBy.Shown(rc.KnownAs), rc.DecidedAt)
}

// Response is what the address of a response takes: words that only who pressed sees,
// beside the message that was pressed.
func Response(text string) []byte {
	return encode(map[string]any{"response_type": "ephemeral", "replace_original": false, "text": cut(text, mostSection)})
}

// Plain is a message of a few words.
func Plain(text string) Message { return Message{Text: cut(text, mostSection)} }
