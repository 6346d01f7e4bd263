package schemas

import (
	"bytes"
	stdjson "encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"placet/templates"
)

// CheckTree says what is wrong with a tree by a schema whose members have independent schemas, nil if
// nothing is. A tree is made of map[string]any, []any, string, json.Number and bool. Every error about
// the tree is of type *[Error], without a line. CheckTree compiles only the schemas of members that
// the tree has, because a hook is a process for each call of a tool.
func CheckTree(name string, tree map[string]any) error {
	for _, member := range slices.Sorted(maps.Keys(tree)) {
		s, err := loadMember(name, member)
		if err != nil {
			return err
		}
		if problem := s.check(tree[member]); problem != nil {
			problem.Pointer = pointer([]string{member}) + problem.Pointer
			return problem
		}
	}
	return nil
}

// loadMember returns the schema of a member as an independent schema.
func loadMember(name, member string) (*schema, error) {
	return once(name+"!"+member, func() (*schema, error) {
		whole, err := loadSource(name)
		if err != nil {
			return nil, err
		}
		node, _ := whole.below(whole.source, member)
		body, err := stdjson.Marshal(node)
		if err != nil {
			return nil, err
		}
		url := base + name + "/" + member + ".json"
		c := compiler()
		if err := c.AddResource(url, bytes.NewReader(body)); err != nil {
			return nil, err
		}
		compiled, err := c.Compile(url)
		source, _ := node.(map[string]any)
		return &schema{compiled: compiled, source: source}, err
	})
}

// loadSource returns a schema that is parsed but not compiled.
func loadSource(name string) (*schema, error) {
	return once(name+"!", func() (*schema, error) {
		source, err := Source(name)
		if err != nil {
			return nil, err
		}
		tree, broken := parse(source, everything)
		if broken != nil {
			return nil, broken.named(name)
		}
		return &schema{source: tree}, nil
	})
}

// Unknown returns the names that lead to the first member of a tree that a schema does not allow, nil
// if there is none. The elements of a list have the same path as the list.
func Unknown(name string, tree any) ([]string, error) {
	s, err := loadSource(name)
	if err != nil {
		return nil, err
	}
	return s.unknown(s.source, tree), nil
}

func (s *schema) unknown(node, value any) []string {
	rules := s.rules(node)
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			below, known := s.below(rules, name)
			if !known && rules["additionalProperties"] == false {
				return []string{name}
			}
			if path := s.unknown(below, value[name]); path != nil {
				return append([]string{name}, path...)
			}
		}
	case []any:
		for _, element := range value {
			if path := s.unknown(rules["items"], element); path != nil {
				return path
			}
		}
	}
	return nil
}

// below returns the schema of a member by the rules of its object.
func (s *schema) below(rules map[string]any, name string) (node any, known bool) {
	properties, _ := rules["properties"].(map[string]any)
	if node, known = properties[name]; known {
		return node, true
	}
	node, known = rules["additionalProperties"].(map[string]any)
	return node, known
}

// Properties returns the names that a schema lists for the members of an object, or of the elements of
// a list. path leads to that object or list.
func Properties(name string, path ...string) ([]string, error) {
	s, err := loadSource(name)
	if err != nil {
		return nil, err
	}
	rules := s.element(s.source)
	for _, member := range path {
		below, _ := s.below(rules, member)
		rules = s.element(below)
	}
	properties, _ := rules["properties"].(map[string]any)
	return slices.Sorted(maps.Keys(properties)), nil
}

// element returns the keywords of a schema, or, if it is the schema of a list, those of the elements'
// schema.
func (s *schema) element(node any) map[string]any {
	rules := s.rules(node)
	if items, ok := rules["items"].(map[string]any); ok {
		return s.rules(items)
	}
	return rules
}

// lengthKeyword is the keyword for a text that is a length of time, such as "10m". Its value is
// {"least": "1s", "most": "1h", "or": ["never"]}: the least and the greatest length, and words that
// are allowed instead of a length. Without least, the length must be more than zero.
const lengthKeyword = "x-length"

// lengths compiles the keyword.
type lengths struct{}

// length is a compiled keyword.
type length struct {
	least, most time.Duration
	words       []any
}

func (lengths) Compile(_ jsonschema.CompilerContext, m map[string]any) (jsonschema.ExtSchema, error) {
	rule, ok := m[lengthKeyword].(map[string]any)
	if !ok {
		return nil, nil
	}
	l := length{least: 1, most: 1<<63 - 1}
	l.words, _ = rule["or"].([]any)
	for name, bound := range map[string]*time.Duration{"least": &l.least, "most": &l.most} {
		if text, ok := rule[name].(string); ok {
			d, err := time.ParseDuration(text)
			if err != nil {
				return nil, err
			}
			*bound = d
		}
	}
	return l, nil
}

func (l length) Validate(ctx jsonschema.ValidationContext, value any) error {
	text, ok := value.(string)
	if !ok || slices.Contains(l.words, value) {
		return nil // other values are refused because of their type
	}
	if d, err := time.ParseDuration(text); err != nil || d < l.least || d > l.most {
		return ctx.Error(lengthKeyword, "no length of time that fits: %s", strconv.Quote(text))
	}
	return nil
}

// explainLength says which lengths of time the keyword's value allows.
func explainLength(rule, value any) templates.Message {
	bounds, _ := rule.(map[string]any)
	if bounds["most"] == nil {
		return say("schema.length", "value", literal(value))
	}
	return say("schema.length.bounds", "value", literal(value), "least", bounds["least"], "most", bounds["most"])
}
