package gate

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"placet/engine"
	"placet/schemas"
	"placet/templates"
)

// FormAnswer is what stands in a form.
type FormAnswer struct {
	// RequestID and Digest are those of the first line: what was shown.
	RequestID string
	Digest    engine.Digest
	// Ticked are the ids of the ticked options and Items those of the ticked
	// items, as the request spells them, in its order, each once.
	Ticked []string
	Items  []string
	// Unknown are the ticked texts that name nothing, and boxes that look
	// ticked and are not.
	Unknown []string
	// Comment is the text of the comment section, without the blank lines
	// around it; line ends are LF, all else is as it was written.
	Comment string
	// Submitted says that the last item is ticked. Nothing counts before.
	Submitted bool
}

// ReadForm reads a form of the request r. What is read are the task-list items
// between the answer's mark and the comment's mark, and the text from there to
// the item that sends the answer; each mark's heading, or the question of the
// request's block, stands in for a lost mark. The error is a *schemas.Error and says what is missing.
func ReadForm(path string, body []byte, r Request) (FormAnswer, error) {
	source, a, err := readHead(path, body, r)
	if err != nil {
		return a, err
	}
	p, problem := readParts(source, a.Digest, r)
	if problem != nil {
		return a, problem.in(path)
	}
	a.Comment, a.Submitted = p.comment, p.submitted
	a.read(p.tasks, r)
	a.Unknown = append(a.Unknown, p.stray...)
	return a, nil
}

// readSent reads a form as far as its answer counts: where the last line is the
// unticked last item, nothing else is read.
func readSent(path string, body []byte, r Request) (FormAnswer, error) {
	source, a, err := readHead(path, body, r)
	if err != nil {
		return a, err
	}
	if last, ok := lastLine(source); ok && last.box == boxOpen {
		return a, nil
	}
	return ReadForm(path, body, r)
}

// readHead reads what makes a text a form of the request.
func readHead(path string, body []byte, r Request) (string, FormAnswer, error) {
	source := normal(body)
	if problem := unreadable(source); problem != nil {
		return source, FormAnswer{}, problem.in(path)
	}
	a, problem := readFirst(source, r.RequestID)
	if problem != nil {
		return source, FormAnswer{}, problem.in(path)
	}
	return source, a, nil
}

// read sorts the boxes of the answer part.
func (a *FormAnswer) read(tasks []task, r Request) {
	all := r.names()
	ticked := map[string]bool{}
	for _, t := range tasks {
		id, known := all.named(templates.Plain(t.text))
		switch {
		case joined(t):
			a.Unknown = append(a.Unknown, t.raw)
		case t.box == boxTicked && known:
			ticked[id] = true
		case t.box == boxTicked, t.box == boxUnclear && known:
			a.Unknown = append(a.Unknown, t.raw)
		}
	}
	a.Ticked = among(optionIDs(r.Options), ticked)
	a.Items = among(itemIDs(r.Items), ticked)
}

// joined reports whether an editor has put several items on one line and one
// of them is ticked: which one is not guessed.
func joined(t task) bool {
	if !strings.Contains(t.text, "[") {
		return false
	}
	others := insideItem.FindAllStringSubmatch(t.text, -1)
	ticked := slices.ContainsFunc(others, func(m []string) bool { return m[1] != " " })
	return ticked || len(others) > 0 && t.box == boxTicked
}

var insideItem = regexp.MustCompile(`(?:^|\s)(?:[-*+]|\d{1,9}[.)])\s+\[([ xX])\]`)

func among(ids []string, ticked map[string]bool) []string {
	var found []string
	for _, id := range ids {
		if ticked[id] {
			found = append(found, id)
		}
	}
	return found
}

// flaw says why a form cannot be read.
type flaw struct {
	line              int
	problem, expected string
	// torn says that the rest of the form may be on its way.
	torn bool
}

// in returns the error for the form at a path.
func (f *flaw) in(path string) error {
	e := &schemas.Error{Path: path, Line: f.line, Problem: f.problem, Expected: f.expected, Torn: f.torn}
	if f.line > 0 {
		e.Column = 1
	}
	return e
}

// unreadable names what keeps a text from being a form at all.
func unreadable(source string) *flaw {
	switch {
	case strings.TrimSpace(source) == "":
		return &flaw{problem: "the form is empty", torn: true}
	case strings.IndexByte(source, 0) >= 0:
		return &flaw{line: line(source, strings.IndexByte(source, 0)), problem: "the form holds NUL bytes", expected: "text", torn: true}
	case !utf8.ValidString(source):
		return &flaw{line: line(source, invalid(source)), problem: "the form is not valid UTF-8", expected: "UTF-8", torn: true}
	}
	if at := conflict(source); at >= 0 {
		return &flaw{line: line(source, at), problem: "the form holds merge-conflict markers", expected: "one side of the conflict", torn: true}
	}
	return nil
}

// conflict returns where git's conflict markers begin that it leaves where it
// could not merge, -1 where not all three stand in their order.
func conflict(source string) int {
	from := 0
	first := -1
	for _, marker := range []string{"\n<<<<<<< ", "\n=======\n", "\n>>>>>>> "} {
		at := strings.Index(source[from:], marker)
		if at < 0 {
			return -1
		}
		if first < 0 {
			first = at + 1
		}
		from += at + 1
	}
	return first
}

// invalid returns where the first byte stands that is not UTF-8.
func invalid(s string) int {
	for i, r := range s {
		if _, size := utf8.DecodeRuneInString(s[i:]); r == utf8.RuneError && size == 1 {
			return i
		}
	}
	return len(s)
}

// readFirst reads the first line and compares its request with the one that
// is open.
func readFirst(source, id string) (FormAnswer, *flaw) {
	m := firstLine.FindStringSubmatch(source)
	if m == nil {
		return FormAnswer{}, &flaw{line: 1, problem: "the first line does not name the request", expected: firstMark(id, "sha256:…"), torn: true}
	}
	a := FormAnswer{RequestID: m[1], Digest: engine.Digest(m[2])}
	if a.RequestID != id {
		return a, &flaw{line: 1, problem: "the form is for the request " + templates.Cut(a.RequestID, shownFound), expected: id}
	}
	return a, nil
}

// parts are what of a form is read.
type parts struct {
	tasks []task
	// stray are the lines of a block form that look ticked and are no items.
	stray     []string
	comment   string
	submitted bool
}

func readParts(source string, d engine.Digest, r Request) (parts, *flaw) {
	b := r.Block
	o := readOutline(source)
	answer, ok := o.beginIn(source, partAnswer, d, b, 0)
	if !ok {
		return parts{}, lost(partAnswer, mark(partAnswer, d, ""))
	}
	comment, ok := o.beginIn(source, partComment, d, b, answer)
	if !ok {
		return parts{}, lost(partComment, mark(partComment, d, ""))
	}
	submit, ok := o.submit(source, comment)
	if !ok {
		return parts{}, lost("submit", "- [ ] "+submitID)
	}
	p := parts{submitted: submit.box == boxTicked, comment: trimBlank(source[comment:max(comment, submit.from)])}
	for _, t := range o.tasks {
		if t.from >= answer && t.from < comment {
			p.tasks = append(p.tasks, t)
		}
	}
	if problem := submit.flaw(source); b == nil || problem != nil {
		return p, problem
	}
	return b.refine(source, o, p, answer, comment, r.names())
}

// lost says that a line by which a form is read is gone.
func lost(part, line string) *flaw {
	return &flaw{problem: "its " + part + " line is missing, or stands in a code block or a quote", expected: line, torn: true}
}

// partBegin returns where a part begins: behind its first mark from an offset on,
// or behind its heading, where the form has lost all marks of the part. Marks
// of another view count for nothing.
func (o outline) partBegin(part string, d engine.Digest, from int) (int, bool) {
	lost := true
	for _, m := range o.marks {
		if m.after >= from && m.word == part+" "+nonce(d) {
			return m.after, true
		}
		lost = lost && !strings.HasPrefix(m.word, part)
	}
	titles := headings(part)
	at := slices.IndexFunc(o.headings, func(p place) bool { return p.after >= from && titles[p.word] })
	if at < 0 || !lost {
		return 0, false
	}
	return o.headings[at].after, true
}

// lastItem matches an item of its own line.
var lastItem = regexp.MustCompile(`^ {0,3}(?:[-*+]|\d{1,9}[.)])[ \t]+(\[.*)$`)

// submit returns the item that sends the answer: the form's last line if it is
// that item, else the last such item of the outline. The line comes first
// because a comment may open a code block and never close it.
func (o outline) submit(source string, from int) (task, bool) {
	if last, ok := lastLine(source); ok && last.from >= from {
		return last, true
	}
	for _, t := range slices.Backward(o.tasks) {
		if t.from >= from && sends(t.first) {
			return t, true
		}
	}
	return task{}, false
}

// lastLine returns the last line of a form as an item, if it is the one that
// sends the answer.
func lastLine(source string) (task, bool) {
	end := len(strings.TrimRight(source, " \t\n"))
	start := lineStart(source, end)
	m := lastItem.FindStringSubmatch(source[start:end])
	if m == nil {
		return task{}, false
	}
	state, words := readBox(m[1])
	return task{box: state, text: words, first: words, raw: m[1], from: start, to: end}, sends(words)
}

var submitName = newNames([]string{submitID})

// sends reports whether an item's text names the sending of the answer.
func sends(words string) bool {
	_, ok := submitName.named(templates.Plain(words))
	return ok
}

// flaw says what is wrong with the item that sends the answer.
func (t task) flaw(source string) *flaw {
	switch {
	case t.box == boxUnclear:
		return &flaw{line: line(source, t.from), problem: "the box of the last item is unclear, " + templates.Cut(t.raw, shownFound), expected: "[x] or [ ]"}
	case t.box == boxTicked && below(source, t.to) < len(source):
		return &flaw{line: line(source, below(source, t.to)), problem: "text stands below the last item, where it is not read", expected: "it in the comment section, or not at all"}
	}
	return nil
}

// below returns where text stands behind an offset, or the end; HTML comments,
// which editors leave there, are none.
func below(source string, at int) int {
	return at + len(blankOrComment.FindString(source[at:]))
}

var blankOrComment = regexp.MustCompile(`^(?:\s|<!--(?s:.*?)-->)*`)

// trimBlank drops the blank lines around a text and the last line's end.
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

// line returns the number of the line in which an offset stands.
func line(s string, at int) int { return strings.Count(s[:at], "\n") + 1 }
