package cli_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// askedForAttacks are on what a waiting program relies on besides the question itself: the
// people who may answer, and the files as they were when it asked.
var askedForAttacks = []attack{
	{"a file that changed since it was approved", "an agent rewrites the file that a key's question was approved for, and the script starts again", func(t *testing.T, p *place) {
		p.write("placet.toml", "")
		p.write("plan.md", "eu-west first\n")
		deploy := []string{"ask", "Deploy?", "--type", "approval", "--artifact", filepath.Join(p.root, "plan.md"), "--key", "k"}
		p.must(0, deploy...)
		p.approvedByKim(t, keyed)
		p.write("plan.md", "drop all regions\n")
		for _, args := range [][]string{deploy, append(deploy, "--wait=1s"), append(deploy, "--wait=1s", "--json"), append(deploy, "--wait=1s", "--once")} {
			out := p.must(7, args...)
			p.says(out, "plan.md is not what ask/"+keyed+" asked about", "another name or key")
			if strings.Contains(out, "approve") || strings.Contains(out, `"now"`) {
				t.Errorf("%q is told %s", args, out)
			}
		}
		for _, same := range []string{"eu-west first\n", "eu-west first\r\n"} {
			p.write("plan.md", same)
			p.says(p.must(0, append(deploy, "--wait=1s")...), "approve\n")
		}
	}},
	{"guards that were never there", "an agent asks beforehand, under the key that a script will use, with less than the script asks for", func(t *testing.T, p *place) {
		p.write("placet.toml", "")
		p.write("plan.md", "eu-west first\n")
		deploy := []string{"ask", "Deploy?", "--type", "approval", "--artifact", filepath.Join(p.root, "plan.md"), "--may-answer", "kim", "--deadline", "1h", "--key", "k", "--wait=1s"}
		const good = `{"question": "Deploy?", "type": "approval", "idempotency_key": "k", "artifacts": [{"path": "plan.md"}], "may_answer": ["kim"], "deadline": "1h"}`
		for what, spoil := range map[string]*strings.Replacer{
			"may_answer": strings.NewReplacer(`, "may_answer": ["kim"]`, ""),
			"others":     strings.NewReplacer(`["kim"]`, `["kim", "eve"]`),
			"binding":    strings.NewReplacer(`"path": "plan.md"`, `"path": "plan.md", "binding": false`),
			"no file":    strings.NewReplacer(`{"path": "plan.md"}`, ""),
			"deadline":   strings.NewReplacer(`, "deadline": "1h"`, ""),
			"longer":     strings.NewReplacer(`"1h"`, `"2h"`),
		} {
			for _, registered := range []bool{false, true} {
				p.write(".asks/"+keyed+"/ask.json", spoil.Replace(good))
				if registered {
					p.placet("once")
				}
				if out, code := p.placet(deploy...); code != 7 || !strings.Contains(out, "differs in ") {
					t.Errorf("%s, registered %t: %d %s", what, registered, code, out)
				}
				drop(t, p, ".asks/"+keyed)
			}
		}
		p.write(".asks/"+keyed+"/ask.json", good)
		p.must(3, deploy...)
		p.approvedByKim(t, keyed)
		p.says(p.must(0, deploy...), "approve\n")
	}},
	{"a call that a nested workspace lets anybody approve", "an agent works in a workspace of its own below, and takes the approvers of the one above out of ask.json", func(t *testing.T, p *place) {
		p.write("placet.toml", "[gates.\"*\"]\napprovers = [\"kim\"]\n")
		p.ownSettings("[hook]\nwait = \"10m\"\n[[hook.rule]]\ndo = \"ask\"\n")
		p.must(0, "trust", "-y")
		sub := &place{t: t, root: filepath.Join(p.root, "sub")}
		symlink(t, p.stateHome(), sub.stateHome())
		sub.write("placet.toml", "")
		sub.gitHere("init", "-q")
		sub.write(".git/index.lock", "")
		h := sub.hook("rm")
		file := ""
		p.until("the question is written", func() bool {
			found, _ := filepath.Glob(filepath.Join(sub.root, ".asks/*/ask.json"))
			if len(found) == 1 {
				file, _ = filepath.Rel(sub.root, found[0])
			}
			return len(found) == 1 && strings.Contains(sub.read(file), `"may_answer"`)
		})
		sub.write(file, strings.Replace(sub.read(file), `"may_answer"`, `"x_may_answer"`, 1))
		sub.remove(".git/index.lock")
		if out := h.ends(t, 2); strings.Contains(out, `"allow"`) {
			t.Errorf("the call runs: %s", out)
		}
		drop(t, sub, ".asks")
		h = sub.hook("ls")
		sub.choose(sub.callsAsked(1)["ls"], "approve")
		if out := h.ends(t, 0); !strings.Contains(out, `"permissionDecision":"allow"`) {
			t.Errorf("kim's approval does not let it run: %s", out)
		}
	}},
	{"another question under a name that is waited for", "an agent puts another question under the name that a script has printed, a person approves it, and the script waits", func(t *testing.T, p *place) {
		p.write("placet.toml", "")
		p.write("plan.md", "eu-west first\n")
		ask := []string{"ask", "Drop production?", "--type", "approval", "--artifact", filepath.Join(p.root, "plan.md"), "--may-answer", "kim"}
		out, _ := p.placet(ask...)
		found, _ := filepath.Glob(filepath.Join(p.root, ".asks/*"))
		if len(found) != 1 {
			t.Fatal(out)
		}
		id := filepath.Base(found[0])
		good := p.read(".asks/" + id + "/ask.json")
		for what, spoil := range map[string]func(){
			"another question": func() { p.write(".asks/"+id+"/ask.json", `{"question": "Fix a typo?"}`) },
			"anybody":          func() { p.write(".asks/"+id+"/ask.json", strings.Replace(good, `"may_answer"`, `"x"`, 1)) },
			"another file": func() {
				p.write("plan.md", "drop all regions\n")
				p.write(".asks/"+id+"/ask.json", good)
			},
		} {
			drop(t, p, ".asks/"+id)
			spoil()
			p.placet("once")
			p.choose(id, "approve")
			p.placet("once")
			if out, code := p.placet("wait", id, "--timeout", "1s"); code != 7 || strings.Contains(out, "approve\n") {
				t.Errorf("%s: %d %s", what, code, out)
			}
			p.write("plan.md", "eu-west first\n")
		}
		drop(t, p, ".asks/"+id)
		p.write(".asks/"+id+"/ask.json", good) // the same question is asked again
		p.placet("once")
		p.approvedByKim(t, id)
	}},
	{"another question under a key that is waited for", "an agent asks something else under the key of a question, which is waited for by its name alone", func(t *testing.T, p *place) {
		p.write("placet.toml", "")
		p.askKeyed("Drop production?")
		drop(t, p, ".asks/"+keyed)
		p.askKeyed("Fix a typo?")
		p.choose(keyed, "approve")
		if out, code := p.placet("wait", keyed, "--timeout", "1s"); code != 7 || strings.Contains(out, "approve\n") || !strings.Contains(out, "more than one question") {
			t.Errorf("%d %s", code, out)
		}
		p.says(p.must(0, "ask", "Fix a typo?", "--type", "approval", "--key", "k", "--wait"), "approve\n")
	}},
	{"another question for an agent's next session", "a question takes the place of the one that an agent's tool has asked, and another session looks for the answer", func(t *testing.T, p *place) {
		p.write("placet.toml", "")
		cancels := func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			return &sdk.ElicitResult{Action: "cancel"}, nil
		}
		var asked, now askAnswer
		h := p.host("2025-06-18", cancels)
		if err := h.tool("ask_human", map[string]any{"question": "Drop production?", "type": "approval", "wait_seconds": 0}, &asked); err != nil {
			t.Fatal(err)
		}
		dir := ".asks/" + asked.AskID
		p.until("it is asked", func() bool { return p.there(dir + "/state.json") })
		_ = h.Close() // it has ended
		good := p.read(dir + "/ask.json")
		drop(t, p, dir)
		p.write(dir+"/ask.json", `{"question": "Fix a typo?"}`)
		p.placet("once")
		p.choose(asked.AskID, "approve")
		p.placet("once")
		next := p.host("2025-06-18", cancels)
		if err := next.tool("check_answer", map[string]any{"ask_id": asked.AskID}, &now); err == nil || now.Answered {
			t.Errorf("the next session is told %+v, %v", now, err)
		}
		_ = next.Close()
		drop(t, p, dir)
		p.write(dir+"/ask.json", good)
		p.placet("once")
		p.choose(asked.AskID, "approve")
		last := p.host("2025-06-18", cancels)
		p.until("the honest answer", func() bool {
			return last.tool("check_answer", map[string]any{"ask_id": asked.AskID}, &now) == nil && now.Answered
		})
	}},
}
