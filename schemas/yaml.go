package schemas

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"

	"placet/internal/lazyregexp"
	"placet/templates"
)

// YAMLLimits bound a YAML document. A zero field means its default; a family's
// format page may state others.
type YAMLLimits struct {
	// Bytes is the largest size, default 64 KiB.
	Bytes int
	// Depth is the deepest nesting, default 16; the document's own mapping is
	// level 1.
	Depth int
	// Aliases is how many aliases for anchored values are allowed, default
	// none; anchors are then forbidden, too.
	Aliases int
	// Nodes is the largest number of keys and values after aliases have been
	// replaced by their values, default 65,536.
	Nodes int
	// Text reads plain numbers, true and false as text, in their own spelling:
	// an expected output 200, 0x1F or True. null stays null.
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

// oneMapping describes what every YAML document must be.
var oneMapping = say("schema.one.mapping")

// DecodeYAML reads one YAML document: a mapping within the limits, without
// tags, merge keys and doubled keys. It turns the document into JSON, which it
// checks and stores like [Decode]. Errors name the line and column in the YAML
// text.
//
// Plain words follow YAML 1.2 as go.yaml.in/yaml/v3 reads it: yes, no, on and
// off are text, dates are text, true and false are not, unless limits.Text is
// set. A Raw field gets the value as JSON.
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
		at := y.nodeAt(locate(y.json, problem.Pointer))
		problem.Line, problem.Column = at.Line, at.Column
	}
	return err
}

// CutText is a plain text in YAML that ends before a blank and a "#", although what follows the "#" without a
// blank is probably part of it: total of order #12.
type CutText struct {
	Line       int
	Text, Lost string
}

// CutTexts returns the texts of a YAML document that [DecodeYAML] accepts which are probably cut.
func CutTexts(body []byte, limits YAMLLimits) []CutText {
	root, problem := parseYAML(body, limits.withDefaults())
	if problem != nil {
		return nil
	}
	return cutBelow(root, nil)
}

func cutBelow(n *yaml.Node, list []CutText) []CutText {
	const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	if lost := n.LineComment; n.Kind == yaml.ScalarNode && n.Style&quoted == 0 && len(lost) > 1 && !strings.ContainsAny(lost[1:2], " \t#!-=") {
		list = append(list, CutText{n.Line, n.Value, lost})
	}
	for _, below := range n.Content {
		list = cutBelow(below, list)
	}
	return list
}

// parseYAML returns the document's mapping.
func parseYAML(body []byte, limits YAMLLimits) (root *yaml.Node, problem *Error) {
	if len(body) > limits.Bytes {
		return nil, &Error{Problem: say("schema.large", "n", limits.Bytes), Expected: say("schema.large.wanted")}
	}
	if problem := unreadableYAML(body); problem != nil {
		return nil, problem
	}
	// The parser is the work of others and reads hostile input: if it panics,
	// the file is unreadable and the program continues.
	defer func() {
		if recover() != nil {
			root, problem = nil, &Error{Problem: say("schema.yaml")}
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(body))
	var doc, next yaml.Node
	if err := dec.Decode(&doc); err != nil {
		return nil, syntaxYAML(err)
	}
	switch err := dec.Decode(&next); {
	case err == nil:
		return nil, &Error{Line: next.Line, Column: next.Column, Problem: say("schema.second"), Expected: oneMapping, Torn: true}
	case !errors.Is(err, io.EOF):
		return nil, syntaxYAML(err)
	}
	root = doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return nil, yamlError(root, say("schema.document", "what", yamlKind(root)), oneMapping)
	}
	return root, nil
}

// unreadableYAML says what is wrong before the first token.
func unreadableYAML(body []byte) *Error {
	if e := unreadable(body); e != nil {
		if e.Expected.Key == oneObject.Key {
			e.Expected = oneMapping
		}
		return e
	}
	at, problem, expected := damage(body)
	if isZero(problem) && !utf8.Valid(body) {
		for at < len(body) && startsRune(body[at:]) {
			_, size := utf8.DecodeRune(body[at:])
			at += size
		}
		problem, expected = say("schema.utf8"), text("UTF-8")
	}
	if isZero(problem) {
		return nil
	}
	e := &Error{Problem: problem, Expected: expected, Torn: true}
	return e.at(body, at)
}

// yamlLine finds the line in the parser's messages: "yaml: line 3: …".
var yamlLine = lazyregexp.New(`^yaml: (?:line (\d+): )?`)

// syntaxYAML explains why the parser stopped. It names the line that the
// parser names, if any.
func syntaxYAML(err error) *Error {
	if errors.Is(err, io.EOF) {
		return &Error{Problem: say("schema.yaml.comments"), Expected: oneMapping, Torn: true}
	}
	message := err.Error()
	e := &Error{Problem: say("schema.yaml.syntax", "problem", printable(yamlLine.ReplaceAllString(message, ""))), Torn: true}
	if m := yamlLine.FindStringSubmatch(message); m != nil && m[1] != "" {
		e.Line, _ = strconv.Atoi(m[1])
		e.Column = 1
	}
	return e
}

// yamlError places an error at a node.
func yamlError(n *yaml.Node, problem, expected templates.Message) *Error {
	return &Error{Line: n.Line, Column: n.Column, Problem: problem, Expected: expected}
}

// yamlKind names the kind of a node.
func yamlKind(n *yaml.Node) templates.Message {
	switch n.Kind {
	case yaml.MappingNode:
		return say("schema.kind.mapping")
	case yaml.SequenceNode:
		return say("schema.kind.list")
	case yaml.AliasNode:
		return say("schema.value.alias", "name", shown(n.Value))
	}
	if value := strings.TrimSpace(shown(n.Value)); value != "" {
		return say("schema.value.other", "value", value)
	}
	return say("schema.value.empty")
}

// maxExpansion bounds the JSON that a YAML document may become, in multiples
// of the allowed size of its text, so that aliases cannot fill the memory.
const maxExpansion = 16

// yamlReader writes the nodes of one document as JSON, in their order.
type yamlReader struct {
	limits  YAMLLimits
	aliases int
	nodes   int
	json    []byte
	written []writtenNode // in the order of their offsets
}

// writtenNode is a node with the offset at which it begins in the JSON.
type writtenNode struct {
	offset int
	node   *yaml.Node
}

// nodeAt returns the node that begins at an offset in the JSON; the alias, if
// both an alias and its value begin there.
func (y *yamlReader) nodeAt(offset int) *yaml.Node {
	i, _ := slices.BinarySearchFunc(y.written, offset, func(w writtenNode, offset int) int { return cmp.Compare(w.offset, offset) })
	return y.written[i].node
}

func (y *yamlReader) value(n *yaml.Node, depth int) *Error {
	if problem := y.admit(n, depth); problem != nil {
		return problem
	}
	y.written = append(y.written, writtenNode{len(y.json), n})
	switch n.Kind {
	case yaml.AliasNode:
		return y.value(n.Alias, depth)
	case yaml.MappingNode:
		return y.mapping(n, depth)
	case yaml.SequenceNode:
		return y.sequence(n, depth)
	}
	return y.scalar(n)
}

// admit counts a node and refuses nodes that a document may not contain.
func (y *yamlReader) admit(n *yaml.Node, depth int) *Error {
	y.nodes++
	switch {
	case n.Style&yaml.TaggedStyle != 0:
		return yamlError(n, say("schema.yaml.tag", "name", shown(n.Tag)), say("schema.yaml.tag.wanted"))
	case n.Anchor != "" && y.limits.Aliases == 0:
		return yamlError(n, say("schema.yaml.anchor", "name", shown(n.Anchor)), say("schema.yaml.anchor.wanted"))
	case n.Kind == yaml.AliasNode && y.limits.Aliases == 0:
		return yamlError(n, say("schema.value.alias", "name", shown(n.Value)), say("schema.yaml.alias.wanted"))
	case depth > y.limits.Depth && n.Kind != yaml.ScalarNode:
		return yamlError(n, say("schema.deep"), say("schema.most.levels", "n", y.limits.Depth))
	case y.nodes > y.limits.Nodes:
		return yamlError(n, say("schema.yaml.keys"), say("schema.most", "n", y.limits.Nodes))
	case len(y.json) > maxExpansion*y.limits.Bytes:
		return yamlError(n, say("schema.yaml.expanded"), say("schema.most.aliases"))
	}
	if n.Kind == yaml.AliasNode {
		y.aliases++
		if y.aliases > y.limits.Aliases {
			return yamlError(n, say("schema.yaml.aliases"), say("schema.most", "n", y.limits.Aliases))
		}
	}
	return nil
}

func (y *yamlReader) mapping(n *yaml.Node, depth int) *Error {
	names := make([][]byte, 0, len(n.Content)/2)
	y.json = append(y.json, '{')
	for i := 0; i+1 < len(n.Content); i += 2 {
		if i > 0 {
			y.json = append(y.json, ',')
		}
		key := n.Content[i]
		if problem := y.key(key); problem != nil {
			return problem
		}
		names = append(names, []byte(key.Value))
		y.json = append(y.json, ':')
		if problem := y.value(n.Content[i+1], depth+1); problem != nil {
			return problem
		}
	}
	y.json = append(y.json, '}')
	if i, earlier := clash(names); i >= 0 {
		return yamlError(n.Content[2*i], clashWords(names[i], earlier), say("schema.once"))
	}
	return nil
}

func (y *yamlReader) key(n *yaml.Node) *Error {
	if problem := y.admit(n, 0); problem != nil {
		return problem
	}
	tag := n.ShortTag()
	if n.Kind != yaml.ScalarNode || tag == "!!merge" || tag == "!!null" {
		return yamlError(n, say("schema.yaml.key", "what", yamlKind(n)), say("schema.kind.text"))
	}
	return y.text(n)
}

func (y *yamlReader) sequence(n *yaml.Node, depth int) *Error {
	y.json = append(y.json, '[')
	for i, element := range n.Content {
		if i > 0 {
			y.json = append(y.json, ',')
		}
		if problem := y.value(element, depth+1); problem != nil {
			return problem
		}
	}
	y.json = append(y.json, ']')
	return nil
}

func (y *yamlReader) scalar(n *yaml.Node) *Error {
	tag := n.ShortTag()
	if y.limits.Text && tag != "!!null" && tag != "!!merge" {
		return y.text(n)
	}
	if n.Style == 0 && isNumber(n.Value) { // even a number that YAML takes as text because of its size
		return y.number(n)
	}
	switch tag {
	case "!!null":
		y.json = append(y.json, "null"...)
	case "!!bool":
		y.json = append(y.json, strings.ToLower(n.Value)...)
	case "!!int", "!!float":
		return y.number(n)
	case "!!merge":
		return yamlError(n, say("schema.yaml.merge"), say("schema.yaml.merge.wanted"))
	default:
		return y.text(n)
	}
	return nil
}

func (y *yamlReader) text(n *yaml.Node) *Error {
	b, err := jsontext.AppendQuote(y.json, n.Value)
	if err != nil {
		return yamlError(n, say("schema.yaml.utf8"), text("UTF-8"))
	}
	y.json = b
	return nil
}

// number keeps the text of a number that JSON would write the same way, and
// writes the others (0x1F, 1_000, .5) in JSON's form.
func (y *yamlReader) number(n *yaml.Node) *Error {
	if isNumber(n.Value) {
		if !reasonable(n.Value) {
			return outOfRange(n)
		}
		y.json = append(y.json, n.Value...)
		return nil
	}
	var whole int64
	if n.ShortTag() == "!!int" && n.Decode(&whole) == nil {
		y.json = strconv.AppendInt(y.json, whole, 10)
		return nil
	}
	var f float64
	if n.Decode(&f) != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return outOfRange(n)
	}
	y.json = jsontext.AppendFloat(y.json, f, 64)
	return nil
}

// isNumber reports whether text is a number in JSON's form.
func isNumber(text string) bool {
	value := jsontext.Value(text)
	return value.Kind() == '0' && value.IsValid()
}

func outOfRange(n *yaml.Node) *Error {
	return yamlError(n, say("schema.range", "number", shown(n.Value)), say("schema.range.wanted"))
}
