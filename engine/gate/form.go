package gate

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"placet/engine"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// Texts are the words of a form that its family chooses.
type Texts struct {
	// Lang is the language: en, ko or ja.
	Lang string
	// Title is the heading, "" for a general one; a form with a [Block] has none.
	Title string
	// Where is the place in the run: phase and step, checkpoint, …
	Where string
	// Lines are further lines of Markdown below the prompt, quoted already.
	Lines []string
	// Whole says that the lines show all that the context holds, which is left out.
	Whole bool
}

// How much of a request a form shows, in bytes. Longer text is cut and says
// so; request.json has all of it.
const (
	shownPrompt  = 64 << 10
	shownContext = 64 << 10
	shownLine    = 500
)

// largestForm leaves as much of a form's limit to the reviewer's comment.
const largestForm = layout.LimitText / 2

// Form renders a request for a person: what is asked, quoted, and below it the
// part that is read, which ends with the item that sends the answer. digest is
// that of what is shown. The error says why the request cannot be asked.
func Form(r Request, digest engine.Digest, t Texts) ([]byte, error) {
	if err := CheckOptions(r.words()); err != nil {
		return nil, err
	}
	text, err := render(r, digest, t)
	if err != nil {
		return nil, err
	}
	if len(text) > largestForm {
		return nil, templates.Errorf("gate.form.large", "request", strconv.Quote(r.RequestID), "n", len(text), "most", largestForm)
	}
	return []byte(text), nil
}

// render renders the form of a request, with the words of its block or in general ones.
func render(r Request, digest engine.Digest, t Texts) (string, error) {
	texts, _ := r.texts(digest, t.Lang)
	form := templates.FormParts{
		First:       firstMark(r.RequestID, digest),
		Facts:       facts(r, t),
		Lines:       append(sinceLines(r.Since, t.Lang), t.Lines...),
		Artifacts:   artifacts(r.Artifacts, t.Lang),
		Texts:       texts,
		Context:     contextShown(r, t.Lang),
		AnswerMark:  mark(partAnswer, digest, ""),
		CommentMark: mark(partComment, digest, templates.Text(t.Lang, "form.comment.mark")),
		Options:     optionLines(r, t.Lang),
		Items:       itemLines(r),
		Submit:      submitLine(t.Lang),
	}
	if r.Block != nil {
		return r.Block.form(form, t.Lang)
	}
	if t.Whole {
		form.Context = ""
	}
	form.Title = templates.Cut(cmp.Or(t.Title, templates.Text(t.Lang, "form.title")), shownLine)
	if text, ok := markdown(r.Context); ok {
		form.Lines, form.Context = append(slices.Clip(form.Lines), markdownLines(text, t.Lang)...), ""
	}
	return templates.Render(t.Lang, "kernel/form", templates.FormData{
		FormParts: form, Prompt: cutText(r.Prompt, shownPrompt, "\n\n", t.Lang), FreeText: r.FreeText(), Several: len(r.several()) > 0,
		ItemsAsk: r.itemsAsk(t.Lang),
	})
}

// sinceLines are what became of an earlier request.
func sinceLines(since, lang string) []string {
	if since == "" {
		return nil
	}
	return []string{"**" + templates.Text(lang, "form.since") + "**:", "", templates.Fence(cutText(since, shownContext, "\n", lang)), ""}
}

// cutText is a text as a form shows it, which says so where it is cut.
func cutText(s string, limit int, before, lang string) string {
	return templates.CutWith(templates.Clean(s), limit, before+templates.Text(lang, "form.cut"))
}

// contextShown is a request's context as a form shows it.
func contextShown(r Request, lang string) string {
	return cutText(context(r.Context), shownContext, "\n", lang)
}

// markdownContext is a context that is one text of Markdown.
const markdownContext = "markdown"

// markdown is the text of a context that holds nothing but one.
func markdown(raw schemas.Raw) (text string, ok bool) {
	if raw.Null() {
		return "", false
	}
	members, err := schemas.Members(raw)
	if err != nil || len(members) != 1 || members[0].Name != markdownContext {
		return "", false
	}
	return members.Raw(markdownContext).Text()
}

// markdownLines is such a text as a form shows it: quoted.
func markdownLines(text, lang string) []string {
	if templates.Blank(text) {
		return nil
	}
	return []string{"**" + templates.Text(lang, "form.context") + "**:", "", templates.Quote(cutText(text, shownContext, "\n", lang))}
}

// facts are the lines that say which run is asking.
func facts(r Request, t Texts) []templates.FormFact {
	var all []templates.FormFact
	for _, f := range []struct{ key, value string }{
		{"run", r.Family + "/" + r.Run},
		{"where", t.Where},
		{"type", r.Type},
		{"requested", r.RequestedAt},
		{"deadline", r.Deadline},
		{"default", r.Default},
		{"may", strings.Join(r.MayAnswer, ", ")},
	} {
		if f.value != "" {
			all = append(all, templates.FormFact{Label: templates.Text(t.Lang, "form."+f.key), Value: templates.Cut(f.value, shownLine)})
		}
	}
	return all
}

// artifacts name the files of a request. One whose text the form shows has no link: what
// stands there now may be something else.
func artifacts(list []Artifact, lang string) []templates.FormArtifact {
	var all []templates.FormArtifact
	for _, a := range list {
		state := templates.Text(lang, "form.missing")
		if a.SHA256 != "" {
			state = "sha256:" + a.SHA256
		}
		if !a.Binding {
			state += ", " + templates.Text(lang, "form.information")
		}
		shown := templates.FormArtifact{Path: a.Path, State: state}
		if a.Text == nil {
			shown.Link = templates.Target(a.Path)
		}
		all = append(all, shown)
	}
	return all
}

// context returns a request's context indented, "" where it says nothing.
func context(raw schemas.Raw) string {
	if members, err := schemas.Members(raw); err == nil && len(members) == 0 || raw.Null() {
		return ""
	}
	text, err := schemas.Encode(raw)
	if err != nil {
		return string(raw)
	}
	return strings.TrimSpace(string(text))
}

func optionLines(r Request, lang string) []string {
	several := r.several()
	var lines []string
	for _, o := range r.Options {
		text := o.Description
		if o.Effect != "" {
			text = engine.Says(templates.Cut(text, shownLine), o.Effect)
		}
		for _, mark := range []struct {
			ids  []string
			word string
		}{{r.CommentRequired, "form.required"}, {several, "form.together"}} {
			if slices.Contains(mark.ids, o.ID) {
				text = strings.TrimSpace(text + " (" + templates.Text(lang, mark.word) + ")")
			}
		}
		if o.Effect == "" {
			text = templates.Cut(text, shownLine)
		}
		lines = append(lines, itemLine(o.ID, text))
	}
	return lines
}

func itemLines(r Request) []string {
	var lines []string
	for _, it := range r.Items {
		lines = append(lines, itemLine(it.ID, templates.Cut(it.Label, shownLine)))
	}
	return lines
}

// itemsAsk is what stands above the items of a form.
func (r Request) itemsAsk(lang string) string {
	if r.ItemsMax == 0 && len(r.ItemsWith) == 0 {
		return templates.Text(lang, "form.hint.items")
	}
	return templates.Phrase(lang, "form.hint.items.limited", "most", strconv.Itoa(r.ItemsMax), "options", strings.Join(r.ItemsWith, ", "))
}

// itemLine is the task-list item of an id.
func itemLine(id, description string) string {
	text := templates.Inline(id)
	if d := templates.Inline(description); d != "" {
		text += ": " + d
	}
	return "- [ ] " + text
}

// Ticked reports whether something seems to be ticked in a form, however its editor
// writes that, whether or not the form can be read; the form's own words on how,
// in backquotes, and the texts above the answer are not meant.
func Ticked(form []byte) bool {
	form = answerPart(form)
	form = bytes.ToLower(bytes.ReplaceAll(form, []byte("`[x]`"), nil))
	return bytes.Contains(form, []byte("[x]")) || bytes.Contains(form, []byte(`[x\]`))
}

// answerPart is a form from the mark on below which it is answered, all of it where it has
// none.
func answerPart(form []byte) []byte {
	first, _, _ := bytes.Cut(bytes.TrimPrefix(form, []byte("\ufeff")), []byte("\n"))
	if m := firstLine.FindSubmatch(bytes.TrimRight(first, "\r")); m != nil {
		if i := bytes.Index(form, []byte(strings.TrimSuffix(mark(partAnswer, engine.Digest(m[2]), ""), " -->"))); i >= 0 {
			return form[i:]
		}
	}
	return form
}

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

// The marks of a form are HTML comments, each a line of its own. The two that
// enclose the answer carry the beginning of the digest: no prompt can hold the
// mark of its own form.
var (
	firstLine = regexp.MustCompile(`^<!-- placet request (\S+) (sha256:[0-9a-f]{64}) -->$`)
	boxLine   = regexp.MustCompile(`^( *- )\[([ xX])\] (.*)$`)
)

// The parts of a form that are read.
const (
	partAnswer  = "answer"
	partComment = "comment"
)

// nonce is the part of a digest that a form's marks carry.
func nonce(d engine.Digest) string {
	hex := d.Hex()
	return hex[:min(len(hex), 8)]
}

func firstMark(id string, d engine.Digest) string {
	return fmt.Sprintf("<!-- placet request %s %s -->", id, d)
}

// mark is the comment that begins a part; what is to be done there may follow
// the nonce.
func mark(part string, d engine.Digest, hint string) string {
	if hint != "" {
		hint = ": " + hint
	}
	return fmt.Sprintf("<!-- placet %s %s%s -->", part, nonce(d), hint)
}

// marks reports whether a line begins like the mark of a part, whatever hint
// follows.
func marks(line, part string, d engine.Digest) bool {
	return strings.HasPrefix(strings.TrimLeft(line, " \t"), strings.TrimSuffix(mark(part, d, ""), " -->"))
}

// submitLine is the last item of a form. Its first words are the same in every
// language.
func submitLine(lang string) string {
	line := "- [ ] " + submitID
	if hint := templates.Text(lang, "form.submit"); hint != "" {
		line += ": " + templates.Inline(hint)
	}
	return line
}

// normal returns a text as it is compared: without byte order mark, and with LF at
// the ends of lines.
func normal(body []byte) string {
	s := strings.TrimPrefix(string(body), "\ufeff")
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}
