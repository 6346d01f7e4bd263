package placet_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// testPackage holds the names in the test files of one folder.
type testPackage struct {
	functions []string
	literals  []string // string literals, the names of subtests among them
}

var (
	stringLiteral = regexp.MustCompile(`"(?:[^"\\\n]|\\.)*"`)
	seedTest      = regexp.MustCompile("`(\\w+)\\.((?:Test|Fuzz)\\w+)(?:/([^`]+))?`")
)

// readTestPackages returns the packages with tests, by the last part of their folders.
func readTestPackages(t *testing.T) map[string][]*testPackage {
	t.Helper()
	folders, all := map[string]*testPackage{}, map[string][]*testPackage{}
	err := filepath.WalkDir(".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		dir := filepath.Dir(name)
		if folders[dir] == nil {
			folders[dir] = &testPackage{}
			all[filepath.Base(dir)] = append(all[filepath.Base(dir)], folders[dir])
		}
		body, err := os.ReadFile(name)
		folders[dir].read(string(body))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// read adds the names in a test file.
func (p *testPackage) read(source string) {
	for _, m := range testFunc.FindAllStringSubmatch(source, -1) {
		p.functions = append(p.functions, m[1])
	}
	for _, quoted := range stringLiteral.FindAllString(source, -1) {
		if s, err := strconv.Unquote(quoted); err == nil && s != "" {
			p.literals = append(p.literals, strings.ReplaceAll(s, " ", "_"))
		}
	}
}

// has reports whether the package has a test, and a literal that names its subtest or begins the
// name: "cancelled while " names each status.
func (p *testPackage) has(test, sub string) bool {
	named := func(literal string) bool {
		return literal == sub || strings.HasSuffix(literal, "_") && strings.HasPrefix(sub, literal)
	}
	return slices.Contains(p.functions, test) && (sub == "" || slices.ContainsFunc(p.literals, named))
}

// seedCells returns the cells of a line of a table in docs/seeds.md, nil for its head.
func seedCells(line string) (cells []string) {
	if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| section |") {
		return nil
	}
	for cell := range strings.SplitSeq(strings.Trim(strings.TrimSpace(line), "|"), "|") {
		cells = append(cells, strings.TrimSpace(cell))
	}
	return cells
}

// seedProblem returns what is wrong with a line: section, requirement, where, tests, state.
func seedProblem(cells []string, packages map[string][]*testPackage) string {
	if len(cells) != 5 || slices.Contains(cells, "") {
		return "five cells are expected, and none is empty"
	}
	tests := seedTest.FindAllStringSubmatch(cells[3], -1)
	reason, differs := strings.CutPrefix(cells[4], "differs: ")
	switch {
	case cells[4] == "works" && len(tests) > 0, differs && reason != "", cells[4] == "not yet" && cells[3] == "–":
	default:
		return `the state is "works" with a test, "differs: …" with the reason, or "not yet" without a test`
	}
	if rest := strings.Trim(seedTest.ReplaceAllString(cells[3], ""), ", –"); rest != "" {
		return "the cell of the tests also says " + rest
	}
	for _, m := range tests {
		if !seedTestExists(m[1], m[2], m[3], packages) {
			return m[0] + " is no test"
		}
	}
	return ""
}

func seedTestExists(pkg, test, sub string, packages map[string][]*testPackage) bool {
	if test == "TestScripts" {
		_, err := os.Stat(filepath.Join("testdata/scripts", sub+".txtar"))
		return err == nil
	}
	return slices.ContainsFunc(packages[pkg], func(p *testPackage) bool { return p.has(test, sub) })
}

// TestSeedsNameTestsThatExist reads the tables of docs/seeds.md: each line is complete, and each
// test that it names exists.
func TestSeedsNameTestsThatExist(t *testing.T) {
	packages, lines, tables := readTestPackages(t), 0, 0
	for line := range strings.Lines(pages(t)["docs/seeds.md"]) {
		if strings.HasPrefix(line, "| section |") {
			tables++
		}
		cells := seedCells(line)
		if cells == nil {
			continue
		}
		if lines++; seedProblem(cells, packages) != "" {
			t.Errorf("docs/seeds.md: %s:\n%s", seedProblem(cells, packages), line)
		}
	}
	if lines < 400 || tables != 5 {
		t.Errorf("docs/seeds.md has %d lines in %d tables", lines, tables)
	}
}

// TestASeedLineThatIsNotTrueIsFound checks that the check of docs/seeds.md finds mistakes.
func TestASeedLineThatIsNotTrueIsFound(t *testing.T) {
	packages := map[string][]*testPackage{"faber": {{}}}
	packages["faber"][0].read("func TestLaws(t *testing.T) { run(\"approve by form\", \"cancelled while \" + s) }\nfunc TestX(t *testing.T) {}")
	for line, wrong := range map[string]bool{
		"| a | b | c | `faber.TestLaws/approve_by_form`, `faber.TestX` | works |": false,
		"| a | b | c | `faber.TestLaws/cancelled_while_paused` | works |":         false,
		"| a | b | c | – | differs: because |":                                    false,
		"| a | b | c | – | not yet |":                                             false,
		"| a | b | c | `faber.TestLaws/approve_by_mail` | works |":                true,
		"| a | b | c | `faber.TestY` | works |":                                   true,
		"| a | b | c | `pal.TestX` | works |":                                     true,
		"| a | b | c | – | works |":                                               true,
		"| a | b | c | `faber.TestX` | not yet |":                                 true,
		"| a | b | c | `faber.TestX` and more | works |":                          true,
		"| a | b | c | – | differs: |":                                            true,
		"| a |  | c | `faber.TestX` | works |":                                    true,
		"| a | b | `faber.TestX` | works |":                                       true,
		"| a | b | c | `cli.TestScripts/none` | works |":                          true,
	} {
		if got := seedProblem(seedCells(line), packages); (got != "") != wrong {
			t.Errorf("%s: %q", line, got)
		}
	}
}
