package cli_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"placet/engine/ask"
)

// pageAttacks are on the page of a question, by the files that it shows.
var pageAttacks = []attack{
	{"a file that attacks its page", "Markdown, code, a picture, a difference and a file's name hold markup, scripts, links and characters that nobody sees: the page shows them as text", func(t *testing.T, p *place) {
		const markup = "<script>alert(1)</script><img src=x onerror=alert(2)></code></pre></div>\u202e"
		files := map[string]string{
			"a.md":                             "# Title\n\n" + markup + "\n\n[x](javascript:alert(3)) ![y](https://evil.example/y.png)\n\n```html\n" + markup + "\n```\n\n```diff\n@@ -1 +1 @@\n-" + markup + "\n+" + markup + "\n```\n",
			"b.yaml":                           "key: \"" + markup + "\" # " + markup + "\n",
			"c.svg":                            "<svg xmlns=\"http://www.w3.org/2000/svg\" onload=\"alert(4)\">" + markup + "</svg>\n",
			"d.patch":                          "--- a/x\n+++ b/x\n@@ -1 +1 @@ " + markup + "\n-" + markup + "\n+" + markup + "\n",
			"e.go":                             "// " + markup + "\nvar x = `" + markup + "`\n",
			"<img src=x onerror=alert(5)>.txt": markup,
		}
		var names []string
		for name, text := range files {
			p.write(name, text)
			names = append(names, fmt.Sprintf(`{"path": %q}`, name))
		}
		p.write(".asks/x/ask.json", `{"question": "Is it fine?", "artifacts": [`+strings.Join(names, ", ")+`]}`)
		page := serveAt(p).pageOf(t, "x")
		_, page, _ = strings.Cut(page, "<main")
		for _, tag := range regexp.MustCompile(`(?i)<(script|img|iframe|object|style|svg[^>]*onload)[^>]*>|<[^>]* (on[a-z]+|style)=[^>]*>|href="(javascript|data):[^"]*"`).FindAllString(page, -1) {
			t.Errorf("the page has %s", tag)
		}
		if strings.Contains(page, "\u202e") {
			t.Error("the page has a character that nobody sees")
		}
		p.says(page, "&lt;script&gt;alert(1)&lt;/script&gt;", `\u{202e}`, "&lt;img src=x onerror=alert(5)&gt;.txt", "<h3>Title</h3>", `class="k-com"`, `<ins data-n="1">+&lt;script&gt;`)
		// Whatever ends the elements of others ends none here.
		for _, element := range []string{"div", "pre", "code", "details", "ins", "del", "span"} {
			if begun, ended := strings.Count(page, "<"+element+">")+strings.Count(page, "<"+element+" "), strings.Count(page, "</"+element+">"); begun != ended {
				t.Errorf("%d of %s begin, %d end", begun, element, ended)
			}
		}
	}},
	{"a difference whose head lies", "the head of a hunk counts fewer lines than follow: what follows is shown with its sign", func(t *testing.T, p *place) {
		p.write("a.diff", "--- a/x\n+++ b/x\n@@ -1,1 +1,1 @@\n-one\n+two\n+rm -rf /srv\n@@ -1,999999999999999999999 +1 @@\n+rm -rf /var\n")
		p.write(".asks/x/ask.json", `{"question": "Is it fine?", "artifacts": [{"path": "a.diff"}]}`)
		p.says(serveAt(p).pageOf(t, "x"), "+two\n", "+rm -rf /srv\n", "+rm -rf /var\n")
	}},
	{"a line that stands too far down", "what matters stands below all that a page shows of a file: the page says that lines are missing", func(t *testing.T, p *place) {
		p.write("a.md", strings.Repeat("A harmless line.\n\n", 40000)+"rm -rf /srv\n")
		p.write("b.sh", strings.Repeat("true\n", 3000)+"rm -rf /srv\n")
		p.write("c.txt", strings.Repeat("x", 200<<10)+"rm -rf /srv")
		p.write("d.sh", "echo all of it\n")
		s := serveAt(p)
		for i, name := range []string{"a.md", "b.sh", "c.txt"} {
			id := fmt.Sprint("x", i)
			p.write(".asks/"+id+"/ask.json", fmt.Sprintf(`{"question": "Is it fine?", "artifacts": [{"path": %q}]}`, name))
			if page := s.pageOf(t, id); strings.Contains(page, "rm -rf /srv") || !strings.Contains(page, "not shown here: download the file") {
				t.Errorf("%s: the page does not say that it leaves lines out", name)
			}
		}
		p.write(".asks/y/ask.json", `{"question": "Is it fine?", "artifacts": [{"path": "d.sh"}]}`)
		if page := s.pageOf(t, "y"); strings.Contains(page, "not shown here") || !strings.Contains(page, "all of it") {
			t.Errorf("a short file: %s", page)
		}
	}},
}

// pageOf returns the page of an ask, as its owner's browser gets it.
func (s *site) pageOf(t *testing.T, id string) string {
	t.Helper()
	s.until("it is asked", func() bool { return s.there(s.asking(id) + "/form.md") })
	v := s.visitor()
	v.logIn()
	got, page := v.visit("/requests/"+ask.RequestID(id), nil)
	if got.StatusCode != 200 {
		t.Fatalf("%d: %s", got.StatusCode, page)
	}
	return page
}
