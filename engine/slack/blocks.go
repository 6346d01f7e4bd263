package slack

// block is a part of a message or of a dialog, as Slack's Block Kit has it: a header or a section
// with a text, an input with a label and an element, or a row of elements.
type block struct {
	Type     string    `json:"type"`
	Text     *textPart `json:"text,omitempty"`
	ID       string    `json:"block_id,omitempty"`
	Label    *textPart `json:"label,omitempty"`
	Element  *element  `json:"element,omitempty"`
	Elements []element `json:"elements,omitempty"`
	Optional bool      `json:"optional,omitempty"`
}

// textPart is a text of a block; Type is plainText or markdown.
type textPart struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Verbatim bool   `json:"verbatim,omitempty"`
}

const (
	plainText = "plain_text"
	markdown  = "mrkdwn"
)

// element is a button, a field for words, or a choice.
type element struct {
	Type      string    `json:"type"`
	Text      *textPart `json:"text,omitempty"`
	ActionID  string    `json:"action_id,omitempty"`
	Value     string    `json:"value,omitempty"`
	Style     string    `json:"style,omitempty"`
	Multiline bool      `json:"multiline,omitempty"`
	MaxLength int       `json:"max_length,omitempty"`
	Options   []option  `json:"options,omitempty"`
}

// option is one of a choice.
type option struct {
	Text  *textPart `json:"text"`
	Value string    `json:"value"`
}

// modal is a dialog.
type modal struct {
	Type            string    `json:"type"`
	Title           *textPart `json:"title"`
	Blocks          []block   `json:"blocks"`
	Close           *textPart `json:"close"`
	Submit          *textPart `json:"submit"`
	PrivateMetadata string    `json:"private_metadata,omitempty"`
	CallbackID      string    `json:"callback_id"`
}

// input returns a block that asks for something under a label.
func input(id string, label *textPart, of element) block {
	of.ActionID = id
	return block{Type: "input", ID: id, Label: label, Element: &of}
}
