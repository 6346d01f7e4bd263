package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"placet/engine/ask"
)

// fileAttacks are changes of files by git, an editor or a mistake, and attacks that look like
// them.
var fileAttacks = []attack{
	{"line ends of a checkout", "git checks everything out with CR LF, and somebody changes a word of a request besides", func(t *testing.T, p *place) {
		p.git("init", "-q", p.root)
		p.must(0, "init")
		p.waiting(t)
		p.newCycle(nearRun)
		p.trigger(nearRun, "near")
		for _, id := range []string{"honest", "changed"} {
			p.writeAsk(id)
			p.write(".asks/"+id+"/ask.json", p.read(".asks/"+id+"/ask.json")+"\n")
		}
		p.until("all ask", func() bool {
			p.placet("once")
			return p.opened() && p.showsForm("honest") && p.showsForm("changed") && p.cycle(nearRun+"state.json").RequestID != ""
		})
		folder, id := p.asked(nearRun)

		p.write(".gitattributes", "* text=auto eol=crlf\n")
		p.git("-C", p.root, "add", "-A")
		p.git("-C", p.root, "commit", "-q", "-m", "asked")
		for _, root := range []string{".asks", ".fractary", ".mso-context"} {
			p.drop(root)
		}
		p.git("-C", p.root, "checkout", "-q", ".")
		for _, name := range []string{".asks/honest/state.json", ".asks/honest/ask.json", folder + "request.json", folder + "form.md", nearRun + "events.jsonl", p.request(0) + "/request.json"} {
			if !strings.Contains(p.read(name), "\r\n") {
				t.Fatalf("%s has no CR LF", name)
			}
		}
		request := ".asks/changed/requests/" + ask.RequestID("changed") + "/request.json"
		p.write(request, strings.Replace(p.read(request), "Deploy changed?", "Deploy other?", 1))

		for _, id := range []string{"honest", "changed"} {
			p.choose(id, "deploy")
		}
		p.write(p.request(0)+"/response.json", p.response(0, "approve", ""))
		p.answer(folder, id, judgements[byFile])
		p.until("what git has changed is answered", func() bool {
			p.placet("once")
			return strings.Contains(p.read(".asks/honest/answer.md"), "deploy") && p.answered(0) && p.cycle(nearRun+"state.json").Status == "goal"
		})
		if p.there(".asks/changed/answer.md") || !p.there(request+".problem.md") {
			t.Errorf("the changed request was answered: %s", p.read(".asks/changed/answer.md"))
		}
		for _, name := range []string{".asks/honest", p.request(0), nearRun} {
			if notes, _ := filepath.Glob(filepath.Join(p.root, name, "*problem.md")); len(notes) > 0 {
				t.Errorf("%s: %s", notes[0], contentOf(t, notes[0]))
			}
		}
	}},
	{"line ends of an artifact", "git checks out what is asked about with CR LF, and in that disguise somebody changes a word of it, or one line end alone", func(t *testing.T, p *place) {
		p.git("init", "-q", p.root)
		for _, id := range []string{"honest", "word", "line"} {
			p.write(id+".md", "one\ntwo\n")
			p.write(".asks/"+id+"/ask.json", `{"question": "Deploy?", "type": "approval", "artifacts": [{"path": "`+id+`.md"}]}`)
			p.until("it is asked", func() bool { p.placet("once"); return p.showsForm(id) })
		}
		p.checksOutWithCRLF("honest.md")
		p.write("word.md", "one\r\ntwo more\r\n")
		p.write("line.md", "one\r\ntwo\n")
		for _, id := range []string{"word", "line"} {
			p.choose(id, "approve")
			p.isVoid(t, id)
		}
		request := ask.RequestID("honest")
		if out := p.must(0, "show", request); strings.Contains(out, "changed") {
			t.Errorf("what is shown of it: %s", out)
		}
		asked := showsArtifact(t, p.must(0, "show", request, "--json"))
		if asked.hasChanged() || len(asked.Changed) > 0 {
			t.Errorf("what programs are told: %+v", asked)
		}
		p.must(0, "approve", asked.Reference, "--as", "kim")
		p.until("it is answered", func() bool { p.placet("once"); return strings.Contains(p.read(".asks/honest/answer.md"), "approve") })
		if p.there(p.asking("honest")+"/void.json") || p.there(p.asking("honest")+"/problem.md") {
			t.Errorf("something is wrong with it: %s", p.read(p.asking("honest")+"/problem.md"))
		}
		if told := showsArtifact(t, `{"data": `+p.read(".asks/honest/answer.json")+`}`); told.hasChanged() {
			t.Errorf("the asker is told that it changed: %+v", told)
		}
	}},
	{"line ends of a design", "the same, of what a FABER run asks about", func(t *testing.T, p *place) {
		p.git("init", "-q", p.root)
		p.runs = newPlace(t, p.root, 2).runs
		for i, name := range []string{"honest.md", "word.md"} {
			p.write(name, "one\ntwo\n")
			p.edit(p.runs[i]+"/state.json", `"type": "review",`, `"type": "review", "context": {"artifact_path": "`+name+`"},`)
		}
		s := serveAt(p)
		s.token("ci", "read")
		p.until("both are asked", p.opened)
		p.checksOutWithCRLF("honest.md")
		p.write("word.md", "one\r\ntwo more\r\n")
		p.until("a program is told which has changed", func() bool {
			changed := func(i int) bool {
				return showsArtifact(t, s.call("ci", "GET", "/api/v1/requests/"+p.requestID(i), nil).body).hasChanged()
			}
			return changed(1) && !changed(0)
		})
		for i := range p.runs {
			p.write(p.request(i)+"/form.md", p.ticked(i, "approve"))
		}
		p.until("the one counts, and the other is void", func() bool { return p.answered(0) && p.there(p.request(1)+"/void.json") })
		p.verify(0, "approve")
		if forms, _ := filepath.Glob(filepath.Join(p.root, p.request(0), "form-*.md")); len(forms) > 0 || p.there(p.request(0)+"/void.json") || p.answered(1) {
			t.Errorf("the honest one has the forms %q, the other is answered: %t", forms, p.answered(1))
		}
	}},
	{"a misspelt name", "a name in a question, an answer or a command is misspelt, so that what it says is lost", func(t *testing.T, p *place) {
		for i, name := range []string{`"artifact": [{"path": "plan.md"}]`, `"defualt": "reject"`, `"deadlin": "1h"`, `"may-answer": ["kim"]`, `"options": [{"id": "a"}, {"id": "b", "aproves": true}]`} {
			id := fmt.Sprintf("ask-%d", i)
			p.write(".asks/"+id+"/ask.json", `{"question": "Deploy?", `+name+`}`)
			p.until("the note is there", func() bool { p.placet("once"); return p.there(".asks/" + id + "/ask.json.problem.md") })
			p.says(p.read(".asks/"+id+"/ask.json.problem.md"), "unknown name", "expected", "x-")
			if p.showsForm(id) {
				t.Errorf("%s was asked", name)
			}
		}
		p.write(".asks/honest/ask.json", `{"question": "Deploy?", "x-deadlin": "1h", "ticket": 7, "$schema": "x"}`)
		p.until("the honest one is asked", func() bool { p.placet("once"); return p.showsForm("honest") })
		if p.there(".asks/honest/ask.json.problem.md") {
			t.Error(p.read(".asks/honest/ask.json.problem.md"))
		}
		p.write(".asks/honest/withdraw.json", `{"reasn": "done"}`)
		p.until("the note is there", func() bool { p.placet("once"); return p.there(".asks/honest/withdraw.json.problem.md") })
		p.write(".asks/honest/withdraw.json", `{"reason": "done"}`)
		p.until("it is withdrawn", func() bool {
			p.placet("once")
			return strings.Contains(p.read(".asks/honest/state.json"), `"withdrawn"`) && !p.there(".asks/honest/withdraw.json.problem.md")
		})
	}},
	{"a second name of what git ignores", "the file in which git keeps what it ignores is a second name of somebody's file, to which placet adds its lines", func(t *testing.T, p *place) {
		p.git("init", "-q", p.root)
		const own = "somebody's file\n"
		p.write("../precious-"+filepath.Base(p.root), own)
		precious := filepath.Join(p.root, "..", "precious-"+filepath.Base(p.root))
		for _, name := range []string{".git/info/exclude", ".gitattributes", ".placet/.gitignore"} {
			p.drop(name)
			p.write(name, "")
			p.drop(name)
			if err := os.Link(precious, filepath.Join(p.root, name)); err != nil {
				t.Fatal(err)
			}
		}
		p.must(0, "init")
		if contentOf(t, precious) != own {
			t.Errorf("it was written: %q", contentOf(t, precious))
		}
		for name, line := range map[string]string{".git/info/exclude": ".placet/\n", ".gitattributes": ".asks/** -text\n", ".placet/.gitignore": "*\n"} {
			if body := p.read(name); !strings.HasPrefix(body, own) || !strings.Contains(body, line) {
				t.Errorf("%s: %q", name, body)
			}
		}
		p.must(0, "init") // again, it adds nothing
		if n := strings.Count(p.read(".gitattributes"), ".asks/**"); n != 1 {
			t.Errorf("%d times: %s", n, p.read(".gitattributes"))
		}
		p.writeAsk("a")
		p.until("it is asked", func() bool { p.placet("once"); return p.showsForm("a") })
		if out := p.git("-C", p.root, "check-attr", "text", ".asks/a/ask.json", "src/main.go"); !strings.Contains(out, "ask.json: text: unset") || !strings.Contains(out, "main.go: text: unspecified") {
			t.Error(out)
		}
		if left := p.temps(); len(left) > 0 {
			t.Errorf("left is %q", left)
		}
	}},
}

// checksOutWithCRLF commits a file and makes git check it out with other line ends.
func (p *place) checksOutWithCRLF(name string) {
	p.t.Helper()
	p.write(".gitattributes", name+" text eol=crlf\n")
	p.git("-C", p.root, "add", name, ".gitattributes")
	p.git("-C", p.root, "commit", "-q", "-m", "asked")
	p.drop(name)
	p.git("-C", p.root, "checkout", "-q", "--", name)
	if body := p.read(name); !strings.Contains(body, "\r\n") {
		p.t.Fatalf("%s is %q", name, body)
	}
}

// shownArtifact is the JSON of a request about one file.
type shownArtifact struct {
	Reference string     `json:"reference"`
	Changed   []struct{} `json:"changed"`
	Artifacts []struct {
		SHA256 string `json:"sha256"`
		Now    string `json:"now"`
	} `json:"artifacts"`
}

func (a shownArtifact) hasChanged() bool { return a.Artifacts[0].Now != a.Artifacts[0].SHA256 }

func showsArtifact(t *testing.T, body string) shownArtifact {
	t.Helper()
	var reply struct{ Data shownArtifact }
	if err := json.Unmarshal([]byte(body), &reply); err != nil || len(reply.Data.Artifacts) != 1 {
		t.Fatalf("%v: %s", err, body)
	}
	return reply.Data
}
