package gate

import (
	"strings"

	"placet/engine"
	"placet/schemas"
	"placet/templates"
)

// Details are what a request shows besides its prompt, its options and its items: each
// member of its context, and the text of each file that it carries. They are the one list
// from which every surface shows what an answer decides about. A surface that shows less
// of it offers no answer.
func (r Request) Details(lang string) []engine.Fact {
	var list []engine.Fact
	if r.Since != "" {
		list = append(list, engine.Fact{Label: templates.Text(lang, "form.since"), Value: r.Since})
	}
	list = append(list, ContextFacts(r.Context, lang)...)
	for _, a := range r.Artifacts {
		if text, ok := a.Carried(); ok && a.Binding {
			list = append(list, engine.Fact{Label: a.Path, Value: text})
		}
	}
	return list
}

// Unread are the files that an answer is bound to and whose text the request does not carry:
// they are too large, hold no text, or git ignores them.
func (r Request) Unread() (paths []string) {
	for _, a := range r.Artifacts {
		if _, ok := a.Carried(); !ok && a.Binding && a.SHA256 != "" {
			paths = append(paths, a.Path)
		}
	}
	return paths
}

// ContextFacts are the members of a request's context as people read them. A member that
// says nothing is left out.
func ContextFacts(context schemas.Raw, lang string) (list []engine.Fact) {
	if text, ok := markdown(context); ok && !templates.Blank(text) {
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
		if text := readable(members.Raw(m.Name)); text != "" {
			list = append(list, engine.Fact{Label: m.Name, Value: text})
		}
	}
	return list
}

// nestedIndent is how far what a value holds stands below its name.
const nestedIndent = "  "

// readable is a value as people read it: a text as it is, an object or a list with a line
// for each member, whose own lines stand further to the right. "" stands for a value that
// says nothing.
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
			lines = append(lines, named(m.Name, readable(members.Raw(m.Name)))...)
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

// named are the lines of a value below its name, or beside it where one is enough.
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

// nested is a text whose further lines stand below its first one.
func nested(text string) string { return strings.ReplaceAll(text, "\n", "\n"+nestedIndent) }
