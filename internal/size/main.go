// Command size prints how many lines of code the product has, by package, how long its functions are, how many methods
// its types have including those of embedded types, how many files a folder has, and how many short functions have one
// caller. A line counts if it holds a token of Go that is no comment. Tests, and packages that no program is built
// from, are left out.
package main

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// apart are the folders whose code is in no program for people.
var apart = []string{"testdata", "internal", "engine/store/memfs"}

// counted holds the counts of a package, or of all packages.
type counted struct {
	lines   int
	lengths []int          // of its functions, in lines
	methods map[string]int // type → methods
}

func main() {
	log.SetFlags(0)
	functions := flag.Int("longest", 0, "name that many of the largest things of each kind")
	flag.Parse()
	root := "."
	if flag.NArg() > 0 {
		root = flag.Arg(0)
	}
	c := counter{fset: token.NewFileSet(), packages: map[string]*counted{}}
	if err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return c.visit(root, name, d)
	}); err != nil {
		log.Fatal(err)
	}
	c.print(*functions)
	all, err := loaded(root)
	if err != nil {
		log.Fatal(err)
	}
	count(all).print(*functions)
}

// function is a function in the list of the longest.
type function struct {
	name  string
	lines int
}

type counter struct {
	fset      *token.FileSet
	packages  map[string]*counted
	functions []function
}

func (c *counter) visit(root, name string, d fs.DirEntry) error {
	rel, err := filepath.Rel(root, name)
	if err != nil {
		return err
	}
	switch {
	case d.IsDir() && (slices.Contains(apart, filepath.ToSlash(rel)) || rel != "." && strings.HasPrefix(d.Name(), ".")):
		return filepath.SkipDir
	case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
		return nil
	}
	body, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	p := c.packages[filepath.Dir(rel)]
	if p == nil {
		p = &counted{methods: map[string]int{}}
		c.packages[filepath.Dir(rel)] = p
	}
	p.lines += codeLines(body)
	file, err := parser.ParseFile(c.fset, rel, body, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Body != nil {
			c.function(p, rel, f)
		}
	}
	return nil
}

func (c *counter) function(p *counted, rel string, f *ast.FuncDecl) {
	lines := c.fset.Position(f.End()).Line - c.fset.Position(f.Pos()).Line + 1
	p.lengths = append(p.lengths, lines)
	c.functions = append(c.functions, function{fmt.Sprintf("%s: %s", rel, f.Name.Name), lines})
	if f.Recv != nil {
		p.methods[receiver(f.Recv.List[0].Type)]++
	}
}

// receiver returns the name of a method's type.
func receiver(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return receiver(t.X)
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.IndexListExpr:
		return receiver(t.X)
	case *ast.Ident:
		return t.Name
	}
	return "?"
}

// codeLines counts the lines with a token. A token of several lines counts for each line that is not blank.
func codeLines(body []byte) int {
	fset := token.NewFileSet()
	file := fset.AddFile("", fset.Base(), len(body))
	var s scanner.Scanner
	s.Init(file, body, nil, 0)
	lines := map[int]bool{}
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			return len(lines)
		}
		if tok == token.SEMICOLON && text == "\n" {
			continue // the scanner inserted it
		}
		first := file.Line(pos)
		for i, line := range strings.Split(text, "\n") {
			if i == 0 || strings.TrimSpace(line) != "" {
				lines[first+i] = true
			}
		}
	}
}

func (c *counter) print(longest int) {
	fmt.Printf("%-24s %7s %6s %6s %5s  %s\n", "package", "lines", "funcs", "median", "p90", "most methods")
	all := counted{methods: map[string]int{}}
	for _, name := range sortedKeys(c.packages) {
		p := c.packages[name]
		p.print(name)
		all.lines += p.lines
		all.lengths = append(all.lengths, p.lengths...)
		for typ, n := range p.methods {
			all.methods[filepath.Base(name)+"."+typ] = n
		}
	}
	all.print("all")
	slices.SortFunc(c.functions, func(a, b function) int { return b.lines - a.lines })
	for _, f := range c.functions[:min(longest, len(c.functions))] {
		fmt.Printf("%5d  %s\n", f.lines, f.name)
	}
}

func (p *counted) print(name string) {
	slices.Sort(p.lengths)
	most := ""
	for _, typ := range sortedKeys(p.methods) {
		if most == "" || p.methods[typ] > p.methods[most] {
			most = typ
		}
	}
	fmt.Printf("%-24s %7d %6d %6d %5d  %d %s\n", name, p.lines, len(p.lengths), p.part(50), p.part(90), p.methods[most], most)
}

// part returns the length that percent of a hundred functions do not exceed.
func (p *counted) part(percent int) int {
	if len(p.lengths) == 0 {
		return 0
	}
	return p.lengths[min(len(p.lengths)*percent/100, len(p.lengths)-1)]
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
