package web

import (
	"html"
	"regexp"
	"strings"
	"testing"

	"placet/cmd/placet/view"
)

var elements = regexp.MustCompile(`<[^>]*>`)

// seenText is the text of rendered code, without what stands once more for the other side.
func seenText(rendered string) string {
	rendered = regexp.MustCompile(`<span class="copy"[^>]*>[^<]*</span>`).ReplaceAllString(rendered, "")
	return html.UnescapeString(elements.ReplaceAllString(rendered, ""))
}

var codes = map[string]string{
	"x.go":     "package x // a comment\n\nfunc f(s string) int { return len(\"a\\\"b\") + 0x1f } /* two\nlines */ var r = `raw\ntext`\n",
	"x.yaml":   "# comment\nimage: \"shop:1.4\" # tag\nreplicas: 3\non: true\n- name: it's\n",
	"x.json":   `{"a": [1, true, "text"], "b\"c": null}`,
	"x.py":     "def f(a):\n    \"\"\"doc\n    more\"\"\"\n    return 'x' # c\n",
	"x.sql":    "SELECT a FROM t -- c\nWHERE b = 'x'",
	"x.html":   "<!-- c --><a href=\"x\">'</a><script>alert(1)</script>",
	"x.txt":    "plain <b>text</b>\n\n\tindented",
	"Makefile": "all:\n\tgo build # everything",
}

// Colours neither change a text nor add to it, and every line is an element.
func TestHighlightedCodeIsTheCode(t *testing.T) {
	for file, code := range codes {
		got := string(highlight(languageOf(file), code))
		if seen := seenText(got); seen != code {
			t.Errorf("%s: %q becomes %q", file, code, seen)
		}
		if rows, lines := strings.Count(got, "</span><span>")+strings.Count(got, "\n</span><span>")-strings.Count(got, "\n</span><span>"), strings.Count(code, "\n"); rows < lines {
			t.Errorf("%s: %d lines in %s", file, lines+1, got)
		}
	}
	for _, c := range []struct{ file, want string }{
		{"x.go", `<span class="k-com">// a comment</span>`}, {"x.go", `<span class="k-com">/* two</span>` + "\n</span><span>" + `<span class="k-com">lines */</span>`},
		{"x.go", `<span class="k-key">func</span>`}, {"x.go", `<span class="k-num">0x1f</span>`},
		{"x.yaml", `<span class="k-name">image</span>`}, {"x.yaml", `<span class="k-str">&#34;shop:1.4&#34;</span>`}, {"x.yaml", "it&#39;s"},
		{"x.json", `<span class="k-name">&#34;a&#34;</span>`}, {"x.sql", `<span class="k-key">SELECT</span>`},
		{"x.py", `<span class="k-str">&#34;&#34;&#34;doc</span>`}, {"x.html", `<span class="k-com">&lt;!-- c --&gt;</span>`},
	} {
		if got := string(highlight(languageOf(c.file), codes[c.file])); !strings.Contains(got, c.want) {
			t.Errorf("%s: no %s in %s", c.file, c.want, got)
		}
	}
}

func FuzzHighlight(f *testing.F) {
	for file, code := range codes {
		f.Add(file, code)
	}
	f.Add("x.go", `"\"\"\"`+"`/*'")
	f.Add("x.py", `"""'''"#`)
	f.Fuzz(func(t *testing.T, file, code string) {
		if got := string(highlight(languageOf(file), code)); seenText(got) != strings.ReplaceAll(code, "\x00", "\ufffd") {
			t.Fatalf("%q becomes %q", code, got)
		}
		diffed := string(diffHTML(strings.Split(code, "\n")))
		for _, got := range []string{diffed, string(highlight(languageOf(file), code))} {
			for _, one := range elements.FindAllString(got, -1) {
				if !plainTag.MatchString(one) {
					t.Fatalf("%q becomes the tag %q", code, one)
				}
			}
		}
		if seenText(diffed) != strings.ReplaceAll(code, "\x00", "\ufffd")+"\n" {
			t.Fatalf("%q becomes %q", code, diffed)
		}
	})
}

// A difference keeps every line with its sign; what was removed stands beside what was added.
func TestADifferenceHasPairs(t *testing.T) {
	lines := strings.Split("--- a/x\n+++ b/x\n@@ -3,3 +3,4 @@ f\n one\n-two\n--- three\n+2\n+++ 3\n+four\n\\ No newline at end of file\n@@ lies @@\n+outside", "\n")
	got := string(diffHTML(lines))
	if seen := seenText(got); seen != strings.Join(lines, "\n")+"\n" {
		t.Errorf("%q", seen)
	}
	want := `<div class="change"><del data-n="4">-two` + "\n" + `</del><del data-n="5">--- three` + "\n" + `</del><ins data-n="4">+2` + "\n" + `</ins><ins data-n="5">+++ 3` + "\n" + `</ins><ins data-n="6">+four` + "\n</ins></div>"
	if !strings.Contains(got, want) || !strings.Contains(got, `<p class="hunk">--- a/x`) || !strings.Contains(got, `<p class="hunk">+outside`) {
		t.Errorf("no %s in %s", want, got)
	}
}

// A page shows so much of a file, and says how much it leaves out.
func TestLongFilesAreCut(t *testing.T) {
	for _, c := range []struct {
		body           string
		most, lines, n int
		more           int
	}{
		{"a\nb\nc\n", 100, 10, 6, 0}, {"a\nb\nc\n", 100, 2, 4, 1}, {"a\nb\nc", 100, 2, 4, 1}, {"a\nb\nc\n", 5, 10, 4, 1}, {"abcdef", 3, 10, 3, 1}, {"ä", 1, 10, 0, 1}, {"a\nb", 0, 10, 0, 2}, {"a\nb", 9, 0, 0, 2}, {"", 9, 9, 0, 0},
	} {
		if kept, more := cutText(c.body, c.most, c.lines); len(kept) != c.n || more != c.more {
			t.Errorf("%q within %d bytes, %d lines: %q and %d more", c.body, c.most, c.lines, kept, more)
		}
	}
	a := artifactView{ArtifactLine: view.ArtifactLine{Path: "x.txt"}}
	r := newRoom()
	a.fill("en", strings.Repeat("line\n", fileLines+7), r)
	if a.Cut != "7 more lines are not shown here: download the file to read them." || strings.Count(seenText(string(a.Text)), "line") != fileLines {
		t.Errorf("%s", a.Cut)
	}
	again := a
	again.fill("en", strings.Repeat("line\n", 2*fileLines), r)
	last := a
	last.fill("en", "one line\n", r)
	if r.take(9) != 0 || last.Cut == "" {
		t.Errorf("there is room for more: %+v", r)
	}
	b := artifactView{ArtifactLine: view.ArtifactLine{Path: "x.bin"}}
	if b.fill("en", "\xff\x00", newRoom()); b.Text != "" || b.Missing == "" {
		t.Errorf("%+v", b)
	}
}

// The levels of headings fit into the page.
func TestHeadingsFitIntoThePage(t *testing.T) {
	got := string(rendered("en", "# a\n\n### b\n\n# c\n\n###### d\n", 3))
	if want := "<h3>a</h3>\n<h4>b</h4>\n<h3>c</h3>\n<h4>d</h4>\n"; got != want {
		t.Errorf("%q", got)
	}
}

// BenchmarkArtifacts renders what a page shows at most: 500 KB of Markdown, and 2,000 lines of a
// difference.
func BenchmarkArtifacts(b *testing.B) {
	text := strings.Repeat("# Title\n\nSome *words* with `code`, [a link](https://example.org/x) and more words.\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```go\nfunc f() { return 1 } // c\n```\n\n", 500<<10/190)
	lines := []string{"@@ -1,1000 +1,1000 @@"}
	for range 1000 {
		lines = append(lines, "-removed <line> of code", "+added <line> of code")
	}
	code := strings.Repeat("\tif err := f(\"text\", 12); err != nil { // comment\n", 2000)
	b.Run("markdown", func(b *testing.B) {
		for b.Loop() {
			rendered("en", text, 3)
		}
	})
	b.Run("difference", func(b *testing.B) {
		for b.Loop() {
			diffHTML(lines)
		}
	})
	b.Run("code", func(b *testing.B) {
		for b.Loop() {
			highlight(likeC, code)
		}
	})
	for name, hostile := range map[string]string{"quotes": strings.Repeat(`"\`, 60<<10), "comments": strings.Repeat("/*", 60<<10), "texts": strings.Repeat("`'", 60<<10)} {
		b.Run("hostile "+name, func(b *testing.B) {
			for b.Loop() {
				highlight(likeC, hostile)
			}
		})
	}
}
