package gate

import (
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// An outline is what is looked at in a form: its marks, its second-level
// headings and its list items, in their order, by where they stand in the
// source. Block quotes are not looked into, and code has no items.
type outline struct {
	marks    []place
	headings []place
	tasks    []task
	// begins are where paragraphs, headings and the texts of list items begin:
	// where a question may stand.
	begins []int
}

// place is a mark or a heading: what it says and where its line ends.
type place struct {
	word string
	// from is where its line begins, after the offset of what follows it.
	from, after int
}

// box is the state of a task-list item's box.
type box int

// The states of a box. An unclear one looks like a tick and is none, as in
// "[ x]": what was meant is asked, not guessed.
const (
	boxNone box = iota
	boxOpen
	boxTicked
	boxUnclear
)

// task is a list item that begins with a box.
type task struct {
	box box
	// text is what follows the box, on one line, and first its first line.
	text, first string
	// raw is the item as it stands, box included, on one line.
	raw string
	// from is where its line begins, to where its first line ends.
	from, to int
}

// blocks parses block structure alone. It is made once and has no state of its
// own between two texts.
var blocks = parser.NewParser(parser.WithBlockParsers(parser.DefaultBlockParsers()...))

// readOutline parses the blocks of a form. It looks at no inline structure:
// an item's words are taken from the source.
func readOutline(source string) outline {
	root := blocks.Parse(text.NewReader([]byte(shallow(source))))
	var o outline
	// The walker returns no error.
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Blockquote:
			return ast.WalkSkipChildren, nil
		case *ast.HTMLBlock:
			o.mark(source, n)
		case *ast.Heading:
			o.heading(source, n)
			o.begin(n)
		case *ast.Paragraph, *ast.TextBlock:
			o.begin(n)
		case *ast.ListItem:
			o.item(source, n)
		}
		return ast.WalkContinue, nil
	})
	return o
}

func (o *outline) begin(n ast.Node) {
	if n.Lines().Len() > 0 {
		o.begins = append(o.begins, n.Lines().At(0).Start)
	}
}

func (o *outline) mark(source string, n *ast.HTMLBlock) {
	if n.Lines().Len() == 0 {
		return
	}
	start := n.Lines().At(0).Start
	if m := markStart.FindStringSubmatch(source[start:]); m != nil {
		o.marks = append(o.marks, place{word: m[1] + " " + m[2], from: lineStart(source, start), after: start + len(m[0])})
	}
}

func (o *outline) heading(source string, n *ast.Heading) {
	if n.Level != 2 || n.Lines().Len() == 0 {
		return
	}
	words, last := flat(source, n.Lines()), n.Lines().At(n.Lines().Len()-1)
	after := lineEnd(source, last.Start)
	// Below the words of a heading may stand its underline.
	if next := min(after+1, len(source)); underline.MatchString(source[next:lineEnd(source, next)]) {
		after = lineEnd(source, next)
	}
	o.headings = append(o.headings, place{word: Fold(words), after: after})
}

var underline = regexp.MustCompile(`^ {0,3}-+[ \t]*$`)

func (o *outline) item(source string, n *ast.ListItem) {
	block := n.FirstChild()
	if block == nil || block.Kind() != ast.KindTextBlock && block.Kind() != ast.KindParagraph || block.Lines().Len() == 0 {
		return
	}
	raw, start := flat(source, block.Lines()), block.Lines().At(0).Start
	state, words := readBox(raw)
	if state == boxNone {
		return
	}
	to := lineEnd(source, start)
	_, first := readBox(strings.TrimSpace(source[start:to]))
	o.tasks = append(o.tasks, task{box: state, text: words, first: first, raw: raw, from: lineStart(source, start), to: to})
}

// boxStart matches what may be a box, and what follows it.
var boxStart = regexp.MustCompile(`^\[([^\[\]\n]{0,4})\]([ \t]*)`)

// readBox splits the text of a list item into its box and the words behind.
func readBox(text string) (state box, words string) {
	m := boxStart.FindStringSubmatch(text)
	if m == nil {
		return boxNone, text
	}
	mark, words := m[1], text[len(m[0]):]
	switch {
	case strings.TrimSpace(mark) == "":
		state = boxOpen
	case (mark == "x" || mark == "X") && (m[2] != "" || words == ""):
		state = boxTicked
	default:
		state = boxUnclear
	}
	return state, strings.TrimSpace(words)
}

// flat joins the lines of a block with blanks.
func flat(source string, lines *text.Segments) string {
	parts := make([]string, 0, lines.Len())
	for i := range lines.Len() {
		s := lines.At(i)
		parts = append(parts, strings.TrimSpace(source[s.Start:s.Stop]))
	}
	return strings.TrimSpace(strings.Join(parts, " "))
}

func lineStart(s string, at int) int { return strings.LastIndexByte(s[:at], '\n') + 1 }

func lineEnd(s string, at int) int {
	if i := strings.IndexByte(s[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(s)
}

// How deep a line may be nested. An answer is never that deep.
const (
	deepestMarks  = 64
	deepestIndent = 128
)

// shallow returns the source with the nesting of each line cut off, in as many
// bytes: parsing takes time that grows with the square of the depth, and an
// item that deep is text. Every offset stays what it was.
func shallow(source string) string {
	var masked []byte
	for from := 0; from < len(source); from = lineEnd(source, from) + 1 {
		line := source[from:lineEnd(source, from)]
		deep := nested(line)
		if deep < 0 {
			continue
		}
		if masked == nil {
			masked = []byte(source)
		}
		rest := strings.TrimLeft(line[deep:], nesting)
		for i := deep; i < len(line)-len(rest); i++ {
			masked[from+i] = '.'
		}
	}
	if masked == nil {
		return source
	}
	return string(masked)
}

// nesting are the bytes by which a line goes deeper.
const nesting = " \t>-+*0123456789.)"

// nested returns where in a line the nesting passes the bounds, or -1.
func nested(line string) int {
	marks, indent := 0, 0
	for i := range len(line) {
		c := line[i]
		blank := i+1 == len(line) || line[i+1] == ' ' || line[i+1] == '\t'
		switch {
		case strings.IndexByte(nesting, c) < 0:
			return -1
		case c == '\t':
			indent += 4
		case c == ' ':
			indent++
		case c == '>', blank:
			marks++
		}
		if marks > deepestMarks || indent > deepestIndent {
			return i
		}
	}
	return -1
}
