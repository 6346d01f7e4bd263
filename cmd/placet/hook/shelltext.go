package hook

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"placet/internal/lazyregexp"
)

// deepestText is how many brackets of a text may be open at once for the text to be parsed,
// because the parser recurses for each.
const deepestText = 1024

// untold replaces a part of a word that only the shell that runs the command knows.
const untold = "…"

// simpleCommand is the words of a command without their quotes, and the files that receive its output.
type simpleCommand struct {
	words, into []string
	// inputs is how many of the words, the last ones, name what the command reads. literal says
	// that the words are written as they are here.
	inputs  int
	literal bool
	// interprets says that some command in the whole text runs what it reads, and codeWrites
	// that the text contains code that writes files.
	interprets, codeWrites bool
}

// shellReader reads the simple commands of a text as a shell does, also nested ones, and the
// texts that commands get as input.
type shellReader struct {
	commands []simpleCommand
	bodies   []string
	// wasCut says that no shell can parse the text.
	wasCut bool
	// vars are the values that the commands so far have assigned to variables.
	vars map[string]string
	// room is how many bytes the values of variables may still add.
	room *int
}

// readShell reads a text. A text that no shell can parse, such as code of another language, is
// split as if all of it were words.
func readShell(text string, room *int) *shellReader {
	r := &shellReader{vars: map[string]string{}, room: room}
	if isFlat(text) {
		file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
		if err == nil {
			syntax.Walk(file, r.visit)
			return r
		}
	}
	r.cut(text)
	return r
}

// isFlat reports whether the brackets in a text are nested at most as deep as deepestText.
func isFlat(text string) bool {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '(', '{', '[':
			depth++
		case ')', '}', ']':
			depth--
		}
		if depth > deepestText {
			return false
		}
	}
	return true
}

// visit reads a part of a text, before the nested parts.
func (r *shellReader) visit(node syntax.Node) bool {
	stmt, ok := node.(*syntax.Stmt)
	if !ok {
		return true
	}
	var s simpleCommand
	switch cmd := stmt.Cmd.(type) {
	case *syntax.CallExpr:
		s.words = append(r.assignments(cmd.Assigns), r.words(cmd.Args)...)
		s.literal = len(cmd.Assigns) == 0 && !slices.ContainsFunc(cmd.Args, isExpanded)
	case *syntax.DeclClause:
		s.words = append([]string{cmd.Variant.Value}, r.assignments(cmd.Args)...)
	case *syntax.ForClause:
		if over, ok := cmd.Loop.(*syntax.WordIter); ok {
			s.words = append([]string{"for"}, r.words(over.Items)...)
		}
	}
	for _, redirect := range stmt.Redirs {
		r.redirect(&s, redirect)
	}
	r.add(s)
	return true
}

// isExpanded reports whether a shell makes other words of a word than those that are written.
func isExpanded(word *syntax.Word) bool { return areExpanded(word.Parts) || len(word.Parts) == 0 }

func areExpanded(parts []syntax.WordPart) bool {
	return slices.ContainsFunc(parts, func(part syntax.WordPart) bool {
		switch part := part.(type) {
		case *syntax.Lit:
			return strings.ContainsAny(part.Value, "*?[{\\~")
		case *syntax.SglQuoted:
			return part.Dollar || part.Value == ""
		case *syntax.DblQuoted:
			return part.Dollar || len(part.Parts) == 0 || areExpanded(part.Parts)
		}
		return true
	})
}

// assignment matches a word that sets a variable.
var assignment = lazyregexp.New(`^(\w+)=((?s).*)$`)

// add adds a command, and the variables that it sets.
func (r *shellReader) add(s simpleCommand) {
	for _, word := range s.words {
		if m := assignment.FindStringSubmatch(word); m != nil {
			r.vars[m[1]] = m[2]
		}
	}
	if len(s.words)+len(s.into) > 0 {
		r.commands = append(r.commands, s)
	}
}

// redirect adds the target of a command's output, or the source of its input, because it is
// unknown what the command makes of that input.
func (r *shellReader) redirect(s *simpleCommand, redirect *syntax.Redirect) {
	switch redirect.Op {
	case syntax.DplIn:
	case syntax.RdrIn:
		s.words, s.inputs = append(s.words, r.text(redirect.Word.Parts)), s.inputs+1
	case syntax.Hdoc, syntax.DashHdoc:
		if redirect.Hdoc != nil {
			r.bodies = append(r.bodies, r.text(redirect.Hdoc.Parts))
		}
	case syntax.WordHdoc:
		text := r.text(redirect.Word.Parts)
		s.words, s.inputs, r.bodies = append(s.words, text), s.inputs+1, append(r.bodies, text)
	default:
		s.into = append(s.into, r.text(redirect.Word.Parts))
	}
}

// assignments returns the words of assignments. Each element of a list is a word of its own.
func (r *shellReader) assignments(all []*syntax.Assign) (words []string) {
	for _, a := range all {
		name := ""
		if a.Name != nil && !a.Naked {
			name = a.Name.Value + "="
		}
		switch {
		case a.Array != nil:
			for _, elem := range a.Array.Elems {
				if elem.Value != nil {
					words = append(words, name+r.text(elem.Value.Parts))
				}
			}
		case a.Value != nil:
			words = append(words, name+r.text(a.Value.Parts))
		}
	}
	return words
}

func (r *shellReader) words(all []*syntax.Word) (words []string) {
	for _, word := range all {
		words = append(words, r.text(word.Parts))
	}
	return words
}

var (
	// escaped matches a backslash with the character after it.
	escaped = lazyregexp.New(`\\((?s).)`)
	// unquoted removes quotes.
	unquoted = strings.NewReplacer("\\\n", " ", "$(", "(", ">&", ">", "&>", ">", `\`, "", `'`, "", `"`, "")
	// variable matches a reference to a variable.
	variable = lazyregexp.New(`\$(\w+|\{\w+\})`)
)

// text returns the text of a word's parts. It also expands variables in single quotes, because
// another shell that reads the word knows them.
func (r *shellReader) text(parts []syntax.WordPart) string {
	var b strings.Builder
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			b.WriteString(escaped.ReplaceAllString(part.Value, "$1"))
		case *syntax.SglQuoted:
			b.WriteString(r.expand(part.Value))
		case *syntax.DblQuoted:
			b.WriteString(r.text(part.Parts))
		case *syntax.CmdSubst, *syntax.ProcSubst: // visit reads them
			b.WriteString(untold)
		default:
			b.WriteString(r.expand(source(part)))
		}
	}
	return b.String()
}

// source returns a part of a word as it is written.
func source(part syntax.WordPart) string {
	var b strings.Builder
	_ = syntax.NewPrinter().Print(&b, part) // into memory
	return b.String()
}

// expand replaces variables by their values. A variable without a value stays as it is written.
func (r *shellReader) expand(text string) string {
	return variable.ReplaceAllStringFunc(text, func(ref string) string {
		value, known := r.vars[strings.Trim(ref, "${}")]
		if *r.room -= len(value); known && *r.room >= 0 {
			return value
		}
		return ref
	})
}

// cut splits a text into words if it is unknown which of them are quoted.
func (r *shellReader) cut(text string) {
	r.wasCut = true
	text = unquoted.Replace(text)
	for _, part := range strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune("\n;&|()`", c) }) {
		var s simpleCommand
		for i, piece := range strings.Split(part, ">") {
			words := strings.Fields(r.expand(piece))
			if i > 0 && len(words) > 0 {
				s.into, words = append(s.into, words[0]), words[1:]
			}
			s.words = append(s.words, words...)
		}
		if name, _ := s.command(); name == "" && len(s.words) > 0 { // code uses what it assigns
			s.words = append([]string{untold}, s.words...)
		}
		r.add(s)
	}
}
