package placet_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"placet/layout"
)

// pages are the documents that people read.
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

// anchors are those of the headings of a page, as forges make them.
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
	examples := strings.NewReplacer("<checkpoint>", "api", "<port>", "api", "<n>", "1", "<request>", "r-1", "<event>", "001-step_start.json", "<job>", "job-0123456789ab", "<name>", "one")
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
			if !ok || row[2] != string(file.Writer) {
				t.Errorf("docs/families/%s.md: %s is written by %s: the layout has it by %q", family, row[1], row[2], file.Writer)
			}
		}
	}
}
