package placet_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"placet/layout"
)

// pages returns the documents for people.
func pages(t *testing.T) map[string]string {
	t.Helper()
	names, all := []string{}, map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/families/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, found...)
	}
	for _, name := range names {
		body, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = string(body)
	}
	return all
}

var (
	markdownLink    = regexp.MustCompile(`\]\(([^)#]*)(?:#([^)]*))?\)`)
	markdownHeading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	notInAnchors    = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// TestPagesLinkToWhatIsThere follows the links of the documents within the repository.
func TestPagesLinkToWhatIsThere(t *testing.T) {
	for page, body := range pages(t) {
		for _, m := range markdownLink.FindAllStringSubmatch(body, -1) {
			target, anchor := m[1], m[2]
			if strings.Contains(target, "://") {
				continue
			}
			name := path.Join(path.Dir(page), target)
			if target == "" {
				name = page
			}
			if _, err := os.Stat(name); err != nil {
				t.Errorf("%s links to %s: %v", page, target, err)
			} else if anchor != "" && !slices.Contains(anchors(t, name), anchor) {
				t.Errorf("%s links to %s#%s, which no heading there has", page, target, anchor)
			}
		}
	}
}

// anchors returns the anchors of a page's headings, as forges make them.
func anchors(t *testing.T, page string) (all []string) {
	t.Helper()
	body, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range markdownHeading.FindAllStringSubmatch(string(body), -1) {
		all = append(all, strings.ReplaceAll(notInAnchors.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-"))
	}
	return all
}

// familyFolders are the layouts of the families, with the folder of a run of each.
var familyFolders = map[string]struct {
	layout layout.Family
	run    string
}{
	"afl":       {layout.AFL{}, ".afl/sessions/shop"},
	"ask":       {layout.Ask{}, ".asks/deploy-14"},
	"faber":     {layout.Faber{}, ".fractary/faber/runs/acme/web/31140473-3697-4d1f-8027-0b8da0f1bc5a"},
	"nemawashi": {layout.Nemawashi{}, ".nemawashi/actions/1"},
	"optimizer": {layout.Optimizer{}, ".mso-context/active/20261120-msowd-import/optimizer"},
	"pal":       {layout.Pal{}, ".pal/orchestrations/shop"},
}

var fileRow = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (\\w+) \\|")

// TestFamilyPagesNameFilesOfTheLayout compares the tables of files in docs/families with the
// layout: each file is a document there, with that writer.
func TestFamilyPagesNameFilesOfTheLayout(t *testing.T) {
	examples := strings.NewReplacer("<checkpoint>", "api", "<port>", "api", "<n>", "1", "<request>", "r-1", "<event>", "001-step_start.json", "<phase>", "release", "<step>", "merge-pr", "<job>", "job-0123456789ab", "<name>", "one", "<action>", "resume-r2")
	for family, f := range familyFolders {
		run, ok := f.layout.At(f.run)
		if !ok {
			t.Fatalf("%s is no run", f.run)
		}
		body, err := os.ReadFile("docs/families/" + family + ".md")
		if err != nil {
			t.Fatal(err)
		}
		rows := fileRow.FindAllStringSubmatch(string(body), -1)
		if len(rows) < 8 {
			t.Errorf("docs/families/%s.md names %d files", family, len(rows))
		}
		for _, row := range rows {
			file, ok := f.layout.File(run, examples.Replace(row[1]))
			if !ok && family == "faber" {
				file, ok = layout.Coordinators{}.File(layout.Run{}, row[1])
			}
			if !ok || row[2] != string(file.Writer) {
				t.Errorf("docs/families/%s.md: %s is written by %s: the layout has it by %q", family, row[1], row[2], file.Writer)
			}
		}
	}
}

var (
	testFunc   = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	attackName = regexp.MustCompile(`(?m)^\t+(?:\{|name: )"([^"]+)",`)
	testNamed  = regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z]\w+`)
	rowNamed   = regexp.MustCompile(`\*([^*]+)\*`)
)

// TestSecurityNamesTestsThatExist looks for the tests that SECURITY.md names, and for the rows
// of the attacks that its table names.
func TestSecurityNamesTestsThatExist(t *testing.T) {
	tests, rows := []string{}, []string{}
	err := filepath.WalkDir(".", func(name string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		body, err := os.ReadFile(name)
		for _, m := range testFunc.FindAllStringSubmatch(string(body), -1) {
			tests = append(tests, m[1])
		}
		if strings.HasPrefix(filepath.Base(name), "attack_") {
			for _, m := range attackName.FindAllStringSubmatch(string(body), -1) {
				rows = append(rows, m[1])
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	page := pages(t)["SECURITY.md"]
	for _, name := range testNamed.FindAllString(page, -1) {
		if !slices.Contains(tests, name) {
			t.Errorf("SECURITY.md names %s, which is no test", name)
		}
	}
	_, table, _ := strings.Cut(page, "| what is tried |")
	table, _, _ = strings.Cut(table, "\n\n")
	lines := strings.Split(table, "\n")[2:]
	for _, line := range lines {
		cells := strings.Split(strings.Trim(line, "| "), "|")
		last := cells[len(cells)-1]
		named := rowNamed.FindAllStringSubmatch(last, -1)
		for _, m := range named {
			if !slices.Contains(rows, m[1]) {
				t.Errorf("SECURITY.md names the attack %q, which is none", m[1])
			}
		}
		if holds := strings.Contains(line, "| yes |") || strings.Contains(line, "| seen |"); holds && len(named) == 0 && !testNamed.MatchString(last) {
			t.Errorf("SECURITY.md names no test that shows this:\n%s", line)
		}
	}
	if len(lines) < 20 || len(rows) < 80 {
		t.Errorf("there are %d lines and %d attacks", len(lines), len(rows))
	}
}

var versionHeading = regexp.MustCompile(`(?m)^## (\d+)\.(\d+)\.(\d+) \((\d{4}-\d\d-\d\d)\)$`)

// TestChangesAreInVersionsNewestFirst reads CHANGELOG.md: what is unreleased stands above the
// versions, the newest of these first, and each of their entries is one line.
func TestChangesAreInVersionsNewestFirst(t *testing.T) {
	page := pages(t)["CHANGELOG.md"]
	if !strings.HasPrefix(page[strings.Index(page, "## "):], "## Unreleased\n") {
		t.Error("the first heading is not Unreleased")
	}
	versions := versionHeading.FindAllStringSubmatch(page, -1)
	if all := strings.Count(page, "\n## "); len(versions) < 8 || len(versions) != all-1 {
		t.Errorf("of %d headings below Unreleased, %d are versions with a date", all-1, len(versions))
	}
	for i, v := range versions[1:] {
		before := versions[i]
		if number(v[1:4]) >= number(before[1:4]) || v[4] > before[4] {
			t.Errorf("%s stands below %s", v[0], before[0])
		}
	}
	_, old, _ := strings.Cut(page, versions[0][0])
	for line := range strings.Lines(old) {
		if entry, is := strings.CutPrefix(line, "- "); strings.HasPrefix(line, "  ") || is && (len(entry) > 200 || !strings.HasSuffix(entry, ".\n") && !strings.HasSuffix(entry, ".**\n")) {
			t.Errorf("an entry is one sentence in one line of 200 letters at most: %s", line)
		}
	}
}

// number returns a version as one number.
func number(parts []string) (n int) {
	for _, part := range parts {
		i, _ := strconv.Atoi(part)
		n = n*1000 + i
	}
	return n
}
