package exec

import (
	"cmp"
	"errors"
	"maps"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"placet/internal/lazyregexp"
)

// These constants bound how much is read of a command. Whatever lies beyond
// them is unknown.
const (
	// longestText is the longest text that is parsed, and mostTexts is how many texts
	// of a command are parsed.
	longestText, mostTexts = 16 << 10, 256
	// deepestText is how many texts may be nested, and deepestPart is how many parts of a
	// text may be.
	deepestText, deepestPart = 8, 64
	// mostValues is how many values a word may have, and longestValue how long each is.
	mostValues, longestValue = 128, 4096
	// mostWork is how many parts of words are read, and how many values are made of them.
	mostWork = 1 << 15
	// longestShown is how many characters are shown of a word of unknown value.
	longestShown = 80
	// mostRounds is how often a command is read to find all values of its variables.
	mostRounds = 4
)

// anyText, anyName and anyChar are runes that stand for the unknown part of a word's
// value. They are for private use: a name that holds one of them is compared with more
// files than it names.
const (
	anyText  = "\uE000" // any text
	anyName  = "\uE001" // any text without a slash
	anyChar  = "\uE002" // one character other than a slash
	wildcard = anyText + anyName + anyChar
)

var (
	// shells read a text after -c, and run the file that is their first argument.
	shells = lazyregexp.New(`^(sh|bash|dash|ash|zsh|ksh|mksh|fish|su|flock|script|runuser)$`)
	// interpreters run the file that is their first argument.
	interpreters = lazyregexp.New(`^(source|\.|(python|node|perl|ruby|php|deno|bun|awk|gawk|mawk|lua|tclsh|pwsh|Rscript)[0-9.]*)$`)
	// runners run the command that follows them.
	runners = lazyregexp.New(`^(exec|command|builtin|env|nice|ionice|nohup|timeout|sudo|doas|setsid|stdbuf|chrt|time|busybox|watch|xargs|parallel)$`)
	// assigning commands take variables as arguments and give them unknown values.
	assigning = lazyregexp.New(`^(read|mapfile|readarray|getopts|printf)$`)
	// moving commands change to another folder.
	moving = lazyregexp.New(`^(cd|pushd|chdir)$`)
	// handing commands run another command with arguments that they find
	// themselves.
	handing = lazyregexp.New(`^(xargs|parallel|find)$`)

	valueOption  = lazyregexp.New(`^[-+][a-zA-Z]*[oO]$`) // of a shell
	textOption   = lazyregexp.New(`^-[a-zA-Z]*c$`)
	assignedWord = lazyregexp.New(`^(\w+)=((?s).*)$`)
	number       = lazyregexp.New(`^[0-9]+([.][0-9]+)?[smhd]?$`)
	// given are the variables that placet sets for commands, and numbers are those that a
	// shell sets itself, to a number or to flags.
	given   = lazyregexp.New(`^(AFL|PLACET)_`)
	numbers = lazyregexp.New(`^([#?$!-]|RANDOM|LINENO|SECONDS|E?UID|PPID)$`)
	// positional matches the parameters of a text or of a function.
	positional = lazyregexp.New(`^([0-9]+|[@*])$`)
)

// shellReader reads a command as the shells in it do. It runs nothing: a word has every
// value that it may have, in whatever order the commands of a text run.
type shellReader struct {
	getenv func(string) string
	// isOutside reports whether an absolute path leads to nothing in the workspace.
	isOutside func(name string) bool
	// words are the known values. untold maps each unknown value that may be a file that is
	// run to the word as it is written.
	words  names
	untold map[string]string
	// variables holds the values that are assigned to variables. sourced says that a
	// file assigns some too, and open that not all values are known.
	variables     map[string][]string
	sourced, open bool
	// other says that the command has a shell that is not like bash.
	other bool
	// away says that the command may be in an unknown folder.
	away bool
	// run holds the substitutions whose output has been read as a command.
	run map[syntax.Node]bool
	// scripts are the values that a shell reads as a text. An assignment at their
	// beginning belongs to the text, and not to the command that has them as an
	// argument.
	scripts map[string]bool
	// within is the word with the text that is being read, if a part of the
	// text is unknown.
	within string
	// texts is how many texts have been read, and work is how much may still be
	// read.
	texts, work int
}

// readShell reads an argument vector. untold holds, by the word as it is written, values with
// wildcards: the command may run the files that they match.
func readShell(argv []string, getenv func(string) string, isOutside func(string) bool) (words []string, untold map[string][]string) {
	r := &shellReader{getenv: getenv, isOutside: isOutside, variables: map[string][]string{}}
	for round := 0; ; round++ {
		before := r.size()
		r.words, r.untold, r.run = names{seen: map[string]bool{}}, map[string]string{}, map[syntax.Node]bool{}
		r.scripts = map[string]bool{}
		r.texts, r.work = 0, mostWork
		r.readArgv(argv)
		if r.size() == before || r.open {
			break
		}
		r.open = round == mostRounds
	}
	untold = map[string][]string{}
	if r.work < 0 {
		untold["…"] = []string{anyText}
	}
	for _, value := range slices.Sorted(maps.Keys(r.untold)) {
		untold[r.untold[value]] = append(untold[r.untold[value]], value)
	}
	return r.words.list, untold
}

// size returns how much is known of variables.
func (r *shellReader) size() (n int) {
	for _, values := range r.variables {
		n += len(values) + 1
	}
	for _, is := range []bool{r.sourced, r.away} {
		if is {
			n++
		}
	}
	return n
}

// readArgv reads an argument vector that no shell has read before.
func (r *shellReader) readArgv(argv []string) {
	var call []shellWord
	for _, arg := range argv {
		call = append(call, shellWord{values: []string{arg}})
	}
	r.readCall(call, true, false, 0)
	for _, w := range call {
		r.addWord(w, 0)
	}
}

// shellWord is a word of a command.
type shellWord struct {
	values []string
	node   *syntax.Word // nil for one of an argument vector
}

// written returns a word as the command has it, cut if it is long.
func (w shellWord) written() string {
	var text strings.Builder
	if w.node != nil {
		_ = syntax.NewPrinter().Print(&text, w.node) // into memory
	} else {
		text.WriteString(strings.Join(w.values, " "))
	}
	if runes := []rune(text.String()); len(runes) > longestShown {
		return string(runes[:longestShown]) + "…"
	}
	return text.String()
}

// addWord adds the known values of a word. A value may be the text of a shell that is not
// known as one, such as that of another machine.
func (r *shellReader) addWord(w shellWord, depth int) {
	for _, value := range w.values {
		r.addArgument(w, value)
		if strings.ContainsAny(value, wildcard) {
			continue
		}
		r.words.addWord(value)
		if strings.Contains(value, "..") && strings.Trim(value, "./") == "" { // cd ../..
			r.words.add(value)
		}
		if m := assignedWord.FindStringSubmatch(value); m != nil && !r.scripts[value] { // env x=check sh -c 'sh $x.sh'
			r.assign(m[1], m[2])
		}
		if strings.ContainsAny(value, " \t\n;|&$`~\\'\"{<(") {
			r.readText(shellWord{values: []string{value}}, false, depth+1)
		}
	}
}

// addArgument adds a value of a word to those of "@", the arguments of texts and functions,
// because any word of a command may be one. A value made from an argument goes to "@@"
// instead: another word can pass it on, but no further value is made from it, or there
// would be no end.
func (r *shellReader) addArgument(w shellWord, value string) {
	name := "@"
	if w.node != nil && !isArgument(w.node.Parts) && hasArgument(w.node) {
		name = "@@"
	}
	if strings.ContainsAny(value, wildcard) || !strings.ContainsAny(value, " \t\n") { // a text is read elsewhere
		r.assign(name, value)
	}
}

// isArgument reports whether a word is exactly one argument, and hasArgument whether an
// argument is part of it.
func isArgument(parts []syntax.WordPart) bool {
	if len(parts) != 1 {
		return false
	}
	switch part := parts[0].(type) {
	case *syntax.DblQuoted:
		return isArgument(part.Parts)
	case *syntax.ParamExp:
		return part.Exp == nil && part.Param != nil && positional.MatchString(part.Param.Value)
	}
	return false
}

func hasArgument(node syntax.Node) (has bool) {
	syntax.Walk(node, func(n syntax.Node) bool {
		p, ok := n.(*syntax.ParamExp)
		has = has || ok && p.Param != nil && positional.MatchString(p.Param.Value)
		return !has
	})
	return has
}

// assign adds a value to those of a variable.
func (r *shellReader) assign(name, value string) {
	r.readLoading(name, value)
	if values := r.variables[name]; len(values) < mostValues && !slices.Contains(values, value) {
		r.variables[name] = append(values, value)
	} else if len(values) == mostValues {
		r.variables[name] = append(values, anyText)
	}
}

// mayRun notes the unknown values of a word that may be a file that is run.
func (r *shellReader) mayRun(w shellWord, report bool, depth int) {
	if !report {
		return
	}
	for _, value := range w.values {
		for _, value := range append(joinedTo(value), value) {
			if strings.ContainsAny(value, wildcard) {
				r.cannotTell(value, w)
			}
		}
	}
	r.readRuns(w, report, depth)
}

// readRuns reads the substitutions in a word as commands whose output is run.
func (r *shellReader) readRuns(w shellWord, report bool, depth int) {
	if report && w.node != nil {
		syntax.Walk(w.node, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.CmdSubst:
				return r.readRun(n, n.Stmts, depth)
			case *syntax.ProcSubst:
				return r.readRun(n, n.Stmts, depth)
			}
			return true
		})
	}
}

// readRun reads a substitution whose output is run, once.
func (r *shellReader) readRun(node syntax.Node, stmts []*syntax.Stmt, depth int) bool {
	if !r.run[node] {
		r.run[node] = true
		r.readStatements(stmts, true, true, depth)
	}
	return false
}

// cannotTell notes an unknown value that may be a file that is run.
func (r *shellReader) cannotTell(value string, w shellWord) {
	if value = withoutProcess(value); !strings.ContainsAny(value, wildcard) {
		r.words.addWord(value)
		return
	}
	if r.untold[value] == "" {
		r.untold[value] = cmp.Or(r.within, w.written())
	}
}

// readText reads a text as a shell does. If it cannot be parsed, the command may run any
// file.
func (r *shellReader) readText(w shellWord, report bool, depth int) {
	for _, text := range w.values {
		r.scripts[text] = r.scripts[text] || report
		var file *syntax.File
		err := errors.New("too much")
		if r.texts++; r.texts <= mostTexts && depth <= deepestText && isReadable(text) {
			file, err = syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
		}
		if report && err != nil {
			r.cannotTell(anyText, w)
		}
		if file != nil {
			within := r.within
			if r.within == "" && strings.ContainsAny(text, wildcard) {
				r.within = w.written()
			}
			r.readStatements(file.Stmts, report, false, depth) // the part that could be parsed
			r.within = within
		}
	}
}

// isReadable reports whether a text is short and flat enough to be parsed.
func isReadable(text string) bool {
	depth, deepest, backquotes := 0, 0, 0
	for i := range len(text) {
		switch text[i] {
		case '(', '{':
			depth++
		case ')', '}':
			depth--
		case '`':
			backquotes++
		}
		deepest = max(deepest, depth)
	}
	return len(text) <= longestText && deepest <= deepestPart && backquotes <= deepestPart
}

// readStatements reads statements. runs says that their output is run.
func (r *shellReader) readStatements(stmts []*syntax.Stmt, report, runs bool, depth int) {
	for _, stmt := range stmts {
		r.read(stmt, report, runs, depth)
	}
}

// read reads a part of a text.
func (r *shellReader) read(node syntax.Node, report, runs bool, depth int) {
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.BinaryCmd:
			if pipe := n.Op == syntax.Pipe || n.Op == syntax.PipeAll; pipe && !runs && r.interprets(n.Y) {
				r.read(n.X, report, true, depth)
				r.read(n.Y, report, runs, depth)
				return false
			}
		case *syntax.Stmt:
			call, ok := n.Cmd.(*syntax.CallExpr)
			for _, redirect := range n.Redirs {
				r.readRedirect(redirect, report, runs || ok && r.interprets(call), depth)
			}
		case *syntax.Redirect:
			return false // readRedirect has read it
		case *syntax.CallExpr:
			var call []shellWord
			for _, arg := range n.Args {
				call = append(call, r.wordOf(arg))
			}
			r.readCall(call, report, runs, depth)
		case *syntax.Word:
			r.addWord(r.wordOf(n), depth)
		case *syntax.Assign:
			r.readAssignment(n)
		case *syntax.ForClause:
			r.readLoop(n)
		}
		return !r.run[n]
	})
}

// readRedirect reads where a command's input comes from. It does not read what the
// command writes to.
func (r *shellReader) readRedirect(redirect *syntax.Redirect, report, runs bool, depth int) {
	w := r.wordOf(redirect.Word)
	switch redirect.Op {
	case syntax.RdrIn, syntax.RdrInOut:
		if runs {
			r.mayRun(w, report, depth)
		}
		r.read(redirect.Word, report, false, depth)
	case syntax.WordHdoc:
		if runs {
			r.readText(w, report, depth+1)
		}
		r.read(redirect.Word, report, runs, depth)
	case syntax.Hdoc, syntax.DashHdoc:
		if redirect.Hdoc != nil {
			if runs {
				r.readText(r.wordOf(redirect.Hdoc), report, depth+1)
			}
			r.read(redirect.Hdoc, report, runs, depth)
		}
	default:
		for _, part := range redirect.Word.Parts {
			r.read(part, report, false, depth)
		}
	}
}

// interprets reports whether a part of a text runs its input.
func (r *shellReader) interprets(node syntax.Node) (yes bool) {
	syntax.Walk(node, func(n syntax.Node) bool {
		if w, ok := n.(*syntax.Word); ok && !yes {
			yes = slices.ContainsFunc(r.wordOf(w).values, func(value string) bool {
				name := path.Base(value)
				return shells.MatchString(name) || interpreters.MatchString(name) || name == "eval" || value == anyText
			})
		}
		return !yes
	})
	return yes
}

// readAssignment reads an assignment.
func (r *shellReader) readAssignment(a *syntax.Assign) {
	if a.Name == nil || a.Naked {
		return
	}
	if a.Value != nil {
		for _, value := range r.wordOf(a.Value).values {
			r.assign(a.Name.Value, value)
			if a.Append {
				r.assign(a.Name.Value, anyText)
			}
		}
	}
	if a.Value == nil && a.Array == nil {
		r.assign(a.Name.Value, "")
	}
	if a.Array != nil {
		for _, elem := range a.Array.Elems {
			if elem.Value != nil {
				for _, value := range r.wordOf(elem.Value).values {
					r.assign(a.Name.Value, value)
				}
			}
		}
	}
}

// readLoop reads the values of the variable of a loop.
func (r *shellReader) readLoop(loop *syntax.ForClause) {
	over, ok := loop.Loop.(*syntax.WordIter)
	if !ok {
		return
	}
	if !over.InPos.IsValid() {
		for _, value := range r.arguments(true) {
			r.assign(over.Name.Value, value)
		}
	}
	for _, item := range over.Items {
		for _, value := range r.wordOf(item).values {
			r.assign(over.Name.Value, value)
		}
	}
}
