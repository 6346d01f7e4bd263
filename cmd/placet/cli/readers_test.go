package cli_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// readers are the files, besides the kernel and the families, that read documents of the
// workspace, with the reasons why they may. People and programs get the data of a run from the
// judged run: code that reads a document by itself trusts whatever is in that place.
var readers = map[string]string{
	"actions/actions.go":        "drafts and events of an action that is shown, beside its judged state",
	"actions/threads.go":        "where a request was posted, by the record of what this machine wrote; keys of answers",
	"answer/written.go":         "whether an answer stands that was written",
	"asks/agent.go":             "the form of an open request",
	"asks/newask.go":            "the question that stands under the key of the one that is asked",
	"asks/reuse.go":             "how often an answer was used, which is shown; the files of an answer that is given out once, compared with the record of what this machine wrote",
	"cli/adopt.go":              "the digest of the state that a person adopts",
	"cli/control.go":            "what stands in the place of a wish that is about to be written",
	"cli/faber/gate.go":         "the call that stands in the place of the one that is about to be written",
	"cli/faber/issue.go":        "the issue.json that the poller replaces, which it leaves alone if somebody else wrote it",
	"cli/nemawashi/list.go":     "the reports of a watchdog's own runs",
	"cli/nemawashi/watchdog.go": "the watchdog's input, which anybody may write; a final state is only passed over",
	"cli/optimizer/check.go":    "an input that check looks at",
	"cli/optimizer/replay.go":   "rows that a person replays, which the database checks",
	"cli/optimizer/trigger.go":  "whether a folder holds a cycle already",
	"cli/pal/hook.go":           "whether a report is written already",
	"view/closed.go":            "the question of a closed request, and its receipt, which is shown with its doubt",
	"view/detail.go":            "requests, artifacts and receipts that are shown; of a receipt with its doubt",
	"view/listed.go":            "the question of a notification",
	"view/requestdata.go":       "an answer that waits, shown as one",
	"web/commits.go":            "documents of commits, whose authors git tells",
	"workspace/open.go":         "the language of a run",
	"workspace/read.go":         "the reading itself",
	"workspace/write.go":        "the answer that stands in the place of the one that is written",
}

// reading are the calls that read a document.
var reading = []string{"ReadDocument", "Settled", "readRequestFile", "ReadState"}

func TestNobodyReadsDocumentsBesideTheKernel(t *testing.T) {
	found := map[string]bool{}
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if call, is := n.(*ast.CallExpr); is && reads(call.Fun) && len(call.Args) > 0 {
				found[filepath.ToSlash(strings.TrimPrefix(name, "../"))] = true
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range found {
		if readers[name] == "" {
			t.Errorf("%s reads a document of the workspace. Tell what the judged run says, or say in this test why it may", name)
		}
	}
	for name := range readers {
		if !found[name] {
			t.Errorf("%s reads no document any more: take it off the list", name)
		}
	}
}

// reads reports whether a called function reads a document: the store's Read counts, too, but
// no other Read.
func reads(fun ast.Expr) bool {
	switch f := fun.(type) {
	case *ast.Ident:
		return slices.Contains(reading, f.Name)
	case *ast.SelectorExpr:
		store, is := f.X.(*ast.SelectorExpr)
		return slices.Contains(reading, f.Sel.Name) || f.Sel.Name == "Read" && is && store.Sel.Name == "Store"
	}
	return false
}
