package web

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"placet/cmd/placet/console"
)

// kinds are the kinds of an answer's problems that are also codes.
var kinds = map[string]string{"KindInTheWay": console.KindInTheWay, "KindBusy": console.KindBusy, "KindUnusable": console.KindUnusable}

// refusedCodes returns the codes that the source of a package passes to Refuse and Deny. An argument
// that is neither a literal nor a kind is the code of an action's command.
func refusedCodes(t *testing.T, dir string) (codes []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) < 3 || calledName(call) != "Refuse" && calledName(call) != "Deny" {
				return true
			}
			switch code := call.Args[1].(type) {
			case *ast.BasicLit:
				word, _ := strconv.Unquote(code.Value)
				codes = append(codes, word)
			case *ast.SelectorExpr:
				word, ok := kinds[code.Sel.Name]
				if !ok {
					t.Errorf("%s: a code that nobody can look up: %s", name, code.Sel.Name)
				}
				codes = append(codes, word)
			}
			return true
		})
	}
	return codes
}

// calledName is the name of the function that a call names.
func calledName(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// commandCodes are the codes with which nemawashi refuses commands.
func commandCodes(t *testing.T) (codes []string) {
	t.Helper()
	given := regexp.MustCompile(`(?:refusal\(|return |OverrideNeedsApproval = )"([a-z]+_[a-z_]+)"`)
	for _, name := range []string{"command.go", "rules.go", "job.go"} {
		body, err := os.ReadFile(filepath.Join("..", "..", "..", "engine", "nemawashi", name))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range given.FindAllStringSubmatch(string(body), -1) {
			codes = append(codes, m[1])
		}
	}
	return codes
}

// The documentation lists exactly the codes with which a call can be refused.
func TestEveryCodeIsDocumented(t *testing.T) {
	given := slices.Concat(refusedCodes(t, "."), refusedCodes(t, "nemawashi"), refusedCodes(t, filepath.Join("..", "..", "..", "engine", "facade")), commandCodes(t))
	if len(given) < 30 {
		t.Fatalf("the source gives %q alone", given)
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "serve.md"))
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| \\d{3} \\|").FindAllStringSubmatch(string(page), -1) {
		listed = append(listed, m[1])
	}
	for _, code := range given {
		if !slices.Contains(listed, code) {
			t.Errorf("docs/serve.md does not list %q", code)
		}
	}
	for _, code := range listed {
		if !slices.Contains(given, code) {
			t.Errorf("docs/serve.md lists %q, with which nothing is refused", code)
		}
	}
}
