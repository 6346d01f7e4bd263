package main_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// upgraded are the answers to the requests that an earlier version left, by what
// the request's folder begins with: the item that is ticked, "" for an answer in
// words.
var upgraded = map[string]string{
	"fr-20261120-4a8880": "approve", "fr-20261120-b3d309": "approve", "fr-20261120-f3abb0": "retry", "fr-20261120-968f9c": "confirm",
	"fr-20261120-2b41b5": "", "fr-20261120-3833ec": "", "escalation-": "abort", "hitl-": "adequate",
}

// TestUpgrade goes on in a workspace that an earlier version left waiting: answers
// that were given to it count, and so do those that are given afterwards into the
// forms that it wrote.
func TestUpgrade(t *testing.T) {
	for name, answeredBefore := range map[string]bool{"answered before": true, "answered afterwards": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, filepath.Join(t.TempDir(), "ws"), 0)
			archive, err := txtar.ParseFile(filepath.Join("..", "..", "testdata", "upgrade", "waiting.txtar"))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range archive.Files {
				p.write(f.Name, string(f.Data))
			}
			p.write("../home-ws/placet/placet.toml", "[optimizer]\nhitl_timeout = \"80000h\"\n")
			p.write(".placet/recall", "of the version before")
			if answeredBefore {
				p.fillForms()
			}
			out, _ := p.placet("once")
			if !strings.Contains(out, "ignored, since an earlier version") {
				t.Errorf("does not name what is ignored: %s", out)
			}
			if !answeredBefore {
				p.fillForms()
				out, _ = p.placet("once")
			}
			forms, receipts := p.glob("form.md"), p.glob("receipt.json")
			if len(receipts) != len(upgraded) {
				t.Errorf("%d forms, %d receipts: %s", len(forms), len(receipts), out)
			}
			for _, note := range append(p.glob("problem.md"), p.glob("request.json.problem.md")...) {
				t.Errorf("%s: %s", note, p.read(note))
			}
			for _, receipt := range receipts {
				if body := p.read(receipt); !strings.Contains(body, `"result": "accepted"`) {
					t.Errorf("%s: %s", receipt, body)
				}
			}
		})
	}
}

// glob are the files of this name in the requests' folders, relative to the
// workspace.
func (p *place) glob(name string) []string {
	p.t.Helper()
	var found []string
	for _, runs := range []string{".fractary/faber/runs/*/*/*", ".afl/sessions/*", ".mso-context/active/*/optimizer"} {
		names, err := filepath.Glob(filepath.Join(p.root, runs, "requests", "*", name))
		if err != nil {
			p.t.Fatal(err)
		}
		for _, full := range names {
			rel, _ := filepath.Rel(p.root, full)
			found = append(found, rel)
		}
	}
	return found
}

// fillForms answers every request in its form.
func (p *place) fillForms() {
	p.t.Helper()
	for _, form := range p.glob("form.md") {
		body := p.read(form)
		for id, word := range upgraded {
			if !strings.HasPrefix(filepath.Base(filepath.Dir(form)), id) {
				continue
			}
			body = tickFirst(body, word)
		}
		p.write(form, strings.Replace(body, "- [ ] submit", "- [x] submit", 1))
	}
}

// tickFirst ticks the item that begins with a word; without a word the first item,
// or where there is none it writes words in the place of a comment.
func tickFirst(form, word string) string {
	if item := "- [ ] " + word; word != "" && strings.Contains(form, item) {
		return strings.Replace(form, item, "- [x] "+word, 1)
	}
	at := strings.Index(form, "<!-- placet answer")
	if first := strings.Index(form[at:], "- [ ] "); first >= 0 && !strings.HasPrefix(form[at+first:], "- [ ] submit") {
		return form[:at+first] + strings.Replace(form[at+first:], "- [ ]", "- [x]", 1)
	}
	submit := strings.LastIndex(form, "- [ ] submit")
	return form[:submit] + "Central European Time.\n\n" + form[submit:]
}
