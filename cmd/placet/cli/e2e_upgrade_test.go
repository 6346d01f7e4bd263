package cli_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
// forms that it wrote, whose sentences the forms of today word otherwise. No form is
// written anew, and words of one's own in it are part of the comment.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answeredBefore bool
		words          string
	}{
		"answered before": {answeredBefore: true}, "answered afterwards": {},
		"answered before, in words": {answeredBefore: true, words: "only on Friday"}, "answered afterwards, in words": {words: "only on Friday"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, filepath.Join(t.TempDir(), "ws"), 0)
			archive, err := txtar.ParseFile(filepath.Join("..", "..", "..", "testdata", "upgrade", "waiting.txtar"))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range archive.Files {
				p.write(f.Name, string(f.Data))
			}
			p.write("../home-ws/placet/placet.toml", "[optimizer]\nhitl_timeout = \"80000h\"\n")
			p.write(".placet/recall", "of the version before")
			if c.answeredBefore {
				p.fillForms(c.words)
			}
			before := p.contents(p.glob("form.md"))
			out, _ := p.placet("once")
			if !strings.Contains(out, "ignored, since an earlier version") {
				t.Errorf("does not name what is ignored: %s", out)
			}
			if diff := cmp.Diff(before, p.contents(p.glob("form.md"))); diff != "" {
				t.Errorf("forms were written anew:\n%s", diff)
			}
			if !c.answeredBefore {
				p.fillForms(c.words)
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
				if body := p.read(receipt); !strings.Contains(body, `"result": "accepted"`) || !strings.Contains(body, c.words) {
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

// contents are files by their names.
func (p *place) contents(names []string) map[string]string {
	all := map[string]string{}
	for _, name := range names {
		all[name] = p.read(name)
	}
	return all
}

// fillForms answers every request in its form, with words below the first option, or
// where there is none, above the comment's heading.
func (p *place) fillForms(words string) {
	p.t.Helper()
	for _, form := range p.glob("form.md") {
		body := p.read(form)
		for id, word := range upgraded {
			if !strings.HasPrefix(filepath.Base(filepath.Dir(form)), id) {
				continue
			}
			body = tickFirst(body, word)
		}
		if words != "" {
			body = belowFirst(body, words)
		}
		p.write(form, strings.Replace(body, "- [ ] submit", "- [x] submit", 1))
	}
}

// belowFirst writes words below the ticked option; where there is none, above the
// comment's mark.
func belowFirst(form, words string) string {
	if at := strings.Index(form, "- [x] "); at >= 0 {
		end := at + strings.Index(form[at:], "\n") + 1
		return form[:end] + "  " + words + "\n" + form[end:]
	}
	return strings.Replace(form, "<!-- placet comment", words+"\n\n<!-- placet comment", 1)
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
