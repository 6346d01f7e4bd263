package cli_test

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
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
	{"a context that attacks its page", "members, lists and texts of a context hold markup and characters that nobody sees, and one is nested deeper than any page: they are shown as text, and all of it as JSON", func(t *testing.T, p *place) {
		const markup = `<script>alert(1)</script><img src=x onerror=alert(2)>\u202e`
		*p = *newPlace(t, p.root, 1)
		deep := strings.Repeat(`{"deeper": [`, 12) + `"rm -rf /srv"` + strings.Repeat(`]}`, 12)
		p.edit(p.runs[0]+"/state.json", `"type": "review",`, `"type": "review", "context": {"`+markup+`": "`+markup+`", "artifact_paths": ["`+markup+`", ["`+markup+`"]], "deep": `+deep+`},`)
		s := serveAt(p)
		p.until("it is asked", func() bool { return p.there(p.request(0) + "/form.md") })
		v := s.visitor()
		v.logIn()
		for _, path := range []string{"/requests/" + p.requestID(0), "/runs/faber/acme/web/" + strings.TrimPrefix(p.runs[0], ".fractary/faber/runs/acme/web/")} {
			got, page := v.visit(path, nil)
			_, page, _ = strings.Cut(page, "<main")
			if got.StatusCode != 200 || strings.Contains(page, "\u202e") {
				t.Errorf("%d %s", got.StatusCode, page)
			}
			for _, tag := range regexp.MustCompile(`(?i)<(script|img|iframe|object|style)[^>]*>|<[^>]* (on[a-z]+|style)=[^>]*>`).FindAllString(page, -1) {
				t.Errorf("%s has %s", path, tag)
			}
			p.says(page, "&lt;script&gt;alert(1)&lt;/script&gt;", "rm -rf /srv")
			for _, element := range []string{"div", "dl", "dd", "ul", "ol", "li", "pre", "details"} {
				if begun, ended := strings.Count(page, "<"+element+">")+strings.Count(page, "<"+element+" "), strings.Count(page, "</"+element+">"); begun != ended {
					t.Errorf("%s: %d of %s begin, %d end", path, begun, element, ended)
				}
			}
		}
	}},
	{"a question that attacks its list", "questions hold markup, characters that nobody sees, and the words of a row: each stays in its own row, before and after the answer", func(t *testing.T, p *place) {
		p.write(".asks/x/ask.json", `{"question": "</span></a></li><script>alert(1)</script>\u202e\" onmouseover=\"alert(2)", "options": [{"id": "yes", "description": "<b>Yes</b>"}, {"id": "no"}]}`)
		s := serveAt(p)
		v := s.visitor()
		v.logIn()
		s.until("it is asked", func() bool { return s.there(s.asking("x") + "/form.md") })
		check := func(tab string) {
			_, page := v.visit("/?tab="+tab, nil)
			_, page, _ = strings.Cut(page, "<main")
			if strings.Contains(page, "\u202e") || regexp.MustCompile(`(?i)<script|<b>|["] *on[a-z]+=`).MatchString(page) || strings.Count(page, `class="card`) != 1 || strings.Count(page, "</li>") != 1 {
				t.Errorf("the list %s: %s", tab, page)
			}
			p.says(page, "&lt;script&gt;")
		}
		check("open")
		s.token("all", "read,write,decide")
		if r := s.answers("ask/x", "yes"); r.status != 200 {
			t.Fatalf("answer: %s", r.body)
		}
		check("answered")
		// A request that is changed afterwards gives the answer no other meaning.
		request := strings.TrimSuffix(s.asking("x"), "/") + "/request.json"
		p.write(request, strings.Replace(p.read(request), "<b>Yes</b>", "Never", 1))
		if _, page := v.visit("/?tab=answered", nil); strings.Contains(page, "Never") {
			t.Errorf("the list believes a request that was changed after the answer: %s", page)
		}
		// Whatever a link says was answered before, the page says what placet recorded.
		for _, after := range []string{"ask/x", "ask/x:nothing", "../../etc/passwd", "<script>alert(3)</script>", "ask/x:" + s.requestOf("ask/x") + "<script>"} {
			if _, page := v.visit("/requests/"+percent("ask/x", s.requestOf("ask/x"))+"?after="+url.QueryEscape(after), nil); strings.Contains(page, `id="before"`) || strings.Contains(page, "<script>alert") {
				t.Errorf("after %s: %s", after, page)
			}
		}
	}},
	{"a round that attacks its page", "the comment of the last round and what changed since hold markup and lines that look like changes: the page shows them as text, before the files", func(t *testing.T, p *place) {
		const markup = "<script>alert(1)</script></div></details><ins>"
		p.write("plan.txt", "one\n")
		p.write(".asks/first/ask.json", `{"question": "Is it fine?", "type": "approval", "artifacts": [{"path": "plan.txt"}]}`)
		s := serveAt(p)
		s.token("all", "read,write,decide")
		s.until("it is asked", func() bool { return s.there(s.asking("first") + "/form.md") })
		name := percent("ask/first", s.requestOf("ask/first"))
		shown := s.call("all", "GET", "/api/v1/requests/"+name, nil).text("data", "digest")
		if r := s.call("all", "POST", "/api/v1/requests/"+name+"/answer", map[string]any{"response": "reject", "digest": shown, "comment": markup + "\n@@ -1 +1 @@\n+all is well"}); r.status != 200 {
			t.Fatalf("answer: %s", r.body)
		}
		p.write("plan.txt", markup+"\n")
		p.write(".asks/second/ask.json", `{"question": "And now?", "type": "approval", "artifacts": [{"path": "plan.txt"}], "round_of": "first"}`)
		page := s.pageOf(t, "second")
		_, page, _ = strings.Cut(page, "<main")
		p.says(page, "<summary>Since the last round</summary>", "&lt;script&gt;alert(1)&lt;/script&gt;", `<del data-n="1">-one`, `<ins data-n="1">+&lt;script&gt;`, "&gt; +all is well")
		if strings.Contains(page, "<script") || strings.Contains(page, `<ins data-n="1">+all is well`) || strings.Index(page, "Since the last round") > strings.Index(page, "plan.txt</code>") {
			t.Errorf("the page: %s", page)
		}
		for _, element := range []string{"div", "details", "ins", "del", "p"} {
			if begun, ended := strings.Count(page, "<"+element+">")+strings.Count(page, "<"+element+" "), strings.Count(page, "</"+element+">"); begun != ended {
				t.Errorf("%d of %s begin, %d end", begun, element, ended)
			}
		}
	}},
	{"one form for several questions, misused", "a form that answers several questions names a question of another run, no longer shows what one is about, or answers twice: nothing is written but what was shown and is open", func(t *testing.T, p *place) {
		p.twins("cart", "login", "search")
		p.write(".asks/other/ask.json", `{"question": "Delete it?", "type": "approval"}`)
		s := serveAt(p)
		s.until("it is asked", func() bool { return s.there(s.asking("other") + "/form.md") })
		v := s.visitor()
		v.logIn()
		_, page := v.visit("/runs/afl/shop", nil)
		form := fields(page)
		var ids []string
		for _, field := range regexp.MustCompile(`name="digest-([^"]+)" value="([^"]+)"`).FindAllStringSubmatch(page, -1) {
			ids = append(ids, field[1])
			form.Set("digest-"+field[1], field[2])
		}
		slices.Sort(ids)
		if len(ids) != 3 {
			t.Fatalf("the form is for %v: %s", ids, page)
		}
		post := func(change func(url.Values)) (int, string) {
			with := url.Values{"csrf": {form.Get("csrf")}, "option": {"escalate"}, "request": ids[:1]}
			for _, id := range ids {
				with.Set("digest-"+id, form.Get("digest-"+id))
			}
			change(with)
			got, page := v.visit("/runs/afl/shop", with)
			return got.StatusCode, page
		}
		receipts := func() int { return len(p.glob("receipt.json")) + len(p.glob("response.json")) }
		other := s.requestOf("ask/other")
		for name, change := range map[string]func(url.Values){
			"a question of another run": func(f url.Values) { f["request"] = []string{other}; f.Set("option", "approve") },
			"its whole name":            func(f url.Values) { f["request"] = []string{"ask/other:" + other}; f.Set("option", "approve") },
			"a path":                    func(f url.Values) { f["request"] = []string{"../../../.asks/other/requests/" + other} },
			"another's digest":          func(f url.Values) { f.Set("digest-"+ids[0], form.Get("digest-"+ids[1])) },
			"no digest":                 func(f url.Values) { f.Del("digest-" + ids[0]) },
			"no such option":            func(f url.Values) { f.Set("option", "approve") },
			"no comment":                func(f url.Values) { f.Set("option", "answer") },
			"no question":               func(f url.Values) { f.Del("request") },
			"no session's form":         func(f url.Values) { f.Set("csrf", "x") },
		} {
			if status, page := post(change); receipts() != 0 || strings.Contains(page, `class="notice good"`) {
				t.Fatalf("%s: %d, %d files: %s", name, status, receipts(), page)
			}
		}
		twice := func(f url.Values) { f["request"] = []string{ids[0], ids[0], ids[1]} }
		if _, page := post(twice); strings.Count(page, `class="notice good"`) != 3 {
			t.Errorf("twice: %s", page)
		}
		// The same press again says what was decided, and another answer changes nothing.
		if _, page := post(func(f url.Values) { f.Set("option", "validate") }); strings.Contains(page, `class="notice good"`) {
			t.Errorf("another answer: %s", page)
		}
		if n := len(p.glob("receipt.json")); n != 2 {
			t.Errorf("%d receipts", n)
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
