// Command macos reports whether the program and all tests would compile on macOS, and what go vet
// would say of them there. It must run in the module's folder:
//
//	go run ./internal/macos
//
// It reads the sources of every package, of the libraries too, as the compiler's front end does,
// and compiles nothing: go vet for another system builds all libraries for that system first,
// which takes minutes. What only the back end finds (assembly, the linker) is found by make release.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"
)

// everything is what a package is loaded with: the syntax and types of it and of all it imports.
const everything = packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
	packages.NeedTypes | packages.NeedTypesSizes | packages.NeedTypesInfo | packages.NeedSyntax | packages.NeedModule

func main() {
	problems, n, err := check(".", "darwin", "arm64")
	if err != nil {
		fmt.Fprintln(os.Stderr, "macos:", err)
		os.Exit(1)
	}
	for _, p := range problems {
		fmt.Fprintln(os.Stderr, p)
	}
	if len(problems) > 0 {
		os.Exit(1)
	}
	fmt.Printf("%d packages and test packages compile for macOS, and go vet is content\n", n)
}

// check returns what is wrong with the packages of a module and their tests on a system, and how
// many there are.
func check(root, system, machine string) (problems []string, n int, err error) {
	root, err = filepath.Abs(root)
	if err != nil {
		return nil, 0, err
	}
	all, err := packages.Load(&packages.Config{
		Mode: everything, Dir: root, Tests: true, ParseFile: ownBodies(root),
		Env: append(os.Environ(), "GOOS="+system, "GOARCH="+machine, "CGO_ENABLED=0"),
	}, "./...")
	if err != nil {
		return nil, 0, err
	}
	// The main packages of tests are generated, and have no source to be read.
	all = slices.DeleteFunc(all, func(p *packages.Package) bool { return strings.HasSuffix(p.ID, ".test") })
	for _, p := range all {
		for _, e := range p.Errors {
			problems = append(problems, e.Error())
		}
	}
	if len(problems) > 0 {
		return problems, len(all), nil
	}
	said, err := vet(all)
	return said, len(all), err
}

// ownBodies returns a parser that leaves out the bodies of functions of libraries: only their
// signatures matter.
func ownBodies(root string) func(*token.FileSet, string, []byte) (*ast.File, error) {
	return func(fset *token.FileSet, name string, src []byte) (*ast.File, error) {
		f, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution|parser.ParseComments)
		if f == nil || strings.HasPrefix(name, root+string(filepath.Separator)) {
			return f, err
		}
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok {
				d.Body = nil
			}
		}
		return f, err
	}
}

// vet returns what the analyzers of go vet say of packages.
func vet(all []*packages.Package) (problems []string, err error) {
	// Libraries without bodies have imports that nothing uses. Their types are sound.
	packages.Visit(all, nil, func(p *packages.Package) { p.IllTyped = false })
	graph, err := checker.Analyze(analyzers, all, nil)
	if err != nil {
		return nil, err
	}
	for action := range graph.All() {
		if action.Err != nil && action.IsRoot {
			return nil, fmt.Errorf("%s: %w", action, action.Err)
		}
		for _, d := range action.Diagnostics {
			problems = append(problems, fmt.Sprintf("%s: %s: %s", action.Package.Fset.Position(d.Pos), action.Analyzer.Name, d.Message))
		}
	}
	return problems, nil
}
