package cli_test

import (
	"debug/buildinfo"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var miscAttacks = []attack{
	{"init writes over no link", "what git ignores is kept where links, a .git file or a commondir lead: outside of the workspace", func(t *testing.T, p *place) {
		for name, spoil := range map[string]func(p *place, repository string){
			"a link in the excludes' place": func(p *place, repository string) {
				p.drop(".git/info/exclude")
				p.link(repository+"/.git/info/exclude", ".git/info/exclude")
			},
			"a link in their folder's place": func(p *place, repository string) {
				p.drop(".git/info")
				p.link(repository+"/.git/info", ".git/info")
			},
			"a link in git's place": func(p *place, repository string) { p.drop(".git"); p.link(repository+"/.git", ".git") },
			"a common folder":       func(p *place, repository string) { p.write(".git/commondir", repository+"/.git\n") },
			"a .git that is a file": func(p *place, repository string) { p.drop(".git"); p.write(".git", "gitdir: "+repository+"/.git\n") },
		} {
			p := newPlace(t, filepath.Join(t.TempDir(), "ws"), 0)
			repository := filepath.Join(t.TempDir(), "other")
			p.git("init", "-q", repository)
			excludes := filepath.Join(repository, ".git", "info", "exclude")
			before := contentOf(t, excludes)
			p.git("init", "-q", p.root)
			spoil(p, repository)
			out, code := p.placet("init")
			if contentOf(t, excludes) != before {
				t.Errorf("%s: another repository's excludes were written", name)
			}
			if code != 0 || !strings.Contains(out, "cannot have git ignore") || p.read("placet.toml") == "" {
				t.Errorf("%s: the rest of init is not done, or not said: %d %s", name, code, out)
			}
		}
		for _, name := range []string{"placet.toml", ".placet"} {
			p := newPlace(t, filepath.Join(t.TempDir(), "ws"), 0)
			target := filepath.Join(t.TempDir(), "made")
			p.link(target, name)
			if out, code := p.placet("init"); code == 0 {
				t.Errorf("%s is a link: init ends with %d: %s", name, code, out)
			}
			if _, err := os.Lstat(target); err == nil {
				t.Errorf("init made what %s leads to", name)
			}
		}
		p.git("init", "-q", p.root)
		if out, code := p.placet("init"); code != 0 || !strings.Contains(p.read(".git/info/exclude"), "\n.placet/\n") {
			t.Errorf("the honest repository: %d %s", code, out)
		}
		if out, _ := p.placet("doctor"); strings.Contains(out, "cannot write") || strings.Contains(out, "does not work here") {
			t.Errorf("doctor: %s", out)
		}
	}},
	{"set-id bits", "a state document with set-id bits lends its owner's rights to what placet writes in its place", func(t *testing.T, p *place) {
		p.waiting(t)
		name := filepath.Join(p.root, p.runs[0], "state.json")
		if err := os.Chmod(name, 0o640|fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky); err != nil {
			t.Fatal(err)
		}
		p.endsOnce(3)
		if !p.opened() {
			t.Fatal("the state was not replaced")
		}
		if info, err := os.Stat(name); err != nil || info.Mode() != 0o640 {
			t.Errorf("%v %v, want the permissions alone, -rw-r-----", info.Mode(), err)
		}
	}},
	{"commands in option ids", "an option is called so that the command which chooses it runs another one, or passes a flag", func(t *testing.T, p *place) {
		p.waiting(t)
		options := []string{"go on; touch made", "$(touch made)", "`touch made`", "it's > made", "--as=root", "-m"}
		offered, err := json.Marshal(options)
		if err != nil {
			t.Fatal(err)
		}
		state := p.read(p.runs[0] + "/state.json")
		p.write(p.runs[0]+"/state.json", strings.Replace(state, `"type": "review",`, `"type": "review", "options": `+string(offered)+",", 1))
		p.endsOnce(3)
		var inbox struct {
			Data struct {
				Requests []struct{ Options []struct{ ID string } }
			}
		}
		if out, _ := p.placet("inbox", "--json"); json.Unmarshal([]byte(out), &inbox) != nil || len(inbox.Data.Requests) != 1 {
			t.Fatalf("the inbox: %s", out)
		}
		out, _ := p.placet("inbox")
		var typed []string
		for line := range strings.Lines(out) {
			if at := strings.Index(line, "placet respond "); at >= 0 {
				typed = append(typed, line[at:])
			}
		}
		offeredHere := inbox.Data.Requests[0].Options
		if len(typed) != len(offeredHere) || len(typed) < len(options) {
			t.Fatalf("%d commands for %d options:\n%s", len(typed), len(offeredHere), out)
		}
		bin := filepath.Dir(placetBinary(t))
		for i, command := range typed {
			sh := exec.Command("sh", "-c", command)
			sh.Dir, sh.Env = p.root, append(p.env(), "PATH="+bin+":"+os.Getenv("PATH"))
			said, err := sh.CombinedOutput()
			if err != nil {
				t.Errorf("%s\n%v: %s", command, err, said)
			}
			var answer struct {
				Response   string
				ProvidedBy struct{ User string } `json:"provided_by"`
			}
			if json.Unmarshal([]byte(p.read(p.request(0)+"/response.json")), &answer) != nil || answer.Response != offeredHere[i].ID || answer.ProvidedBy.User == "root" && os.Getuid() != 0 {
				t.Errorf("%s\nanswers %+v, want %s", command, answer, offeredHere[i].ID)
			}
			p.drop(p.request(0) + "/response.json")
		}
		if made, _ := filepath.Glob(filepath.Join(p.root, "made*")); len(made) > 0 {
			t.Errorf("a command ran: %v", made)
		}
	}},
	{"commands joined alike", "a command is worded so that, joined, it reads like one that was agreed to", func(t *testing.T, p *place) {
		p.git("init", "-q", p.root)
		agreed := "[optimizer.workflows.w]\nanalysis = [\"sh\", \"a\", \"b\"]\n"
		p.write("placet.toml", agreed)
		if out, code := p.placet("trust", "--yes"); code != 0 {
			t.Fatalf("trust: %d %s", code, out)
		}
		if out, _ := p.placet("trust"); strings.Contains(out, "waits") {
			t.Errorf("what was agreed to waits: %s", out)
		}
		p.write("placet.toml", agreed+"evaluation = [\"sh\", \"a\\u0000b\"]\n")
		if out, _ := p.placet("trust"); !strings.Contains(out, "waits  optimizer.workflows.w.evaluation") {
			t.Errorf("the other command counts as agreed to: %s", out)
		}
	}},
	{"claimed names", "a response.json gives somebody else's name, and calls itself a form", func(t *testing.T, p *place) {
		p.waiting(t)
		p.endsOnce(3)
		response := p.request(0) + "/response.json"
		body := strings.Replace(p.response(0, "approve", ""), `"tester"`, `"boss"`, 1)
		p.write(response, strings.Replace(body, `"source": "file"`, `"source": "form"`, 1))
		if out, _ := p.placet("once"); p.answered(0) || !strings.Contains(p.read(p.request(0)+"/problem.md"), "only a form is") {
			t.Errorf("what is no form was taken as one, or no note says why not: %s", out)
		}
		p.write(response, body)
		if out, _ := p.placet("inbox"); !strings.Contains(out, "answered approve by boss (claimed) (file), not carried out yet") {
			t.Errorf("the inbox does not show that the name is a claim: %s", out)
		}
		if out, _ := p.placet("once"); !p.answered(0) {
			t.Errorf("the honest answer was not taken: %s", out)
		}
		if out, _ := p.placet("approve", p.requestID(0)); !strings.Contains(out, "approve by boss (claimed) (file)") {
			t.Errorf("the closed request does not show that the name is a claim: %s", out)
		}
	}},
}

// git runs git and returns what it says.
func (p *place) git(args ...string) string {
	p.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Env = append(p.env(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return string(out)
}

// drop removes what is in the workspace under a name, and all below it.
func (p *place) drop(rel string) {
	p.t.Helper()
	if err := os.RemoveAll(filepath.Join(p.root, rel)); err != nil {
		p.t.Fatal(err)
	}
}

func contentOf(t *testing.T, name string) string {
	t.Helper()
	body, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// The program prints a licence of each module that is built into it.
func TestTheLicencesAreThoseOfWhatIsBuiltIn(t *testing.T) {
	p := newPlace(t, t.TempDir(), 0)
	built, err := buildinfo.ReadFile(placetBinary(t))
	if err != nil {
		t.Fatal(err)
	}
	out, code := p.placet("version", "--licences")
	if code != 0 || len(built.Deps) == 0 || !strings.Contains(out, "The Go standard library, LICENSE\n") {
		t.Fatalf("%d, %d modules", code, len(built.Deps))
	}
	for _, m := range built.Deps {
		if !strings.Contains(out, m.Path+" "+m.Version+", ") {
			t.Errorf("no licence of %s %s", m.Path, m.Version)
		}
	}
}
