package cli_test

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// hold stops placet from deciding, as a rewrite by git does, until release is called.
func (p *place) hold() (release func()) {
	p.t.Helper()
	p.write(".git/HEAD", "ref: refs/heads/main\n")
	p.write(".git/MERGE_HEAD", strings.Repeat("0", 40)+"\n")
	return func() {
		p.t.Helper()
		if err := os.Remove(filepath.Join(p.root, ".git/MERGE_HEAD")); err != nil {
			p.t.Fatal(err)
		}
	}
}

// asked is the first request of [place.askEach]: its folder, and its path in the API.
func (s *site) asked() (folder, path, digest string) {
	s.t.Helper()
	s.until("the question is asked", func() bool { return len(s.openForms()) > 0 })
	id := s.requestOf("ask/q0000")
	path = "/api/v1/requests/" + percent("ask/q0000", id)
	return ".asks/q0000/requests/" + id, path, s.call("lead", "GET", path, nil).text("data", "digest")
}

// serveAsk serves a question with two options; a call waits for the given time.
func serveAsk(t *testing.T, settings string) *site {
	t.Helper()
	p := newPlace(t, filepath.Join(t.TempDir(), "ws"), 0)
	p.write(".git/HEAD", "ref: refs/heads/main\n")
	p.askEach(1, twoOptions)
	p.configure(settings)
	s := serveAt(p)
	s.token("lead", "read,write,decide")
	return s
}

// The text of a second answer is never lost: an answer with that text is a different one.
func TestServeLosesNoWords(t *testing.T) {
	t.Parallel()
	s := serveAsk(t, "[serve]\nwait = \"1s\"\n")
	action, id := s.begins("lead", nil)
	folder, ask, digest := s.asked()
	steering := func(words, key string) reply {
		return s.call("lead", "POST", "/api/v1/approvals/"+id+"/steer", map[string]any{"feedback": words, "idempotencyKey": key})
	}
	answer := func(path, option, words, digest string) reply {
		return s.call("lead", "POST", path+"/answer", map[string]any{"response": option, "comment": words, "digest": digest})
	}
	approval := "/api/v1/requests/" + id
	shown := s.call("lead", "GET", approval, nil).text("data", "digest")
	release := s.hold()
	s.wants("steer", steering("make it shorter", "k1"), 202, "")
	s.wants("the same again", steering("make it shorter", "k1"), 202, "")
	s.wants("the same without a key", steering("make it shorter", ""), 202, "")
	s.wants("other words", steering("DO NOT mention Bob", ""), 409, "answer_in_place")
	s.wants("other words, same key", steering("DO NOT mention Bob", "k1"), 409, "answer_in_place")
	s.wants("the same words under another key", steering("make it shorter", "k2"), 409, "answer_in_place")
	s.wants("other words as an answer", answer(approval, "steer", "DO NOT mention Bob", shown), 409, "answer_in_place")
	name := id + "@" + strings.TrimPrefix(shown, "sha256:")
	if out, code := s.placet("steer", name, "-m", "DO NOT mention Bob"); code == 0 || !strings.Contains(out, "answered already, otherwise") {
		t.Errorf("other words at the command line: %d %s", code, out)
	}
	s.wants("an answer", answer(ask, "deploy", "tonight", digest), 202, "")
	s.wants("the same, without words", answer(ask, "deploy", "", digest), 202, "")
	s.wants("the same, with other words", answer(ask, "deploy", "not before Bob is back", digest), 409, "answer_in_place")
	release()
	dir := ".nemawashi/actions/" + action
	s.until("both are taken", func() bool { return s.actionAt(action) != id && s.read(folder+"/receipt.json") != "" })
	if draft := s.read(dir + "/drafts/v2.md"); !strings.HasSuffix(draft, "[Steer] make it shorter\n") {
		t.Errorf("v2: %q", draft)
	}
	s.wants("other words afterwards", steering("DO NOT mention Bob", ""), 409, "stale_approval")
	s.wants("other words afterwards, as an answer", answer(approval, "steer", "DO NOT mention Bob", shown), 409, "closed")
	s.wants("the same afterwards, as an answer", answer(approval, "steer", "make it shorter", shown), 200, "")
	if out, code := s.placet("steer", id, "-m", "DO NOT mention Bob"); code == 0 {
		t.Errorf("other words at the command line afterwards: %s", out)
	}
	if out, code := s.placet("steer", id); code != 0 {
		t.Errorf("no words at the command line afterwards: %d %s", code, out)
	}
	s.wants("an answer with other words afterwards", answer(ask, "deploy", "not before Bob is back", digest), 409, "closed")
	s.wants("an answer without words afterwards", answer(ask, "deploy", "", digest), 200, "")
}

// A caller is told that an answer was accepted only if it gave that answer.
func TestServeSaysWhatWasDecided(t *testing.T) {
	t.Parallel()
	settings := "[serve]\nwait = \"25s\"\n"
	meanwhile := func(s *site, folder string, call func() reply, change func()) reply {
		t.Helper()
		release, said := s.hold(), make(chan reply, 1)
		go func() { said <- call() }()
		s.until("the answer is written", func() bool { return s.read(folder+"/response.json") != "" })
		change()
		release()
		return <-said
	}
	overwrite := func(s *site, folder string) {
		s.write(folder+"/response.json", fmt.Sprintf(`{"request_id": %q, "response": "wait", "provided_by": {"user": "kim", "source": "file"}}`, filepath.Base(folder)))
	}
	for what, c := range map[string]struct {
		change func(s *site, folder string)
		says   string
	}{
		"withdrawn":   {func(s *site, _ string) { s.write(".asks/q0000/withdraw.json", `{"reason": "not needed", "by": "kim"}`) }, "cancelled"},
		"overwritten": {overwrite, "wait by kim"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := serveAsk(t, settings)
			folder, path, digest := s.asked()
			r := meanwhile(s, folder, func() reply {
				return s.call("lead", "POST", path+"/answer", map[string]any{"response": "deploy", "digest": digest})
			}, func() { c.change(s, folder) })
			s.wants("an answer to what is "+what, r, 409, "closed")
			if !strings.Contains(r.text("detail"), c.says) {
				t.Errorf("it says %s", r.body)
			}
		})
	}
	t.Run("canceled", func(t *testing.T) {
		t.Parallel()
		s := serveAsk(t, settings)
		action, id := s.begins("lead", nil)
		dir := ".nemawashi/actions/" + action
		r := meanwhile(s, dir+"/requests/"+id, func() reply { return s.call("lead", "POST", "/api/v1/approvals/"+id+"/reject", nil) }, func() {
			s.write(dir+"/intake/c1/command.json", `{"command": "cancel", "actor": {"user": "kim", "source": "file"}}`)
		})
		s.wants("a rejection of what is canceled", r, 409, "closed")
		s.until("it is canceled", func() bool { return strings.Contains(s.read(dir+"/state.json"), `"status": "canceled"`) })
	})
	t.Run("page", func(t *testing.T) {
		t.Parallel()
		s := serveAsk(t, settings)
		folder, _, _ := s.asked()
		v := s.visitor()
		v.logIn("lead")
		path := "/requests/" + percent("ask/q0000", filepath.Base(folder))
		if _, page := v.visit(path+"?sent=taken", nil); strings.Contains(page, "Your answer is taken") {
			t.Error("the page says of an open request that an answer is taken")
		}
		_, page := v.visit(path, nil)
		form := fields(page)
		form.Set("option", "deploy")
		r := meanwhile(s, folder, func() reply {
			got, text := v.visit(path, form)
			return reply{status: got.StatusCode, body: text}
		}, func() { overwrite(s, folder) })
		if r.status != http.StatusConflict || !strings.Contains(r.body, "Your answer was not taken. This was decided before: Ask again tomorrow by kim") {
			t.Errorf("the page says %d %s", r.status, r.body)
		}
	})
}

// A note about an earlier answer in the same place does not apply to the one that replaced it.
func TestServeWaitsBeyondNotesOfOthers(t *testing.T) {
	t.Parallel()
	s := serveAsk(t, "[serve]\nwait = \"25s\"\n")
	folder, path, digest := s.asked()
	s.write(folder+"/response.json", `{"request_id": "`)
	r := s.call("lead", "POST", path+"/answer", map[string]any{"response": "deploy", "digest": digest})
	if r.status != 200 || r.text("data", "receipt", "result") != "accepted" {
		t.Errorf("over half an answer: %d %s", r.status, r.body)
	}
}

// An answer beside a form that says something else is refused, and not written.
func TestServeRefusesWhatContradictsTheForm(t *testing.T) {
	t.Parallel()
	s := serveAsk(t, "[serve]\nwait = \"25s\"\n")
	folder, path, digest := s.asked()
	defer s.hold()()
	body := s.read(folder + "/form.md")
	for _, item := range []string{"wait", "submit"} {
		body = strings.Replace(body, "- [ ] "+item, "- [x] "+item, 1)
	}
	s.write(folder+"/form.md", body)
	r := s.call("lead", "POST", path+"/answer", map[string]any{"response": "deploy", "digest": digest})
	s.wants("two answers", r, 409, "unusable")
	if !strings.Contains(r.text("detail"), "form.md") {
		t.Errorf("it says %s", r.body)
	}
	if s.read(folder+"/response.json") != "" {
		t.Error("it is written all the same")
	}
}

// An answer that its author has replaced is nobody's answer if somebody else puts it back.
func TestServeForgetsWhoWroteWhatWasReplaced(t *testing.T) {
	t.Parallel()
	s := serveAsk(t, "[serve]\nwait = \"1s\"\n[gates]\n\"ask\" = { approvers = [\"api:lead\"] }\n")
	folder, path, digest := s.asked()
	file := filepath.Join(s.root, folder, "response.json")
	kept := filepath.Join(s.root, "kept")
	answer := func(option string) reply {
		return s.call("lead", "POST", path+"/answer", map[string]any{"response": option, "digest": digest})
	}
	release := s.hold()
	s.wants("yes", answer("deploy"), 202, "")
	if err := os.Rename(file, kept); err != nil {
		t.Fatal(err)
	}
	s.wants("no", answer("wait"), 202, "")
	if err := os.Rename(kept, file); err != nil {
		t.Fatal(err)
	}
	release()
	s.until("something becomes of it", func() bool { return s.read(folder+"/problem.md") != "" || s.read(folder+"/receipt.json") != "" })
	if rc, note := s.read(folder+"/receipt.json"), s.read(folder+"/problem.md"); rc != "" || !strings.Contains(note, "api:lead") {
		t.Errorf("an answer that was put back counts: %s %s", rc, note)
	}
	s.until("no counts", func() bool { return answer("wait").status == 200 })
	if rc := s.read(folder + "/receipt.json"); !strings.Contains(rc, `"wait"`) || !strings.Contains(rc, `"api:lead"`) {
		t.Errorf("receipt: %s", rc)
	}
}

// An option that is not named is not chosen, whatever the request's default is.
func TestServeTakesNoDefault(t *testing.T) {
	t.Parallel()
	p := everyFamily(t)
	s := serveAt(p)
	s.token("lead", "read,write,decide")
	request := func() map[string]any {
		list, _ := s.call("lead", "GET", "/api/v1/requests?family=optimizer", nil).json["data"].(map[string]any)
		all, _ := list["requests"].([]any)
		for _, one := range all {
			if q := one.(map[string]any); q["default_option"] != "" && p.read(fmt.Sprint(q["form"])) != "" {
				return q
			}
		}
		return nil
	}
	p.until("a request with a default is asked", func() bool { return request() != nil })
	q := request()
	name := percent(fmt.Sprint(q["run"]), fmt.Sprint(q["request_id"]))
	before := p.digests()
	for _, option := range []string{"", " "} {
		r := s.call("lead", "POST", "/api/v1/requests/"+name+"/answer", map[string]any{"response": option, "comment": "looks wrong to me", "digest": q["digest"]})
		s.wants("a comment alone", r, 422, "invalid")
	}
	v := s.visitor()
	v.logIn("lead")
	_, page := v.visit("/requests/"+name, nil)
	form := fields(page)
	form.Set("comment", "looks wrong to me")
	if got, text := v.visit("/requests/"+name, form); got.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(text, "looks wrong to me") {
		t.Errorf("a comment alone in a form: %d %s", got.StatusCode, text)
	}
	if after := p.digests(); after != before {
		t.Errorf("something was written:\n%s", after)
	}
}

// A caller that may answer but not read learns nothing from an answer.
func TestServeShowsAnAnswerNothingWithoutTheRoleRead(t *testing.T) {
	t.Parallel()
	s := serveAsk(t, "")
	folder, path, digest := s.asked()
	s.token("decider", "decide")
	v := s.visitor()
	v.logIn("decider")
	page := "/requests/" + percent("ask/q0000", filepath.Base(folder))
	_, refused := v.visit(page, nil)
	form := fields(refused)
	if form.Get("csrf") == "" {
		t.Fatalf("no form: %s", refused)
	}
	for _, sent := range []url.Values{{}, {"option": {"deploy"}, "digest": {digest}}} {
		sent.Set("csrf", form.Get("csrf"))
		if got, text := v.visit(page, sent); got.StatusCode != http.StatusForbidden || strings.Contains(text, "Deploy build 0") {
			t.Errorf("an answer of who may not look: %d %s", got.StatusCode, text)
		}
	}
	r := s.call("decider", "POST", path+"/answer", map[string]any{"response": "deploy", "digest": digest})
	s.wants("an answer in the API", r, 200, "")
}
