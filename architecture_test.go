package placet_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	namedFunc = regexp.MustCompile("`([a-z/]+): (?:([A-Za-z]+)\\.)?([A-Za-z]+)`")
	namedPath = regexp.MustCompile("`((?:cmd|engine|internal|layout|schemas|templates|docs)[a-z_/.-]*)`")
)

// Everything that ARCHITECTURE.md names exists: each hop is a function, each path a file.
func TestArchitectureNamesWhatIsThere(t *testing.T) {
	page, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	funcs := namedFunc.FindAllStringSubmatch(string(page), -1)
	if len(funcs) < 12 {
		t.Errorf("it names %d functions", len(funcs))
	}
	for _, m := range funcs {
		if !declares(t, m[1], m[2], m[3]) {
			t.Errorf("%s declares no %s", m[1], strings.Trim(m[2]+"."+m[3], "."))
		}
	}
	for _, m := range namedPath.FindAllStringSubmatch(string(page), -1) {
		if _, err := os.Stat(m[1]); err != nil {
			t.Error(err)
		}
	}
}

// declares reports whether a package declares a function, or a method of a type.
func declares(t *testing.T, dir, receiver, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range tree.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == name && receiverOf(f) == receiver {
				return true
			}
		}
	}
	return false
}

// receiverOf returns the name of the type whose method a function is, "" for none.
func receiverOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	typ := f.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	switch x := typ.(type) {
	case *ast.IndexExpr:
		typ = x.X
	case *ast.IndexListExpr:
		typ = x.X
	}
	if id, ok := typ.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}
