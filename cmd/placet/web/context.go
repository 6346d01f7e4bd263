package web

import (
	"bytes"
	"encoding/json"
	"html/template"
	"strings"

	"placet/cmd/placet/console"
	"placet/engine/gate"
	"placet/schemas"
	"placet/templates"
)

// contextView is the context of a request: as Markdown if it is one text, else as fields.
type contextView struct {
	Prose  template.HTML
	Fields []field
	// Left counts the fields that are not shown. Raw is the context as JSON, "" if it is a text; RawCut
	// says that its end is left out.
	Left   int
	Raw    string
	RawCut bool
}

// field is a member of a context, or of a list in it, with one of Value, Text, List and Fields.
type field struct {
	Label string
	// Value is a text of one line, Text a longer one.
	Value, Text string
	List        []field
	Fields      []field
}

// IsWide reports whether a field needs the whole width of a page.
func (f field) IsWide() bool { return f.Text != "" || len(f.Fields)+len(f.List) > 0 }

// IsSimple reports whether all elements of a list are texts of one line.
func (f field) IsSimple() bool {
	for _, e := range f.List {
		if e.IsWide() {
			return false
		}
	}
	return true
}

// These limit a context: fields in all, how deep they are nested, the bytes of a value on one line,
// and those of JSON.
const mostFields, deepestField, shortField, longestRaw = 300, 5, 120, 256 << 10

// contextOf returns a context for a page, with names in the reader's language.
func contextOf(lang string, context schemas.Raw) (c contextView) {
	if text, ok := gate.Markdown(context); ok {
		if !templates.Blank(text) {
			c.Prose = rendered(lang, text, 3)
		}
		return c
	}
	r := fieldReader{lang: lang, left: mostFields}
	all := r.read("", context, 0)
	c.Fields, c.Left = all.Fields, r.over
	if len(all.Fields) == 0 {
		if !all.IsWide() && all.Value == "" {
			return c
		}
		all.Label = templates.Text(lang, "page.context")
		c.Fields = []field{all}
	}
	var out bytes.Buffer
	if json.Indent(&out, context, "", "  ") == nil {
		c.Raw = out.String()
	}
	if len(c.Raw) > longestRaw {
		c.Raw, c.RawCut = templates.Cut(c.Raw, longestRaw), true
	}
	return c
}

// fieldReader makes fields of JSON. It takes no more than left, and counts the others in over.
type fieldReader struct {
	lang       string
	left, over int
}

// read returns a value as a field.
func (r *fieldReader) read(name string, value schemas.Raw, depth int) field {
	f := field{Label: fieldLabel(r.lang, name)}
	switch kind := value.Kind(); {
	case depth > deepestField:
		f.set(string(value))
	case kind == '{':
		members, err := schemas.Members(value)
		if err != nil {
			f.set(string(value))
		}
		for _, m := range members {
			raw, _ := m.Value.(schemas.Raw)
			f.Fields = r.append(f.Fields, m.Name, raw, depth)
		}
	case kind == '[':
		var elements []schemas.Raw
		if schemas.DecodeValue(value, &elements) != nil {
			f.set(string(value))
		}
		for _, e := range elements {
			f.List = r.append(f.List, "", e, depth)
		}
	case value.Null():
	default:
		text, ok := value.Text()
		if !ok {
			text = r.word(string(value))
		}
		f.set(text)
	}
	return f
}

// append reads a member of an object or a list, and appends it unless it is empty.
func (r *fieldReader) append(all []field, name string, value schemas.Raw, depth int) []field {
	if r.left == 0 {
		r.over++
		return all
	}
	r.left--
	f := r.read(name, value, depth+1)
	if !f.IsWide() && f.Value == "" {
		r.left++
		return all
	}
	return append(all, f)
}

// set stores a text.
func (f *field) set(text string) {
	text = console.Lines(strings.TrimRight(text, " \t\r\n"))
	if len(text) <= shortField && !strings.Contains(text, "\n") {
		f.Value = text
	} else {
		f.Text = text
	}
}

// word returns a value of JSON in the reader's language.
func (r *fieldReader) word(value string) string {
	switch value {
	case "true":
		return templates.Text(r.lang, "page.yes")
	case "false":
		return templates.Text(r.lang, "page.no")
	}
	return value
}

// fieldLabel returns the name of a member for people. A name that words.json does not have is
// shown with blanks between its words.
func fieldLabel(lang, name string) string {
	key := "field." + name
	if label := templates.Text(lang, key); label != key {
		return label
	}
	return strings.ReplaceAll(name, "_", " ")
}
