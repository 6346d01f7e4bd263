package wordcheck

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"
)

// untranslated are the files whose texts nobody translates, and why.
var untranslated = map[string]string{
	"engine/exec":                  "reasons in the outcome of a command, which families read as data, and faults of the system",
	"engine/send":                  "reasons in the outcome of a send, which families read as data",
	"engine/loop":                  "faults of the program",
	"engine/watch":                 "faults of the program",
	"engine/sqlite":                "faults of the program",
	"engine/jsonedit":              "faults of the program",
	"engine/store/memfs":           "a disk for tests",
	"templates/render.go":          "faults of the program: without its words it says nothing",
	"engine/facade/events.go":      "a protocol",
	"engine/facade/mcp":            "agents read it",
	"engine/facade/notify/send.go": "matched in what a library says",
	"cmd/placet/asks/agent.go":     "agents read it",
	"cmd/placet/cli/graph.go":      "languages of drawings",
	"cmd/placet/cli/version.go":    "names and numbers",
	"cmd/placet/web/paging.go":     "programs read it",
	"cmd/placet/web/runs.go":       "programs read it",
	"cmd/placet/web/slack.go":      "programs read it",
	"engine/faber/context.go":      "agents read it",
	"engine/nemawashi/payload.go":  "compared, never shown",
}

// This is check 3 of languages.
func TestLanguageCheck3NoSentenceStandsInTheCode(t *testing.T) {
	if testing.Short() {
		t.Skip("-short is for the race detector, and nothing here runs beside anything else")
	}
	found, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax, Dir: filepath.Join("..", "..")}, "./engine/...", "./cmd/...", "./schemas", "./layout", "./templates")
	if err != nil {
		t.Fatal(err)
	}
	if packages.PrintErrors(found) > 0 {
		t.Fatal("the module does not compile")
	}
	graph, err := checker.Analyze([]*analysis.Analyzer{Analyzer}, found, nil)
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, action := range graph.Roots {
		if action.Err != nil {
			t.Fatal(action.Err)
		}
		for _, d := range action.Diagnostics {
			at := action.Package.Fset.Position(d.Pos)
			name, err := filepath.Rel(root, at.Filename)
			if err != nil {
				t.Fatal(err)
			}
			if excused(name, used) == "" {
				t.Errorf("%s:%d: %s", name, at.Line, d.Message)
			}
		}
	}
	for name := range untranslated {
		if !used[name] {
			t.Errorf("%s needs no excuse", name)
		}
	}
}

// excused returns why the texts of a file, or of its folder, are not translated.
func excused(name string, used map[string]bool) string {
	for at, why := range untranslated {
		if name == at || strings.HasPrefix(name, at+"/") {
			used[at] = true
			return why
		}
	}
	return ""
}

func TestSentencesAreFound(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), Analyzer, "sample")
}
