// Package wordcheck finds sentences for people in the code: they belong to
// templates/<language>/words.json, which has them in every language.
package wordcheck

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"strings"

	"golang.org/x/tools/go/analysis"

	"placet/templates"
)

// Analyzer reports literals with words in calls and structures whose texts people read, keys
// that words.json lacks, and sentences that do not get the values that they name.
var Analyzer = &analysis.Analyzer{
	Name: "wordcheck",
	Doc:  "find sentences for people that are not in words.json",
	Run:  run,
}

// printing are the functions whose texts people read.
var printing = map[string]bool{
	"fmt.Errorf": true, "errors.New": true, "fmt.Fprint": true, "fmt.Fprintf": true, "fmt.Fprintln": true,
	"(*placet/engine.Notes).Add": true, "(*placet/engine.Notes).Beside": true, "(*placet/engine.RunView).Await": true,
	"(*placet/engine/run.Input).Bad": true, "(*placet/engine/run.Waiting).Unblock": true, "(*placet/engine/run.Waiting).UnblockAt": true,
	"(*placet/engine/run.Waiting).Lacks": true, "(*placet/engine/run.Waiting).Bad": true, "(*placet/engine/run.Waiting).Noted": true,
	"(*placet/engine/run.Waiting).Written": true, "(*placet/cmd/placet/console.Table).Add": true, "(*placet/cmd/placet/console.Table).Style": true,
}

// shown are the members of structures that people read.
var shown = map[string]bool{
	"placet/engine.Finding.Text": true, "placet/engine.Transition.Reason": true, "placet/engine.UnblockingFile.Content": true,
	"placet/engine.Fact.Label": true, "placet/engine.Fact.Value": true, "placet/engine.OpenRequest.Problem": true,
	"placet/engine/run.Unreadable.Why": true,
}

// prefixing are functions of families that prepend the name of their package to a key.
var prefixing = map[string]bool{"say": true, "phrase": true, "words": true}

// sentence matches words of a language: letters with a blank beside them.
var sentence = regexp.MustCompile(`\pL{2,}[,:;.]* | \pL{2,}`)

// command matches the name of the program with a verb, which people type.
var command = regexp.MustCompile(`placet(:| \pL+)`)

func run(pass *analysis.Pass) (any, error) {
	for _, file := range pass.Files {
		if strings.HasSuffix(pass.Fset.File(file.Pos()).Name(), "_test.go") {
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				checkCall(pass, n)
			case *ast.CompositeLit:
				checkMembers(pass, n)
			}
			return true
		})
	}
	return nil, nil
}

func checkCall(pass *analysis.Pass, call *ast.CallExpr) {
	f, ok := called(pass, call)
	if !ok {
		return
	}
	if printing[f.FullName()] {
		for _, arg := range call.Args {
			checkText(pass, f.Name(), arg)
		}
	}
	params := f.Signature().Params()
	for i, arg := range call.Args {
		if i >= params.Len() {
			return
		}
		key, ok := text(pass, arg)
		switch {
		case !ok:
		case isKey(params.At(i).Type()) || prefixing[f.Name()] && params.At(i).Name() == "key":
			checkKey(pass, arg, key, call.Args[i+1:], f.Signature().Variadic() && !call.Ellipsis.IsValid())
			return
		}
	}
}

// called returns the function or method that a call names.
func called(pass *analysis.Pass, call *ast.CallExpr) (*types.Func, bool) {
	name, ok := ast.Unparen(call.Fun).(*ast.Ident)
	if selector, selects := ast.Unparen(call.Fun).(*ast.SelectorExpr); selects {
		name, ok = selector.Sel, true
	}
	if !ok {
		return nil, false
	}
	f, ok := pass.TypesInfo.Uses[name].(*types.Func)
	return f, ok
}

func isKey(t types.Type) bool { return types.TypeString(t, nil) == "placet/templates.Key" }

// text returns the value of a constant string.
func text(pass *analysis.Pass, e ast.Expr) (string, bool) {
	v := pass.TypesInfo.Types[e].Value
	if v == nil || v.Kind() != constant.String {
		return "", false
	}
	return constant.StringVal(v), true
}

// placeholder matches the place of a value in a sentence.
var placeholder = regexp.MustCompile(`\{([a-z_]+)\}`)

// checkKey checks that words.json has a key, and that the pairs of a call have all its values.
// whole is false if the call has further pairs that are unknown.
func checkKey(pass *analysis.Pass, at ast.Expr, key string, pairs []ast.Expr, whole bool) {
	english := templates.Text(templates.English, key)
	if english == key { // a function of a family prepends its name
		given := key
		key = path.Base(pass.Pkg.Path()) + "." + key
		if english = templates.Text(templates.English, key); english == key {
			pass.Reportf(at.Pos(), "words.json has neither %q nor %q", given, key)
			return
		}
	}
	if !whole || len(pairs)%2 != 0 {
		return
	}
	given := map[string]bool{}
	for i := 0; i < len(pairs); i += 2 {
		name, ok := text(pass, pairs[i])
		if !ok {
			return
		}
		given[name] = true
	}
	for _, name := range placeholder.FindAllStringSubmatch(english, -1) {
		if !given[name[1]] {
			pass.Reportf(at.Pos(), "%q needs a value for {%s}", key, name[1])
		}
	}
}

// checkMembers checks those members of a structure that people read.
func checkMembers(pass *analysis.Pass, lit *ast.CompositeLit) {
	of := types.TypeString(pass.TypesInfo.TypeOf(lit), nil)
	for _, e := range lit.Elts {
		if pair, ok := e.(*ast.KeyValueExpr); ok {
			if name := fmt.Sprint(pair.Key); shown[of+"."+name] {
				checkText(pass, name, pair.Value)
			}
		}
	}
}

// checkText reports the literals with words in an expression. It skips a call that takes a
// key, because that call has its own words.
func checkText(pass *analysis.Pass, of string, e ast.Expr) {
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if f, ok := called(pass, n); ok && takesKey(f) {
				return false
			}
		case *ast.FuncLit:
			return false
		case *ast.BasicLit:
			if s, ok := text(pass, n); ok && n.Kind == token.STRING && sentence.MatchString(command.ReplaceAllString(s, "")) {
				pass.Reportf(n.Pos(), "%s shows %s, which is not in words.json", of, n.Value)
			}
		}
		return true
	})
}

func takesKey(f *types.Func) bool {
	for p := range f.Signature().Params().Variables() {
		if isKey(p.Type()) || prefixing[f.Name()] && p.Name() == "key" {
			return true
		}
	}
	return false
}
