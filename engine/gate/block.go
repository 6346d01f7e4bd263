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

// blockForm renders the form of a request that has a block.
func blockForm(r Request, digest engine.Digest, t Texts) (string, error) {
	b := r.Block
	items := indented(itemLines(r))
	if len(items) == 0 {
		items = []string{indent + "- " + b.None}
	}
	return templates.Render(t.Lang, "kernel/block", templates.BlockData{
		First:       firstMark(r.RequestID, digest),
		Head:        b.Head,
		Shown:       shownFacts(b.Facts),
		Facts:       facts(r, t),
		Lines:       t.Lines,
		Artifacts:   artifacts(r.Artifacts, t.Lang),
		Context:     contextShown(r, t.Lang),
		Title:       b.Title,
		AnswerMark:  mark(partAnswer, digest, ""),
		OptionsAsk:  b.Options,
		Options:     indented(optionLines(r, t.Lang)),
		ItemsAsk:    b.Items,
		Items:       items,
		CommentAsk:  b.Comment,
		CommentMark: mark(partComment, digest, templates.Text(t.Lang, "form.comment.mark")),
		Submit:      submitLine(t.Lang),
	})
}

func indented(lines []string) []string {
	var all []string
	for _, line := range lines {
		all = append(all, indent+line)
	}
	return all
}

func shownFacts(all []engine.Fact) []templates.FormFact {
	var shown []templates.FormFact
	for _, f := range all {
		shown = append(shown, templates.FormFact{Label: f.Label, Value: templates.Cut(f.Value, shownLine)})
	}
	return shown
}
