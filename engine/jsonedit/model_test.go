package jsonedit_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"placet/engine/jsonedit"
	"placet/schemas"
)

// node is the model of a JSON value: the result of edits, whatever the bytes look like.
type node struct {
	kind     byte   // '{', '[' or 0 for a scalar
	text     string // of a scalar
	names    []string
	children []*node
}

func (n *node) compact() string {
	switch n.kind {
	case '{':
		parts := make([]string, len(n.children))
		for i, c := range n.children {
			parts[i] = quote(n.names[i]) + ":" + c.compact()
		}
		return "{" + strings.Join(parts, ",") + "}"
	case '[':
		parts := make([]string, len(n.children))
		for i, c := range n.children {
			parts[i] = c.compact()
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	return n.text
}

func quote(name string) string {
	b, err := jsontext.AppendQuote(nil, name)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// layOut writes the model with white space drawn at every place where JSON
// allows it.
func (n *node) layOut(blank func() string) string {
	if n.kind == 0 {
		return n.text
	}
	var b strings.Builder
	b.WriteByte(n.kind)
	for i, c := range n.children {
		if i > 0 {
			b.WriteString(blank() + ",")
		}
		b.WriteString(blank())
		if n.kind == '{' {
			b.WriteString(quote(n.names[i]) + blank() + ":" + blank())
		}
		b.WriteString(c.layOut(blank))
	}
	return b.String() + blank() + string(n.kind+2)
}

func (n *node) index(token string) int {
	if n.kind == '{' {
		return slices.Index(n.names, token)
	}
	if i, err := strconv.Atoi(token); err == nil && i < len(n.children) {
		return i
	}
	return -1
}

// apply makes the edit in the model.
func (n *node) apply(e jsonedit.Edit, value *node) {
	tokens := slices.Collect(jsontext.Pointer(e.Pointer).Tokens())
	for _, token := range tokens[:len(tokens)-1] {
		n = n.children[n.index(token)]
	}
	last := tokens[len(tokens)-1]
	i := n.index(last)
	switch {
	case e.Op == jsonedit.Append:
		n.children[i].children = append(n.children[i].children, value)
	case e.Op == jsonedit.Remove && i >= 0:
		n.children = slices.Delete(n.children, i, i+1)
		if n.kind == '{' {
			n.names = slices.Delete(n.names, i, i+1)
		}
	case e.Op == jsonedit.Set && i >= 0:
		n.children[i] = value
	case e.Op == jsonedit.Set:
		n.names, n.children = append(n.names, last), append(n.children, value)
	}
}

// value returns the edit's value for a model.
func (n *node) value() any { return schemas.Raw(n.compact()) }

var scalars = []string{`null`, `true`, `false`, `0`, `1.0`, `-1e2`, `12345678901234567890`, `""`, `"x"`, `"\u00e9"`, `"\"\\"`, `"{,:}"`, `"é漢"`, `"\/\n"`}

var names = []string{"a", "b", "c", "status", "a/b", "~", "", "0", "quo\"te", "漢"}

func values(depth int) *rapid.Generator[*node] {
	scalar := rapid.Map(rapid.SampledFrom(scalars), func(text string) *node { return &node{text: text} })
	if depth == 0 {
		return scalar
	}
	array := rapid.Custom(func(t *rapid.T) *node {
		return &node{kind: '[', children: rapid.SliceOfN(values(depth-1), 0, 3).Draw(t, "elements")}
	})
	return rapid.OneOf(scalar, array, objects(depth-1))
}

func objects(depth int) *rapid.Generator[*node] {
	return rapid.Custom(func(t *rapid.T) *node {
		n := &node{kind: '{', names: rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 4, rapid.ID).Draw(t, "names")}
		for range n.names {
			n.children = append(n.children, values(depth).Draw(t, "member"))
		}
		return n
	})
}

// edits draws an edit whose place exists in the model, with the model of its value.
func edits(t *rapid.T, root *node) (jsonedit.Edit, *node) {
	var e jsonedit.Edit
	var p jsontext.Pointer
	n := root
	for {
		descend := slices.Collect(func(yield func(string) bool) {
			for i, c := range n.children {
				if c.kind != 0 && !yield(n.token(i)) {
					return
				}
			}
		})
		if len(descend) == 0 || rapid.Bool().Draw(t, "stop") {
			break
		}
		token := rapid.SampledFrom(descend).Draw(t, "into")
		p, n = p.AppendToken(token), n.children[n.index(token)]
	}
	value := values(2).Draw(t, "value")
	e.Op, e.Value = rapid.SampledFrom([]jsonedit.Op{jsonedit.Set, jsonedit.Remove, jsonedit.Append}).Draw(t, "op"), value.value()
	if e.Op == jsonedit.Append && n.kind == '[' && p != "" {
		e.Pointer = string(p)
		return e, value
	}
	if e.Op == jsonedit.Append || n.kind == '[' && len(n.children) == 0 {
		e.Op, n, p = jsonedit.Set, root, ""
	}
	token := rapid.SampledFrom(names).Draw(t, "name")
	if n.kind == '[' {
		token = strconv.Itoa(rapid.IntRange(0, len(n.children)-1).Draw(t, "index"))
	}
	e.Pointer = string(p.AppendToken(token))
	return e, value
}

func (n *node) token(i int) string {
	if n.kind == '[' {
		return strconv.Itoa(i)
	}
	return n.names[i]
}

// compactedText is a document without white space, by encoding/json.
func compactedText(body []byte) string {
	var b bytes.Buffer
	if err := json.Compact(&b, body); err != nil {
		panic(err)
	}
	return b.String()
}
