package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"placet/cmd/placet/console"
	"placet/engine"
	"placet/internal/await"
)

// olderAttacks put back what once was right (an older state with its answer, or an answer from
// before the question), or make others' files pass for the owner's.
var olderAttacks = []attack{
	{"yesterday's ask put back", "An agent puts the folder of an ask back as it was while it waited, with the answer of then, after the same was asked anew.", yesterdaysAsk},
	{"an action put back after it was sent", "An agent puts the folder of an action back as it was while it waited, with the answer of then, so that its mail is sent a second time.", actionPutBack},
	{"an answer from before the question", "An agent moves a response.json without a digest aside and back again, beside another question of the same name.", answerFromBefore},
	{"a form that others can write", "Under a wide umask another user ticks the owner's form in place, or moves another file of the owner's into the request's folder.", formOfOthers},
	{"an answer that git has not committed", "What others committed comes into the work tree by a merge, a checkout or a pick that is not committed, or as a submodule, and passes for the owner's.", stagedAnswer},
}

// isOlder checks that a run is blocked because of its state, and returns the digest by which a
// person adopts it.
func (p *place) isOlder(dir, run string) (digest string) {
	p.t.Helper()
	before := p.read(dir + "/state.json")
	for range 2 {
		p.once(1)
	}
	digest = engine.Sum([]byte(before)).Hex()
	p.says(p.read(dir+"/state.json.problem.md"), "this is an older state than placet wrote here", "placet doctor --fix "+run+"@"+digest)
	if p.read(dir+"/state.json") != before {
		p.t.Errorf("it moves: %s", p.read(dir+"/state.json"))
	}
	for _, verb := range [][]string{{"explain", run}, {"check", run}, {"inbox"}} {
		if out, _ := p.placet(verb...); !strings.Contains(out, "this is an older state") {
			p.t.Errorf("%q does not say so: %s", verb, out)
		}
	}
	return digest
}

// kept is where a copy of a folder is kept.
func (p *place) kept(name string) string { return p.root + "-" + name }

// putsBack replaces a folder by a kept copy.
func (p *place) putsBack(name, dir string) {
	p.t.Helper()
	p.removeAny(dir)
	copyTree(p.t, p.kept(name), filepath.Join(p.root, dir))
}

func yesterdaysAsk(t *testing.T, p *place) {
	const dir = ".asks/x"
	p.ownGates("owner:" + console.Login())
	p.opensAsk("x")
	copyTree(t, filepath.Join(p.root, dir), p.kept("waiting"))
	p.must(0, "approve", p.reference())
	given := p.read(p.answerFile("x"))
	p.must(0, "once")
	copyTree(t, filepath.Join(p.root, dir), p.kept("answered"))
	p.removeAny(dir)
	p.write(dir+"/ask.json", `{"question": "Go on?", "type": "approval"}`)
	p.must(3, "once") // begun anew
	copyTree(t, filepath.Join(p.root, dir), p.kept("today"))

	p.putsBack("answered", dir)
	p.isOlder(dir, "ask/x")
	if out, code := p.placet("wait", "x", "--timeout", "1ms"); code == 0 {
		t.Errorf("yesterday's answer is told: %s", out)
	}
	p.putsBack("waiting", dir)
	p.write(p.answerFile("x"), given)
	p.isOlder(dir, "ask/x")
	p.stays(dir + "/answer.json")
	state := p.read(dir + "/state.json")
	p.replace(dir+"/state.json", state+"\n") // no longer as placet wrote it
	p.must(1, "once")
	p.stays(dir + "/answer.json")

	p.putsBack("today", dir) // the newest state goes on
	p.must(3, "once")
	p.must(0, "reject", p.reference())
	p.must(0, "once")
	p.says(p.read(dir+"/answer.json"), `"reject"`)
	// A state that a person adopts goes on, too.
	p.putsBack("waiting", dir)
	p.must(0, "adopt", "x@"+p.isOlder(dir, "ask/x"))
	p.must(3, "once")
	p.must(0, "approve", p.reference())
	p.must(0, "once")
	p.says(p.read(dir+"/answer.json"), `"approve"`)
	p.stays(dir + "/state.json.problem.md")
}

func actionPutBack(t *testing.T, p *place) {
	const dir = ".nemawashi/actions/1"
	p.ownGates("owner:" + console.Login())
	p.write("placet.toml", "")
	p.write("draft.md", "Dear all,\nwe are late.\n")
	p.write("payload.json", `{"to": "pm@acme.example", "subject": "Delay"}`)
	p.must(0, "nemawashi", "new", "--type", "mail_draft", "--summary", "Tell the customer", "--draft", filepath.Join(p.root, "draft.md"), "--payload", filepath.Join(p.root, "payload.json"), "--project", "acme")
	p.must(3, "once")
	response := dir + "/requests/" + p.openRequest().ID + "/response.json"
	copyTree(t, filepath.Join(p.root, dir), p.kept("waiting"))
	p.must(0, "approve", p.reference())
	given := p.read(response)
	p.must(0, "once")
	copyTree(t, filepath.Join(p.root, dir), p.kept("sent"))
	p.putsBack("waiting", dir)
	p.write(response, given)
	p.isOlder(dir, "nemawashi/1")
	p.stays(dir + "/jobs")
	p.putsBack("sent", dir)
	p.must(0, "once")
	p.says(p.read(dir+"/state.json"), `"executed"`)
}

// older makes a file look as if it had been saved an hour ago.
func (p *place) older(name string) {
	p.t.Helper()
	at := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(p.root, name), at, at); err != nil {
		p.t.Fatal(err)
	}
}

func answerFromBefore(t *testing.T, p *place) {
	const dir = ".asks/x"
	p.ownGates("owner:" + console.Login())
	p.opensAsk("x")
	p.write(p.answerFile("x"), p.answerOf("x", "approve", console.Login(), "file"))
	p.must(0, "once")
	p.older(p.answerFile("x"))
	rename(t, filepath.Join(p.root, p.answerFile("x")), p.kept("response"))
	p.removeAny(dir)
	p.write(dir+"/ask.json", `{"question": "Drop it?", "type": "approval"}`)
	p.must(3, "once")
	rename(t, p.kept("response"), filepath.Join(p.root, p.answerFile("x")))
	p.must(1, "once")
	p.stays(dir + "/answer.json")
	p.says(p.read(filepath.Dir(p.answerFile("x"))+"/problem.md"), "it was saved before this was asked", "Save it again")
	p.write(p.answerFile("x"), p.answerOf("x", "reject", console.Login(), "file"))
	p.must(0, "once")
	p.says(p.read(dir+"/answer.json"), `"reject"`)
}

// mode is the mode of a file.
func (p *place) mode(name string) os.FileMode {
	p.t.Helper()
	info, err := os.Stat(filepath.Join(p.root, name))
	if err != nil {
		p.t.Fatal(err)
	}
	return info.Mode().Perm()
}

func formOfOthers(t *testing.T, p *place) {
	p.ownGates("owner:" + console.Login())
	p.write(".asks/x/ask.json", `{"question": "Go?"}`)
	wide := exec.CommandContext(await.Context(t), "sh", "-c", `umask 0; exec "$0" "$@"`, placetBinary(t), "-C", p.root, "once")
	wide.Env = p.env()
	wide.Run() // 3: a request is open
	dir := filepath.Dir(p.answerFile("x"))
	if state, form, folder := p.mode(".asks/x/state.json"), p.mode(dir+"/form.md"), p.mode(dir); state != 0o666 || form != 0o644 || folder != 0o755 {
		t.Errorf("state %o, form %o, folder %o", state, form, folder)
	}
	held := func(what string) {
		t.Helper()
		if out, code := p.placet("once"); code != 1 {
			t.Errorf("%s: once: %d: %s", what, code, out)
		}
		p.stays(".asks/x/answer.json")
		p.says(p.read(dir+"/problem.md"), "does not count")
	}
	blank, ticked := p.read(dir+"/form.md"), p.tickedForm("x", "approve")
	p.write(dir+"/form.md", ticked)
	chmod(t, filepath.Join(p.root, dir, "form.md"), 0o666)
	held("a form that anybody can write")
	p.replace(dir+"/form.md", blank)
	chmod(t, filepath.Join(p.root, dir), 0o777)
	p.write(p.answerFile("x"), p.answerOf("x", "approve", console.Login(), "file"))
	held("a folder that anybody can write in")
	chmod(t, filepath.Join(p.root, dir), 0o755)
	p.replace(p.answerFile("x"), p.answerOf("x", "reject", console.Login(), "file"))
	p.must(0, "once")
	if r := p.receipt("x"); r.Response != "reject" || !slices.Contains(r.KnownAs, "owner:"+console.Login()) {
		t.Errorf("the owner's own answer is %+v", r)
	}
}

func stagedAnswer(t *testing.T, root *place) {
	fetched := func(p *place, args ...string) {
		p.gitHere("fetch", "-q", "alice", "HEAD")
		p.gitHere(args...)
	}
	for way, bring := range map[string]func(p *place){
		"merged":      func(p *place) { fetched(p, "merge", "-q", "--squash", "FETCH_HEAD") },
		"checked-out": func(p *place) { fetched(p, "checkout", "-q", "FETCH_HEAD", "--", ".") },
		"picked":      func(p *place) { fetched(p, "cherry-pick", "-n", "FETCH_HEAD") },
		"split": func(p *place) {
			p.gitHere("update-index", "--split-index")
			fetched(p, "checkout", "-q", "FETCH_HEAD", "--", ".")
		},
		"submodule": func(p *place) { // alice's repository of one folder replaces that of the request
			fetched(p, "checkout", "-q", "FETCH_HEAD", "--", ".")
			p.gitHere("rm", "-rq", "--cached", ".asks")
			at := &place{t: p.t, root: filepath.Join(p.root, filepath.Dir(p.answerFile("x")))}
			at.gitHere("init", "-q")
			at.gitHere("add", "-A")
			at.gitHere("commit", "-q", "-m", "answered")
		},
	} {
		for _, name := range []string{"form.md", "response.json"} {
			p := &place{t: t, root: filepath.Join(root.root, way+"-"+name)}
			p.ownGates("owner:" + console.Login())
			p.answeredByAlice(name, alice, func(hers *place) {
				if way == "split" { // the content differs from the commit
					hers.write(".gitattributes", "* ident\n")
				}
			}, bring)
			p.must(1, "once")
			p.stays(".asks/x/answer.json")
			dir := filepath.Dir(p.answerFile("x"))
			p.says(p.read(dir+"/problem.md"), "`committed:?`")
			p.write(p.answerFile("x"), p.answerOf("x", "reject", console.Login(), "file"))
			if name == "form.md" {
				p.write(dir+"/form.md", strings.Replace(p.read(dir+"/form.md"), "- [x] submit", "- [ ] submit", 1))
			}
			p.must(0, "once")
			if r := p.receipt("x"); r.Response != "reject" || !slices.Contains(r.KnownAs, "owner:"+console.Login()) {
				t.Errorf("%s, %s: the owner's own answer is %+v", way, name, r)
			}
		}
	}
}
