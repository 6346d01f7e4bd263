package main

import (
	"bufio"
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// mostMethods and mostFiles are the limits. A count above its limit needs an entry in the
// list of exceptions, whose numbers may only shrink.
const (
	mostMethods = 60 // of a type, including those of embedded types
	mostFiles   = 30 // of a folder, without tests
)

// shortFunction is how many lines a function with one caller may have to count as one that
// readers would rather have inlined.
const shortFunction = 4

// house holds the counts of the program as the compiler sees it.
type house struct {
	methods map[string]int // type → methods, including those of embedded types
	files   map[string]int // folder → Go files
	calls   []string       // short functions with one caller, sorted
}

// loaded returns the packages of the product below a folder.
func loaded(root string) ([]*packages.Package, error) {
	all, err := packages.Load(&packages.Config{
		Dir:  root,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports | packages.NeedDeps | packages.NeedModule,
	}, "./...")
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(p *packages.Package) bool {
		return slices.ContainsFunc(apart, func(dir string) bool { return within(p) == dir || strings.HasPrefix(within(p), dir+"/") })
	})
	for _, p := range all {
		if len(p.Errors) > 0 {
			return nil, p.Errors[0]
		}
	}
	return all, nil
}

// within returns the folder of a package, relative to the module.
func within(p *packages.Package) string {
	return strings.TrimPrefix(strings.TrimPrefix(p.PkgPath, p.Module.Path), "/")
}

// count counts the types, files and functions of the packages.
func count(all []*packages.Package) house {
	h := house{methods: map[string]int{}, files: map[string]int{}}
	uses := map[types.Object]int{}
	for _, p := range all {
		h.files[within(p)] = len(p.GoFiles) + len(p.IgnoredFiles)
		for _, o := range p.TypesInfo.Uses {
			uses[origin(o)]++
		}
		scope := p.Types.Scope()
		for _, name := range scope.Names() {
			if t, ok := scope.Lookup(name).(*types.TypeName); ok && !t.IsAlias() && !types.IsInterface(t.Type()) {
				h.methods[within(p)+"."+name] = types.NewMethodSet(types.NewPointer(t.Type())).Len()
			}
		}
	}
	for _, p := range all {
		for _, file := range p.Syntax {
			for _, decl := range file.Decls {
				f, ok := decl.(*ast.FuncDecl)
				if !ok || f.Body == nil || f.Name.IsExported() || lineCount(p.Fset, f.Body) > shortFunction {
					continue
				}
				if o := p.TypesInfo.Defs[f.Name]; uses[o] == 1 {
					h.calls = append(h.calls, fmt.Sprintf("%s: %s", within(p), f.Name.Name))
				}
			}
		}
	}
	slices.Sort(h.calls)
	return h
}

// origin returns the generic function of an instance.
func origin(o types.Object) types.Object {
	if f, ok := o.(*types.Func); ok {
		return f.Origin()
	}
	return o
}

// lineCount returns how many lines are between the braces of a body.
func lineCount(fset *token.FileSet, body *ast.BlockStmt) int {
	return max(1, fset.Position(body.Rbrace).Line-fset.Position(body.Lbrace).Line-1)
}

// above returns the counts above the limits, each with its kind before its name.
func (h house) above() map[string]int {
	list := map[string]int{}
	for name, n := range h.methods {
		if n > mostMethods {
			list["methods "+name] = n
		}
	}
	for name, n := range h.files {
		if n > mostFiles {
			list["files "+name] = n
		}
	}
	return list
}

// readExceptions reads a list of exceptions: a kind, a name and a number in each line.
func readExceptions(name string) (map[string]int, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	list := map[string]int{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if lines.Text() == "" || lines.Text()[0] == '#' {
			continue
		}
		var kind, of string
		var n int
		if _, err := fmt.Sscanf(lines.Text(), "%s %s %d", &kind, &of, &n); err != nil {
			return nil, fmt.Errorf("%s: %q: %w", name, lines.Text(), err)
		}
		list[kind+" "+of] = n
	}
	return list, lines.Err()
}

// compare returns how the counts differ from the list of exceptions.
func compare(above, listed map[string]int) (problems []string) {
	for what, n := range above {
		switch most, ok := listed[what]; {
		case !ok:
			problems = append(problems, fmt.Sprintf("%s: %d, the limit is %d", what, n, map[bool]int{true: mostMethods, false: mostFiles}[strings.HasPrefix(what, "methods ")]))
		case n > most:
			problems = append(problems, fmt.Sprintf("%s: %d, the list of exceptions has %d and may only shrink", what, n, most))
		case n < most:
			problems = append(problems, fmt.Sprintf("%s: %d, write that into the list of exceptions in the place of %d", what, n, most))
		}
	}
	for what := range listed {
		if _, still := above[what]; !still {
			problems = append(problems, what+": is below the limit, take it out of the list of exceptions")
		}
	}
	slices.Sort(problems)
	return problems
}

// print prints the largest of the counts.
func (h house) print(longest int) {
	for _, part := range []struct {
		title  string
		counts map[string]int
	}{{"methods, with those of what is embedded", h.methods}, {"Go files in a folder", h.files}} {
		fmt.Printf("\n%s\n", part.title)
		names := sortedKeys(part.counts)
		slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(part.counts[b], part.counts[a]) })
		for _, name := range names[:min(max(longest, 10), len(names))] {
			fmt.Printf("%5d  %s\n", part.counts[name], path.Clean(name))
		}
	}
	fmt.Printf("\n%d functions of at most %d lines have one caller\n", len(h.calls), shortFunction)
	for _, name := range h.calls[:min(longest, len(h.calls))] {
		fmt.Printf("       %s\n", name)
	}
}
