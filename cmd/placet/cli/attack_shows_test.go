package cli_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"placet/engine/ask"
)

// showsAttacks are on surfaces that show less than an answer decides about.
var showsAttacks = []attack{
	{"a command below the first line", "the question names the first line of a command, its context all of it: the terminal shows the context, and the inbox names no command that answers", func(t *testing.T, p *place) {
		p.opensAskOf(t, "a", map[string]any{"question": "agent wants Bash: `go test ./...`", "context": "```\ngo test ./...\nrm -rf /srv/production\u200b\n```"})
		out, _ := p.placet("inbox")
		p.says(out, "placet show "+ask.RequestID("a"))
		if strings.Contains(out, "placet approve") {
			t.Errorf("the inbox has it approved unread: %s", out)
		}
		out, _ = p.terminal("n\n", "approve", ask.RequestID("a"))
		p.says(out, "rm -rf /srv/production", `\u{200b}`)
		p.says(p.must(0, "show", ask.RequestID("a")), "rm -rf /srv/production", "placet approve")
		p.opensAskOf(t, "b", map[string]any{"question": "Go on?"})
		out, _ = p.placet("inbox")
		p.says(out, "answer   placet approve "+ask.RequestID("b"))
		if out, code := p.terminal("y\n", "approve", ask.RequestID("b")); code != 0 {
			t.Errorf("exit %d: %s", code, out)
		}
	}},
	{"a mail behind a harmless summary", "the summary and the draft speak of lunch, the mail that is sent of something else", func(t *testing.T, p *place) {
		p.write(".nemawashi/actions/1/drafts/v1.md", "Lunch is at noon.\n")
		p.write(".nemawashi/actions/1/action.json", `{"type": "mail_draft", "summary": "Tell the team about lunch", "payload": {"to": ["team@example.com"], "subject": "All customer data", "body": "Not the draft.\nsubject: Lunch"}, "requested_by": "agent"}`)
		p.until("it is asked", func() bool {
			p.placet("once")
			out, _ := p.placet("inbox")
			return strings.Contains(out, "Tell the team")
		})
		if out, _ := p.placet("inbox"); strings.Contains(out, "placet approve") || !strings.Contains(out, "placet show") {
			t.Errorf("the inbox has it approved unread: %s", out)
		}
		out, code := p.terminal("y\n", "approve", "nemawashi/1")
		p.says(out, "subject: All customer data", "team@example.com", "    Not the draft.", "      subject: Lunch")
		if code != 0 {
			t.Errorf("what was shown is not approved: exit %d", code)
		}
	}},
	{"a context that no terminal shows at once", "what matters stands in line 300 of a context: nobody answers below the rest of it", func(t *testing.T, p *place) {
		p.opensAskOf(t, "a", map[string]any{"question": "Go on?", "context": strings.Repeat("a line\n", 300) + "rm -rf /"})
		p.opensAskOf(t, "b", map[string]any{"question": "Go on, too?", "context": "wide" + strings.Repeat(" ", 20000) + "rm -rf /"})
		for _, id := range []string{"a", "b"} {
			for _, verb := range []string{"approve", "respond"} {
				out, code := p.onTerminal(80, verb, ask.RequestID(id)).end()
				p.says(out, "more line", "placet show "+ask.RequestID(id))
				if code != 1 || strings.Contains(out, "(y/N)") || p.there(p.asking(id)+"/response.json") {
					t.Errorf("%s: exit %d: %s", verb, code, out)
				}
			}
			out := p.must(0, "show", ask.RequestID(id))
			p.says(out, "rm -rf /")
			_, reference, _ := strings.Cut(out, "placet reject ")
			p.must(0, "reject", strings.Fields(reference)[0])
		}
	}},
	{"a context that Slack leaves out", "a message without the context, or with a part of it, has no buttons", func(t *testing.T, _ *place) {
		d := newSlackDouble(t)
		s := slackSite(t, d, "families = [\"ask\"]\n")
		message := func(id, context string) slackCall {
			body, _ := json.Marshal(map[string]any{"question": "Run the tests " + id + "?", "context": context})
			s.write(".asks/"+id+"/ask.json", string(body))
			return s.postedWith(d, "Run the tests "+id)
		}
		if m := message("a", "go test ./...\nrm -rf /srv/production"); !strings.Contains(shownText(m), "rm -rf /srv/production") || len(buttons(m)) == 0 {
			t.Errorf("not all of it is shown, or nobody can answer: %s", m.raw)
		}
		if m := message("b", strings.Repeat("word ", 13000)+"rm"); len(buttons(m)) > 0 {
			t.Errorf("a part can be approved: %s", m.raw)
		}
	}},
	{"words of a form that nobody sees", "an agent writes tag characters and zero-width ones into a form, and a person ticks it", func(t *testing.T, p *place) {
		hidden := ""
		for _, c := range "and drop production" {
			hidden += string(0xe0000 + c)
		}
		for i, words := range []string{hidden + "\u200b", "> quoted" + hidden, "```\n\u202efenced\n```"} {
			id := fmt.Sprint("a", i)
			form := p.opensAskOf(t, id, map[string]any{"question": "Fix a typo?"})
			p.write(form, commented(ticked(p.read(form), "approve"), words))
			p.until("it is void", func() bool { p.placet("once"); return p.there(p.asking(id) + "/problem.md") })
			p.says(p.read(p.asking(id)+"/problem.md"), "line 2", "cannot be seen", `\u{`)
			if p.there(".asks/" + id + "/answer.json") {
				t.Fatalf("it counts: %s", p.read(".asks/"+id+"/answer.json"))
			}
		}
		form := p.opensAskOf(t, "b", map[string]any{"question": "Fix a typo, too?"})
		words := "می\u200cخواهم 👩\u200d💻 ❤️"
		p.write(form, commented(ticked(p.read(form), "approve"), words))
		p.until("it counts", func() bool { p.placet("once"); return p.there(".asks/b/answer.json") })
		p.says(p.read(".asks/b/answer.json"), words)
	}},
}

// opensAskOf asks, waits until the ask is open, and returns its form.
func (p *place) opensAskOf(t *testing.T, id string, members map[string]any) (form string) {
	t.Helper()
	body, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	p.write(".asks/"+id+"/ask.json", string(body))
	form = p.asking(id) + "/form.md"
	p.until("it is asked", func() bool { p.placet("once"); return p.there(form) })
	return form
}

// commented is a form with words in its comment section.
func commented(form, words string) string {
	at := strings.LastIndex(form, "<!-- placet comment")
	end := at + strings.Index(form[at:], "\n") + 1
	return form[:end] + "\n" + words + "\n" + form[end:]
}
