package cli_test

import (
	"html"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// A person who answers on a page or by the API can change a text first, and the changed text is
// what was approved. A browser's line ends are no change, and a refused text is not lost.
func TestServeTakesATextThatWasChanged(t *testing.T) {
	t.Parallel()
	const editable = `, "artifacts": [{"path": "plan.md", "editable": true}]`
	p := newPlace(t, t.TempDir(), 0)
	p.write("plan.md", "\nfirst\nthen <b>\n")
	p.askEach(3, editable)
	s := serveAt(p)
	s.token("lead", "read,write,decide")
	p.until("all is asked", func() bool { return len(p.openForms()) == 3 })
	v := s.visitor()
	v.logIn("lead")
	path := func(ask string) string { return "/requests/" + percent("ask/"+ask, s.requestOf("ask/"+ask)) }
	approved := func(ask string) string { return s.read(".asks/" + ask + "/answer-1.md") }

	_, page := v.visit(path("q0000"), nil)
	form := fields(page)
	field := func(page string) string {
		_, rest, _ := strings.Cut(page, `<textarea name="edit-1" rows="15" spellcheck="false">`)
		text, _, _ := strings.Cut(rest, "</textarea>")
		return strings.TrimPrefix(html.UnescapeString(text), "\n") // as browsers do
	}
	if got := field(page); got != "\nfirst\nthen <b>\n" {
		t.Fatalf("the page offers %q", got)
	}
	form.Set("option", "approve")
	form.Set("edit-1", "first\u200b\r\n")
	if got, text := v.visit(path("q0000"), form); got.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(text, "first\u200b") || !strings.Contains(text, "nobody can see") {
		t.Errorf("a text that cannot be taken: %d %s", got.StatusCode, text)
	}
	form.Set("edit-1", "first\r\nthen all\r\n")
	if got, text := v.visit(path("q0000"), form); got.StatusCode != http.StatusSeeOther {
		t.Fatalf("a text that was changed: %d %s", got.StatusCode, text)
	}
	p.until("the answer is taken", func() bool { return approved("q0000") != "" })
	if got := approved("q0000"); got != "first\nthen all\n" {
		t.Errorf("approved is %q", got)
	}

	_, page = v.visit(path("q0001"), nil)
	form = fields(page)
	form.Set("option", "approve")
	form.Set("edit-1", strings.ReplaceAll(field(page), "\n", "\r\n"))
	v.visit(path("q0001"), form)
	p.until("the answer is taken", func() bool { return s.read(".asks/q0001/answer.json") != "" })
	if approved("q0001") != "" || !strings.Contains(s.read(".asks/q0001/answer.json"), `"edited": false`) {
		t.Errorf("nothing was changed: %q %s", approved("q0001"), s.read(".asks/q0001/answer.json"))
	}

	api := "/api/v1/requests/" + percent("ask/q0002", s.requestOf("ask/q0002"))
	digest := s.call("lead", "GET", api, nil).text("data", "digest")
	answer := func(path, text string) reply {
		return s.call("lead", "POST", api+"/answer", map[string]any{"response": "approve", "digest": digest, "edits": []map[string]any{{"path": path, "text": text}}})
	}
	s.wants("a file that is not asked about", answer("other.md", "x"), 422, "invalid")
	s.wants("a text", answer("plan.md", "by the API\n"), 200, "")
	s.wants("the same again", answer("plan.md", "by the API\n"), 200, "")
	s.wants("another", answer("plan.md", "otherwise\n"), 409, "closed")
	p.until("it is there", func() bool { return approved("q0002") == "by the API\n" })

	// A form that comes after the logout is not lost.
	p.write(".asks/q0003/ask.json", `{"question": "Once more?"`+editable+`}`)
	p.until("it is asked", func() bool { return s.read(filepath.Join(".asks/q0003", "state.json")) != "" })
	_, page = v.visit(path("q0003"), nil)
	form = fields(page)
	form.Set("option", "approve")
	form.Set("edit-1", "typed for hours\r\n")
	form.Set("csrf", "another")
	if got, text := v.visit(path("q0003"), form); got.StatusCode != http.StatusForbidden || !strings.Contains(text, "typed for hours") {
		t.Errorf("an unsent form: %d %s", got.StatusCode, text)
	}
}

// The page says of an artifact that it is a pointer of Git LFS, bound to the answer or not.
func TestThePageSaysThatAnArtifactIsAnLFSPointer(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 0)
	const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"
	p.write("model.bin", pointer)
	p.write("plan.bin", pointer)
	p.write("notes.md", "about:\n"+pointer)
	p.askEach(1, `, "artifacts": [{"path": "model.bin"}, {"path": "plan.bin", "binding": false}, {"path": "notes.md"}]`)
	s := serveAt(p)
	s.token("lead", "read,write,decide")
	p.until("all is asked", func() bool { return len(p.openForms()) == 1 })
	v := s.visitor()
	v.logIn("lead")
	_, page := v.visit("/requests/"+percent("ask/q0000", s.requestOf("ask/q0000")), nil)
	if n := strings.Count(page, "a Git LFS pointer: the content is not here"); n != 2 {
		t.Errorf("the page says it %d times:\n%s", n, page)
	}
}
