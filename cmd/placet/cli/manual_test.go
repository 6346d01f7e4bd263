package cli

import (
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"placet/cmd/placet/console"
	"placet/templates"
)

// manualCode are words of the manual that are the same in every language: flags, names in
// back-quotes, placeholders and abbreviations, settings, files, and commands.
var manualCode = regexp.MustCompile("`[^`]+`|" +
	`--[a-z]+(?:-[a-z]+)*|\B-[A-Za-z]\b|[A-Z][A-Z_]+|\[\[?[a-z.]+\]|<[a-z ]+>|[a-z/-]*\.(?:jsonl?|md|toml)|` +
	`placet (?:` + strings.Join(pagesOfManual(), "|") + `)\b`)

// pagesOfManual are the names of all pages.
func pagesOfManual() (names []string) {
	files, _ := fs.Glob(manual, "manual/*.txt")
	for _, file := range files {
		names = append(names, strings.TrimSuffix(path.Base(file), ".txt"))
	}
	return names
}

// codeOfPage returns the words of a page that are code, each once.
func codeOfPage(text string) []string {
	found := map[string]bool{}
	for _, word := range manualCode.FindAllString(strings.Join(strings.Fields(text), " "), -1) {
		found[word] = true
	}
	return slices.Sorted(maps.Keys(found))
}

// TestManualInEveryLanguage has every page in every language, with the code, the examples and
// the paragraphs of the English one, in lines that fit a terminal.
func TestManualInEveryLanguage(t *testing.T) {
	scripts := map[string][]*unicode.RangeTable{"ko": {unicode.Hangul}, "ja": {unicode.Hiragana, unicode.Katakana}}
	names := pagesOfManual()
	for _, lang := range templates.Languages() {
		if lang == templates.English || lang == templates.Pseudo {
			continue
		}
		if files, _ := fs.Glob(manual, "manual/"+lang+"/*"); len(files) != len(names) {
			t.Errorf("%s has %d pages, of %d", lang, len(files), len(names))
		}
		for _, name := range names {
			english, text := page("", name), page(lang, name)
			if !strings.ContainsFunc(text, func(r rune) bool { return unicode.In(r, scripts[lang]...) }) {
				t.Errorf("%s/%s is not in that language: %s", lang, name, text)
				continue
			}
			if got, want := codeOfPage(text), codeOfPage(english); !slices.Equal(got, want) {
				t.Errorf("%s/%s has the code\n%q, not\n%q", lang, name, got, want)
			}
			for _, number := range regexp.MustCompile(`[0-9]+`).FindAllString(english, -1) {
				if !strings.Contains(text, number) {
					t.Errorf("%s/%s does not say %s", lang, name, number)
				}
			}
			if got, want := strings.Count(text, "\n\n"), strings.Count(english, "\n\n"); got != want {
				t.Errorf("%s/%s has %d breaks, not %d", lang, name, got, want)
			}
			if got, want := strings.Count(text, "\n  "), strings.Count(english, "\n  "); got != want {
				t.Errorf("%s/%s has %d indented lines, not %d", lang, name, got, want)
			}
			for line := range strings.Lines(text) {
				line = strings.TrimSuffix(line, "\n")
				if console.Columns(line) > 80 && !strings.Contains(english, line) {
					t.Errorf("%s/%s has a line of %d columns: %s", lang, name, console.Columns(line), line)
				}
			}
		}
	}
	if len(names) < 45 {
		t.Errorf("the manual has %d pages", len(names))
	}
}
