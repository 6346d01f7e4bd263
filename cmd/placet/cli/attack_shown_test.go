package cli_test

import (
	"path/filepath"
	"strings"
	"testing"

	"placet/engine/ask"
)

// shownAttacks are on what a person sees: an answer counts only for what it was given to.
var shownAttacks = []attack{
	{"an artifact swapped while a person reads", "an agent writes another plan, the person reads that and ticks the form, and the agent restores the plan", func(t *testing.T, p *place) {
		id, form := p.asksAboutPlan("")
		p.write("plan.md", "the other plan\n")
		p.write(form, ticked(p.read(form), "approve"))
		p.isVoid(t, id)
		p.write("plan.md", "the plan\n")
		p.writtenAgain(t, id)
		p.write(form, ticked(p.read(form), "approve")+"\n") // saved again, it is no other answer
		for range 3 {
			p.placet("once")
		}
		if p.there(".asks/" + id + "/answer.json") {
			t.Fatalf("the old tick counts: %s", p.read(".asks/"+id+"/answer.json"))
		}
		p.write(p.asking(id)+"/response.json", `{"request_id": "`+ask.RequestID(id)+`", "response": "approve", "provided_by": {"user": "kim", "source": "file"}}`)
		p.placet("once")
		p.says(p.read(p.asking(id)+"/problem.md"), "is stale")
		again := p.formAgain(t, id)
		p.says(p.read(again), "plan.md", "was another file then")
		p.remove(p.asking(id) + "/response.json")
		p.write(again, ticked(p.read(again), "reject"))
		p.until("the new form counts", func() bool {
			p.placet("once")
			return strings.Contains(p.read(".asks/"+id+"/answer.json"), `"response": "reject"`)
		})
	}},
	{"an artifact that stays what it is", "nobody touches the plan: no void.json is written, and the tick counts", func(t *testing.T, p *place) {
		id, form := p.asksAboutPlan("")
		p.write(form, ticked(p.read(form), "approve"))
		p.until("the tick counts", func() bool { p.placet("once"); return p.there(".asks/" + id + "/answer.json") })
		if p.there(p.asking(id) + "/void.json") {
			t.Error("an answer was void")
		}
	}},
	{"an approval of what was swapped", "a person approves on the command line while the plan is another", func(t *testing.T, p *place) {
		id, _ := p.asksAboutPlan("")
		p.write("plan.md", "the other plan\n")
		p.until("the plan has changed", func() bool {
			out, code := p.placet("approve", p.reference(), "--as", "kim")
			if code == 0 {
				t.Fatalf("it is approved: %s", out)
			}
			return strings.Contains(out, "plan.md is not what was asked about")
		})
		if p.there(p.asking(id) + "/response.json") {
			t.Error("an answer was written")
		}
		p.write("plan.md", "the plan\n")
		p.until("the honest approval", func() bool { _, code := p.placet("approve", p.reference(), "--as", "kim"); return code == 0 })
		p.until("it counts", func() bool { p.placet("once"); return p.there(".asks/" + id + "/answer.json") })
	}},
	{"an answer over HTTP to what was swapped", "a program or a page answers while the plan is another", func(t *testing.T, p *place) {
		id, _ := p.asksAboutPlan("")
		s := serveAt(p)
		s.token("ci", "read,decide")
		digest := p.shown()
		answer := func() reply {
			return s.call("ci", "POST", "/api/v1/requests/"+ask.RequestID(id)+"/answer", map[string]any{"response": "approve", "digest": digest})
		}
		p.write("plan.md", "the other plan\n")
		p.until("the plan has changed", func() bool {
			return strings.Contains(s.call("ci", "GET", "/api/v1/requests/"+ask.RequestID(id), nil).body, `"changed":[{"path":"plan.md"`)
		})
		s.refuses("an answer to another plan", answer(), 409, "stale", "plan.md")
		if p.there(p.asking(id) + "/response.json") {
			t.Error("an answer was written")
		}
		p.write("plan.md", "the plan\n")
		p.until("the honest answer", func() bool { return answer().status < 300 })
		p.until("it counts", func() bool { return p.there(".asks/" + id + "/answer.json") })
	}},
	{"a list of void answers taken away", "an agent removes void.json, or empties it, so that an old answer may count again", func(t *testing.T, p *place) {
		id, form := p.asksAboutPlan("")
		p.write("plan.md", "the other plan\n")
		p.write(form, ticked(p.read(form), "approve"))
		p.isVoid(t, id)
		p.write("plan.md", "the plan\n")
		p.writtenAgain(t, id)
		file := p.asking(id) + "/void.json"
		good := p.read(file)
		for what, spoil := range map[string]func(){
			"removed":       func() { p.remove(file) },
			"edited":        func() { p.write(file, strings.Replace(good, `"approve"`, `"reject"`, 1)) },
			"of no moments": func() { p.write(file, strings.Replace(good, `"n": 1`, `"n": 0`, 1)) },
		} {
			spoil()
			for range 2 {
				p.placet("once")
			}
			if p.there(".asks/" + id + "/answer.json") {
				t.Fatalf("%s: the old tick counts", what)
			}
			p.says(p.read(p.asking(id)+"/problem.md"), "void.json is not what placet wrote")
			p.write(file, good)
		}
		again := p.formAgain(t, id)
		p.write(again, ticked(p.read(again), "approve"))
		p.until("once it is restored, the new form counts", func() bool { p.placet("once"); return p.there(".asks/" + id + "/answer.json") })
	}},
	{"a program that waits for a void answer", "the program goes on waiting, though nobody can answer what it asked", func(t *testing.T, p *place) {
		id, form := p.asksAboutPlan("")
		p.write("plan.md", "the other plan\n")
		p.write(form, ticked(p.read(form), "approve"))
		p.isVoid(t, id)
		out, code := p.placet("wait", id)
		if p.says(out, "plan.md"); code != 7 {
			t.Errorf("wait ends with %d: %s", code, out)
		}
		if out, code := p.placet("wait", id, "--keep-waiting", "--timeout", "1s"); code != 3 || !strings.Contains(out, "was another file then") {
			t.Errorf("with --keep-waiting it ends with %d: %s", code, out)
		}
	}},
}

// asksAboutPlan asks for an approval of a plan.
func (p *place) asksAboutPlan(members string) (id, form string) {
	p.t.Helper()
	p.write("plan.md", "the plan\n")
	p.write(".asks/a/ask.json", `{"question": "Do it?", "type": "approval", "artifacts": [{"path": "plan.md"}]`+members+`}`)
	form = p.asking("a") + "/form.md"
	p.until("it is asked", func() bool { p.placet("once"); return p.there(form) })
	return "a", form
}

// ticked is a form with an option and its last item ticked.
func ticked(form, option string) string {
	form = strings.Replace(form, "- [ ] "+option, "- [x] "+option, 1)
	return strings.Replace(form, "- [ ] submit", "- [x] submit", 1)
}

// isVoid waits until the answers to an ask are void.
func (p *place) isVoid(t *testing.T, id string) {
	t.Helper()
	p.until("the answer is void", func() bool { p.placet("once"); return p.there(p.asking(id) + "/void.json") })
	if p.there(".asks/" + id + "/answer.json") {
		t.Fatal("it is answered")
	}
}

// writtenAgain waits until there is a form of what is asked about, after a void answer.
func (p *place) writtenAgain(t *testing.T, id string) {
	t.Helper()
	p.until("a form is written again", func() bool { p.placet("once"); return len(p.formsAgain(id)) == 1 })
}

func (p *place) formsAgain(id string) []string {
	names, _ := filepath.Glob(filepath.Join(p.root, p.asking(id), "form-????????.md"))
	return names
}

// formAgain is the one form that was written since answers were void.
func (p *place) formAgain(t *testing.T, id string) string {
	t.Helper()
	all := p.formsAgain(id)
	if len(all) != 1 {
		t.Fatalf("there are the forms %q", all)
	}
	return p.asking(id) + "/" + filepath.Base(all[0])
}
