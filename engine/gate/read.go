package gate

import (
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"placet/engine"
	"placet/internal/lazyregexp"
	"placet/schemas"
	"placet/templates"
)

// formAnswer is what a person ticked and wrote in a form.
type formAnswer struct {
	// RequestID and Digest are from the first line, which says what was shown.
	RequestID string
	Digest    engine.Digest
	// Ticked are the ids of the ticked options and Items those of the ticked items, as the
	// request spells them, in its order, each once.
	Ticked []string
	Items  []string
	// Comment is the text of the comment section, followed, as separate paragraphs, by what
	// was written elsewhere below the first option; without surrounding blank lines. Line
	// ends are LF, everything else is unchanged.
	Comment string
	// Edits are the texts that differ from what was shown.
	Edits []Edit
	// Submitted says that the last item is ticked. Before that nothing counts, and nothing
	// else is read.
	Submitted bool
}

// filledForm is a form that a person has filled in, as lines. answer, comment and submit
// are the indices of the lines that enclose what is read.
type filledForm struct {
	formAnswer
	lines                   []string
	answer, comment, submit int
	// outside are the places outside the comment section with text of the comment, in the
	// order of the form.
	outside []templates.Message
	moved   []movedLines
}

// readForm reads a form of the request r: the boxes between the answer's mark and the
// comment's mark, the text from there to the last item, and the text below that. It does
// not check whether placet wrote the rest of the form. The error says what is missing, or
// what makes the form void.
func readForm(body []byte, r Request) (f filledForm, err error) {
	if problem := f.read(body, r); problem != nil {
		problem.Line = f.numbered(problem.Line)
		return f, problem
	}
	return f, nil
}

func (f *filledForm) read(body []byte, r Request) *schemas.Error {
	source := normal(body)
	if problem := unreadable(source); problem != nil {
		return problem
	}
	f.lines = strings.Split(strings.TrimRight(source, " \t\n"), "\n")
	if problem := f.readFirst(r.RequestID); problem != nil {
		return problem
	}
	if problem := f.takeEdits(r); problem != nil {
		return problem
	}
	if problem := f.findParts(); problem != nil {
		return problem
	}
	if problem := f.checkComment(r.names()); problem != nil {
		return problem
	}
	if f.Submitted {
		f.gather(nil)
		f.readBoxes(r)
	}
	return nil
}

// readFirst reads the first line and compares its request with the open one.
func (f *filledForm) readFirst(id string) *schemas.Error {
	m := firstLine.FindStringSubmatch(strings.TrimRight(f.lines[0], " \t"))
	if m == nil {
		return torn(1, templates.NewMessage("gate.form.first"), asIs(firstMark(id, "sha256:…")))
	}
	f.RequestID, f.Digest = m[1], engine.Digest(m[2])
	if f.RequestID != id {
		return flaw(1, templates.NewMessage("gate.form.request", "request", templates.Cut(f.RequestID, shownFound)), asIs(id))
	}
	return nil
}

// findParts finds the marks and the last item. A form that is not sent needs only the last
// item.
func (f *filledForm) findParts() *schemas.Error {
	if f.submit, f.Submitted = lastItem(f.lines); f.submit == 0 {
		return f.lost("submit", "- [ ] "+submitID, "submit", "[")
	}
	f.answer = f.find(partAnswer, 0)
	f.comment = f.find(partComment, f.answer)
	switch {
	case !f.Submitted:
	case f.answer == f.submit:
		return f.lost(partAnswer, mark(partAnswer, f.Digest, ""), "placet", partAnswer)
	case f.comment == f.submit:
		return f.lost(partComment, mark(partComment, f.Digest, ""), "placet", partComment)
	}
	return nil
}

// lastItem returns the index of the item that sends the answer, 0 for none, and whether it
// is ticked. It gives the item the bullet that placet wrote, because Prettier gives it another
// below a comment that ends with a list.
func lastItem(lines []string) (at int, ticked bool) {
	for at = len(lines) - 1; at > 0; at-- {
		line := lines[at]
		if strings.HasPrefix(line, "* ") || strings.HasPrefix(line, "+ ") {
			line = "-" + line[1:]
		}
		if isSubmit(line) {
			lines[at] = line
			return at, boxLine.FindStringSubmatch(line)[2] != " "
		}
	}
	return 0, false
}

// find returns the index of the first line, starting at from and above the last item, that
// is the mark of a part; or that of the last item if there is none.
func (f *filledForm) find(part string, from int) int {
	for i := from; i < f.submit; i++ {
		if marks(f.lines[i], part, f.Digest) {
			return i
		}
	}
	return f.submit
}

var submitName = newNames(submitID)

// isSubmit reports whether a line is the item that sends the answer.
func isSubmit(line string) bool {
	m := boxLine.FindStringSubmatch(line)
	if m == nil || m[1] != "- " {
		return false
	}
	_, ok := submitName.named(templates.Plain(m[3]))
	return ok
}

// readBoxes reads the boxes between the two marks. In a form that placet wrote, each of
// them names an option or an item.
func (f *filledForm) readBoxes(r Request) {
	all, ticked := r.names(), map[string]bool{}
	for _, line := range f.lines[f.answer:f.comment] {
		if m := boxLine.FindStringSubmatch(line); m != nil && m[2] != " " {
			if id, known := all.named(templates.Plain(m[3])); known {
				ticked[id] = true
			}
		}
	}
	f.Ticked, f.Items = among(optionIDs(r.Options), ticked), among(itemIDs(r.Items), ticked)
}

func among(ids []string, ticked map[string]bool) []string {
	var found []string
	for _, id := range ids {
		if ticked[id] {
			found = append(found, id)
		}
	}
	return found
}

// emptyComment is the text between the comment's mark and the last item in a form that
// nobody has edited.
var emptyComment = []string{"", "", ""}

// blank returns the lines of the form without ticks and comment.
func (f *filledForm) blank() []string {
	lines := slices.Concat(f.lines[:f.comment+1], emptyComment, f.lines[f.submit:f.submit+1])
	for i := f.answer; i < len(lines); i++ {
		if m := boxLine.FindStringSubmatchIndex(lines[i]); m != nil && i != f.comment {
			lines[i] = lines[i][:m[4]] + " " + lines[i][m[5]:]
		}
	}
	return lines
}

// asIs makes a message of text that is the same in every language.
var asIs = templates.Untranslated

// flaw returns the error that a form does not count, at a line.
func flaw(line int, problem, expected templates.Message) *schemas.Error {
	return &schemas.Error{Line: line, Column: min(line, 1), Problem: problem, Expected: expected}
}

// torn is a flaw after which the rest of the form may still be being written.
func torn(line int, problem, expected templates.Message) *schemas.Error {
	e := flaw(line, problem, expected)
	e.Torn = true
	return e
}

// lost returns the error that a line which delimits the form is missing. If another line has all
// of some words, it is presumably that line after somebody changed it, and the error names it.
func (f *filledForm) lost(part, want string, words ...string) *schemas.Error {
	problem := templates.NewMessage(templates.Key("gate.form.lost." + part))
	for i := len(f.lines) - 1; i > 0; i-- {
		line := strings.ToLower(f.lines[i])
		if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(line, word) }) {
			return torn(i+1, onLine(problem, templates.Cut(f.lines[i], shownFound)), asIs(want))
		}
	}
	return torn(0, problem, asIs(want))
}

// unreadable returns why a text is not a form at all, or nil.
func unreadable(source string) *schemas.Error {
	switch {
	case strings.TrimSpace(source) == "":
		return torn(0, templates.NewMessage("gate.form.empty"), templates.Message{})
	case strings.IndexByte(source, 0) >= 0:
		return torn(line(source, strings.IndexByte(source, 0)), templates.NewMessage("gate.form.nul"), templates.NewMessage("gate.form.expect.text"))
	case !utf8.ValidString(source):
		return torn(line(source, invalid(source)), templates.NewMessage("gate.form.utf8"), asIs("UTF-8"))
	}
	if at := schemas.Conflict([]byte(source)); at >= 0 {
		return torn(line(source, at), templates.NewMessage("gate.form.conflict"), templates.NewMessage("gate.form.expect.side"))
	}
	return nil
}

// invalid returns the index of the first byte that is not UTF-8.
func invalid(s string) int {
	for i, r := range s {
		if _, size := utf8.DecodeRuneInString(s[i:]); r == utf8.RuneError && size == 1 {
			return i
		}
	}
	return len(s)
}

// trimBlank removes the blank lines around a text and the end of the last line.
func trimBlank(s string) string {
	lines := strings.Split(s, "\n")
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	return strings.Join(lines, "\n")
}

// line returns the number of the line that contains an offset.
func line(s string, at int) int { return strings.Count(s[:at], "\n") + 1 }

// The comment section, and the part below the last item, may contain anything except what
// could be mistaken for a part of the form that placet wrote, or would hide one when the
// form is shown: an item that names what is offered, a mark, HTML, and a code block that
// never ends. In a code block and in a quote ("> ") each of them is text.

// looksLikeItem matches a line that begins with a box, in any notation of an editor.
var looksLikeItem = lazyregexp.New(`^\s*(?:(?:[-*+•]|\d{1,9}[.)])\s+)*\\?\[([^\[\]\\]{0,4})\\?\]\s*(.*)$`)

// hidingHTML matches HTML that a browser, or another viewer of Markdown, does not show
// literally: comments and declarations, elements with hidden content, hidden elements, a
// tag at the beginning of a line, and one that continues on the next line.
var hidingHTML = lazyregexp.New(`(?i)<[!?]` +
	`|</?(?:details|dialog|template|script|style|textarea|title|select|noscript|noframes|noembed|iframe|object|xmp|plaintext)\b` +
	`|<[a-z][a-z0-9-]*\s[^<>]*\b(?:hidden|style|class)\b` +
	`|^\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)*</?[a-z][a-z0-9-]*(?:[\s/>]|$)` +
	`|<[a-z][a-z0-9-]*\s*$`)

// codeSpan matches code within a line, whose content is shown literally.
var codeSpan = lazyregexp.New("(^|[^`\\\\])`[^`]+`($|[^`])")

// checkComment returns what in the comment section, or below the last item, makes the form
// void. In a form that is not sent it checks only whether the author believes that it is
// sent.
func (f *filledForm) checkComment(offered names) *schemas.Error {
	if problem := f.checkText(min(f.comment+1, f.submit), f.submit, offered); problem != nil {
		return problem
	}
	return f.checkText(f.submit+1, len(f.lines), offered)
}

// checkText checks the reviewer's lines between two indices.
func (f *filledForm) checkText(from, to int, offered names) *schemas.Error {
	if problem := f.checkHidden(from, to); problem != nil {
		return problem
	}
	fence := ""
	for i, line := range withoutQuotes(f.lines[from:to], &fence) {
		if problem := f.checkLine(line, offered); !problem.None() {
			return flaw(from+i+1, onLine(problem, line), templates.NewMessage("gate.form.expect.quote"))
		}
	}
	if fence == "" || !f.Submitted {
		return nil
	}
	problem := templates.NewMessage("gate.form.fence", "fence", fence)
	if to == f.submit {
		problem = templates.NewMessage("gate.form.fence.submit")
	}
	return torn(min(to, len(f.lines)-1)+1, problem, templates.NewMessage("gate.form.expect.fence", "fence", fence))
}

// checkHidden checks whether the reviewer's lines between two indices contain invisible
// characters: these would be passed on as the words of somebody who has not read them. They
// are just as invisible in a quote or in a code block.
func (f *filledForm) checkHidden(from, to int) *schemas.Error {
	for i, line := range f.lines[from:to] {
		if f.Submitted && templates.HidesWords(line) {
			problem := templates.NewMessage("gate.form.line", "problem", templates.NewMessage("gate.form.hidden"), "line", templates.Reveal(strings.TrimSpace(line)))
			return flaw(from+i+1, problem, templates.NewMessage("gate.form.expect.seen"))
		}
	}
	return nil
}

// onLine adds the line to its problem.
func onLine(problem templates.Message, line string) templates.Message {
	return templates.NewMessage("gate.form.line", "problem", problem, "line", visible(strings.TrimSpace(line)))
}

func (f *filledForm) checkLine(line string, offered names) templates.Message {
	if m := looksLikeItem.FindStringSubmatch(line); m != nil {
		words := templates.Plain(strings.Map(dropUnseen, m[2]))
		_, sends := submitName.named(words)
		_, named := offered.named(words)
		if sends && strings.TrimSpace(m[1]) != "" || f.Submitted && (sends || named) {
			return templates.NewMessage("gate.form.imitation")
		}
	}
	switch {
	case !f.Submitted:
	case marks(line, partAnswer, f.Digest), marks(line, partComment, f.Digest):
		return templates.NewMessage("gate.form.mark")
	case hidingHTML.MatchString(codeSpan.ReplaceAllString(line, "$1$2")):
		return templates.NewMessage("gate.form.html")
	}
	return templates.Message{}
}

// withoutQuotes yields the lines of a text that are neither quoted nor in a fenced code
// block, with their indices. Only a fence without indentation counts: it begins a block
// whatever comes before it. At the end fence is the one that was not closed, "" for none.
func withoutQuotes(lines []string, fence *string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for i, line := range lines {
			switch {
			case *fence != "":
				if closes(line, *fence) {
					*fence = ""
				}
			case opens(line) != "":
				*fence = opens(line)
			case strings.HasPrefix(strings.TrimLeft(line, " "), ">"):
			case !yield(i, line):
				return
			}
		}
	}
}

// opens returns the fence with which a line begins a code block, "" for none.
func opens(line string) string {
	for _, mark := range []string{"`", "~"} {
		rest := strings.TrimLeft(line, mark)
		fence := line[:len(line)-len(rest)]
		if len(fence) >= 3 && (mark == "~" || !strings.Contains(rest, mark)) {
			return fence
		}
	}
	return ""
}

// closes reports whether a line ends the code block that a fence began.
func closes(line, fence string) bool {
	text := strings.TrimRight(line, " \t")
	indented := len(text) - len(strings.TrimLeft(text, " "))
	text = text[indented:]
	return indented < 4 && len(text) >= len(fence) && strings.Trim(text, fence[:1]) == ""
}
