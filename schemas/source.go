package schemas

import (
	"bytes"
	"embed"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"placet/templates"
)

//go:embed afl/*.json ask/*.json faber/*.json kernel/*.json mcp/*.json nemawashi/*.json pal/*.json placet/*.json optimizer/*.schema.json
var files embed.FS

// base is the address under which embedded schemas refer to each other. It leads
// nowhere.
const base = "placet:///"

// endings are the possible ends of the names of schema files, the longest first.
var endings = []string{".schema.json", ".json"}

// Names returns the names of all schemas, in the order of their files:
// "faber/state", …
func Names() []string {
	var names []string
	// The tree is part of the program: walking it cannot fail.
	_ = fs.WalkDir(files, ".", func(p string, d fs.DirEntry, err error) error {
		for _, ending := range endings {
			if name, ok := strings.CutSuffix(p, ending); ok {
				names = append(names, name)
				break
			}
		}
		return err
	})
	return names
}

// Source returns the text of a schema.
func Source(name string) ([]byte, error) {
	for _, ending := range endings {
		if body, err := files.ReadFile(name + ending); err == nil {
			return body, nil
		}
	}
	return nil, templates.Errorf("schema.unknown", "name", strconv.Quote(name), "names", strings.Join(Names(), ", "))
}

// schema is one embedded schema, compiled when it is first needed.
type schema struct {
	compiled *jsonschema.Schema
	shape    *shape
	source   map[string]any
}

var compiled sync.Map // name → func() (*schema, error)

// load returns a schema ready for use.
func load(name string) (*schema, error) {
	return once(name, func() (*schema, error) { return compile(name) })
}

// once returns the result of the first call of compile for a name.
func once(name string, compile func() (*schema, error)) (*schema, error) {
	entry, ok := compiled.Load(name)
	if !ok {
		entry, _ = compiled.LoadOrStore(name, sync.OnceValues(compile))
	}
	return entry.(func() (*schema, error))()
}

// compile compiles a schema, or the part of it that a JSON pointer after # names.
func compile(name string) (*schema, error) {
	name, part, _ := strings.Cut(name, "#")
	source, err := Source(name)
	if err != nil {
		return nil, err
	}
	tree, broken := parse(source, everything)
	if broken != nil {
		return nil, broken.named(name)
	}
	s, err := compiler().Compile(base + name + ".json#" + part)
	if err != nil {
		return nil, err
	}
	return &schema{compiled: s, shape: shapeOf(tree), source: tree}, nil
}

// compiler returns a compiler that knows the embedded schemas and no others.
func compiler() *jsonschema.Compiler {
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft7
	c.RegisterExtension("length", nil, lengths{})
	c.LoadURL = func(url string) (io.ReadCloser, error) {
		name, ok := strings.CutPrefix(url, base)
		name, isJSON := strings.CutSuffix(name, ".json")
		if !ok || !isJSON {
			return nil, templates.Errorf("schema.foreign", "name", url)
		}
		body, err := Source(name)
		return io.NopCloser(bytes.NewReader(body)), err
	}
	return c
}

//go:embed optimizer/*.sql pal/*.sql
var scripts embed.FS

// SQL returns the embedded script that makes a database, by its name without ".sql":
// "optimizer/audit". It returns "" if there is no such script. A script may be run
// again over a database that already has its tables.
func SQL(name string) string {
	body, err := scripts.ReadFile(name + ".sql")
	if err != nil {
		return ""
	}
	return string(body)
}

// shape says which parts of a document a schema checks. The others are read just as
// strictly, but no tree is built of them: only little of a hostile file of many
// megabytes is ever kept, and only what matters of a good one is validated.
//
// Only the kind of a value with the nil shape is checked.
type shape struct {
	// all is true if everything within the value is checked.
	all bool
	// members are the shapes of an object's members by name. If others is true, rest
	// is the shape of the members that are not listed.
	members map[string]*shape
	rest    *shape
	others  bool
	// items is the shape of an array's elements, if listed is true.
	items  *shape
	listed bool
}

// everything is the shape of a value that is checked as a whole.
var everything = &shape{all: true}

// member returns the shape of a member, and whether it is checked.
func (s *shape) member(name []byte) (*shape, bool) {
	if s == nil || s.all {
		return s, s != nil
	}
	if m, ok := s.members[string(name)]; ok {
		return m, true
	}
	return s.rest, s.others
}

// element returns the shape of the elements, and whether they are checked.
func (s *shape) element() (*shape, bool) {
	if s == nil || s.all {
		return s, s != nil
	}
	return s.items, s.listed
}

// shapeOf returns the shape that a schema checks. A schema that is not known to be
// narrow checks everything.
func shapeOf(source map[string]any) *shape {
	return shaper{root: source, on: map[string]bool{"#": true}}.of(source)
}

// shaper finds the shapes of the parts of one schema.
type shaper struct {
	root map[string]any
	on   map[string]bool // the references that are being followed: a schema may refer to itself
}

// narrow lists the keywords that check no more of a value than its kind, its number,
// or the parts of it that own returns. Every other keyword may check all of it.
var narrow = []string{
	"$schema", "$id", "$defs", "definitions", "title", "description", "default", "$ref", "type",
	"required", "properties", "additionalProperties", "items", "minimum", "maximum",
}

func (s shaper) of(value any) *shape {
	schema, isObject := value.(map[string]any)
	if !isObject {
		return everything
	}
	for keyword := range schema {
		if !slices.Contains(narrow, keyword) {
			return everything
		}
	}
	own := s.own(schema)
	to, refers := schema["$ref"].(string)
	switch {
	case !refers:
		return own
	case own == nil:
		return s.referred(to)
	}
	return everything // draft 2020-12 lets keywords stand beside a reference
}

// referred returns the shape of the schema that a reference names.
func (s shaper) referred(to string) *shape {
	within, ok := strings.CutPrefix(to, "#/")
	if !ok || s.on[to] {
		return everything
	}
	s.on[to] = true
	defer delete(s.on, to)
	return s.of(follow(s.root, tokens("/"+within)))
}

// own returns the shape that a schema checks by its own keywords, nil for none.
func (s shaper) own(schema map[string]any) *shape {
	out := &shape{members: map[string]*shape{}}
	required, _ := schema["required"].([]any)
	for _, name := range required {
		out.members[name.(string)] = nil // the schema is compiled: it is text
	}
	properties, _ := schema["properties"].(map[string]any)
	for name, member := range properties {
		out.members[name] = s.of(member)
	}
	if rest, ok := schema["additionalProperties"]; ok {
		out.rest, out.others = s.of(rest), true
	}
	if items, ok := schema["items"]; ok {
		out.items, out.listed = s.of(items), true
	}
	if len(out.members) == 0 && !out.others && !out.listed {
		return nil
	}
	return out
}
