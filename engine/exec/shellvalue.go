package exec

import (
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// wordOf returns a word with its values.
func (r *shellReader) wordOf(w *syntax.Word) shellWord {
	if isArgument(w.Parts) && r.canWork(len(r.variables["@"])+len(r.variables["@@"])) {
		return shellWord{values: r.arguments(true), node: w}
	}
	braces := *w
	syntax.SplitBraces(&braces)
	return shellWord{values: r.valuesOf(braces.Parts, false), node: w}
}

// valuesOf returns the values of all parts of a word together.
func (r *shellReader) valuesOf(parts []syntax.WordPart, quoted bool) []string {
	values := []string{""}
	for i, part := range parts {
		of := r.partOf(part, quoted)
		if lit, ok := part.(*syntax.Lit); ok && i == 0 && !quoted && strings.HasPrefix(lit.Value, "~") {
			name, rest, _ := strings.Cut(lit.Value[1:], "/")
			if strings.Contains(lit.Value, "/") {
				rest = "/" + rest
			}
			of = r.cross(r.home(name), []string{unescape(rest, false)})
		}
		values = r.cross(values, of)
	}
	return values
}

// canWork takes n from the budget of work, and reports whether that was enough.
func (r *shellReader) canWork(n int) bool {
	r.work -= n
	return r.work >= 0
}

// cross returns each value of a followed by each value of b.
func (r *shellReader) cross(a, b []string) (all []string) {
	if len(a)*len(b) > mostValues || !r.canWork(len(a)*len(b)) {
		return []string{anyText}
	}
	for _, x := range a {
		for _, y := range b {
			if x != "" && len(x)+len(y) > longestValue {
				return []string{anyText}
			}
			if !slices.Contains(all, x+y) {
				all = append(all, x+y)
			}
		}
	}
	return all
}

// home returns the values of "~" followed by a name.
func (r *shellReader) home(name string) []string {
	switch name {
	case "":
		return r.lookUp("HOME")
	case "+", "-": // a folder where the command is or was: each is searched
		return []string{"."}
	}
	if u, err := user.Lookup(name); err == nil {
		return []string{u.HomeDir}
	}
	return []string{"~" + name}
}

// partOf returns the values of a part of a word.
func (r *shellReader) partOf(part syntax.WordPart, quoted bool) []string {
	if !r.canWork(1) {
		return []string{anyText}
	}
	switch part := part.(type) {
	case *syntax.Lit:
		return []string{unescape(part.Value, quoted)}
	case *syntax.SglQuoted:
		value := part.Value
		if part.Dollar {
			value, _, _ = expand.Format(&expand.Config{}, value, nil)
			value, _, _ = strings.Cut(value, "\x00")
		}
		return []string{value}
	case *syntax.DblQuoted:
		return r.valuesOf(part.Parts, true)
	case *syntax.ParamExp:
		values := r.parameter(part)
		if !quoted {
			for i, value := range values {
				values[i] = glob.Replace(value)
			}
		}
		return values
	case *syntax.BraceExp:
		if part.Sequence {
			return []string{anyName}
		}
		var values []string
		for _, elem := range part.Elems {
			values = append(values, r.valuesOf(elem.Parts, false)...)
		}
		return values[:min(len(values), mostValues+1)] // cross refuses so many
	case *syntax.CmdSubst:
		if len(part.Stmts) == 1 {
			if call, ok := part.Stmts[0].Cmd.(*syntax.CallExpr); ok && len(call.Args) == 1 && call.Args[0].Lit() == "pwd" {
				return []string{"."}
			}
		}
		return []string{anyText}
	case *syntax.ProcSubst:
		return []string{""} // its commands are read
	default: // a number, a pattern
		return []string{anyName}
	}
}

// glob replaces the patterns in an unquoted value by wildcards.
var glob = strings.NewReplacer("*", anyName, "?", anyChar)

// unescape returns a text of a shell's command without its backslashes.
func unescape(text string, quoted bool) string {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text) && (!quoted || strings.IndexByte("$`\"\\\n", text[i+1]) >= 0):
			if i++; text[i] != '\n' {
				out.WriteByte(text[i])
			}
		case !quoted && c == '*':
			out.WriteString(anyName)
		case !quoted && c == '?':
			out.WriteString(anyChar)
		case !quoted && c == '[' && strings.IndexByte(text[i+1:], ']') > 0:
			i += 1 + strings.IndexByte(text[i+1:], ']')
			out.WriteString(anyChar)
		default:
			out.WriteByte(c)
		}
	}
	return out.String()
}

// parameter returns the values of a parameter expansion, in a slice of its own.
func (r *shellReader) parameter(p *syntax.ParamExp) []string {
	switch {
	case p.Length:
		return []string{anyName}
	case p.Param == nil || p.Excl || p.Flags != nil || p.Names != 0 || p.Repl != nil || p.Slice != nil || len(p.Modifiers) > 0:
		return []string{anyText}
	}
	values := slices.Clone(r.lookUp(p.Param.Value))
	if p.Exp == nil {
		return values
	}
	switch p.Exp.Op {
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		values = []string{""}
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		return values
	default:
		return []string{anyText}
	}
	if p.Exp.Word != nil {
		other := r.wordOf(p.Exp.Word).values
		for _, value := range other {
			if p.Exp.Op == syntax.AssignUnset || p.Exp.Op == syntax.AssignUnsetOrNull {
				r.assign(p.Param.Value, value)
			}
		}
		values = append(values, other...)
	}
	return values
}

// arguments returns the values that an argument may have; if whole is set, also those of
// words that contain one.
func (r *shellReader) arguments(whole bool) []string {
	values := append([]string{""}, r.variables["@"]...)
	if whole {
		values = append(values, r.variables["@@"]...)
	}
	if r.open {
		values = append(values, anyText)
	}
	return values
}

// lookUp returns the values of a variable. A variable that nothing assigns has the
// value of the environment, or none if commands do not get it.
func (r *shellReader) lookUp(name string) []string {
	switch {
	case numbers.MatchString(name):
		return []string{anyName}
	case name == "PWD" || name == "OLDPWD": // every folder that the command may be in is searched
		return []string{"."}
	case positional.MatchString(name):
		return r.arguments(false)
	case name == "PATH": // its assigned values are read with the assignment
		return []string{r.getenv(name)}
	case given.MatchString(name), name == "_", strings.HasPrefix(name, "BASH_"):
		return []string{anyText}
	}
	values := slices.Clone(r.variables[name])
	switch env := r.getenv(name); {
	case env != "":
		values = append(values, env)
	case name == "HOME":
		if u, err := user.LookupId(strconv.Itoa(os.Getuid())); err == nil {
			values = append(values, u.HomeDir)
		}
	}
	if name != "HOME" {
		values = append(values, "")
		if r.open || r.sourced {
			values = append(values, anyText)
		}
	}
	return values
}
