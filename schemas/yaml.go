package schemas

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// YAMLLimits bound what a YAML document may be. A zero field is its default;
// a family's format page may state others.
type YAMLLimits struct {
	// Bytes is the largest size, default 64 KiB.
	Bytes int
	// Depth is the deepest nesting, default 16; the document's own mapping is
	// level 1.
	Depth int
	// Aliases is how many aliases may stand for an anchored value, default
	// none, and then no anchors either.
	Aliases int
	// Nodes is the largest number of keys and values after aliases have been
	// replaced by what they stand for, default 65,536.
	Nodes int
	// Text takes plain numbers, true and false for text, spelled as they stand
	// there: an expected output 200, 0x1F or True. null stays null.
	Text bool
}

// CheckpointsYAML are the limits of AFL's checkpoints.yaml.
var CheckpointsYAML = YAMLLimits{Bytes: 1 << 20, Depth: 32, Aliases: 100, Nodes: 100_000, Text: true}

func (l YAMLLimits) withDefaults() YAMLLimits {
	return YAMLLimits{
		Bytes:   cmp.Or(l.Bytes, 64<<10),
		Depth:   cmp.Or(l.Depth, 16),
		Aliases: l.Aliases,
		Nodes:   cmp.Or(l.Nodes, 1<<16),
		Text:    l.Text,
	}
}

// oneMapping is what every YAML document must be.
const oneMapping = "one YAML mapping"

// DecodeYAML reads one YAML document: a mapping without tags, merge keys and
// doubled keys, and within the limits. It becomes JSON, which is checked and
// stored as [Decode] does. Errors name the line and column in the YAML text.
//
// Plain words follow YAML 1.2 as go.yaml.in/yaml/v3 reads it: yes, no, on and
// off are text, dates are text, true and false are not, unless the limits take
// all of them for text. A Raw field gets the value as JSON.
func DecodeYAML(schema, path string, body []byte, into any, limits YAMLLimits) error {
	root, problem := parseYAML(body, limits.withDefaults())
	if problem != nil {
		return problem.named(path)
	}
	y := yamlReader{limits: limits.withDefaults()}
	if problem := y.value(root, 1); problem != nil {
		return problem.named(path)
	}
	err := Decode(schema, path, y.json, into)
	if errors.As(err, &problem) {
		at := yamlAt(root, problem.Pointer)
		problem.Line, problem.Column = at.Line, at.Column
	}
	return err
}

// parseYAML returns the document's mapping.
func parseYAML(body []byte, limits YAMLLimits) (root *yaml.Node, problem *Error) {
	if len(body) > limits.Bytes {
		return nil, &Error{Problem: "the file is larger than " + strconv.Itoa(limits.Bytes) + " bytes", Expected: "less"}
	}
	if problem := unreadableYAML(body); problem != nil {
		return nil, problem
	}
	// The parser is the work of others and meets hostile input: should it
	// panic, the file is unreadable and the program goes on.
	defer func() {
		if recover() != nil {
			root, problem = nil, &Error{Problem: "not YAML"}
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(body))
	var doc, next yaml.Node
	if err := dec.Decode(&doc); err != nil {
		return nil, syntaxYAML(err)
	}
	switch err := dec.Decode(&next); {
	case err == nil:
		return nil, &Error{Line: next.Line, Column: next.Column, Problem: "a second document follows", Expected: oneMapping, Torn: true}
	case !errors.Is(err, io.EOF):
		return nil, syntaxYAML(err)
	}
	root = doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return nil, yamlError(root, "the document is "+yamlKind(root), oneMapping)
	}
	return root, nil
}

// unreadableYAML names what is wrong before the first token.
func unreadableYAML(body []byte) *Error {
	if e := unreadable(body); e != nil {
		if e.Expected == oneObject {
			e.Expected = oneMapping
		}
		return e
	}
	at, problem, expected := damage(body)
	if problem == "" && !utf8.Valid(body) {
		for at < len(body) && startsRune(body[at:]) {
			_, size := utf8.DecodeRune(body[at:])
			at += size
		}
		problem, expected = "the file is not valid UTF-8", "UTF-8"
	}
	if problem == "" {
		return nil
	}
	e := &Error{Problem: problem, Expected: expected, Torn: true}
	return e.at(body, at)
}

// yamlLine finds the line in the parser's messages: "yaml: line 3: …".
var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// syntaxYAML explains why the parser could not go on. It names the line that
// the parser names, if any.
func syntaxYAML(err error) *Error {
	if errors.Is(err, io.EOF) {
		return &Error{Problem: "the file holds nothing but comments", Expected: oneMapping, Torn: true}
	}
	text := err.Error()
	e := &Error{Problem: "not YAML: " + printable(yamlLine.ReplaceAllString(text, "")), Torn: true}
	if m := yamlLine.FindStringSubmatch(text); m != nil && m[1] != "" {
		e.Line, _ = strconv.Atoi(m[1])
		e.Column = 1
	}
	return e
}

// yamlError places an error at a node.
func yamlError(n *yaml.Node, problem, expected string) *Error {
	return &Error{Line: n.Line, Column: n.Column, Problem: problem, Expected: expected}
}

// yamlAt returns the node that a JSON pointer names, or the nearest one around
// it that is there.
func yamlAt(n *yaml.Node, p string) *yaml.Node {
	for _, want := range tokens(p) {
		if n.Kind == yaml.AliasNode {
			n = n.Alias
		}
		child := yamlMember(n, want)
		if child == nil {
			break
		}
		n = child
	}
	return n
}

func yamlMember(n *yaml.Node, want string) *yaml.Node {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == want {
				return n.Content[i+1]
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(want); err == nil && i >= 0 && i < len(n.Content) {
			return n.Content[i]
		}
	}
	return nil
}

// yamlKind names the kind of a node.
func yamlKind(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "the alias *" + shown(n.Value)
	}
	return strings.TrimSpace("the value " + shown(n.Value))
}
