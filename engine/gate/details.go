package gate

import (
	"strings"

	"placet/engine"
	"placet/schemas"
	"placet/templates"
)

// Details returns what a request shows besides its prompt, its options and its items: each
// member of its context, and the text of each file that it carries. Every surface shows what
// an answer decides from this one list. A surface that shows less offers no answer.
func (r Request) Details(lang string) []engine.Fact {
	var list []engine.Fact
	if r.Since != "" {
		list = append(list, engine.Fact{Label: templates.Text(lang, "form.since"), Value: r.Since})
	}
	list = append(list, ContextFacts(r.Context, lang)...)
	for _, a := range r.Artifacts {
		if text, ok := a.Carried(); ok && a.Binding {
			if IsPointer(text) {
				text = templates.Text(lang, "form.pointer") + "\n" + text
			}
			list = append(list, engine.Fact{Label: a.Path, Value: text})
		}
	}
	return list
}

// Unread returns the files that an answer is bound to and whose text the request does not
// carry: they are too large, are not text, or git ignores them.
func (r Request) Unread() (paths []string) {
	for _, a := range r.Artifacts {
		if _, ok := a.Carried(); !ok && a.Binding && a.SHA256 != "" {
			paths = append(paths, a.Path)
		}
	}
	return paths
}

// ContextFacts returns the members of a request's context in a form that people read. It
// omits empty members.
func ContextFacts(context schemas.Raw, lang string) (list []engine.Fact) {
	if text, ok := Markdown(context); ok && !templates.Blank(text) {
		return []engine.Fact{{Label: templates.Text(lang, "form.context"), Value: text}}
	}
	members, err := schemas.Members(context)
	if err != nil { // FABER's may be anything
		if text := readable(context); text != "" {
			return []engine.Fact{{Label: templates.Text(lang, "form.context"), Value: text}}
		}
		return nil
	}
	for _, m := range members {
		if text := readable(memberOf(m)); text != "" {
			list = append(list, engine.Fact{Label: m.Name, Value: text})
		}
	}
	return list
}

// memberOf returns the value of a member that was read. Looking each up by its name would take a time
// that grows with the square of their number.
func memberOf(m schemas.Member) schemas.Raw {
	raw, _ := m.Value.(schemas.Raw)
	return raw
}

// nestedIndent is how far the content of a value is indented below its name.
const nestedIndent = "  "

// readable returns a value in a form that people read: a text unchanged, an object or a list
// with a line for each member, and further lines of a member indented. It returns "" for an
// empty value.
func readable(value schemas.Raw) string {
	if text, ok := value.Text(); ok {
		return strings.TrimRight(text, " \t\r\n")
	}
	var lines []string
	switch value.Kind() {
	case '{':
		members, err := schemas.Members(value)
		if err != nil {
			return string(value)
		}
		for _, m := range members {
			lines = append(lines, named(m.Name, readable(memberOf(m)))...)
		}
	case '[':
		var elements []schemas.Raw
		if schemas.DecodeValue(value, &elements) != nil {
			return string(value)
		}
		for _, e := range elements {
			lines = append(lines, "- "+nested(templates.Clean(readable(e))))
		}
	default:
		if value.Null() {
			return ""
		}
		return string(value)
	}
	return strings.Join(lines, "\n")
}

// named returns the lines of a value below its name, or one line with both if the value has
// one line.
func named(name, text string) []string {
	name, text = oneLine(name), templates.Clean(text)
	switch {
	case text == "":
		return nil
	case !strings.Contains(text, "\n"):
		return []string{name + ": " + text}
	}
	return []string{name + ":", nestedIndent + nested(text)}
}

// nested indents all lines of a text but the first.
func nested(text string) string { return strings.ReplaceAll(text, "\n", "\n"+nestedIndent) }
