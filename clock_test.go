package placet_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// clockExceptions are the functions of tests that may read the real clock, as "file
// function", with the reason. A test that measures time fails on a busy machine: count
// calls, steps, stats or allocations, let time pass in a bubble of testing/synctest, or
// wait with internal/await, whose limit is the test binary's.
var clockExceptions = map[string]string{
	"cmd/placet/cli/e2e_torture_test.go jitter":                                "It sleeps under PLACET_TORTURE=full alone, to vary the moment of a kill; nothing depends on how long.",
	"cmd/placet/cli/e2e_torture_test.go doesNotSpin":                           "It compares processor time with the time that passes; a busy machine gives a daemon that spins less.",
	"cmd/placet/cli/e2e_mcp_clients_test.go TestMCP3RealHostsWaitForTheAnswer": "Real hosts give up after a minute of silence, so the answer must come later; it runs with PLACET_CLIENTS alone.",
	"cmd/placet/cli/e2e_crash_test.go TestFinalRunsAreLookedAtOnceAfterAStart": "It waits until a file is so old that placet believes it at first sight.",
	"cmd/placet/cli/e2e_optimizer_database_test.go once":                       "The clock that placet gets runs ahead; nothing has a deadline by it.",
	"cmd/placet/cli/answered_bench_test.go settled":                            "It is part of a benchmark: what was written a moment ago would cost a second look.",
}

// inBubble are functions of tests, as "folder function": those that run their argument in a
// bubble of testing/synctest, and those that are only called in one.
var inBubble = []string{
	"engine/facade onOwnClock", "engine/facade onPipes", "engine/facade sends",
	"engine/facade/notify inBubble",
	"engine/loop rests",
}

func TestNoTestLooksAtTheClock(t *testing.T) {
	tests := map[string]string{}
	for _, f := range sources(t) {
		if name := path.Join(f.dir, f.name); f.test() {
			body, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			tests[name] = string(body)
		}
	}
	for _, problem := range judgeClocks(t, tests, clockExceptions, inBubble) {
		t.Error(problem)
	}
}

// judgeClocks returns where tests read the clock, and which exceptions match nothing. The
// sources are keyed by the names of their files.
func judgeClocks(t *testing.T, sources, exceptions map[string]string, bubbles []string) []string {
	t.Helper()
	var problems []string
	fits := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		files := token.NewFileSet()
		tree, err := parser.ParseFile(files, name, sources[name], 0)
		if err != nil {
			t.Fatal(err)
		}
		bubble := func(function string) bool {
			key := path.Dir(name) + " " + function
			fits[key] = fits[key] || slices.Contains(bubbles, key)
			return function == "synctest.Test" || fits[key]
		}
		for _, d := range tree.Decls {
			where := name
			if f, ok := d.(*ast.FuncDecl); ok {
				where += " " + f.Name.Name
			}
			for _, use := range clockUses(d, bubble) {
				fits[where] = true
				if exceptions[where] == "" {
					problems = append(problems, fmt.Sprintf("%s, line %d: %s", where, files.Position(use.Pos()).Line, dotted(use.Fun)))
				}
			}
		}
	}
	for _, where := range slices.Concat(slices.Sorted(maps.Keys(exceptions)), bubbles) {
		if !fits[where] {
			problems = append(problems, where+": the list names it, and it fits nothing")
		}
	}
	return problems
}

// clockUses returns the calls below a node that read the real clock. It leaves out
// benchmarks and code in a bubble.
func clockUses(n ast.Node, bubble func(function string) bool) []*ast.CallExpr {
	var uses []*ast.CallExpr
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			return !isBenchmark(n.Type) && !bubble(n.Name.Name)
		case *ast.FuncLit:
			return !isBenchmark(n.Type)
		case *ast.CallExpr:
			if bubble(dotted(n.Fun)) {
				return false
			}
			if usesClock(n) {
				uses = append(uses, n)
			}
		}
		return true
	})
	return uses
}

// isBenchmark reports whether a function takes a *testing.B.
func isBenchmark(f *ast.FuncType) bool {
	return slices.ContainsFunc(f.Params.List, func(p *ast.Field) bool {
		star, ok := p.Type.(*ast.StarExpr)
		return ok && dotted(star.X) == "testing.B"
	})
}

// usesClock reports whether a call sleeps, measures time, or sets a limit below a minute.
func usesClock(call *ast.CallExpr) bool {
	name := dotted(call.Fun)
	switch name {
	case "time.Sleep", "time.Since", "time.Until", "time.NewTicker", "time.Tick", "context.WithDeadline":
		return true
	case "time.After", "time.NewTimer", "time.AfterFunc":
		return !isMinutes(call.Args[0])
	case "context.WithTimeout":
		return !isMinutes(call.Args[1])
	case "time.Now().Add":
		return !isMinutes(call.Args[0])
	case "time.Now().Sub", "time.Now().After", "time.Now().Before":
		return true
	}
	if method, ok := call.Fun.(*ast.SelectorExpr); ok && len(call.Args) == 1 {
		arg, ok := call.Args[0].(*ast.CallExpr)
		return ok && dotted(arg.Fun) == "time.Now" && slices.Contains([]string{"After", "Before", "Sub"}, method.Sel.Name)
	}
	return false
}

// isMinutes reports whether an expression is a constant of a minute or more, or points
// into the past.
func isMinutes(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.UnaryExpr:
		return e.Op == token.SUB
	case *ast.BinaryExpr:
		return e.Op == token.MUL && (isMinutes(e.X) || isMinutes(e.Y))
	}
	return dotted(e) == "time.Minute" || dotted(e) == "time.Hour"
}

// dotted returns a name with the packages, values and calls before it.
func dotted(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return dotted(e.X) + "." + e.Sel.Name
	case *ast.CallExpr:
		return dotted(e.Fun) + "()"
	}
	return "?"
}

func TestTheCheckOfClocksFindsThem(t *testing.T) {
	const file = "engine/x/x_test.go"
	tests := []struct{ name, body, want string }{
		{"sleep", "time.Sleep(d)", "time.Sleep"},
		{"measure", "if time.Since(began) > d {}", "time.Since"},
		{"tick", "tick := time.NewTicker(d)", "time.NewTicker"},
		{"wait", "select { case <-c: case <-time.After(20 * time.Second): }", "time.After"},
		{"a variable wait", "<-time.After(within)", "time.After"},
		{"a long wait", "<-time.After(2 * time.Minute)", ""},
		{"timer", "time.AfterFunc(59*time.Second, f)", "time.AfterFunc"},
		{"context", "ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)", "context.WithTimeout"},
		{"a long context", "ctx, cancel := context.WithTimeout(t.Context(), time.Hour)", ""},
		{"a context that is over", "ctx, cancel := context.WithTimeout(t.Context(), -1)", ""},
		{"deadline", "ctx, cancel := context.WithDeadline(t.Context(), at)", "context.WithDeadline"},
		{"loop", "for end := time.Now().Add(d); !ok(); {}", "time.Now().Add"},
		{"a moment in the past", "at := time.Now().Add(-time.Second)", ""},
		{"end of a loop", "if time.Now().After(end) {}", "time.Now().After"},
		{"end of a loop, turned", "if end.Before(time.Now()) {}", "end.Before"},
		{"what took how long", "took := time.Now().Sub(began)", "time.Now().Sub"},
		{"the present", "at := time.Now()", ""},
		{"bubble", "synctest.Test(t, func(t *testing.T) { time.Sleep(d) })", ""},
		{"beside a bubble", "synctest.Test(t, f); time.Sleep(d)", "time.Sleep"},
		{"a bubble of its own", "bubble(func() { time.Sleep(d) })", ""},
		{"benchmark", "b.Run(name, func(b *testing.B) { time.Sleep(d) })", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			body := "package x\nfunc TestX(t *testing.T) {\n" + test.body + "\n}\nfunc bubble(f func()) { synctest.Test(t, f) }\n"
			var want []string
			if test.want != "" {
				want = []string{file + " TestX, line 3: " + test.want}
			}
			if diff := cmp.Diff(want, judgeClocks(t, map[string]string{file: body}, nil, []string{"engine/x bubble"})); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
	body := map[string]string{file: "package x\nfunc wait() { time.Sleep(d) }\nfunc rest() { time.Sleep(d) }\n"}
	got := judgeClocks(t, body, map[string]string{file + " wait": "A reason.", file + " gone": "A reason."}, []string{"engine/x nothing"})
	want := []string{
		file + " rest, line 3: time.Sleep",
		file + " gone: the list names it, and it fits nothing",
		"engine/x nothing: the list names it, and it fits nothing",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("exceptions (-want +got):\n%s", diff)
	}
}
