package console

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"text/template/parse"

	"placet/templates"
)

// Cleaned is text that is printed as it is: whoever makes one has cleaned what others wrote in it.
type Cleaned string

// In returns the text as it is, in every language.
func (c Cleaned) In(string) string { return string(c) }

// Printed is a value as a template prints it. Text that is not [Cleaned] is cleaned and put in
// one line, whoever wrote it.
func Printed(v any) any {
	switch v := v.(type) {
	case Cleaned:
		return string(v)
	case fmt.Stringer, error:
		return OneLine(fmt.Sprint(v))
	}
	if text := reflect.ValueOf(v); text.Kind() == reflect.String {
		return OneLine(text.String())
	}
	return v
}

// oneLined are the values of a sentence, each text among them in one line, whoever wrote it: no
// text makes a line of its own. What is said whole, as say.text, keeps its lines.
func oneLined(key templates.Key, pairs []any) []any {
	if key == "say.text" {
		return pairs
	}
	pairs = slices.Clone(pairs)
	for i := 1; i < len(pairs); i += 2 {
		switch v := pairs[i].(type) {
		case interface{ In(lang string) string }, error:
			continue
		default:
			if text := reflect.ValueOf(v); text.Kind() == reflect.String {
				pairs[i] = inOneLine(text.String())
			}
		}
	}
	return pairs
}

// inOneLine is a text cleaned and, where it has several lines, in one. Blanks at its ends stay.
func inOneLine(text string) string {
	if text = templates.Clean(text); strings.ContainsAny(text, "\n\t") {
		return OneLine(text)
	}
	return text
}

// CleanFunc is the function that [CleanTemplate] calls: [Printed], or one that makes more
// exceptions.
const CleanFunc = "printed"

// CleanTemplate has every value that a template prints go through CleanFunc last, so that no
// template can forget to clean what others wrote.
func CleanTemplate(t *parse.Tree) {
	if t != nil && t.Root != nil {
		cleanNodes(t, t.Root)
	}
}

// cleanNodes does so for the nodes of a list, and in theirs.
func cleanNodes(t *parse.Tree, list *parse.ListNode) {
	if list == nil {
		return
	}
	for _, node := range list.Nodes {
		switch n := node.(type) {
		case *parse.ActionNode:
			if len(n.Pipe.Decl) == 0 {
				call := parse.NewIdentifier(CleanFunc).SetTree(t).SetPos(n.Pos)
				n.Pipe.Cmds = append(n.Pipe.Cmds, &parse.CommandNode{NodeType: parse.NodeCommand, Pos: n.Pos, Args: []parse.Node{call}})
			}
		case *parse.IfNode:
			cleanNodes(t, n.List)
			cleanNodes(t, n.ElseList)
		case *parse.RangeNode:
			cleanNodes(t, n.List)
			cleanNodes(t, n.ElseList)
		case *parse.WithNode:
			cleanNodes(t, n.List)
			cleanNodes(t, n.ElseList)
		}
	}
}
