package slack

import (
	"encoding/json"
	"net/url"
	"strings"

	"placet/templates"
)

// Interaction is a press of a button, or a dialog that was submitted. It is decoded less
// strictly than a document, because Slack signs it, and the members that placet does not
// read may be anything.
type Interaction struct {
	Type string `json:"type"` // block_actions or view_submission
	User struct {
		ID string `json:"id"`
	} `json:"user"`
	Channel struct {
		ID string `json:"id"`
	} `json:"channel"`
	Message struct {
		TS string `json:"ts"`
	} `json:"message"`
	TriggerID   string   `json:"trigger_id"`
	ResponseURL string   `json:"response_url"`
	ActionTS    string   `json:"action_ts"`
	Actions     []Action `json:"actions"`
	View        struct {
		ID              string `json:"id"`
		CallbackID      string `json:"callback_id"`
		PrivateMetadata string `json:"private_metadata"`
		State           struct {
			Values map[string]map[string]Input `json:"values"`
		} `json:"state"`
	} `json:"view"`
}

// Action is the button that was pressed.
type Action struct {
	ID    string `json:"action_id"`
	Value string `json:"value"`
	TS    string `json:"action_ts"`
}

// Input is the text that was typed, or the choice.
type Input struct {
	Value    string `json:"value"`
	Selected *struct {
		Value string `json:"value"`
	} `json:"selected_option"`
}

// ReadInteraction reads the body of a call about an interaction; ok is false if it is
// not one.
func ReadInteraction(body []byte) (x Interaction, ok bool) {
	form, err := url.ParseQuery(string(body))
	if err != nil || len(form["payload"]) != 1 {
		return x, false
	}
	return x, json.Unmarshal([]byte(form.Get("payload")), &x) == nil
}

// Values returns the parts of a button's value; ok is false if one of them has no name or
// occurs twice.
func Values(value string) (parts map[string]string, ok bool) {
	parts = map[string]string{}
	for _, part := range strings.Split(value, "|") {
		name, v, is := strings.Cut(part, "=")
		if _, twice := parts[name]; !is || twice || name == "" {
			return nil, false
		}
		parts[name] = v
	}
	return parts, true
}

// These are the names in a dialog.
const (
	DialogID   = "hitl_dialog"
	wordsInput = "words"
	planInput  = "plan"
)

// Dialog asks for words, and for one of a few choices if it has any.
type Dialog struct {
	// Lang is the language of its buttons.
	Lang         string
	Title, Label string
	Choices      []string
	// Metadata comes back with what is typed.
	Metadata string
}

// Open returns the argument of views.open.
func (d Dialog) Open(trigger string) []byte {
	view := modal{
		Type: "modal", CallbackID: DialogID, PrivateMetadata: d.Metadata,
		Title: plain(d.Title, 24), Submit: plain(templates.Text(d.Lang, "slack.dialog.send"), 24), Close: plain(templates.Text(d.Lang, "slack.dialog.cancel"), 24),
	}
	view.Blocks = append(view.Blocks, input(wordsInput, plain(d.Label, 150), element{Type: "plain_text_input", Multiline: true, MaxLength: mostWords}))
	if len(d.Choices) > 0 {
		var options []option
		for _, c := range d.Choices {
			options = append(options, option{Text: plain(c, mostButton), Value: c})
		}
		choice := input(planInput, plain(templates.Text(d.Lang, "slack.dialog.plan"), 150), element{Type: "static_select", Options: options})
		choice.Optional = true
		view.Blocks = append(view.Blocks, choice)
	}
	return encode(map[string]any{"trigger_id": trigger, "view": view})
}

// Words returns the text that was typed into a dialog.
func (x Interaction) Words() string {
	return strings.TrimSpace(x.View.State.Values[wordsInput][wordsInput].Value)
}

// Choice returns the choice in a dialog, "" for none.
func (x Interaction) Choice() string {
	if s := x.View.State.Values[planInput][planInput].Selected; s != nil {
		return s.Value
	}
	return ""
}

// DialogErrors returns the answer to a dialog without words.
func DialogErrors(text string) map[string]any {
	return map[string]any{"response_action": "errors", "errors": map[string]string{wordsInput: text}}
}

// Event is a call of the Events API.
type Event struct {
	Type      string `json:"type"` // url_verification or event_callback
	Challenge string `json:"challenge"`
	ID        string `json:"event_id"`
	Event     struct {
		Type     string `json:"type"`
		Subtype  string `json:"subtype"`
		BotID    string `json:"bot_id"`
		User     string `json:"user"`
		Text     string `json:"text"`
		Channel  string `json:"channel"`
		TS       string `json:"ts"`
		ThreadTS string `json:"thread_ts"`
	} `json:"event"`
}

// ReadEvent reads the body of a call about an event.
func ReadEvent(body []byte) (e Event, err error) { return e, json.Unmarshal(body, &e) }

// IsReply reports whether the event is a message that a person wrote in a
// thread.
func (e Event) IsReply() bool {
	m := e.Event
	return e.Type == "event_callback" && m.Type == "message" && m.BotID == "" && (m.Subtype == "" || m.Subtype == "thread_broadcast") &&
		strings.TrimSpace(m.Text) != "" && m.User != "" && m.Channel != "" && m.TS != "" && m.ThreadTS != ""
}

// unescape restores the characters that Slack escapes in the texts that people
// type.
var unescape = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")

// Typed returns the text of a reply as it was typed.
func (e Event) Typed() string { return strings.TrimSpace(unescape.Replace(e.Event.Text)) }
