package cli_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"placet/engine/gate"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// upgraded are the answers to the requests that an earlier version left, by the beginning of
// the request's folder: the item that is ticked, "" for an answer in words.
var upgraded = map[string]string{
	"fr-20261120-4a8880": "approve", "fr-20261120-b3d309": "approve", "fr-20261120-f3abb0": "retry", "fr-20261120-968f9c": "confirm",
	"fr-20261120-2b41b5": "", "fr-20261120-3833ec": "", "escalation-": "abort", "hitl-": "adequate",
	"fr-20261120-000001": "approve", "approve-": "approve", "ask-": "approve", "apr-": "reject", "esc-": "skip",
}

// leftOpen is how many requests of the workspace "waiting" are open.
const leftOpen = 8

// TestUpgrade goes on in workspaces that earlier versions left waiting. Answers that were given
// before count, and so do those that are given afterwards into the old forms, whose sentences
// differ from those of today. Nothing is asked again, no answer is void, and a person's own
// text in a form is part of the comment.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answeredBefore bool
		words          string
	}{
		"answered before": {answeredBefore: true}, "answered afterwards": {},
		"answered before, in words": {answeredBefore: true, words: "only on Friday"}, "answered afterwards, in words": {words: "only on Friday"},
	} {
		for left, n := range map[string]int{"waiting": leftOpen, "open": 6} {
			t.Run(left+", "+name, func(t *testing.T) {
				t.Parallel()
				p := leftWaiting(t, left)
				if c.answeredBefore {
					p.fillForms(c.words)
				}
				asked := p.contents(slices.Concat(p.glob("form*.md"), p.glob("request.json")))
				if len(asked) != 2*n {
					t.Fatalf("there are %d files of requests", len(asked))
				}
				out, _ := p.placet("once")
				if !strings.Contains(out, "ignored, since an earlier version") {
					t.Errorf("does not name what is ignored: %s", out)
				}
				if !c.answeredBefore {
					p.until("nothing moves", func() bool { out, _ = p.placet("once"); return strings.Contains(out, ", 0 transitions, ") })
					if diff := cmp.Diff(asked, p.contents(slices.Concat(p.glob("form*.md"), p.glob("request.json")))); diff != "" {
						t.Errorf("something is asked anew:\n%s", diff)
					}
					p.fillForms(c.words)
					asked = p.contents(p.glob("form*.md"))
				}
				p.until("all are answered", func() bool { out, _ = p.placet("once"); return len(p.glob("receipt.json")) == n })
				for name, body := range asked {
					if p.read(name) != body {
						t.Errorf("%s was written anew", name)
					}
				}
				for _, note := range slices.Concat(p.glob("problem.md"), p.glob("request.json.problem.md"), p.glob("void.json")) {
					t.Errorf("%s: %s", note, p.read(note))
				}
				for _, receipt := range p.glob("receipt.json") {
					if body := p.read(receipt); !strings.Contains(body, `"result": "accepted"`) || !strings.Contains(body, c.words) {
						t.Errorf("%s: %s", receipt, body)
					}
				}
			})
		}
	}
}

// leftWaiting makes a workspace as an earlier version left it, with that version's own records.
func leftWaiting(t *testing.T, name string) *place {
	t.Helper()
	p := newPlace(t, filepath.Join(t.TempDir(), "ws"), 0)
	archive, err := txtar.ParseFile(filepath.Join("..", "..", "..", "testdata", "upgrade", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	p.write("../home-ws/placet/placet.toml", "[optimizer]\nhitl_timeout = \"80000h\"\n")
	p.write("placet.toml", "")
	p.placet("once") // it has a folder of its own outside the workspace
	state, _ := filepath.Glob(filepath.Join(p.root, "../home-ws/placet/workspaces/*"))
	if len(state) != 1 {
		t.Fatalf("its folders are %q", state)
	}
	for _, f := range archive.Files {
		if rest, ok := strings.CutPrefix(f.Name, "state/"); ok {
			p.write(filepath.Join("../home-ws/placet/workspaces", filepath.Base(state[0]), rest), string(f.Data))
		} else {
			p.write(f.Name, string(f.Data))
		}
	}
	p.write(".placet/recall", "of the version before")
	return p
}

// glob are the files of this name in the requests' folders, relative to the
// workspace.
func (p *place) glob(name string) []string {
	p.t.Helper()
	var found []string
	for _, runs := range []string{
		".fractary/faber/runs/*/*/*", ".afl/sessions/*", ".mso-context/active/*/optimizer", ".asks/*", ".nemawashi/actions/*", ".pal/orchestrations/*",
	} {
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

// fillForms answers every request in its form, with text below the first option or, without
// options, above the comment's heading. The files of an old request were written when the
// workspace was put here, and the old forms do not have their texts: such an answer names the
// files that it was given to.
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
		p.saysWhatItSaw(filepath.Dir(form), words)
	}
}

// saysWhatItSaw answers a request about files again, in a response.json that names them.
func (p *place) saysWhatItSaw(dir, words string) {
	p.t.Helper()
	request, err := gate.ReadRequest("request.json", []byte(p.read(dir+"/request.json")))
	if err != nil {
		p.t.Fatal(err)
	}
	seen := request.Binding()
	if len(seen) == 0 || request.Family == "faber" { // these requests are as old as their files
		return
	}
	for id, word := range upgraded {
		if strings.HasPrefix(request.RequestID, id) {
			option, ok := gate.Match(request.Options, word)
			if !ok {
				option = request.Options[0].ID // the old form has another name for it
			}
			resp := gate.Response{RequestID: request.RequestID, Response: option, Comment: words, ProvidedBy: gate.By{User: "kim", Source: "file"}, Artifacts: seen}
			body, err := resp.Encode()
			if err != nil {
				p.t.Fatal(err)
			}
			p.write(dir+"/response.json", string(body))
		}
	}
}

// belowFirst writes text below the ticked option or, without one, above the comment's mark.
func belowFirst(form, words string) string {
	if at := strings.Index(form, "- [x] "); at >= 0 {
		end := at + strings.Index(form[at:], "\n") + 1
		return form[:end] + "  " + words + "\n" + form[end:]
	}
	return strings.Replace(form, "<!-- placet comment", words+"\n\n<!-- placet comment", 1)
}

// tickFirst ticks the item that begins with a word; without a word it ticks the first item or,
// if there are none, writes text in the place of a comment.
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
