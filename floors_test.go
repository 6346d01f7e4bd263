// Package placet_test keeps the floors of the house: which package may import which, and which
// module may be imported only where. The tables are a policy, not a description: if this test
// fails, the import is wrong. Do not change the tables to make a build pass; change them when
// the design changes.
package placet_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// module is the path of this module, as go.mod has it.
var module = func() string {
	body, err := os.ReadFile("go.mod")
	if err != nil {
		panic(err)
	}
	line, _, _ := strings.Cut(string(body), "\n")
	return strings.TrimPrefix(line, "module ")
}()

// floor is one storey: its packages may import those of lower floors, and those of its own if
// beside says so.
type floor struct {
	name     string
	packages []string
	// beside are the arrows allowed within the floor, "from to".
	beside []string
	// never are lower floors that must not be imported.
	never []string
}

// floors lists the floors from the ground up.
var floors = []floor{
	{
		name:     "ground",
		packages: []string{"layout", "schemas", "templates", "internal/await", "internal/badinput", "internal/lazyregexp", "internal/leftovers", "internal/ntfytest", "internal/pseudo"},
		beside:   []string{"schemas templates", "layout templates", "layout internal/lazyregexp", "schemas internal/lazyregexp", "templates internal/lazyregexp"},
	},
	{name: "kernel", packages: []string{"engine"}},
	{
		name:     "patterns",
		packages: []string{"engine/gate", "engine/jsonedit", "engine/run", "engine/run/post", "engine/slack", "engine/testoutput", "engine/graph"},
		beside:   []string{"engine/run engine/gate", "engine/run/post engine/run", "engine/run/post engine/gate", "engine/run/post engine/slack", "engine/slack engine/gate"},
	},
	{name: "parts of families", packages: []string{"engine/faber/comment"}},
	{name: "families", packages: []string{"engine/ask", "engine/faber", "engine/afl", "engine/optimizer", "engine/nemawashi", "engine/pal"}},
	{
		name:     "acting half",
		packages: []string{"engine/statedir", "engine/store", "engine/store/disk", "engine/store/fs", "engine/store/lock", "engine/store/read", "engine/store/statcache", "engine/store/memfs", "engine/watch", "engine/exec", "engine/send", "engine/sqlite", "engine/loop", "engine/facade", "engine/facade/mcp", "engine/facade/notify"},
		beside: []string{
			"engine/store/memfs engine/store/fs",
			"engine/store engine/store/disk", "engine/store engine/store/fs", "engine/store engine/store/lock", "engine/store engine/store/read", "engine/store engine/store/statcache",
			"engine/store/read engine/store/disk", "engine/store/read engine/store/fs", "engine/store/read engine/store/statcache",
			"engine/store/lock engine/store/disk", "engine/store/lock engine/store/fs", "engine/store/lock engine/store/statcache",
			"engine/store/disk engine/store/fs", "engine/store/disk engine/store/statcache", "engine/store/statcache engine/store/fs",
			"engine/exec engine/store", "engine/exec engine/store/fs", "engine/exec engine/statedir",
			"engine/exec engine/sqlite", // a test of the queue before a database
			"engine/statedir engine/store/fs",
			"engine/facade/notify engine/statedir",
			"engine/loop engine/store", "engine/loop engine/store/fs", "engine/loop engine/watch", "engine/loop engine/store/statcache",
		},
		never: []string{"families"},
	},
	{name: "laws", packages: []string{"internal/enginetest", "internal/browsertest"}, never: []string{"families"}},
	{
		name: "wiring",
		packages: []string{"cmd/placet/console", "cmd/placet/family", "cmd/placet/config", "cmd/placet/hook", "cmd/placet/workspace", "cmd/placet/view", "cmd/placet/answer", "cmd/placet/announce", "cmd/placet/actions", "cmd/placet/asks", "cmd/placet/web/nemawashi", "cmd/placet/web", "cmd/placet/daemon",
			"cmd/placet/cli/verb", "cmd/placet/cli/faber", "cmd/placet/cli/pal", "cmd/placet/cli/nemawashi", "cmd/placet/cli/optimizer", "cmd/placet/cli/ask", "cmd/placet/cli/hook", "cmd/placet/cli/demo", "cmd/placet/cli/setup", "cmd/placet/cli", "cmd/placet", "internal/bench", "internal/crossing", "internal/man"},
		beside: []string{
			"cmd/placet/family cmd/placet/console",
			"cmd/placet/config cmd/placet/console", "cmd/placet/config cmd/placet/family",
			"cmd/placet/hook cmd/placet/config", "cmd/placet/cli cmd/placet/hook",
			"cmd/placet/workspace cmd/placet/console", "cmd/placet/workspace cmd/placet/config", "cmd/placet/workspace cmd/placet/family",
			"cmd/placet/cli cmd/placet/console", "cmd/placet/cli cmd/placet/config", "cmd/placet/cli cmd/placet/family", "cmd/placet/cli cmd/placet/workspace",
			"cmd/placet/web cmd/placet/console", "cmd/placet/web cmd/placet/config", "cmd/placet/web cmd/placet/workspace", "cmd/placet/cli cmd/placet/web",
			"cmd/placet/daemon cmd/placet/console", "cmd/placet/daemon cmd/placet/config", "cmd/placet/daemon cmd/placet/workspace", "cmd/placet/daemon cmd/placet/web",
			"cmd/placet/cli cmd/placet/daemon",
			"cmd/placet/cli/verb cmd/placet/console", "cmd/placet/cli/verb cmd/placet/config", "cmd/placet/cli/verb cmd/placet/workspace",
			"cmd/placet/cli/pal cmd/placet/console", "cmd/placet/cli/pal cmd/placet/config", "cmd/placet/cli/pal cmd/placet/workspace", "cmd/placet/cli/pal cmd/placet/cli/verb",
			"cmd/placet/cli/faber cmd/placet/console", "cmd/placet/cli/faber cmd/placet/daemon", "cmd/placet/cli/faber cmd/placet/cli/ask", "cmd/placet/cli/faber cmd/placet/workspace", "cmd/placet/cli/faber cmd/placet/cli/verb", "cmd/placet/cli/faber cmd/placet/view", "cmd/placet/cli cmd/placet/cli/faber", "cmd/placet/cli/faber cmd/placet/answer", "cmd/placet/cli/faber cmd/placet/config",
			"cmd/placet/cli/nemawashi cmd/placet/console", "cmd/placet/cli/nemawashi cmd/placet/config", "cmd/placet/cli/nemawashi cmd/placet/workspace", "cmd/placet/cli/nemawashi cmd/placet/cli/verb",
			"cmd/placet/cli cmd/placet/cli/verb", "cmd/placet/cli cmd/placet/cli/pal", "cmd/placet/cli cmd/placet/cli/nemawashi", "cmd/placet/cli cmd/placet/cli/demo",
			"cmd/placet/cli/demo cmd/placet/console", "cmd/placet/cli/demo cmd/placet/workspace", "cmd/placet/cli/demo cmd/placet/cli/verb",
			"cmd/placet/cli/optimizer cmd/placet/console", "cmd/placet/cli/optimizer cmd/placet/family", "cmd/placet/cli/optimizer cmd/placet/workspace", "cmd/placet/cli/optimizer cmd/placet/daemon", "cmd/placet/cli/optimizer cmd/placet/cli/verb",
			"cmd/placet/cli/ask cmd/placet/console", "cmd/placet/cli/ask cmd/placet/workspace", "cmd/placet/cli/ask cmd/placet/cli/verb", "cmd/placet/cli/ask cmd/placet/cli/setup",
			"cmd/placet/cli/hook cmd/placet/console", "cmd/placet/cli/hook cmd/placet/config", "cmd/placet/cli/hook cmd/placet/family", "cmd/placet/cli/hook cmd/placet/hook",
			"cmd/placet/cli/hook cmd/placet/workspace", "cmd/placet/cli/hook cmd/placet/cli/verb", "cmd/placet/cli/hook cmd/placet/cli/ask", "cmd/placet/cli cmd/placet/cli/hook",
			"cmd/placet/cli cmd/placet/cli/optimizer", "cmd/placet/cli cmd/placet/cli/ask", "cmd/placet/cli cmd/placet/cli/setup",
			"cmd/placet/cli/setup cmd/placet/console", "cmd/placet/cli/setup cmd/placet/config", "cmd/placet/cli/setup cmd/placet/family", "cmd/placet/cli/setup cmd/placet/hook",
			"cmd/placet/cli/setup cmd/placet/workspace", "cmd/placet/cli/setup cmd/placet/cli/verb", "cmd/placet/cli/setup cmd/placet/cli/nemawashi",
			"cmd/placet/actions cmd/placet/console", "cmd/placet/actions cmd/placet/view", "cmd/placet/actions cmd/placet/workspace",
			"cmd/placet/announce cmd/placet/console", "cmd/placet/announce cmd/placet/answer", "cmd/placet/announce cmd/placet/view", "cmd/placet/announce cmd/placet/workspace",
			"cmd/placet/answer cmd/placet/config", "cmd/placet/answer cmd/placet/console", "cmd/placet/answer cmd/placet/view", "cmd/placet/answer cmd/placet/workspace",
			"cmd/placet/asks cmd/placet/announce", "cmd/placet/asks cmd/placet/answer", "cmd/placet/asks cmd/placet/config", "cmd/placet/asks cmd/placet/console", "cmd/placet/asks cmd/placet/view", "cmd/placet/asks cmd/placet/workspace",
			"cmd/placet/cli cmd/placet/announce", "cmd/placet/cli cmd/placet/answer", "cmd/placet/cli cmd/placet/asks", "cmd/placet/cli cmd/placet/view",
			"cmd/placet/cli/ask cmd/placet/answer", "cmd/placet/cli/ask cmd/placet/asks", "cmd/placet/cli/ask cmd/placet/daemon", "cmd/placet/cli/ask cmd/placet/view",
			"cmd/placet/cli/hook cmd/placet/announce", "cmd/placet/cli/hook cmd/placet/asks",
			"cmd/placet/cli/nemawashi cmd/placet/actions", "cmd/placet/cli/nemawashi cmd/placet/view",
			"cmd/placet/cli/optimizer cmd/placet/asks", "cmd/placet/cli/optimizer cmd/placet/view",
			"cmd/placet/cli/pal cmd/placet/view",
			"cmd/placet/cli/setup cmd/placet/view",
			"cmd/placet/cli/verb cmd/placet/answer", "cmd/placet/cli/verb cmd/placet/view",
			"cmd/placet/daemon cmd/placet/announce", "cmd/placet/daemon cmd/placet/view",
			"cmd/placet/view cmd/placet/config", "cmd/placet/view cmd/placet/console", "cmd/placet/view cmd/placet/family", "cmd/placet/view cmd/placet/workspace",
			"cmd/placet/web cmd/placet/actions", "cmd/placet/web cmd/placet/answer", "cmd/placet/web cmd/placet/asks", "cmd/placet/web cmd/placet/view",
			"cmd/placet cmd/placet/cli", "internal/crossing cmd/placet/cli", "internal/man cmd/placet/cli",
			"cmd/placet/web cmd/placet/web/nemawashi", "cmd/placet/web/nemawashi cmd/placet/actions", "cmd/placet/web/nemawashi cmd/placet/answer", "cmd/placet/web/nemawashi cmd/placet/console", "cmd/placet/web/nemawashi cmd/placet/view", "cmd/placet/web/nemawashi cmd/placet/workspace",
		},
		never: []string{"laws"},
	},
	{name: "laboratory", packages: []string{"internal/faultsim", "internal/licences", "internal/macos", "internal/module", "internal/mutants", "internal/size", "internal/upstreamflow", "internal/wordcheck"}, never: []string{"wiring"}},
}

// familyFiles are the files that every family's folder has, so that a reader who knows one
// family knows all.
var familyFiles = []string{"doc.go", "state.go", "rules.go", "outputs.go", "questions.go", "view.go"}

// modules says where a module of others may be imported.
var modules = map[string][]string{
	"github.com/fsnotify/fsnotify":             {"engine/watch", "internal/bench"},
	"github.com/santhosh-tekuri/jsonschema/v5": {"schemas"},
	"github.com/go-json-experiment/json":       {"schemas", "engine/jsonedit", "cmd/placet/console", "cmd/placet/view"},
	"go.yaml.in/yaml/v3":                       {"schemas"},
	"github.com/yuin/goldmark":                 {"engine/gate", "cmd/placet/web"},
	"github.com/aymanbagabas/go-udiff":         {"engine/gate"},
	"github.com/spf13/cobra":                   {"cmd/placet/cli", "cmd/placet/cli/verb", "internal/man"},
	"github.com/spf13/pflag":                   {"cmd/placet/cli", "cmd/placet/cli/verb", "cmd/placet/cli/pal", "cmd/placet/cli/nemawashi", "cmd/placet/cli/optimizer", "cmd/placet/cli/ask", "cmd/placet/cli/faber", "cmd/placet/cli/hook", "cmd/placet/cli/demo", "cmd/placet/cli/setup", "internal/man"},
	"github.com/BurntSushi/toml":               {"cmd/placet/config", "cmd/placet/hook"},
	"golang.org/x/term":                        {"cmd/placet/console", "cmd/placet/cli"},
	// Only gate decides what looks like an option, or like a word that refuses.
	"go.mau.fi/util":    {"engine/gate"},
	"golang.org/x/text": {"engine/gate"},
	// Domains of other scripts are shown in the form in which they are looked up, and a server
	// bounds its connections.
	"golang.org/x/net":      {"engine/nemawashi", "engine/facade"},
	"github.com/prometheus": {}, // see inTests: a test has its client read the metrics
	// A database is a copy for others to read: only the package that writes it may know about it.
	"modernc.org/sqlite": {"engine/sqlite"},
	"modernc.org/libc":   {"engine/sqlite"}, // to configure SQLite before it starts
	// Only one package knows what Slack accepts and sends.
	"github.com/slack-go/slack": {}, // see inTests: a test has its client read the messages
	// Only one package knows the protocol of agents.
	"github.com/modelcontextprotocol/go-sdk": {"engine/facade/mcp"},
	// Only one package knows the services of notifications.
	"github.com/nicholas-fedor/shoutrrr": {"engine/facade/notify"},
	// A shell's reading of a command is known where commands run, and where agents' commands are judged.
	"mvdan.cc/sh/v3": {"engine/exec", "cmd/placet/hook"},
	// Everything that leaves this machine leaves it from one package.
	"github.com/wneessen/go-mail": {"engine/send"},
	"github.com/emersion/go-smtp": {}, // see inTests: only tests need a server
	"github.com/emersion/go-sasl": {},
	"golang.org/x/tools":          {"internal/wordcheck", "internal/size", "internal/macos"},
	"github.com/chromedp":         {"internal/browsertest"}, // only tests need a browser
	"golang.org/x/sys":            {"engine/statedir", "engine/store", "engine/store/fs", "engine/watch", "engine/exec", "engine/sqlite", "internal/bench", "cmd/placet/console", "cmd/placet/cli"},
}

// testModules may be imported by every package's tests and by the laws.
var testModules = []string{"github.com/google/go-cmp", "github.com/rogpeppe/go-internal", "pgregory.net/rapid"}

// inTests says where else tests may import a module of the program: to read what placet
// wrote as others read it.
var inTests = map[string][]string{
	"github.com/yuin/goldmark":               {"engine/optimizer"},
	"modernc.org/sqlite":                     {"cmd/placet/cli"},
	"github.com/emersion/go-smtp":            {"engine/send"},
	"github.com/emersion/go-sasl":            {"engine/send"},
	"github.com/prometheus":                  {"cmd/placet/daemon"},
	"github.com/slack-go/slack":              {"engine/slack"},
	"github.com/chromedp":                    {"cmd/placet/cli", "cmd/placet/web"},
	"github.com/modelcontextprotocol/go-sdk": {"cmd/placet/cli"}, // a client of it
}

// testPackages may be imported by tests of every floor and by one another, but by no part
// of the program.
var testPackages = []string{"internal/await", "internal/leftovers", "internal/enginetest", "internal/browsertest", "engine/store/memfs", "internal/badinput", "internal/faultsim", "internal/upstreamflow", "internal/wordcheck"}

// badNames are names that a package must not have: they say where code was left, not what it is.
var badNames = []string{"util", "utils", "helper", "helpers", "common", "misc", "shared", "base"}

// file is one Go file: the folder of its package, and what it imports.
type file struct {
	dir, name, pkg string
	imports        []string
}

func (f file) test() bool { return strings.HasSuffix(f.name, "_test.go") }

func TestImportsOnlyGoDown(t *testing.T) {
	for _, problem := range judge(sources(t)) {
		t.Error(problem)
	}
}

func TestThePackagesOfTheFloorsExist(t *testing.T) {
	for _, f := range floors {
		for _, dir := range f.packages {
			if found, err := filepath.Glob(filepath.Join(dir, "*.go")); err != nil || len(found) == 0 {
				t.Errorf("%s: the table names it, and it holds no Go file", dir)
			}
		}
	}
}

func TestEveryFamilyFolderHoldsTheSameFiles(t *testing.T) {
	for _, problem := range judgeFamilies(sources(t)) {
		t.Error(problem)
	}
}

// sources reads the imports of every Go file of the module, for every system. Modules below it, which
// are tools, are left out. It reads the files itself, because the test cache would not notice a change if
// a program read them.
func sources(t *testing.T) []file {
	t.Helper()
	var files []file
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if _, err := os.Stat(filepath.Join(p, "go.mod")); err == nil && p != "." {
			return filepath.SkipDir
		}
		if d.IsDir() && p != "." && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		ast, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		f := file{dir: filepath.ToSlash(filepath.Dir(p)), name: name, pkg: ast.Name.Name}
		for _, spec := range ast.Imports {
			imp, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			f.imports = append(f.imports, imp)
		}
		files = append(files, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 10 {
		t.Fatalf("found %d Go files: this test must run in the module's folder", len(files))
	}
	return files
}

// judge returns the violations of the policy.
func judge(files []file) []string {
	var problems []string
	unknown := map[string]bool{}
	for _, f := range files {
		if f.dir == "." {
			continue
		}
		if floorOf(f.dir) < 0 && !unknown[f.dir] {
			unknown[f.dir] = true
			problems = append(problems, fmt.Sprintf("%s stands on no floor: add it to the table of floors", f.dir))
		}
		if slices.Contains(badNames, strings.TrimSuffix(f.pkg, "_test")) {
			problems = append(problems, fmt.Sprintf("%s/%s: a package must not be called %q", f.dir, f.name, f.pkg))
		}
		for _, imp := range f.imports {
			if why := judgeImport(f, imp); why != "" {
				problems = append(problems, fmt.Sprintf("%s/%s: %s", f.dir, f.name, why))
			}
		}
	}
	return problems
}

// judgeImport returns what is wrong with one import, "" for nothing.
func judgeImport(f file, imp string) string {
	switch to, own := strings.CutPrefix(imp, module+"/"); {
	case own:
		return judgeArrow(f, to)
	case !strings.Contains(strings.Split(imp, "/")[0], "."):
		return "" // the standard library
	default:
		return judgeModule(f, imp)
	}
}

func judgeArrow(f file, to string) string {
	from := f.dir
	if from == to || f.test() && slices.Contains(testPackages, to) {
		return ""
	}
	if slices.Contains(testPackages, to) && !slices.Contains(testPackages, from) {
		return fmt.Sprintf("%s → %s: only tests may import it", from, to)
	}
	a, b := floorOf(from), floorOf(to)
	if a < 0 || b < 0 {
		return "" // reported once, for the folder
	}
	switch {
	case b > a:
		return fmt.Sprintf("%s → %s goes up, from %q to %q", from, to, floors[a].name, floors[b].name)
	case a == b && !slices.Contains(floors[a].beside, from+" "+to):
		return fmt.Sprintf("%s → %s stays on the floor %q, where only these may: %q", from, to, floors[a].name, floors[a].beside)
	case slices.Contains(floors[a].never, floors[b].name):
		return fmt.Sprintf("%s → %s: %q must never import %q", from, to, floors[a].name, floors[b].name)
	}
	return ""
}

func judgeModule(f file, imp string) string {
	in := func(m string) bool { return imp == m || strings.HasPrefix(imp, m+"/") }
	if slices.ContainsFunc(testModules, in) {
		if f.test() || slices.Contains(testPackages, f.dir) {
			return ""
		}
		return fmt.Sprintf("imports %s: only tests may", imp)
	}
	for m, where := range modules {
		if in(m) && f.test() && slices.Contains(inTests[m], f.dir) {
			return ""
		}
		if in(m) && !slices.Contains(where, f.dir) {
			return fmt.Sprintf("imports %s: only %q may", imp, where)
		} else if in(m) {
			return ""
		}
	}
	return fmt.Sprintf("imports %s: this module stands in no table", imp)
}

// floorOf returns the index of a package's floor, -1 if it has none.
func floorOf(dir string) int {
	return slices.IndexFunc(floors, func(f floor) bool { return slices.Contains(f.packages, dir) })
}

// judgeFamilies returns the files that families lack.
func judgeFamilies(files []file) []string {
	has, there := map[string]bool{}, map[string]bool{}
	for _, f := range files {
		has[path.Join(f.dir, f.name)], there[f.dir] = true, true
	}
	var problems []string
	for _, f := range floors {
		if f.name != "families" {
			continue
		}
		for _, dir := range f.packages {
			for _, name := range familyFiles {
				if there[dir] && !has[path.Join(dir, name)] {
					problems = append(problems, fmt.Sprintf("%s has no %s: every family folder holds %q", dir, name, familyFiles))
				}
			}
		}
	}
	return problems
}

func TestThePolicyFindsWhatBreaksIt(t *testing.T) {
	const cmpModule = "github.com/google/go-cmp/cmp"
	tests := []struct {
		name string
		file file
		want string
	}{
		{"down", file{dir: "engine/faber", name: "x.go", imports: []string{"placet/engine/gate", "placet/layout", "fmt"}}, ""},
		{"beside, allowed", file{dir: "engine/loop", name: "x.go", imports: []string{"placet/engine/store"}}, ""},
		{"test of a family by the laws", file{dir: "engine/faber", name: "x_test.go", imports: []string{"placet/internal/enginetest", cmpModule}}, ""},
		{"own module of the floor", file{dir: "engine/watch", name: "x.go", imports: []string{"github.com/fsnotify/fsnotify"}}, ""},
		{"up", file{dir: "engine/gate", name: "x.go", imports: []string{"placet/engine/store"}},
			`engine/gate/x.go: engine/gate → engine/store goes up, from "patterns" to "acting half"`},
		{"up in a test", file{dir: "layout", name: "x_test.go", imports: []string{"placet/engine"}},
			`layout/x_test.go: layout → engine goes up, from "ground" to "kernel"`},
		{"family to family", file{dir: "engine/faber", name: "x.go", imports: []string{"placet/engine/afl"}},
			`engine/faber/x.go: engine/faber → engine/afl stays on the floor "families", where only these may: []`},
		{"acting half to family", file{dir: "engine/store", name: "x.go", imports: []string{"placet/engine/faber"}},
			`engine/store/x.go: engine/store → engine/faber: "acting half" must never import "families"`},
		{"the program to the laws", file{dir: "cmd/placet", name: "x.go", imports: []string{"placet/internal/enginetest"}},
			`cmd/placet/x.go: cmd/placet → internal/enginetest: only tests may import it`},
		{"no floor", file{dir: "engine/newcomer", name: "x.go"},
			`engine/newcomer stands on no floor: add it to the table of floors`},
		{"metrics in the loop", file{dir: "engine/loop", name: "x.go", imports: []string{"github.com/prometheus/client_golang/prometheus"}},
			`engine/loop/x.go: imports github.com/prometheus/client_golang/prometheus: only [] may`},
		{"module elsewhere", file{dir: "engine/store", name: "x.go", imports: []string{"github.com/fsnotify/fsnotify"}},
			`engine/store/x.go: imports github.com/fsnotify/fsnotify: only ["engine/watch" "internal/bench"] may`},
		{"module in a test that may", file{dir: "engine/optimizer", name: "x_test.go", imports: []string{"github.com/yuin/goldmark"}}, ""},
		{"module of a test in the program", file{dir: "engine/optimizer", name: "x.go", imports: []string{"github.com/yuin/goldmark"}},
			`engine/optimizer/x.go: imports github.com/yuin/goldmark: only ["engine/gate" "cmd/placet/web"] may`},
		{"test module in the program", file{dir: "engine/store", name: "x.go", imports: []string{cmpModule}},
			`engine/store/x.go: imports github.com/google/go-cmp/cmp: only tests may`},
		{"module of no table", file{dir: "engine/store", name: "x.go", imports: []string{"example.com/x"}},
			`engine/store/x.go: imports example.com/x: this module stands in no table`},
		{"name", file{dir: "engine/store", name: "x.go", pkg: "util"}, `engine/store/x.go: a package must not be called "util"`},
		{"name of a test package", file{dir: "engine/store", name: "x_test.go", pkg: "common_test"}, `engine/store/x_test.go: a package must not be called "common_test"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, strings.Join(judge([]file{test.file}), "\n")); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
	got := judgeFamilies([]file{
		{dir: "engine/afl", name: "doc.go"}, {dir: "engine/afl", name: "state.go"},
		{dir: "engine/afl", name: "outputs.go"}, {dir: "engine/afl", name: "questions.go"},
	})
	want := []string{
		`engine/afl has no rules.go: every family folder holds ["doc.go" "state.go" "rules.go" "outputs.go" "questions.go" "view.go"]`,
		`engine/afl has no view.go: every family folder holds ["doc.go" "state.go" "rules.go" "outputs.go" "questions.go" "view.go"]`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("families (-want +got):\n%s", diff)
	}
}
