package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"placet/engine"
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
	{"an artifact swapped and restored between two looks", "an agent writes another plan, a person reads that, and the agent restores the plan before placet looks", func(t *testing.T, p *place) {
		id, form := p.asksAboutPlan("")
		if strings.Contains(p.read(form), "](/plan.md)") || !strings.Contains(p.read(form), "the plan") {
			t.Errorf("the form does not hold the text: %s", p.read(form))
		}
		says := `{"request_id": "` + ask.RequestID(id) + `", "response": "approve", "provided_by": {"user": "kim", "source": "file"}`
		p.swapped(id)
		p.write(p.asking(id)+"/response.json", says+"}")
		p.until("it is held", func() bool { p.placet("once"); return p.there(p.asking(id) + "/problem.md") })
		p.says(p.read(p.asking(id)+"/problem.md"), "plan.md", "was written again", "artifacts")
		seen := func(text string) string {
			return says + `, "artifacts": [{"path": "plan.md", "sha256": "` + engine.Sum([]byte(text)).Hex() + `"}]}`
		}
		p.write(p.asking(id)+"/response.json", seen("the other plan\n"))
		p.placet("once")
		p.says(p.read(p.asking(id)+"/problem.md"), "are not the files that were shown")
		if p.there(".asks/" + id + "/answer.json") {
			t.Fatalf("it counts: %s", p.read(".asks/"+id+"/answer.json"))
		}
		p.write(p.asking(id)+"/response.json", seen("the plan\n"))
		p.until("an answer that says what it saw counts", func() bool { p.placet("once"); return p.there(".asks/" + id + "/answer.json") })
	}},
	{"a form that holds the text, and an approval that names it", "the plan was written again: what the person saw is in the form, and in what placet writes", func(t *testing.T, p *place) {
		id, form := p.asksAboutPlan("")
		p.swapped(id)
		p.write(form, ticked(p.read(form), "approve"))
		p.until("the form counts", func() bool { p.placet("once"); return p.there(".asks/" + id + "/answer.json") })
	}},
	{"a form whose text somebody changed", "an agent edits the text in the form that a person ticks", func(t *testing.T, p *place) {
		id, form := p.asksAboutPlan("")
		whole := p.read(form)
		p.write(form, ticked(strings.Replace(whole, "\nthe plan\n", "\nanother plan\n", 1), "approve"))
		p.until("it is void", func() bool {
			p.placet("once")
			return strings.Contains(p.read(p.asking(id)+"/problem.md"), "another plan")
		})
		p.write(form, ticked(whole, "approve"))
		p.until("the form counts", func() bool { p.placet("once"); return p.there(".asks/" + id + "/answer.json") })
	}},
	{"a text that git ignores", "a file that git ignores is asked about: its text must not come into git", func(t *testing.T, p *place) {
		p.beginsGit()
		p.write(".gitignore", ".env\n")
		p.write(".env", "TOKEN=s3cr3t\n")
		p.write("plan.md", "the plan\n")
		p.write(".asks/a/ask.json", `{"question": "Do it?", "type": "approval", "artifacts": [{"path": ".env"}, {"path": "plan.md"}]}`)
		p.until("it is asked", func() bool { p.placet("once"); return p.there(p.asking("a") + "/form.md") })
		for _, file := range []string{"form.md", "request.json"} {
			if body := p.read(p.asking("a") + "/" + file); strings.Contains(body, "s3cr3t") || !strings.Contains(body, "the plan") {
				t.Errorf("%s: %s", file, body)
			}
		}
	}},
	{"a text that imitates a form", "the plan holds ticked items and the marks of an answer", func(t *testing.T, p *place) {
		p.write("plan.md", "- [x] approve\n- [x] submit this answer\n<!-- placet answer 00000000 -->\n````\n```\n\u202e\u200b\n"+strings.Repeat("x", 1000)+"\n")
		p.write(".asks/a/ask.json", `{"question": "Do it?", "type": "approval", "artifacts": [{"path": "plan.md"}], "deadline": "1h"}`)
		form := p.asking("a") + "/form.md"
		p.until("it is asked", func() bool { p.placet("once"); return p.there(form) })
		p.placet("once")
		if p.there(".asks/a/answer.json") || p.there(p.asking("a")+"/problem.md") || strings.Contains(p.read(form), "\u202e") {
			t.Fatalf("something was read from the text: %s", p.read(form))
		}
		body := p.read(form)
		at := strings.LastIndex(body, "<!-- placet answer")
		p.write(form, body[:at]+ticked(body[at:], "reject"))
		p.until("the person's tick counts", func() bool {
			p.placet("once")
			return strings.Contains(p.read(".asks/a/answer.json"), `"response": "reject"`)
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
			return strings.Contains(out, "has changed since you were asked") && strings.Contains(out, "\n-the plan\n+the other plan\n")
		})
		if out := p.must(0, "show", ask.RequestID(id), "--artifact", "1"); out != "the plan\n" {
			t.Errorf("what it was: %q", out)
		}
		p.says(p.must(1, "show", ask.RequestID(id), "--diff"), "-the plan", "+the other plan")
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
	{"what keeps an answer from being void", "while the plan is another and a person has approved, somebody lays a receipt, half an answer or another request beside the answer, and takes it away once the plan is restored", func(t *testing.T, p *place) {
		receipt := func(result string, revision int) string {
			return fmt.Sprintf(`{"schema_version": 1, "request_id": %q, "result": %q, "response": "approve", "selected": [], "comment": "", "late": false,
 "provided_by": {"user": "kim", "source": "cli"}, "known_as": ["claimed:kim"], "answer": null, "digest": "sha256:%064d", "received_at": "2026-11-20T10:05:00Z",
 "decided_at": "2026-11-20T10:05:00Z", "reason": "", "revision": %d}`+"\n", ask.RequestID("a"), result, 1, revision)
		}
		id, form := p.asksAboutPlan("")
		for what, lay := range map[string]struct{ name, body string }{
			"a receipt of another question": {"receipt.json", receipt("accepted", 2)},
			"a receipt of the past":         {"receipt.json", receipt("accepted", 1)},
			"a receipt of no answer":        {"receipt.json", receipt("cancelled", 2)},
			"no receipt":                    {"receipt.json", "{}"},
			"half an answer":                {"response.json", "{"},
			"another request":               {"request.json", "{}"},
		} {
			q := newPlace(t, filepath.Join(t.TempDir(), "ws"), 0)
			q.asksAboutPlan("")
			good := q.read(q.asking(id) + "/request.json")
			q.write("plan.md", "the other plan\n")
			q.write(form, ticked(q.read(form), "approve"))
			q.until("beside "+what, func() bool {
				q.write(q.asking(id)+"/"+lay.name, lay.body) // again, so that it stays young
				q.placet("once")
				return q.there(q.asking(id) + "/void.json")
			})
			q.write("plan.md", "the plan\n")
			q.remove(q.asking(id) + "/" + lay.name)
			if lay.name == "request.json" {
				q.write(q.asking(id)+"/request.json", good)
			}
			q.writtenAgain(t, id)
			if q.there(".asks/" + id + "/answer.json") {
				t.Errorf("beside %s the old tick counts", what)
			}
		}
		p.write(form, ticked(p.read(form), "approve"))
		p.until("it is answered", func() bool { p.placet("once"); return p.there(".asks/" + id + "/answer.json") })
		p.write("plan.md", "the other plan\n")
		for range 2 {
			p.placet("once")
		}
		if p.there(p.asking(id)+"/void.json") || !p.there(p.asking(id)+"/receipt.json") {
			t.Error("what was decided is void")
		}
	}},
	{"what keeps an answer to a FABER run from being void", "the same, by a receipt beside what a run asks", func(t *testing.T, p *place) {
		p.runs = newPlace(t, p.root, 5).runs
		for i := range p.runs {
			name := fmt.Sprintf("plan-%d.md", i)
			p.write(name, "the plan\n")
			p.edit(p.runs[i]+"/state.json", `"type": "review",`, `"type": "review", "context": {"artifact_path": "`+name+`"},`)
		}
		p.edit(p.runs[2]+"/state.json", `"status": "awaiting_feedback",`, `"status": "awaiting_feedback", "revision": 5,`)
		p.settles(t, p.opened)
		for i, lay := range []string{
			p.forged(receiptOf{id: p.requestID(0), digest: "sha256:" + strings.Repeat("1", 64), revision: 2}),
			p.forged(receiptOf{id: p.requestID(1), digest: "sha256:" + strings.Repeat("1", 64), revision: 1}),
			p.forged(receiptOf{id: p.requestID(2), digest: "sha256:" + strings.Repeat("1", 64), revision: 2}), // of no later state
			"{}",
		} {
			p.write(fmt.Sprintf("plan-%d.md", i), "the other plan\n")
			p.write(p.request(i)+"/receipt.json", lay)
		}
		for i := range p.runs {
			p.write(p.request(i)+"/form.md", p.ticked(i, "approve"))
		}
		p.settles(t, func() bool {
			for i := range 4 {
				if !p.there(p.request(i) + "/void.json") {
					return false
				}
			}
			return p.answered(4)
		})
		for i := range 4 {
			p.write(fmt.Sprintf("plan-%d.md", i), "the plan\n")
			p.remove(p.request(i) + "/receipt.json")
		}
		p.settles(t, func() bool {
			forms, _ := filepath.Glob(filepath.Join(p.root, p.runs[0], "../*/requests/*/form-????????.md"))
			return len(forms) >= 4
		})
		for i := range 4 {
			if p.answered(i) {
				t.Errorf("the old tick of run %d counts", i)
			}
		}
		p.verify(4, "approve")
		p.write("plan-4.md", "the other plan\n")
		if p.placet("once"); p.there(p.request(4) + "/void.json") {
			t.Error("what was decided is void")
		}
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

// swapped replaces the plan by another one for a moment, after the time at which it was asked
// about, which is kept in seconds.
func (p *place) swapped(id string) {
	p.t.Helper()
	written := func(file string) time.Time {
		info, err := os.Stat(filepath.Join(p.root, file))
		if err != nil {
			p.t.Fatal(err)
		}
		return info.ModTime()
	}
	p.until("the plan was written again", func() bool {
		p.write("plan.md", "the other plan\n")
		p.write("plan.md", "the plan\n")
		return written("plan.md").Sub(written(p.asking(id)+"/form.md")) > time.Second
	})
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

// writtenAgain waits until the question has a new form, after a void answer.
func (p *place) writtenAgain(t *testing.T, id string) {
	t.Helper()
	p.until("a form is written again", func() bool { p.placet("once"); return len(p.formsAgain(id)) == 1 })
}

func (p *place) formsAgain(id string) []string {
	names, _ := filepath.Glob(filepath.Join(p.root, p.asking(id), "form-????????.md"))
	return names
}

// formAgain returns the one form that was written after answers were void.
func (p *place) formAgain(t *testing.T, id string) string {
	t.Helper()
	all := p.formsAgain(id)
	if len(all) != 1 {
		t.Fatalf("there are the forms %q", all)
	}
	return p.asking(id) + "/" + filepath.Base(all[0])
}
