package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"placet/engine"
)

// heldByPath is the text about settings that were agreed to under the path.
const heldByPath = "agreed to under this path, where another folder or git repository stood then"

// identityAttacks make the workspace another one, so that the agreements in it would end.
var identityAttacks = []attack{
	{"gates under another identity", "an agent takes the gates out of placet.toml and exchanges .git or the folder itself, so that nothing is known of the workspace", func(t *testing.T, p *place) {
		p.askedOnce(t)
		p.agreesToGates("kim")
		for _, change := range p.identities() {
			change.make()
			p.write("placet.toml", "")
			p.write(p.request(0)+"/response.json", p.response(0, "approve", ""))
			if p.onceMoved(0) {
				t.Fatalf("%s: anybody's answer counts", change.name)
			}
			p.says(p.problem(), "`kim`")
			if change.same {
				continue
			}
			for _, verb := range []string{"status", "inbox", "trust", "doctor"} {
				if out, _ := p.placet(verb); !strings.Contains(out, "gates: "+heldByPath) || !strings.Contains(out, "placet trust --revoke gates") {
					t.Errorf("%s: %s does not say what holds, why and what to do: %s", change.name, verb, out)
				}
			}
			p.says(p.must(0, "trust"), "holds  gates  sha256:", "waits  gates  sha256:")
		}
		p.remove(p.request(0) + "/response.json")
		p.must(0, "approve", p.reference(), "--as", "kim")
		p.settles(t, func() bool { return p.answered(0) })
	}},
	{"gates of an earlier version", "the same, where an earlier version recorded the agreement by the identity alone", func(t *testing.T, p *place) {
		p.askedOnce(t)
		p.agreesToGates("kim")
		p.write("placet.toml", "")
		for _, change := range p.identities() {
			p.forgetPaths()
			change.make()
			p.write(p.request(0)+"/response.json", p.response(0, "approve", ""))
			if p.onceMoved(0) {
				t.Fatalf("%s: anybody's answer counts", change.name)
			}
		}
		p.says(p.must(1, "inbox"), "gates: "+heldByPath)
		// One thing is agreed to, and the gates are not forgotten because of it.
		p.write("placet.toml", "[hook]\nwait = \"5m\"\n")
		p.must(0, "trust", "hook.wait@"+p.listed("hook.wait"))
		p.says(p.must(1, "inbox"), "gates: "+heldByPath)
		for _, dir := range p.folders("workspaces") {
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
		}
		p.write("placet.toml", "")
		if p.onceMoved(0) {
			t.Error("they were not recorded with it")
		}
	}},
	{"a decision under another identity", "a workspace of before comes back, with agreement that was replaced or taken back under its path since", func(t *testing.T, p *place) {
		p.askedOnce(t)
		count := func(what string, want bool, by string) {
			t.Helper()
			out, code := p.placet("approve", p.reference(), "--as", by)
			if (code == 0) != want {
				t.Errorf("%s: %s answers: %d, %s", what, by, code, out)
			}
			if code == 0 {
				p.remove(p.request(0) + "/response.json")
			}
		}
		first := p.root + ".first"
		for _, decide := range []struct {
			what, file string
			args       []string
			lee, other bool // may answer afterwards
		}{
			{"other gates", gatesBy("lee"), []string{"trust", "--yes"}, true, false},
			{"an empty file", "", []string{"trust", "--yes"}, true, true},
			{"revoked by name", "", []string{"trust", "--revoke", "gates"}, true, true},
			{"all revoked", "", []string{"trust", "--revoke", "--yes"}, true, true},
		} {
			p.agreesToGates("kim")
			p.rename(p.root, first)
			p.copy(first, p.root)
			p.write("placet.toml", "")
			count(decide.what+", before", false, "lee")
			p.write("placet.toml", decide.file)
			p.must(0, decide.args...)
			if out, _ := p.placet("status"); strings.Contains(out, heldByPath) {
				t.Errorf("%s: it is not decided: %s", decide.what, out)
			}
			p.write("placet.toml", "")
			count(decide.what, decide.lee, "lee")
			count(decide.what, decide.other, "other")
			p.drop("")
			if err := os.Rename(first, p.root); err != nil {
				t.Fatal(err)
			}
			p.write("placet.toml", "")
			count(decide.what+", back", decide.lee, "lee")
			count(decide.what+", back", decide.other, "other")
		}
	}},
	{"what opens under another identity", "with the tighter settings an earlier identity's agreement opens something: a command, or a call that it allowed", func(t *testing.T, p *place) {
		loose := "[afl]\nreview = \"off\"\n[hook]\npermission = \"pass\"\n[[hook.rule]]\ntool = [\"Read\"]\ndo = \"allow\"\n[[hook.rule]]\nmatch = [\"git push\"]\ndo = \"deny\"\nreason = \"not here\"\n"
		p.write("placet.toml", loose)
		p.must(0, "trust", "--yes")
		if out := p.callTold("Read", "x"); !strings.Contains(out, `"allow"`) {
			t.Errorf("what was agreed to is not allowed: %s", out)
		}
		for _, change := range p.identities() {
			change.make()
			if out := p.callTold("Read", "x"); out != "" && !change.same {
				t.Errorf("%s: a call is allowed: %s", change.name, out)
			}
			if p.listed("afl.review") == "" && !change.same {
				t.Errorf("%s: a looser setting counts", change.name)
			}
		}
		for _, body := range []string{"", "[[hook.rule]]\nmatch = [\"git\"]\ndo = \"allow\"\n", "[[hook.rule]]\nmatch = [\"git\"]\ndo = \"ask\"\n", loose} {
			p.write("placet.toml", body)
			if out := p.callTold("Bash", "git push"); !strings.Contains(out, `"deny"`) || !strings.Contains(out, "not here") {
				t.Errorf("%q: the rule that was agreed to does not hold: %s", body, out)
			}
		}
		p.write("placet.toml", "")
		p.says(p.must(0, "status"), "hook.rule: "+heldByPath)
		p.must(0, "trust", "--yes") // to no rules
		if out := p.callTold("Bash", "git push"); out != "" {
			t.Errorf("no rules were agreed to: %s", out)
		}
	}},
	{"rules taken out", "an agent takes the rules that were agreed to out of placet.toml, in the same workspace", func(t *testing.T, p *place) {
		rules := "[[hook.rule]]\ntool = [\"Read\"]\ndo = \"allow\"\n[[hook.rule]]\nmatch = [\"git push\"]\ndo = \"deny\"\n"
		p.write("placet.toml", rules)
		p.must(0, "trust", "--yes")
		for _, body := range []string{"", "[[hook.rule]]\ndo = \"ask\"\nmatch = [\"git\"]\n"} {
			p.write("placet.toml", body)
			if out := p.callTold("Bash", "git push"); !strings.Contains(out, `"deny"`) {
				t.Errorf("%q: %s", body, out)
			}
			if p.listed("hook.rule") == "" {
				t.Errorf("%q: it does not wait for trust", body)
			}
		}
		p.write("placet.toml", "[[hook.rule]]\nmatch = [\"git push\"]\ndo = \"deny\"\n") // all of them that deny
		if p.listed("hook.rule") != "" {
			t.Error("what holds anyway waits for trust")
		}
		p.write("placet.toml", "")
		p.must(0, "trust", "--yes")
		if out := p.callTold("Bash", "git push"); out != "" {
			t.Errorf("no rules were agreed to: %s", out)
		}
	}},
	{"a damaged record of the path", "the record of what was agreed to under the path is torn, edited or open to others, and so holds nothing", func(t *testing.T, p *place) {
		p.askedOnce(t)
		p.agreesToGates("kim")
		p.write("placet.toml", "")
		const revokes = "placet trust --revoke --yes"
		record := filepath.Join(p.folders("paths")[0], "trust.json")
		whole := p.readFile(record)
		older := filepath.Join(p.stateHome(), "placet/workspaces/"+strings.Repeat("0", 32), "trust.json")
		p.write(p.request(0)+"/response.json", p.response(0, "approve", ""))
		p.identities()[0].make()
		refused := func(what, file, try string) {
			t.Helper()
			for _, args := range [][]string{{"once"}, {"inbox"}, {"trust"}, {"trust", "--yes"}, {"approve", "x"}, {"trust", "--revoke", "gates"}} {
				if out, code := p.placet(args...); code != 2 || !strings.Contains(out, try) || !strings.Contains(out, file) {
					t.Errorf("%s: %s: %d, %s", what, args, code, out)
				}
			}
			if p.answered(0) {
				t.Fatalf("%s: anybody's answer counts", what)
			}
		}
		for what, body := range map[string]string{
			"torn": whole[:len(whole)/2], "empty": "", "edited": strings.ReplaceAll(whole, "kim", "lee"), "of another path": strings.ReplaceAll(whole, p.root, "/elsewhere"),
			"without a time": strings.Replace(whole, `"trusted_at": "2`, `"trusted_at": "x`, 1),
		} {
			p.writeFile(record, body, 0o600)
			refused(what, record, revokes)
		}
		p.writeFile(record, strings.Replace(whole, `"schema_version": 1`, `"schema_version": 2`, 1), 0o600)
		refused("of a later version", record, "this placet knows version 1")
		p.writeFile(record, whole, 0o666)
		refused("open to others", record, "chmod 600")
		p.writeFile(record, whole, 0o600)
		p.says(p.must(1, "inbox"), "gates: "+heldByPath) // it is not damaged any more
		p.forgetPaths()
		if err := os.MkdirAll(filepath.Dir(older), 0o700); err != nil {
			t.Fatal(err)
		}
		for what, body := range map[string]string{"torn": `{"schema_version": 1, "wor`, "edited": strings.ReplaceAll(whole, "kim", "lee")} {
			p.writeFile(older, body, 0o600)
			refused("of an earlier version, "+what, older, revokes)
		}
		p.writeFile(older, `{"schema_version": 1, "workspace": "/elsewhere", "tru`, 0o600) // of another workspace
		p.says(p.must(1, "inbox"), "gates: "+heldByPath)
		p.writeFile(older, "", 0o600)
		p.says(p.must(0, "trust", "--revoke", "--yes"), "everything is revoked")
		// The clock of files is some milliseconds behind: a file that is saved at once may look
		// older.
		p.until("everything is revoked, and it counts once it is saved again", func() bool {
			p.write(p.request(0)+"/response.json", p.response(0, "approve", ""))
			return p.onceMoved(0)
		})
	}},
	{"others in the record of the path", "others can write where it is recorded what holds, and where nothing can be trusted nothing would hold", func(t *testing.T, p *place) {
		p.askedOnce(t)
		p.agreesToGates("kim")
		p.write("placet.toml", "")
		for _, dir := range []string{"", "workspaces", "paths"} {
			open := filepath.Join(p.stateHome(), "placet", dir)
			if err := os.Chmod(open, 0o777); err != nil {
				t.Fatal(err)
			}
			p.write(p.request(0)+"/response.json", p.response(0, "approve", ""))
			if p.onceMoved(0) {
				t.Fatalf("%q: anybody's answer counts", dir)
			}
			p.says(p.must(1, "inbox"), "nothing is trusted", "chmod go-w "+open)
			p.says(p.must(2, "trust", "--yes"), "chmod go-w "+open)
			if err := os.Chmod(open, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		// The folder of an earlier version, which others can look into.
		p.forgetPaths()
		own := p.folders("workspaces")[0]
		if err := os.Chmod(own, 0o755); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			p.write(p.request(0)+"/response.json", p.response(0, "approve", ""))
			if p.onceMoved(0) {
				t.Fatal("anybody's answer counts")
			}
			p.says(p.must(1, "inbox"), "nothing is trusted", "chmod 700 "+own)
			p.git("init", "-q", p.root) // and another identity
		}
		p.drop(".git")
		if err := os.Chmod(own, 0o700); err != nil {
			t.Fatal(err)
		}
		if out := p.must(1, "inbox"); strings.Contains(out, heldByPath) || strings.Contains(out, "nothing is trusted") {
			t.Errorf("nobody else can write there any more: %s", out)
		}
	}},
	{"groups as approvers", "a name that begins with @ is taken for that of a person, who then answers under it", func(t *testing.T, p *place) {
		const later = "groups do not exist yet"
		p.askedOnce(t)
		for _, file := range []string{filepath.Join(p.root, "placet.toml"), filepath.Join(p.stateHome(), "placet/placet.toml")} {
			p.writeFile(file, gatesBy("@leads"), 0o600)
			for _, args := range [][]string{{"inbox"}, {"trust"}, {"trust", "--yes"}, {"once"}} {
				p.says(p.must(2, args...), file+":2", later+": list the people", `"@leads"`)
			}
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}
		for _, args := range [][]string{{"ask", "Go on?", "--may-answer", "kim", "--may-answer", "@leads"}, {"ask", "Go on?", "--as", "@leads"}, {"approve", p.reference(), "--as", "@leads"}} {
			p.says(p.must(2, args...), later, `"@leads"`)
		}
		// In an earlier version people could agree to it.
		p.agreesToGates("kim")
		p.write("placet.toml", "")
		for _, dir := range slices.Concat(p.folders("paths"), p.folders("workspaces")) {
			p.rewriteAgreement(filepath.Join(dir, "trust.json"), "gates", `{"*":{"approvers":["@leads"]}}`)
		}
		for _, user := range []string{"@leads", "leads", "tester"} {
			p.write(p.request(0)+"/response.json", fmt.Sprintf(`{"request_id": %q, "response": "approve", "provided_by": {"user": %q, "source": "file"}}`, p.requestID(0), user))
			if p.onceMoved(0) {
				t.Fatalf("%s answers", user)
			}
		}
		p.says(p.must(1, "inbox"), `[gates] "*": @leads was agreed to, and `+later)
		p.write("placet.toml", gatesBy("kim"))
		p.must(0, "trust", "--yes")
		p.remove(p.request(0) + "/response.json")
		p.must(0, "approve", p.reference(), "--as", "kim")
		p.settles(t, func() bool { return p.answered(0) })
		p.write(".asks/x/ask.json", `{"question": "Go on?", "may_answer": ["@leads"]}`)
		p.settles(t, func() bool {
			return strings.Contains(p.read(".asks/x/ask.json.problem.md"), "/may_answer/0: \"@leads\" names a group")
		})
		p.write(".asks/x/ask.json", `{"question": "Go on?", "may_answer": ["kim"]}`)
		p.settles(t, func() bool { return p.showsForm("x") })
	}},
}

// agreesToGates agrees that only one person may answer.
func (p *place) agreesToGates(who string) {
	p.t.Helper()
	p.write("placet.toml", gatesBy(who))
	p.must(0, "trust", "--yes")
}

// identityChange makes the workspace another one, or the first one again.
type identityChange struct {
	name string
	make func()
	same bool
}

// identities are the ways in which anybody who can write in a workspace makes it another one.
func (p *place) identities() []identityChange {
	git := filepath.Join(p.root, ".git")
	away := p.root + ".away"
	return []identityChange{
		{name: "a repository", make: func() { p.git("init", "-q", p.root) }},
		{name: "another repository", make: func() { p.drop(".git"); p.git("init", "-q", p.root) }},
		{name: "objects moved", make: func() {
			p.copy(git+"/objects", git+"/o")
			p.drop(".git/objects")
			p.rename(git+"/o", git+"/objects")
		}},
		{name: "no repository, as at first", make: func() { p.drop(".git") }, same: true},
		{name: "copied away and back", make: func() { p.copy(p.root, away); p.drop(""); p.copy(away, p.root); p.dropAll(away) }},
		{name: "renamed and renamed back", make: func() { p.rename(p.root, away); p.rename(away, p.root) }},
	}
}

func (p *place) rename(from, to string) {
	p.t.Helper()
	if err := os.Rename(from, to); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) copy(from, to string) {
	p.t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) dropAll(path string) {
	p.t.Helper()
	if err := os.RemoveAll(path); err != nil {
		p.t.Fatal(err)
	}
}

// folders are the folders of workspaces, or of paths, in the state folder.
func (p *place) folders(kind string) []string {
	p.t.Helper()
	found, err := filepath.Glob(filepath.Join(p.stateHome(), "placet", kind, "*"))
	if err != nil || len(found) == 0 {
		p.t.Fatalf("%v, %v", found, err)
	}
	return found
}

// forgetPaths leaves the state folder as an earlier version would.
func (p *place) forgetPaths() {
	p.t.Helper()
	p.dropAll(filepath.Join(p.stateHome(), "placet", "paths"))
}

func (p *place) readFile(path string) string {
	p.t.Helper()
	body, err := os.ReadFile(path)
	if err != nil {
		p.t.Fatal(err)
	}
	return string(body)
}

func (p *place) writeFile(path, body string, mode os.FileMode) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(body), mode); err != nil {
		p.t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		p.t.Fatal(err)
	}
}

// rewriteAgreement makes a trust file agree to another text of a setting, as if that had been
// shown.
func (p *place) rewriteAgreement(path, name, text string) {
	p.t.Helper()
	var file map[string]any
	if err := json.Unmarshal([]byte(p.readFile(path)), &file); err != nil {
		p.t.Fatal(err)
	}
	for _, one := range file["trusted"].([]any) {
		if one := one.(map[string]any); one["name"] == name {
			digest := string(engine.Sum([]byte(name + "\n" + text)))
			one["text"], one["digest"], one["of"] = text, digest, digest
		}
	}
	body, err := json.Marshal(file)
	if err != nil {
		p.t.Fatal(err)
	}
	p.writeFile(path, string(body), 0o600)
}

// callTold is Claude Code's answer about a call.
func (p *place) callTold(tool, command string) string {
	p.t.Helper()
	out, code := p.typed(fmt.Sprintf(`{"session_id": "s", "cwd": %q, "hook_event_name": "PreToolUse", "tool_name": %q, "tool_input": {"command": %q}, "tool_use_id": "t"}`, p.root, tool, command), "hook", "claude-code", "--defer")
	if code != 0 {
		p.t.Fatalf("the hook ends with %d: %s", code, out)
	}
	return out
}
