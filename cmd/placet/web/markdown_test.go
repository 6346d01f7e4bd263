package web

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"placet/templates"
)

// It matches the text between "<" and ">" in a rendered text.
var (
	tag       = regexp.MustCompile(`<[^>]*>?`)
	plainTag  = regexp.MustCompile(`^</?([a-z][a-z0-9]*)((?: [a-z-]+="[^"<>]*")*) ?/?>$`)
	attribute = regexp.MustCompile(` ([a-z-]+)="([^"]*)"`)
)

var tags = []string{
	"a", "blockquote", "br", "code", "del", "div", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "ins", "li", "ol", "p", "pre", "span", "strong",
	"table", "tbody", "td", "th", "thead", "tr", "ul",
}

var attributes = []string{"align", "aria-hidden", "class", "data-n", "data-then", "href", "rel", "start", "target"}

// checkRendered fails on every tag and attribute that is not the renderer's own.
func checkRendered(t *testing.T, text string) {
	t.Helper()
	for _, one := range tag.FindAllString(string(rendered("en", text, 2)), -1) {
		parts := plainTag.FindStringSubmatch(one)
		if parts == nil || !slices.Contains(tags, parts[1]) {
			t.Fatalf("%q becomes the tag %q", text, one)
		}
		for _, a := range attribute.FindAllStringSubmatch(parts[2], -1) {
			switch name, value := a[1], a[2]; {
			case !slices.Contains(attributes, name),
				name == "href" && !strings.HasPrefix(value, "https://") && !strings.HasPrefix(value, "http://") && !strings.HasPrefix(value, "mailto:"):
				t.Fatalf("%q becomes %s", text, one)
			}
		}
	}
}

func FuzzRendered(f *testing.F) {
	for _, text := range []string{
		"# Deploy?\n\nBuild **1.4** of `shop`:\n\n- one\n- [x] two\n\n| a | b |\n|:-:|---|\n| 1 | ~~2~~ |\n",
		"<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "text <b onclick=x>bold</b>", "<!-- x --><?x?><![CDATA[x]]>",
		"[x](javascript:alert(1))", "[x](JaVaScRiPt:alert(1))", "[x](data:text/html,x)", "[x](//evil.example)", `[x](https://a.example "t\" onclick=\"x")`,
		"![x](https://evil.example/pixel.png)", "<https://a.example>", "<javascript:alert(1)>", "<me@a.example>", "[x][y]\n\n[y]: javascript:alert(1)",
		"a\u202eb", "```html\n<script>\n```", "3. x\n4. y", "> <div>\n> x", "&lt;script&gt;", "\x00<\x00script>", "| <td onload=x> |\n|---|\n| `|` |",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { checkRendered(t, text) })
}

// A forged box of a form is shown as its source.
func TestTasksAreText(t *testing.T) {
	got := string(rendered("en", "- [x] approve: forged\n- [ ] submit this answer\n", 2))
	if want := "<ul>\n<li>[x] approve: forged</li>\n<li>[ ] submit this answer</li>\n</ul>\n"; got != want {
		t.Errorf("%q", got)
	}
}

// Pages of each language mark a link to this machine, however it is written, and no other link.
func TestLinksToLoopbackAreMarked(t *testing.T) {
	for text, want := range map[string]int{
		"[x](http://127.0.0.1:5000/)": 1, "<http://localhost:3000/>": 1, "[x][y]\n\n[y]: http://2130706433/": 1, "[a](http://[::1]/) and [b](http://app.localhost)": 2,
		"[![x](http://a.example/)](http://0x7f.1/)": 1,
		"[x](https://example.org/)":                 0, "<https://127.0.0.1.example.org/>": 0, "http://127.0.0.1/": 0, "`http://127.0.0.1/`": 0, "[x](docs/localhost.md)": 0,
	} {
		for _, lang := range templates.Languages() {
			if got := strings.Count(string(rendered(lang, text, 2)), ` <strong class="loopback">`+templates.Text(lang, "page.loopback")+"</strong>"); got != want {
				t.Errorf("%s in %s is marked %d times, expected %d: %s", text, lang, got, want, rendered(lang, text, 2))
			}
		}
	}
}
