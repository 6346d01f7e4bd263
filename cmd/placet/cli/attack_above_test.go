package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// aboveAttacks make a folder below a workspace another workspace, or remove what makes a folder
// a workspace, so that the agreements for it would not be found.
var aboveAttacks = []attack{
	{"gates above a folder with a mark of its own", "an agent makes a workspace of a folder below the one whose gates were agreed to, and scripts ask there", func(t *testing.T, p *place) {
		p.agreesToGates("kim")
		for _, mark := range []string{".placet/x", ".git/x", "placet.toml"} {
			sub := p.below(t, "sub")
			sub.write(mark, "")
			id := sub.asksBelow(t, sub.root)
			sub.refusedTo(t, id, "mallory")
			sub.says(sub.must(1, "status"), "gates: agreed to for \""+p.root+"\", holds in all folders below it", "placet trust --revoke -C "+p.root+" gates")
			sub.remove(sub.answerTo(id))
			sub.approvedByKim(t, id)
			sub.drop("")
		}
		p.must(0, "trust", "--revoke", "gates")
		p.write("placet.toml", "")
		sub := p.below(t, "free")
		sub.write(".placet/x", "")
		id := sub.asksBelow(t, sub.root)
		sub.approvedBy(t, id, "mallory")
	}},
	{"marks of a workspace taken away", "an agent takes placet.toml, .placet and .git away, and puts a mark below or above", func(t *testing.T, p *place) {
		ws := p.below(t, "home/ws")
		ws.write("placet.toml", gatesBy("kim")+"[[hook.rule]]\ntool = [\"Bash\", \"Shell\", \"run_shell_command\"]\nmatch = [\"git push\"]\ndo = \"deny\"\nreason = \"R\"\n[[hook.rule]]\ntool = [\"Read\"]\ndo = \"pass\"\n")
		ws.must(0, "trust", "--yes")
		deep := filepath.Join(ws.root, "sub")
		denied := func(what string) {
			t.Helper()
			for _, client := range []string{"claude-code", "codex", "gemini", "cursor"} {
				for _, cwd := range []string{ws.root, deep} {
					if out := ws.calls(t, client, cwd, "Bash", "git push", 0); !strings.Contains(out, `"deny"`) || !strings.Contains(out, `"R"`) {
						t.Errorf("%s: %s in %s: %s", what, client, cwd, out)
					}
					if out := ws.calls(t, client, cwd, "Bash", "git pull", 0); strings.Contains(out, "deny") {
						t.Errorf("%s: %s in %s may not pull: %s", what, client, cwd, out)
					}
				}
			}
		}
		ws.write("sub/.placet/x", "")
		denied("a mark below")
		ws.drop("placet.toml")
		ws.drop(".placet")
		ws.drop(".git")
		denied("no mark but one below")
		ws.drop("sub/.placet")
		denied("no mark")
		p.gitHere("init", "-q")
		denied("a mark above")

		id := ws.asksBelow(t, deep)
		ws.refusedTo(t, id, "mallory")
		ws.remove(ws.answerTo(id))
		ws.approvedByKim(t, id)

		ws.must(0, "trust", "--revoke", "gates", "hook.rule")
		if out := ws.calls(t, "claude-code", deep, "Bash", "git push", 0); out != "" {
			t.Errorf("what was taken back holds: %s", out)
		}
	}},
	{"a link in the place of a workspace", "an agent moves the workspace away and puts a link to it in its place, so that its path is another one", func(t *testing.T, p *place) {
		ws := p.below(t, "ws")
		ws.write("placet.toml", gatesBy("kim")+"[[hook.rule]]\nmatch = [\"git push\"]\ndo = \"deny\"\n[[hook.rule]]\ntool = [\"Read\"]\ndo = \"pass\"\n")
		ws.write(".git/x", "")
		ws.must(0, "trust", "--yes")
		ws.rename(ws.root, ws.root+"2")
		symlink(t, ws.root+"2", ws.root)
		ws.write("placet.toml", "")
		for _, cwd := range []string{ws.root, filepath.Join(ws.root, ".git")} {
			if out := ws.calls(t, "claude-code", cwd, "Bash", "git push", 0); !strings.Contains(out, `"deny"`) {
				t.Errorf("in %s the call runs: %s", cwd, out)
			}
			if out := ws.calls(t, "claude-code", cwd, "Bash", "git pull", 0); out != "" {
				t.Errorf("in %s it may not pull: %s", cwd, out)
			}
		}
		id := ws.asksBelow(t, ws.root)
		ws.refusedTo(t, id, "mallory")
		ws.remove(ws.answerTo(id))
		ws.approvedByKim(t, id)
	}},
	{"rules that only ask or deny, taken out", "an agent takes rules out of placet.toml that hold without anybody's agreement, so that nobody could agree to them", func(t *testing.T, p *place) {
		p.write("placet.toml", "[[hook.rule]]\nmatch = [\"git push\"]\ndo = \"deny\"\n")
		p.says(p.must(0, "trust"), "holds  hook.rule  sha256:", "placet trust hook.rule@")
		p.must(0, "trust", "--yes")
		p.write("placet.toml", "")
		if out := p.callTold("Bash", "git push"); !strings.Contains(out, `"deny"`) {
			t.Errorf("the call runs: %s", out)
		}
		if p.listed("hook.rule") == "" {
			t.Error("that the rules are gone does not wait for trust")
		}
		p.must(0, "trust", "--yes") // to no rules
		if out := p.callTold("Bash", "git push"); out != "" {
			t.Errorf("no rules were agreed to: %s", out)
		}
	}},
}

// below makes a folder below the workspace a workspace of the same user.
func (p *place) below(t *testing.T, name string) *place {
	t.Helper()
	b := &place{t: t, root: filepath.Join(p.root, name)}
	if err := os.MkdirAll(b.root, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(p.stateHome(), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(b.stateHome()); err != nil {
		symlink(t, p.stateHome(), b.stateHome())
	}
	return b
}

// asksBelow asks from a folder and returns the id of the ask, which is in this workspace.
func (p *place) asksBelow(t *testing.T, cwd string) string {
	t.Helper()
	out, code := p.runsIn(t, cwd, "", "ask", "Deploy?", "--type", "approval")
	found, err := filepath.Glob(filepath.Join(p.root, ".asks/*"))
	if code != 0 || err != nil || len(found) != 1 {
		t.Fatalf("ask in %s: exit %d, asks %v, %v: %s", cwd, code, found, err, out)
	}
	return filepath.Base(found[0])
}

// answerTo returns the path of the file that answers an ask.
func (p *place) answerTo(id string) string {
	return filepath.Join(".asks", id, "requests", p.askRequest(id), "response.json")
}

// approves writes a person's approval, and makes a pass.
func (p *place) approves(id, who string) {
	p.write(p.answerTo(id), `{"request_id": "`+p.askRequest(id)+`", "response": "approve", "provided_by": {"user": "`+who+`", "source": "file"}}`)
	p.placet("once")
}

// refusedTo makes a person approve an ask whose approval must not count.
func (p *place) refusedTo(t *testing.T, id, who string) {
	t.Helper()
	p.approves(id, who)
	if p.there(".asks/" + id + "/answer.json") {
		t.Errorf("the approval of %s counts", who)
	}
	p.says(p.read(filepath.Join(".asks", id, "requests", p.askRequest(id), "problem.md")), "`kim`")
}

// approvedBy makes a person approve an ask.
func (p *place) approvedBy(t *testing.T, id, who string) {
	t.Helper()
	p.approves(id, who)
	p.until("the approval counts", func() bool { p.placet("once"); return p.there(".asks/" + id + "/answer.json") })
}
