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

// valuesOf returns the values of a word's parts together.
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

// canWork reports whether there may be so much more work.
func (r *shellReader) canWork(n int) bool {
	r.work -= n
	return r.work >= 0
}

// cross returns each of some values with each of others behind it.
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

// home returns what "~" and a name stand for.
func (r *shellReader) home(name string) []string {
	switch name {
	case "":
		return r.lookUp("HOME")
	case "+", "-": // where the command is, or was: every such folder is looked into
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

// glob writes the pattern in a value that is not quoted with wildcards.
var glob = strings.NewReplacer("*", anyName, "?", anyChar)

// unescape returns a text that is written in a shell's command without its backslashes.
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

// arguments returns the values that an argument may have, whole those of a word that is one.
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

// lookUp returns the values of a variable. One that nothing assigns has that of the
// environment, or none where it is not passed on.
func (r *shellReader) lookUp(name string) []string {
	switch {
	case numbers.MatchString(name):
		return []string{anyName}
	case name == "PWD" || name == "OLDPWD": // every folder that the command may be in is looked into
		return []string{"."}
	case positional.MatchString(name):
		return r.arguments(false)
	case name == "PATH": // what is assigned to it is read where it is assigned
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
