package badinput

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf16"
)

// Format is the format of a document.
type Format int

// These are the formats.
const (
	JSON Format = iota
	YAML
	Markdown
)

// Good is a good document, with the names that are needed to spoil it.
type Good struct {
	Format Format
	Body   string
	// Required, Text, Word, Number and ID are names of members of a JSON
	// document, "" if it has none: a required one; one that holds text; one
	// that holds one of certain words; a number; an id. The name of a member of
	// a member has a dot.
	Required, Text, Word, Number, ID string
}

// Kind is one kind of bad file.
type Kind struct {
	Name string
	// Spoil makes a bad document of a good one; ok is false if the kind does
	// not apply. It is nil for a kind without content.
	Spoil func(g Good) (bad string, ok bool)
	// Odd, if not 0, is the mode of what replaces the file: a folder, a FIFO, a link.
	Odd fs.FileMode
	// Missing says that there is no file, Closed that nobody may read it, and
	// Copy that a synchroniser put a second one beside it.
	Missing, Closed, Copy bool
}

// These are sizes above the limits.
const (
	tooLarge = 10 << 20
	tooDeep  = 10_000
	tooLong  = 300
)

// Kinds are the kinds of bad file, and two that only seem bad.
var Kinds = []Kind{
	{Name: "missing", Missing: true},
	text("empty", func(string) string { return "" }),
	text("blanks only", func(string) string { return " \n\t\n" }),
	only(JSON, "half an object", func(g Good) string { return g.Body[:strings.LastIndexByte(g.Body, '}')] }),
	only(JSON, "half a string", func(g Good) string { return g.Body[:strings.IndexByte(g.Body, '"')+3] }),
	text("NUL tail", func(s string) string { return s + strings.Repeat("\x00", 64) }),
	text("all NUL", func(s string) string { return strings.Repeat("\x00", len(s)) }),
	text("byte order mark", func(s string) string { return "\ufeff" + s }),
	text("UTF-16", utf16LE),
	{Name: "invalid UTF-8", Spoil: func(g Good) (string, bool) {
		return inside(g, `"x": "`+"\xff"+`",`, "x: \"\xff\"\n", "\xff\n"), true
	}},
	{Name: "doubly encoded UTF-8", Spoil: func(g Good) (string, bool) {
		return inside(g, `"x-word": "GroÃŸe",`, "x: GroÃŸe\n", "GroÃŸe\n"), true
	}},
	text("CRLF", func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }),
	{Name: "duplicate key", Spoil: func(g Good) (string, bool) {
		return inside(g, `"x": 1, "x": 2,`, "x: 1\nx: 2\n", ""), g.Format != Markdown
	}},
	only(JSON, "key differing only in case", func(g Good) string { return inside(g, `"x": 1, "X": 2,`, "", "") }),
	only(JSON, "trailing garbage", func(g Good) string { return g.Body + "x" }),
	{Name: "two documents", Spoil: func(g Good) (string, bool) {
		if g.Format == YAML {
			return g.Body + "\n---\na: 1\n", true
		}
		return g.Body + g.Body, g.Format == JSON
	}},
	only(JSON, "comment", func(g Good) string { return inside(g, "// who\n", "", "") }),
	only(JSON, "trailing comma", func(g Good) string {
		at := strings.LastIndexByte(g.Body, '}')
		return g.Body[:at] + "," + g.Body[at:]
	}),
	{Name: "non-object at the top", Spoil: func(g Good) (string, bool) { return "[1, 2]\n", g.Format != Markdown }},
	member("required key missing", func(g Good) (string, any) { return g.Required, nil }),
	member("wrong type", func(g Good) (string, any) { return g.Text, []int{1} }),
	member("unknown word", func(g Good) (string, any) { return g.Word, "telepathy" }),
	member("number as string", func(g Good) (string, any) { return g.Number, "3" }),
	only(JSON, "1e400", func(g Good) string { return inside(g, `"x": 1e400,`, "", "") }),
	only(JSON, "NaN", func(g Good) string { return inside(g, `"x": NaN,`, "", "") }),
	{Name: "10 MB", Spoil: func(g Good) (string, bool) {
		filler := strings.Repeat("filler\n", tooLarge/7)
		return inside(g, `"x": "`+strings.ReplaceAll(filler, "\n", " ")+`",`, strings.ReplaceAll(filler, "filler", "# filler"), filler), true
	}},
	{Name: "10,000 levels deep", Spoil: func(g Good) (string, bool) {
		deep := strings.Repeat("[", tooDeep) + strings.Repeat("]", tooDeep)
		return inside(g, `"x": `+deep+`,`, "x: "+deep+"\n", ""), g.Format != Markdown
	}},
	only(YAML, "alias bomb", func(g Good) string { return bomb() + g.Body }),
	only(YAML, "YAML tag", func(g Good) string { return "x: !!binary aGk=\n" + g.Body }),
	{Name: "conflict markers", Spoil: func(g Good) (string, bool) {
		return "<<<<<<< HEAD\n" + g.Body + "\n=======\n" + g.Body + "\n>>>>>>> theirs\n", g.Format != Markdown
	}},
	only(Markdown, "conflict markers in a form", func(g Good) string {
		first, rest, _ := strings.Cut(g.Body, "\n")
		return first + "\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> theirs\n" + rest
	}),
	{Name: "sync-conflict copy", Copy: true},
	{Name: "a folder in its place", Odd: fs.ModeDir},
	{Name: "a FIFO", Odd: fs.ModeNamedPipe},
	{Name: "a link out of the workspace", Odd: fs.ModeSymlink},
	{Name: "a link loop", Odd: fs.ModeSymlink | fs.ModeTemporary},
	{Name: "no permission", Closed: true},
	member("id with control and bidi characters", func(g Good) (string, any) { return g.ID, "fr\x07\u202e\u200b1" }),
	member("id with ..", func(g Good) (string, any) { return g.ID, ".." }),
	member("id with a slash", func(g Good) (string, any) { return g.ID, "../../x/y" }),
	member("id of 300 characters", func(g Good) (string, any) { return g.ID, strings.Repeat("i", tooLong) }),
	member("id of half a megabyte", func(g Good) (string, any) { return g.ID, strings.Repeat("i", 1<<19) }),
}

// text returns a kind of content for every format.
func text(name string, spoil func(string) string) Kind {
	return Kind{Name: name, Spoil: func(g Good) (string, bool) { return spoil(g.Body), true }}
}

// only returns a kind of content for one format.
func only(f Format, name string, spoil func(Good) string) Kind {
	return Kind{Name: name, Spoil: func(g Good) (string, bool) {
		if g.Format != f {
			return "", false
		}
		return spoil(g), true
	}}
}

// member returns a kind of JSON document with another value in one of its
// members, or without the member for nil.
func member(name string, change func(Good) (string, any)) Kind {
	return Kind{Name: name, Spoil: func(g Good) (string, bool) {
		which, value := change(g)
		if g.Format != JSON || which == "" {
			return "", false
		}
		return with(g.Body, which, value), true
	}}
}

// with returns a JSON document with another value in a member, or without the
// member for nil. The name of a member of a member has a dot.
func with(body, name string, value any) string {
	members := map[string]any{}
	if err := json.Unmarshal([]byte(body), &members); err != nil {
		panic(fmt.Sprintf("hostile: a good document is none: %v: %s", err, body))
	}
	at, names := members, strings.Split(name, ".")
	for _, n := range names[:len(names)-1] {
		at, _ = at[n].(map[string]any)
	}
	last := names[len(names)-1]
	if _, there := at[last]; !there {
		panic(fmt.Sprintf("hostile: a good document has no %q: %s", name, body))
	}
	delete(at, last)
	if value != nil {
		at[last] = value
	}
	out, err := json.MarshalIndent(members, "", " ")
	if err != nil {
		panic(err)
	}
	return string(out) + "\n"
}

// inside puts text into a document: as the first member, the first line, or
// after the first line.
func inside(g Good, asJSON, asYAML, asText string) string {
	switch g.Format {
	case JSON:
		return strings.Replace(g.Body, "{", "{"+asJSON, 1)
	case YAML:
		return asYAML + g.Body
	}
	first, rest, _ := strings.Cut(g.Body, "\n")
	return first + "\n" + asText + rest
}

func utf16LE(s string) string {
	b := []byte("\xff\xfe")
	for _, u := range utf16.Encode([]rune(s)) {
		b = append(b, byte(u), byte(u>>8))
	}
	return string(b)
}

// bomb returns YAML of a few hundred bytes that expands to a billion values.
func bomb() string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 9; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", "))
	}
	return b.String()
}
