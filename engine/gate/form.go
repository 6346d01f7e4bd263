package gate

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"placet/engine"
	"placet/internal/lazyregexp"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// Texts are the texts of a form that its family chooses.
type Texts struct {
	// Lang is the language: en, ko or ja.
	Lang string
	// Title is the heading, "" for a general one; a form with a [Block] has none.
	Title string
	// Where is the place in the run: phase and step, checkpoint, …
	Where string
	// Lines are further lines of Markdown below the prompt, already quoted.
	Lines []string
	// Whole says that the lines show everything in the context, which is therefore omitted.
	Whole bool
}

// How much of a request a form shows, in bytes. Longer text is truncated with a notice;
// request.json has all of it.
const (
	shownPrompt  = 64 << 10
	shownContext = 64 << 10
	shownLine    = 500
)

// largestForm is the size of the largest form. It leaves the other half of the limit to the
// reviewer's comment.
const largestForm = layout.LimitText / 2

// Form renders a request for a person: the question, quoted, and below it the part that is
// read, which ends with the item that sends the answer. digest is the digest of what is
// shown. The error says why the request cannot be asked.
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

// render renders the form of a request, with the texts of its block or with general ones.
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
	if text, ok := Markdown(r.Context); ok {
		form.Lines, form.Context = append(slices.Clip(form.Lines), markdownLines(text, t.Lang)...), ""
	}
	return templates.Render(t.Lang, "kernel/form", templates.FormData{
		FormParts: form, Prompt: cutText(r.Prompt, shownPrompt, "\n\n", t.Lang), FreeText: r.FreeText(), Several: len(r.several()) > 0,
		ItemsAsk: r.itemsAsk(t.Lang),
	})
}

// sinceLines returns the lines about an earlier request.
func sinceLines(since, lang string) []string {
	if since == "" {
		return nil
	}
	return []string{"**" + templates.Text(lang, "form.since") + "**:", "", templates.Fence(cutText(since, shownContext, "\n", lang)), ""}
}

// cutText returns a text for a form, with a notice if it is truncated.
func cutText(s string, limit int, before, lang string) string {
	return templates.CutWith(templates.Clean(s), limit, before+templates.Text(lang, "form.cut"))
}

// contextShown returns a request's context for a form.
func contextShown(r Request, lang string) string {
	return cutText(context(r.Context), shownContext, "\n", lang)
}

// markdownContext is the only member of a context that is one Markdown text.
const markdownContext = "markdown"

// Markdown returns the text of a context that consists of one Markdown text.
func Markdown(raw schemas.Raw) (text string, ok bool) {
	if raw.Null() {
		return "", false
	}
	members, err := schemas.Members(raw)
	if err != nil || len(members) != 1 || members[0].Name != markdownContext {
		return "", false
	}
	return members.Raw(markdownContext).Text()
}

// markdownLines returns such a text for a form, quoted.
func markdownLines(text, lang string) []string {
	if templates.Blank(text) {
		return nil
	}
	return []string{"**" + templates.Text(lang, "form.context") + "**:", "", templates.Quote(cutText(text, shownContext, "\n", lang))}
}

// facts returns the lines that say which run asks.
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

// artifacts returns the names of a request's files. A file whose text the form shows has no
// link, because it may have changed since.
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

// context returns a request's context indented, "" if it is empty.
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

// itemsAsk returns the text above the items of a form.
func (r Request) itemsAsk(lang string) string {
	if r.ItemsMax == 0 && len(r.ItemsWith) == 0 {
		return templates.Text(lang, "form.hint.items")
	}
	return templates.Phrase(lang, "form.hint.items.limited", "most", strconv.Itoa(r.ItemsMax), "options", strings.Join(r.ItemsWith, ", "))
}

// itemLine returns the task-list item of an id.
func itemLine(id, description string) string {
	text := templates.Inline(id)
	if d := templates.Inline(description); d != "" {
		text += ": " + d
	}
	return "- [ ] " + text
}

// Ticked reports whether something seems to be ticked in a form, in any notation of an
// editor, and even if the form cannot be read. It ignores the form's own instructions, in
// backquotes, and the texts above the answer.
func Ticked(form []byte) bool {
	form = answerPart(form)
	form = bytes.ToLower(bytes.ReplaceAll(form, []byte("`[x]`"), nil))
	return bytes.Contains(form, []byte("[x]")) || bytes.Contains(form, []byte(`[x\]`))
}

// answerPart returns a form from the mark on below which it is answered, or all of it if it
// has no such mark.
func answerPart(form []byte) []byte {
	first, _, _ := bytes.Cut(bytes.TrimPrefix(form, []byte("\ufeff")), []byte("\n"))
	if m := firstLine.FindSubmatch(bytes.TrimRight(first, "\r")); m != nil {
		if i := bytes.Index(form, []byte(strings.TrimSuffix(mark(partAnswer, engine.Digest(m[2]), ""), " -->"))); i >= 0 {
			return form[i:]
		}
	}
	return form
}

// Block is a request's own text: facts, and three questions. The first is answered with an
// option, the second with items and the third with a comment. The block is part of the
// prompt ([Block.Prompt]), and replaces the prompt and the general headings in the form
// ([Form]).
//
// Its texts are the family's own and are not escaped; the values of the facts and the
// labels of the items are text from files.
type Block struct {
	// Head is above the facts, Title above the questions.
	Head  string
	Facts []engine.Fact
	Title string
	// The questions, without their numbers, each one line.
	Options, Items, Comment string
	// None is below the second question if the request has no items.
	None string
}

// indent is the indentation of an answer below its question.
const indent = "   "

// Prompt returns the block as text, for the request's prompt: without the options, and with
// an empty box before each item's label.
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

// oneLine returns a text with blanks in place of its line ends.
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

// The marks of a form are HTML comments, each on a line of its own. The two that enclose
// the answer contain the beginning of the digest: no prompt can contain the mark of its own
// form.
var (
	firstLine = lazyregexp.New(`^<!-- placet request (\S+) (sha256:[0-9a-f]{64}) -->$`)
	boxLine   = lazyregexp.New(`^( *- )\[([ xX])\] (.*)$`)
)

// The parts of a form that are read.
const (
	partAnswer  = "answer"
	partComment = "comment"
)

// nonce returns the part of a digest that a form's marks contain.
func nonce(d engine.Digest) string {
	hex := d.Hex()
	return hex[:min(len(hex), 8)]
}

func firstMark(id string, d engine.Digest) string {
	return fmt.Sprintf("<!-- placet request %s %s -->", id, d)
}

// mark returns the comment that begins a part; an instruction may follow the nonce.
func mark(part string, d engine.Digest, hint string) string {
	if hint != "" {
		hint = ": " + hint
	}
	return fmt.Sprintf("<!-- placet %s %s%s -->", part, nonce(d), hint)
}

// marks reports whether a line begins like the mark of a part, whatever instruction
// follows.
func marks(line, part string, d engine.Digest) bool {
	return strings.HasPrefix(strings.TrimLeft(line, " \t"), strings.TrimSuffix(mark(part, d, ""), " -->"))
}

// submitLine returns the last item of a form. Its first words are the same in every
// language.
func submitLine(lang string) string {
	line := "- [ ] " + submitID
	if hint := templates.Text(lang, "form.submit"); hint != "" {
		line += ": " + templates.Inline(hint)
	}
	return line
}

// normal returns a text in the form that is used for comparing: without byte order mark,
// and with LF line ends.
func normal(body []byte) string {
	s := strings.TrimPrefix(string(body), "\ufeff")
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}
