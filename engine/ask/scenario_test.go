package ask

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"placet/engine"
	"placet/engine/gate"
	"placet/internal/enginetest"
	"placet/layout"
)

var folder = dir + "/requests/" + RequestID("deploy-14")

// holds checks that a file contains a text.
func holds(t *testing.T, d *enginetest.Desk, rel string, words ...string) {
	t.Helper()
	for _, w := range words {
		if body := d.Read(rel); !strings.Contains(body, w) {
			t.Errorf("%s does not hold %q:\n%s", rel, w, body)
		}
	}
}

func responseOf(members string) string {
	return fmt.Sprintf(`{"request_id": %q, %s, "provided_by": {"user": "kim", "source": "cli"}}`, RequestID("deploy-14"), members)
}

// The form and response.json answer each type alike: answer.json differs only in who answered.
func TestEachType(t *testing.T) {
	const given = `"selected": [],`
	for name, c := range map[string]struct {
		ask, ticks, comment, response string
		words                         []string
	}{
		"approval": {yes, "reject", "", `"response": "reject"`, []string{`"response": "reject"`, given}},
		"review": {
			`{"question": "Well?", "type": "review", "artifacts": [{"path": "plan.md"}]}`, "request_changes", "shorter",
			`"response": "request-changes", "comment": "shorter"`, []string{`"response": "request_changes"`, `"comment": "shorter"`},
		},
		"choice": {two + "}", "wait", "", `"response": "Wait"`, []string{`"response": "wait"`, given}},
		"multi": {
			`{"question": "Which?", "type": "multi", "options": [{"id": "a"}, {"id": "b"}, {"id": "c"}]}`, "c,a", "",
			`"response": "c", "selected": ["a"]`, []string{`"response": "a"`, "\"selected\": [\n    \"a\",\n    \"c\"\n  ]"},
		},
		"none": {`{"question": "Which?", "type": "multi", "options": [{"id": "a"}]}`, "none", "", `"response": "none"`, []string{`"response": "none"`, given}},
		"text": {`{"question": "What?", "type": "text"}`, "", "this", `"response": "this"`, []string{`"response": "this"`, given}},
	} {
		t.Run(name, func(t *testing.T) {
			answers := map[string]string{}
			for _, way := range []string{"form", "response"} {
				tell(t, enginetest.Tree{dir + "/ask.json": c.ask}, func(d *enginetest.Desk) {
					if name == "review" {
						d.Put("plan.md", "the plan")
					}
					d.Settle()
					if way == "form" {
						fillIn(d, strings.Split(c.ticks, ","), c.comment)
					} else {
						d.Put(folder+"/response.json", responseOf(c.response))
					}
					d.Settle()
					holds(t, d, dir+"/answer.json", append(c.words, `"answered": true`, `"status": "answered"`)...)
					answers[way] = whoAndWhen.ReplaceAllString(d.Read(dir+"/answer.json"), "")
				})
			}
			if answers["form"] != answers["response"] {
				t.Errorf("the form gives\n%s\nresponse.json gives\n%s", answers["form"], answers["response"])
			}
		})
	}
}

// whoAndWhen lists the members in which two answers that say the same differ.
var whoAndWhen = regexp.MustCompile(`(?s)"by": \{.*?\},|"known_as": \[.*?\],|"\w+_at": "[^"]*",`)

// fillIn ticks options in the form, writes a comment and sends it.
func fillIn(d *enginetest.Desk, options []string, comment string) {
	tree := d.Tree()
	if options[0] != "" {
		ticks(options...).Do(tree)
	}
	comments(comment).Do(tree)
	d.Put(folder+"/form.md", tree[folder+"/form.md"])
}

// Half an answer gets a note, and the ask stays open until the answer is whole.
func TestHalfAnAnswer(t *testing.T) {
	const multi = `{"question": "Which?", "type": "multi", "options": [{"id": "a"}]}`
	for ask, c := range map[string]struct{ half, says, whole string }{
		multi: {`"response": "none", "selected": ["a"]`, "stands alone", `"response": "none"`},
		`{"question": "Well?", "type": "review", "artifacts": [{"path": "plan.md"}]}`: {
			`"response": "request_changes"`, "needs a comment", `"response": "request_changes", "comment": "shorter"`,
		},
	} {
		tell(t, enginetest.Tree{dir + "/ask.json": ask, "plan.md": "the plan"}, func(d *enginetest.Desk) {
			d.Settle()
			d.Put(folder+"/response.json", responseOf(c.half))
			d.Settle()
			holds(t, d, folder+"/problem.md", c.says)
			holds(t, d, dir+"/state.json", `"status": "open"`)
			d.Put(folder+"/response.json", responseOf(c.whole))
			d.Settle()
			holds(t, d, dir+"/state.json", `"status": "answered"`)
		})
	}
}

func TestWhatIsTakenBackWhenItIsAnswered(t *testing.T) {
	tell(t, enginetest.Tree{dir + "/ask.json": yes}, func(d *enginetest.Desk) {
		d.Settle()
		d.Put(folder+"/response.json", responseOf(`"response": "approve"`))
		d.Put(dir+"/withdraw.json", `{"reason": "done by hand", "by": "ana"}`)
		d.Settle()
		holds(t, d, dir+"/answer.json", `"status": "withdrawn"`, `"answered": false`, `"response": null`, "done by hand (the answer approve by kim (cli) came too late)")
		holds(t, d, folder+"/receipt.json", `"result": "cancelled"`, "came too late")
		holds(t, d, dir+"/state.json", `"actor": "person:ana"`)
	})
}

func TestAnAnswerThatIsThereAtItsDeadlineIsLate(t *testing.T) {
	tell(t, enginetest.Tree{dir + "/ask.json": two + `, "deadline": "1h", "default": "wait"}`}, func(d *enginetest.Desk) {
		d.Settle()
		d.Put(folder+"/response.json", responseOf(`"response": "deploy"`))
		d.Pass(2 * time.Hour)
		d.Restart()
		d.Settle()
		holds(t, d, dir+"/answer.json", `"answered": true`, `"response": "deploy"`, `"late": true`, `"default_taken": false`)
	})
}

// The state has all that was asked: request.json is made again byte for byte from it, and so
// are receipt and answer.
func TestWhatIsGoneIsWrittenAgain(t *testing.T) {
	files := []string{folder + "/request.json", folder + "/form.md", folder + "/receipt.json", dir + "/answer.json", dir + "/answer.md"}
	tell(t, enginetest.Tree{dir + "/ask.json": yes}, func(d *enginetest.Desk) {
		gone := func(names ...string) {
			t.Helper()
			before := d.Tree()
			for _, name := range names {
				d.Remove(name)
			}
			d.Settle()
			for _, name := range names {
				if d.Read(name) != before[name] {
					t.Errorf("%s is another one:\n%s\nit was\n%s", name, d.Read(name), before[name])
				}
			}
		}
		d.Settle()
		gone(files[:2]...)
		d.Put(folder+"/response.json", responseOf(`"response": "approve", "comment": "fine"`))
		d.Settle()
		gone(files[2:]...)
		d.Put(dir+"/answer.json", theirs)
		d.Put(folder+"/receipt.json", strings.Replace(d.Read(folder+"/receipt.json"), "fine", "bad", 1))
		d.Settle()
		holds(t, d, dir+"/answer.json.problem.md", "something else than state.json")
		holds(t, d, folder+"/problem.md", "something else than state.json")
	})
}

// A form that somebody edits between the receipt and the state changes nothing.
func TestAnAnswerIsFactOnceItsReceiptIs(t *testing.T) {
	for k := 1; ; k++ {
		past := false
		tell(t, enginetest.Tree{dir + "/ask.json": yes}, func(d *enginetest.Desk) {
			d.Lax = true
			d.Settle()
			d.Put(folder+"/response.json", responseOf(`"response": "approve"`))
			d.Pass(5 * time.Second)
			come := d.BeforeChange(k, func() {
				if d.Has(folder + "/receipt.json") {
					d.Put(folder+"/response.json", responseOf(`"response": "reject"`))
				}
			})
			d.Settle()
			past = !come()
			holds(t, d, dir+"/answer.json", `"response": "approve"`)
		})
		if past || t.Failed() {
			return
		}
	}
}

// A state that this machine did not write is no proof if the gate requires one.
func TestAStateThatSomebodyElseWrote(t *testing.T) {
	forged := ""
	tell(t, enginetest.Tree{dir + "/ask.json": yes}, func(d *enginetest.Desk) {
		d.Settle()
		d.Put(folder+"/response.json", responseOf(`"response": "approve"`))
		d.Settle()
		forged = d.Read(dir + "/state.json")
	})
	tell(t, enginetest.Tree{dir + "/ask.json": yes}, func(d *enginetest.Desk) {
		d.Lax = true
		d.Case.Config = func(c *engine.Config) { c.Gates = map[string]engine.Gate{"ask": {Approvers: []string{"alice"}}} }
		d.Settle()
		d.Put(dir+"/state.json", forged)
		d.Settle()
		if d.Has(dir+"/answer.json") || d.Has(folder+"/receipt.json") {
			t.Errorf("it has an answer: %q", d.Tree().Paths())
		}
		holds(t, d, dir+"/state.json.problem.md", "this machine did not write it")
	})
}

// Nothing that the asker writes counts as an answer.
func TestAQuestionThatImitatesAnAnswer(t *testing.T) {
	const question = "Well?\\n\\n- [x] approve\\n- [x] submit this answer\\n\\u202e\\u001b[2J```"
	tell(t, enginetest.Tree{dir + "/ask.json": `{"question": "` + question + `", "context": "` + question + `", "asked_by": {"name": "- [x] approve"}}`}, func(d *enginetest.Desk) {
		d.Settle()
		d.Pass(time.Hour)
		d.Settle()
		if body := d.Read(folder + "/form.md"); d.Has(dir+"/answer.json") || strings.ContainsAny(body, "\u202e\x1b") || strings.Contains(body, "\n- [x]") {
			t.Errorf("it is read, or shown as it is:\n%s", body)
		}
	})
}

func TestLanguage(t *testing.T) {
	answer := map[string]string{}
	for _, lang := range []string{"en", "ko"} {
		tell(t, enginetest.Tree{dir + "/ask.json": yes}, func(d *enginetest.Desk) {
			d.Case.Config = func(c *engine.Config) { c.Language = lang }
			d.Settle()
			d.Case.Config = nil
			d.Put(folder+"/response.json", responseOf(`"response": "approve"`))
			d.Settle()
			answer[lang] = d.Read(dir + "/answer.json")
			holds(t, d, dir+"/answer.md", map[string]string{"en": "Answer: approve, by kim", "ko": "답변: approve, kim"}[lang])
		})
	}
	if answer["en"] != answer["ko"] {
		t.Errorf("answer.json differs:\n%s\n%s", answer["en"], answer["ko"])
	}
}

func TestWhyAnAskStands(t *testing.T) {
	for name, c := range map[string]struct {
		files enginetest.Tree
		why   string
	}{
		"open":        {enginetest.Tree{dir + "/ask.json": yes}, "a person is asked"},
		"bad":         {enginetest.Tree{dir + "/ask.json": "{}"}, "nobody is asked"},
		"absent":      {enginetest.Tree{dir + "/note.md": ""}, "there is no ask.json"},
		"superseding": {enginetest.Tree{dir + "/ask.json": `{"question": "a", "supersedes": "a"}`, ".asks/a/ask.json": yes}, "ask/a is still open"},
	} {
		t.Run(name, func(t *testing.T) {
			tell(t, c.files, func(d *enginetest.Desk) {
				d.Settle()
				a := d.Account("deploy-14")
				if why := strings.Join(a.Why, "\n"); !strings.Contains(why, c.why) || len(a.Unblock) == 0 {
					t.Errorf("it says %q, and would be moved by %v", why, a.Unblock)
				}
			})
		})
	}
}

func TestTheSettings(t *testing.T) {
	c := DefaultConfig()
	if err := c.Check(); err != nil || c.Root != layout.AskRoot {
		t.Errorf("%+v: %v", c, err)
	}
	for _, bad := range []Config{{Root: "../x", MaxOpen: 1}, {Root: "a/", MaxOpen: 1}} {
		if bad.Check() == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
	if gate.Decides(choice) {
		t.Error("a choice decides")
	}
}
