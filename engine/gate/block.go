package gate

import (
	"fmt"
	"strings"

	"placet/engine"
	"placet/templates"
)

// Block is a request's own text: facts, and three questions of which the first
// is answered with an option, the second with items and the third with a
// comment. It stands in the prompt ([Block.Prompt]), and in the form in place of
// the prompt and of the general headings ([Form]).
//
// Its words are the family's own and stand as they are; the values of the facts
// and the labels of the items are text from files.
type Block struct {
	// Head stands above the facts, Title above the questions.
	Head  string
	Facts []engine.Fact
	Title string
	// The questions, without their numbers, each one line.
	Options, Items, Comment string
	// None stands below the second question where the request has no items.
	None string
}

// indent is how far an answer stands below its question.
const indent = "   "

// Prompt returns the block as text, for the request's prompt: without the
// options, and with an open box before each item's label.
func (b Block) Prompt(items []Item) string {
	lines := []string{b.Head}
	for _, f := range b.Facts {
		lines = append(lines, fmt.Sprintf("- %s: %s", f.Label, oneLine(f.Value)))
	}
	lines = append(lines, "", b.Title, "1. "+b.Options, "2. "+b.Items)
	for _, it := range items {
		lines = append(lines, indent+"- [ ] "+oneLine(it.Label))
	}
	if len(items) == 0 {
		lines = append(lines, indent+"- "+b.None)
	}
	return strings.Join(append(lines, "3. "+b.Comment), "\n")
}

// oneLine is a text as it was found, with blanks in place of its line ends.
func oneLine(s string) string {
	return strings.TrimSpace(strings.ReplaceAll(templates.Clean(s), "\n", " "))
}

// form renders the form of a request that has the block.
func (b *Block) form(form templates.FormParts, lang string) (string, error) {
	form.Title, form.Options, form.Items = b.Title, indented(form.Options), indented(form.Items)
	if len(form.Items) == 0 {
		form.Items = []string{indent + "- " + b.None}
	}
	var shown []templates.FormFact
	for _, f := range b.Facts {
		shown = append(shown, templates.FormFact{Label: f.Label, Value: templates.Cut(f.Value, shownLine)})
	}
	return templates.Render(lang, "kernel/block", templates.BlockData{
		FormParts: form, Head: b.Head, Shown: shown, OptionsAsk: b.Options, ItemsAsk: b.Items, CommentAsk: b.Comment,
	})
}

func indented(lines []string) []string {
	var all []string
	for _, line := range lines {
		all = append(all, indent+line)
	}
	return all
}
