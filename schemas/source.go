package schemas

import (
	"bytes"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

//go:embed afl/*.json ask/*.json faber/*.json kernel/*.json optimizer/*.schema.json
var files embed.FS

// base is the address that embedded schemas have among themselves. It leads
// nowhere.
const base = "placet:///"

// endings are how the names of schema files may end, the longest first.
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
	return nil, fmt.Errorf("unknown schema %q: there are %s", name, strings.Join(Names(), ", "))
}

// schema is one embedded schema, compiled when it is first asked for.
type schema struct {
	compiled *jsonschema.Schema
	shape    *shape
	source   map[string]any
}

var compiled sync.Map // name → func() (*schema, error)

// load returns a schema ready for use.
func load(name string) (*schema, error) {
	entry, ok := compiled.Load(name)
	if !ok {
		entry, _ = compiled.LoadOrStore(name, sync.OnceValues(func() (*schema, error) { return compile(name) }))
	}
	return entry.(func() (*schema, error))()
}

func compile(name string) (*schema, error) {
	source, err := Source(name)
	if err != nil {
		return nil, err
	}
	tree, broken := parse(source, everything)
	if broken != nil {
		return nil, broken.named(name)
	}
	s, err := compiler().Compile(base + name + ".json")
	if err != nil {
		return nil, err
	}
	return &schema{compiled: s, shape: shapeOf(tree), source: tree}, nil
}

// compiler returns a compiler that knows the embedded schemas and no others.
func compiler() *jsonschema.Compiler {
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft7
	c.LoadURL = func(url string) (io.ReadCloser, error) {
		name, ok := strings.CutPrefix(url, base)
		name, isJSON := strings.CutSuffix(name, ".json")
		if !ok || !isJSON {
			return nil, fmt.Errorf("cannot load %s: a schema may refer to embedded schemas alone", url)
		}
		body, err := Source(name)
		return io.NopCloser(bytes.NewReader(body)), err
	}
	return c
}
