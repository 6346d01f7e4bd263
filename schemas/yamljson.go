package schemas

import (
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
)

// maxExpansion bounds the JSON that a YAML document may become, in multiples
// of the allowed size of its text: aliases must not fill the memory.
const maxExpansion = 16

// yamlReader writes the nodes of one document as JSON, in their order.
type yamlReader struct {
	limits  YAMLLimits
	aliases int
	nodes   int
	json    []byte
}

func (y *yamlReader) value(n *yaml.Node, depth int) *Error {
	if problem := y.admit(n, depth); problem != nil {
		return problem
	}
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

// admit counts a node and refuses what may not stand in a document.
func (y *yamlReader) admit(n *yaml.Node, depth int) *Error {
	y.nodes++
	switch {
	case n.Style&yaml.TaggedStyle != 0:
		return yamlError(n, "the tag "+shown(n.Tag), "a value without tag")
	case n.Anchor != "" && y.limits.Aliases == 0:
		return yamlError(n, "the anchor &"+shown(n.Anchor), "a value without anchor")
	case n.Kind == yaml.AliasNode && y.limits.Aliases == 0:
		return yamlError(n, "the alias *"+shown(n.Value), "the value itself")
	case depth > y.limits.Depth && n.Kind != yaml.ScalarNode:
		return yamlError(n, "nested too deep", "at most "+strconv.Itoa(y.limits.Depth)+" levels")
	case y.nodes > y.limits.Nodes:
		return yamlError(n, "too many keys and values", "at most "+strconv.Itoa(y.limits.Nodes))
	case len(y.json) > maxExpansion*y.limits.Bytes:
		return yamlError(n, "too long once its aliases are replaced", "fewer aliases")
	}
	if n.Kind == yaml.AliasNode {
		y.aliases++
		if y.aliases > y.limits.Aliases {
			return yamlError(n, "too many aliases", "at most "+strconv.Itoa(y.limits.Aliases))
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
		return yamlError(n.Content[2*i], clashWords(names[i], earlier), "each name once")
	}
	return nil
}

func (y *yamlReader) key(n *yaml.Node) *Error {
	if problem := y.admit(n, 0); problem != nil {
		return problem
	}
	tag := n.ShortTag()
	if n.Kind != yaml.ScalarNode || tag == "!!merge" || tag == "!!null" {
		return yamlError(n, "the key is "+yamlKind(n), "text")
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
	if n.Style == 0 && isNumber(n.Value) { // even one that YAML takes as text for its size
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
		return yamlError(n, "the merge key <<", "the keys themselves")
	default:
		return y.text(n)
	}
	return nil
}

func (y *yamlReader) text(n *yaml.Node) *Error {
	b, err := jsontext.AppendQuote(y.json, n.Value)
	if err != nil {
		return yamlError(n, "not valid UTF-8", "UTF-8")
	}
	y.json = b
	return nil
}

// number keeps the text of a number that JSON would write the same way, and
// writes the others (0x1F, 1_000, .5) as JSON does.
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

// isNumber reports whether text is a number as JSON writes it.
func isNumber(text string) bool {
	value := jsontext.Value(text)
	return value.Kind() == '0' && value.IsValid()
}

func outOfRange(n *yaml.Node) *Error {
	return yamlError(n, "the number "+shown(n.Value)+" is out of range", "a number that a program can hold")
}
