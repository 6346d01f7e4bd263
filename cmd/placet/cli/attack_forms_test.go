package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"placet/engine"
	"placet/engine/gate"
)

// formAttacks are on what a person is shown before they answer.
var formAttacks = []attack{
	spoilt("an item hidden in a comment", "an agent hides the way to say no before the person sees the form",
		"- [ ] reject", "<!--\n- [ ] reject"),
	spoilt("an item folded away", "an agent folds the other options away",
		"- [ ] reject", "<details>\n\n- [ ] reject"),
	spoilt("options exchanged", "an agent exchanges what two options say, so that a person who means no ticks yes",
		"approve: Continue to next phase", "approve: Cancel this workflow run", "reject: Cancel this workflow run", "reject: Continue to next phase"),
	spoilt("a changed prompt", "an agent writes another question above the options",
		"Is the design", "Is the font"),
	spoilt("a second mark", "an agent puts a second mark above the options, from where it wants the answer read",
		"- [ ] reject", "<!-- placet answer NONCE -->\n\n- [x] approve\n- [ ] reject"),
	spoilt("a foreign option", "an agent puts a ticked option into the comment section",
		"the last one -->\n", "the last one -->\n\n- [x] approve: Continue\n"),
	spoilt("a folded last item", "an agent hides the last item, which it ticked, behind HTML in the comment section",
		"the last one -->\n", "the last one -->\n\n<details>\n"),
	{"a forged last item", "an agent lets a person believe that the answer is sent, or sends it for them", func(t *testing.T, p *place) {
		p.askedOnce(t)
		form := p.request(0) + "/form.md"
		body := strings.Replace(p.ticked(0, "approve"), "- [x] submit", "- [ ] submit", 1)
		p.write(form, strings.Replace(body, "the last one -->\n", "the last one -->\n\n- [x] submit this answer\n", 1))
		if p.onceMoved(0) || !strings.Contains(p.problem(), "an item that looks like one of the form") {
			t.Errorf("the note says: %s", p.problem())
		}
	}},
	{"a request with new digests", "an agent changes an artifact, gives request.json its digest and removes the form, so that the answer about the old one approves the new one", func(t *testing.T, p *place) {
		p.askedAbout(t)
		request, forged := p.reissue()
		p.write(p.request(0)+"/response.json", p.response(0, "approve", ""))
		if p.onceMoved(0) || !strings.Contains(p.read(p.request(0)+"/request.json.problem.md"), "changed after it was issued") {
			t.Errorf("the request that was changed is answered: %s", p.read(p.request(0)+"/receipt.json"))
		}
		if forged == request || p.there(p.request(0)+"/form.md") {
			t.Error("the form was written for a request that was changed")
		}
		p.write("design.md", "first\n")
		p.write(p.request(0)+"/request.json", request)
		p.isAnswered(t)
		p.verify(0, "approve")
	}},
	{"a request with new digests elsewhere", "the same, where no record says what was issued", func(t *testing.T, p *place) {
		p.askedAbout(t)
		p.forget(t)
		_, forged := p.reissue()
		p.write(p.request(0)+"/response.json", p.response(0, "approve", ""))
		p.settles(t, func() bool { return strings.Contains(p.problem(), "has no digest") })
		if p.answered(0) {
			t.Fatalf("an answer without a digest approves what nobody vouches for: %s", p.read(p.request(0)+"/receipt.json"))
		}
		shown := gate.Digest([]byte(forged), []string{engine.Sum([]byte("second\n")).Hex()}, 0)
		p.write(p.request(0)+"/response.json", strings.Replace(p.response(0, "approve", ""), "{", `{"digest": "`+string(shown)+`", `, 1))
		p.isAnswered(t)
		p.verify(0, "approve")
	}},
	{"a form on another machine", "an agent changes a form before it is answered where no record says what was written", func(t *testing.T, p *place) {
		p.runs = newPlace(t, p.root, 2).runs
		p.placet("once")
		git := func(dir string, args ...string) {
			t.Helper()
			cmd := exec.Command("git", args...)
			cmd.Dir, cmd.Env = dir, p.env()
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("git %v: %v: %s", args, err, out)
			}
		}
		git(p.root, "init", "-q", "-b", "main")
		git(p.root, "add", ".fractary")
		git(p.root, "commit", "-q", "-m", "asked")
		other := &place{t: t, root: p.root + "-other", runs: p.runs}
		git(filepath.Dir(p.root), "clone", "-q", p.root, other.root)

		home := filepath.Join(filepath.Dir(other.root), "home-"+filepath.Base(other.root), "placet")
		if err := os.MkdirAll(home, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte("language = \"ko\"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		honest := other.ticked(0, "approve")
		other.write(other.request(0)+"/form.md", strings.Replace(honest, "Is the design", "Is the font", 1))
		if other.onceMoved(0) || !strings.Contains(other.problem(), "placet wrote `> Is the design") {
			t.Errorf("the note says: %s", other.problem())
		}
		other.write(other.request(0)+"/form.md", honest)
		if !other.onceMoved(0) {
			t.Fatalf("the form of another machine does not count: %s", other.problem())
		}
		other.verify(0, "approve")

		other.write(other.request(1)+"/form.md", strings.ReplaceAll(other.ticked(1, "reject"), "\n", "\r\n"))
		git(other.root, "add", other.request(1)+"/form.md")
		git(other.root, "commit", "-q", "-m", "answered")
		git(p.root, "pull", "-q", other.root, "main")
		p.placet("once")
		p.verify(1, "reject")
	}},
}

// spoilt is a form in which an agent replaced something before a person answered it. The answer
// never counts; with the line restored, and the answer written again, it does.
func spoilt(name, does string, pairs ...string) attack {
	return attack{name, does, func(t *testing.T, p *place) {
		p.askedOnce(t)
		form := p.request(0) + "/form.md"
		written := p.read(form)
		_, nonce, _ := strings.Cut(written, "<!-- placet answer ")
		ticked := p.ticked(0, "approve")
		spoilt := strings.ReplaceAll(strings.NewReplacer(pairs...).Replace(ticked), "NONCE", nonce[:8])
		if spoilt == ticked {
			t.Fatalf("the form has none of %q:\n%s", pairs, ticked)
		}
		p.write(form, spoilt)
		if p.onceMoved(0) || !strings.Contains(p.problem(), "line ") || !strings.Contains(p.problem(), form) {
			t.Fatalf("it counts, or the note does not say why: %s", p.problem())
		}
		p.remove(form)
		if p.onceMoved(0) || p.read(form) != written {
			t.Errorf("the form that was removed is not written again:\n%s", p.read(form))
		}
		honest := strings.Replace(p.ticked(0, "request_changes"), "the last one -->\n", "the last one -->\n\nUse UTF-8,\n- [ ] and add tests\n", 1)
		p.write(form, strings.TrimSuffix(strings.ReplaceAll(honest, "\n", "\r\n"), "\r\n"))
		if !p.onceMoved(0) || p.problem() != "" {
			t.Errorf("the honest form does not count: %s", p.problem())
		}
		p.verify(0, "request_changes")
		if !strings.Contains(p.read(p.request(0)+"/receipt.json"), `"Use UTF-8,\n- [ ] and add tests"`) {
			t.Errorf("the comment is lost: %s", p.read(p.request(0)+"/receipt.json"))
		}
	}}
}

// askedOnce is a run that asks, with its form written.
func (p *place) askedOnce(t *testing.T) {
	t.Helper()
	p.waiting(t)
	p.placet("once")
	if !p.opened() {
		t.Fatal("the form is not written")
	}
}

// askedAbout is a run that asks about an artifact.
func (p *place) askedAbout(t *testing.T) {
	t.Helper()
	p.waiting(t)
	p.write("design.md", "first\n")
	p.write(p.runs[0]+"/state.json", strings.Replace(p.read(p.runs[0]+"/state.json"), `"type": "review",`, `"type": "review", "context": {"artifact_path": "design.md"},`, 1))
	p.settles(t, p.opened)
}

// reissue changes the artifact, gives request.json its digest and removes the form.
func (p *place) reissue() (issued, forged string) {
	p.t.Helper()
	name := p.request(0) + "/request.json"
	issued = p.read(name)
	p.write("design.md", "second\n")
	forged = strings.ReplaceAll(issued, engine.Sum([]byte("first\n")).Hex(), engine.Sum([]byte("second\n")).Hex())
	p.write(name, forged)
	p.remove(p.request(0) + "/form.md")
	return issued, forged
}

// forget removes what this machine recorded.
func (p *place) forget(t *testing.T) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(p.stateHome(), "placet")); err != nil {
		t.Fatal(err)
	}
}

// settles runs placet until a condition holds, because an artifact must settle first.
func (p *place) settles(t *testing.T, ok func() bool) {
	t.Helper()
	d := p.start()
	defer d.stop(15)
	p.await(d)
	p.until("what is there has settled: "+p.problem(), ok)
}

func (p *place) isAnswered(t *testing.T) {
	t.Helper()
	p.settles(t, func() bool { return p.answered(0) })
}

// problem is the note in the folder of the first request.
func (p *place) problem() string { return p.read(p.request(0) + "/problem.md") }
