package cli_test

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"placet/cmd/placet/console"
	"placet/engine/ask"
)

// sourceAttacks are on who gave an answer, and by which surface.
var sourceAttacks = []attack{
	{
		name: "a source that a file names",
		does: "A response.json says that it came from Slack, the page, an agent's host, the API or the command line, or that the deadline gave it.",
		try:  attackNamedSource,
	},
	{
		name: "an answer that somebody else committed",
		does: "Somebody commits an answer, and whoever pulls it passes for its author, because the files are theirs.",
		try:  attackPulledAnswer,
	},
	{
		name: "a content that git changes on its way",
		does: "Attributes have git write another content into the work tree than was committed, so that the answer does not look committed.",
		try:  attackConvertedAnswer,
	},
	{
		name: "a commit in the name of an approver",
		does: "Somebody commits an answer as the author whom the gate asks for.",
		try:  attackCommitAuthor,
	},
	{
		name: "an answer in another user's file",
		does: "A program of another user writes an answer and says that it is the owner's, where the owner alone may answer.",
		try:  attackOwner,
	},
}

func attackOwner(t *testing.T, p *place) {
	p.ownGates("owner:" + console.Login())
	p.opensAsk("x")
	if name := filepath.Join(p.root, p.answerFile("x")); os.Geteuid() == 0 { // only root gives files away
		p.write(p.answerFile("x"), p.answerOf("x", "approve", console.Login(), "file"))
		if err := os.Chown(name, 65534, 65534); err != nil {
			t.Fatal(err)
		}
		p.must(1, "once")
		p.stays(".asks/x/answer.json")
		p.says(p.read(filepath.Dir(p.answerFile("x"))+"/problem.md"), "does not count: its author is known as", "`claimed:"+console.Login()+"`")
		p.remove(p.answerFile("x"))
	}
	p.write(p.answerFile("x"), p.answerOf("x", "approve", console.Login(), "file"))
	p.must(0, "once")
	if r := p.receipt("x"); !slices.Contains(r.KnownAs, "owner:"+console.Login()) {
		t.Errorf("the owner's own answer is %+v", r)
	}
}

func attackNamedSource(t *testing.T, p *place) {
	refused := map[string]string{
		"deadline": "placet's own word", "form": "only a form is", "issue_comment": "only what its family writes", "parallel_coordination": "only what its family writes",
	}
	named := func(source string) string { return strings.ReplaceAll(source, "_", "-") } // the ask that is answered from there
	sources := []string{"cli", "http", "slack", "mcp", "web", "link"}
	for _, source := range slices.Concat(sources, slices.Collect(maps.Keys(refused))) {
		p.write(".asks/"+named(source)+"/ask.json", `{"question": "Go?"}`)
	}
	p.must(3, "once")
	for _, source := range slices.Concat(sources, slices.Collect(maps.Keys(refused))) {
		p.write(p.answerFile(named(source)), p.answerOf(named(source), "approve", "tester", source))
	}
	p.says(p.must(1, "inbox"), "approve by tester (claimed) (file)")
	p.must(1, "once")
	for _, source := range sources {
		r := p.receipt(source)
		if r.By != (by{"tester", "file"}) || !slices.Contains(r.KnownAs, "claimed:tester") || r.Reason != `approve; named source "`+source+`" is not recorded on this machine` {
			t.Errorf("%s: %+v", source, r)
		}
		p.says(p.read(".asks/"+source+"/answer.json"), `"source": "file"`)
	}
	for source, why := range refused {
		p.says(p.read(filepath.Dir(p.answerFile(named(source)))+"/problem.md"), "`"+source+"`", why)
		p.stays(".asks/" + named(source) + "/answer.json")
		p.drop(".asks/" + named(source))
	}

	// The command line's own answer is recorded, even if the file is committed and had other
	// bytes in between. A file with the bytes that it wrote once is not.
	p.beginsGit()
	p.opensAsk("own")
	p.commits("asked", "root@example.com")
	p.must(0, "approve", p.reference(), "--as", "kim")
	own := p.read(p.answerFile("own"))
	p.commits("answered", "root@example.com")
	elsewhere := p.clone("elsewhere")
	p.must(0, "once")
	owner := "owner:" + console.Login()
	if r := p.receipt("own"); r.By != (by{"kim", "cli"}) || !slices.Equal(r.KnownAs, []string{owner, "claimed:kim"}) || r.Reason != "approve" {
		t.Errorf("an answer of the command line is %+v", r)
	}
	elsewhere.must(0, "once")
	if r := elsewhere.receipt("own"); r.By != (by{"root@example.com", "file"}) || !slices.Equal(r.KnownAs, []string{"committed:root@example.com", "claimed:kim"}) {
		t.Errorf("in a clone it is %+v", r)
	}
	p.opensAsk("again")
	p.must(0, "reject", p.reference(), "--as", "kim")
	p.write(p.answerFile("again"), strings.ReplaceAll(own, ask.RequestID("own"), ask.RequestID("again")))
	p.write(p.answerFile("again"), p.answerOf("again", "approve", "kim", "cli"))
	p.must(0, "once")
	if r := p.receipt("again"); r.By.Source != "file" || r.Response != "approve" {
		t.Errorf("another answer in the place of the command line's is %+v", r)
	}
}

func attackPulledAnswer(t *testing.T, root *place) {
	ways := map[string]func(p *place){
		"pulled": func(p *place) { p.gitHere("pull", "-q", "--ff-only", "alice", "HEAD") },
		"merged": func(p *place) {
			p.write("other.txt", "other\n")
			p.commits("other", "root@example.com")
			p.gitHere("pull", "-q", "--no-rebase", "--no-edit", "alice", "HEAD")
		},
		"squashed": func(p *place) {
			p.gitHere("fetch", "-q", "alice", "HEAD")
			p.gitHere("merge", "-q", "--squash", "FETCH_HEAD")
			p.gitHere("commit", "-q", "-m", "squashed", "--author=Alice <alice@example.com>")
		},
		"picked": func(p *place) {
			p.gitHere("fetch", "-q", "alice", "HEAD")
			p.gitHere("cherry-pick", "FETCH_HEAD")
		},
		"with other line ends": func(p *place) {
			p.gitHere("config", "core.autocrlf", "true")
			p.gitHere("pull", "-q", "--ff-only", "alice", "HEAD")
		},
		"touched": func(p *place) { // git's index says nothing any more
			p.gitHere("pull", "-q", "--ff-only", "alice", "HEAD")
			for _, name := range []string{"form.md", "response.json"} {
				if body := p.read(filepath.Dir(p.answerFile("x")) + "/" + name); body != "" {
					p.write(filepath.Dir(p.answerFile("x"))+"/"+name, body)
				}
			}
		},
	}
	for way, pull := range ways {
		for _, name := range []string{"form.md", "response.json"} {
			p := &place{t: t, root: filepath.Join(root.root, strings.ReplaceAll(way, " ", "-")+"-"+name)}
			p.answeredByAlice(name, alice, nil, pull)
			if name == "response.json" {
				p.says(p.must(3, "inbox"), "approve by alice@example.com (committed) (file)")
			}
			p.must(0, "once")
			r, source, known := p.receipt("x"), "form", []string{"committed:" + alice}
			if name == "response.json" {
				source, known = "file", append(known, "claimed:boss")
			}
			if r.By != (by{alice, source}) || !slices.Equal(r.KnownAs, known) {
				t.Errorf("%s, %s: %+v", way, name, r)
			}
			p.says(p.must(0, "approve", ask.RequestID("x")), "by alice@example.com (committed)")
		}
	}

	// A gate that requires the owner is not satisfied by an answer that the owner has pulled;
	// the owner's own answer replaces it.
	for _, name := range []string{"form.md", "response.json"} {
		p := &place{t: t, root: filepath.Join(root.root, "gate-"+name)}
		p.ownGates("owner:" + console.Login())
		p.answeredByAlice(name, alice, nil, ways["pulled"])
		p.must(1, "once")
		p.stays(".asks/x/answer.json")
		p.says(p.read(filepath.Dir(p.answerFile("x"))+"/problem.md"), "`committed:alice@example.com`")
		p.must(0, "approve", p.reference())
		p.must(0, "once")
		if r := p.receipt("x"); r.By.Source != "cli" || !slices.Equal(r.KnownAs, []string{"owner:" + console.Login()}) {
			t.Errorf("%s: the owner's own answer is %+v", name, r)
		}
	}

	// The same holds for a tick in a form that was committed before it was answered.
	p := &place{t: t, root: filepath.Join(root.root, "own")}
	p.ownGates("owner:" + console.Login())
	p.beginsGit()
	p.opensAsk("x")
	p.commits("asked", "root@example.com")
	p.write(filepath.Dir(p.answerFile("x"))+"/form.md", p.tickedForm("x", "approve"))
	p.must(0, "once")
	if r := p.receipt("x"); r.By != (by{console.Login(), "form"}) || !slices.Equal(r.KnownAs, []string{"owner:" + console.Login()}) {
		t.Errorf("a tick of one's own is %+v", r)
	}
}

func attackConvertedAnswer(t *testing.T, root *place) {
	for name, c := range map[string]struct{ file, attributes string }{
		"ident": {"form.md", "*.md ident"}, "ends": {"form.md", "*.md text eol=crlf"},
		"encoded": {"response.json", "*.json working-tree-encoding=ISO646-FR"}, // in which é is {
	} {
		p, hers := &place{t: t, root: filepath.Join(root.root, name)}, (*place)(nil)
		p.ownGates("owner:" + console.Login())
		p.answeredByAlice(c.file, alice, func(clone *place) {
			hers = clone
			hers.write(".gitattributes", c.attributes+"\n")
			form := filepath.Dir(hers.answerFile("x")) + "/form.md"
			hers.write(form, strings.Replace(hers.read(form), "- [x] submit", "$Id$\n\n- [x] submit", 1))
		}, func(p *place) {
			p.gitHere("pull", "-q", "--ff-only", "alice", "HEAD")
			// The attributes are removed again; the files stay as they were written.
			hers.gitHere("rm", "-q", ".gitattributes")
			hers.gitHere("commit", "-q", "-m", "without")
			p.gitHere("pull", "-q", "--ff-only", "alice", "HEAD")
		})
		if p.placet("once"); p.read(".asks/x/answer.json") != "" {
			t.Errorf("%s: it counts as %+v", name, p.receipt("x"))
		}
		answer := filepath.Dir(p.answerFile("x")) + "/" + c.file
		p.says(p.read(filepath.Dir(answer)+"/problem.md"), "`committed:"+alice+"`")
		p.write(answer, p.read(answer)+"\n")
		p.must(0, "once") // the user who saves it answers
		if r := p.receipt("x"); !slices.Equal(r.KnownAs, []string{"owner:" + console.Login()}) {
			t.Errorf("%s: an answer that the owner has saved is %+v", name, r)
		}
	}
}

func attackCommitAuthor(t *testing.T, root *place) {
	pulled := func(p *place) { p.gitHere("pull", "-q", "--ff-only", "alice", "HEAD") }
	for approver, author := range map[string]string{
		"ceo": "ceo", "alice@example.com": "alice@example.com", "owner:" + console.Login(): console.Login(),
		"committed:" + alice: strings.Repeat("a", 321) + "@example.com", // too long to be a mail
	} {
		p := &place{t: t, root: filepath.Join(root.root, strings.ReplaceAll(approver, ":", "-"))}
		p.ownGates(approver)
		p.answeredByAlice("form.md", author, nil, pulled)
		p.must(1, "once")
		p.stays(".asks/x/answer.json")
		p.says(p.read(filepath.Dir(p.answerFile("x"))+"/problem.md"), "lets only `"+approver+"` answer")
	}
	// In a shallow clone the oldest commit also stands for the missing ones, so nobody knows
	// its author's part.
	shallow := &place{t: t, root: filepath.Join(root.root, "shallow")}
	shallow.ownGates("committed:" + alice)
	full := &place{t: t, root: filepath.Join(root.root, "full")}
	full.answeredByAlice("form.md", alice, nil, pulled)
	full.gitHere("clone", "-q", "--depth", "1", "file://"+full.root, shallow.root)
	shallow.must(1, "once")
	shallow.says(shallow.read(filepath.Dir(shallow.answerFile("x"))+"/problem.md"), "`committed:?`")

	p := &place{t: t, root: filepath.Join(root.root, "named")}
	p.ownGates("committed:ceo@example.com")
	p.answeredByAlice("form.md", "ceo@example.com", nil, pulled)
	p.must(0, "once")
	if r := p.receipt("x"); r.By != (by{"ceo@example.com", "form"}) || !slices.Equal(r.KnownAs, []string{"committed:ceo@example.com"}) {
		t.Errorf("an author whom the gate names is %+v", r)
	}
	p.says(p.must(0, "approve", ask.RequestID("x")), "by ceo@example.com (committed)")
}

// by is who answered, and by which surface.
type by struct{ User, Source string }

// receiptMembers are the members of a receipt that say who answered.
type receiptMembers struct {
	Response, Reason string
	By               by       `json:"provided_by"`
	KnownAs          []string `json:"known_as"`
}

// receipt is that of an ask's request.
func (p *place) receipt(id string) (r receiptMembers) {
	p.t.Helper()
	name := filepath.Dir(p.answerFile(id)) + "/receipt.json"
	if err := json.Unmarshal([]byte(p.read(name)), &r); err != nil {
		p.t.Fatalf("%s: %v; the note: %s", name, err, p.read(filepath.Dir(name)+"/problem.md"))
	}
	return r
}

// answerFile is the response.json of an ask's request.
func (p *place) answerFile(id string) string {
	return ".asks/" + id + "/requests/" + ask.RequestID(id) + "/response.json"
}

// opensAsk asks whether something should be done.
func (p *place) opensAsk(id string) {
	p.t.Helper()
	p.write(".asks/"+id+"/ask.json", `{"question": "Go?"}`)
	if out, code := p.placet("once"); code != 3 {
		p.t.Fatalf("once: exit %d: %s%s", code, out, p.read(".asks/"+id+"/ask.json.problem.md"))
	}
}

// answerOf is a response.json that names a user and a source.
func (p *place) answerOf(id, option, user, source string) string {
	return `{"request_id": "` + ask.RequestID(id) + `", "response": "` + option + `", "provided_by": {"user": "` + user + `", "source": "` + source + `"}}`
}

// tickedForm is the form of an ask with an option and submit ticked.
func (p *place) tickedForm(id, option string) string {
	body := p.read(filepath.Dir(p.answerFile(id)) + "/form.md")
	for _, item := range []string{option, "submit"} {
		body = strings.Replace(body, "- [ ] "+item, "- [x] "+item, 1)
	}
	return body
}

// alice is who commits answers.
const alice = "alice@example.com"

// answeredByAlice asks, makes alice answer in her clone and commit that as an author, and pulls
// it in some way. She may do more before she commits.
func (p *place) answeredByAlice(file, author string, more func(hers *place), pull func(p *place)) {
	p.t.Helper()
	p.beginsGit()
	p.opensAsk("x")
	p.commits("asked", "root@example.com")
	hers := p.clone("alice")
	dir := filepath.Dir(p.answerFile("x"))
	if file == "form.md" {
		hers.write(dir+"/form.md", hers.tickedForm("x", "approve"))
	} else {
		hers.write(dir+"/response.json", hers.answerOf("x", "approve", "boss", "file"))
	}
	if more != nil {
		more(hers)
	}
	hers.commits("answered", author)
	p.gitHere("remote", "add", "alice", hers.root)
	pull(p)
}

// clone is a clone of the workspace, whose state folder is its own.
func (p *place) clone(name string) *place {
	p.t.Helper()
	c := &place{t: p.t, root: p.root + "-" + name}
	p.gitHere("clone", "-q", p.root, c.root)
	return c
}

// beginsGit makes the workspace a repository.
func (p *place) beginsGit() {
	p.t.Helper()
	if err := os.MkdirAll(p.root, 0o755); err != nil {
		p.t.Fatal(err)
	}
	p.gitHere("init", "-q")
	p.write(".git/info/exclude", ".placet/\n")
}

// commits commits all that is in the workspace, as an author.
func (p *place) commits(subject, mail string) {
	p.t.Helper()
	p.gitHere("add", "-A")
	cmd := exec.Command("git", "-C", p.root, "commit", "-q", "-m", subject)
	cmd.Env = append(p.env(), "GIT_AUTHOR_NAME=somebody", "GIT_AUTHOR_EMAIL="+mail)
	if out, err := cmd.CombinedOutput(); err != nil {
		p.t.Fatalf("git commit: %v: %s", err, out)
	}
}

// ownGates has the tests' user let only one answer.
func (p *place) ownGates(approver string) {
	p.t.Helper()
	p.configure(gatesBy(approver))
}
