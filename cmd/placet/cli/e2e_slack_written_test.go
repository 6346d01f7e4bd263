package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// answersOfAll gives an answer to an approval by all surfaces: by a press, by a dialog, by a
// reply in the thread, and by the two calls of the API.
func (s *site) answersOfAll(m slackCall, id, event string) map[string]reply {
	s.t.Helper()
	digest := s.call("lead", "GET", "/api/v1/requests/"+id, nil).text("data", "digest")
	value := buttons(m)["hitl_approve"]["value"]
	words := map[string]any{"words": map[string]any{"words": map[string]any{"value": "shorter"}}}
	ways := map[string]func() reply{
		"a press": func() reply { return s.press("U1", buttons(m)["hitl_approve"], nil) },
		"a dialog": func() reply {
			return s.interacts(map[string]any{
				"type": "view_submission", "user": map[string]any{"id": "U1"},
				"view": map[string]any{"id": "V9", "callback_id": "hitl_dialog", "private_metadata": value, "state": map[string]any{"values": words}},
			})
		},
		"a reply": func() reply { return s.says("U1", "plan b", event, "1700000040.000001", nil) },
		"an answer": func() reply {
			return s.call("lead", "POST", "/api/v1/requests/"+id+"/answer", map[string]any{"response": "approve", "digest": digest})
		},
		"an approve": func() reply { return s.call("lead", "POST", "/api/v1/approvals/"+id+"/approve", nil) },
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	got := map[string]reply{}
	for name, way := range ways {
		all.Go(func() {
			r := way()
			mu.Lock()
			defer mu.Unlock()
			got[name] = r
		})
	}
	all.Wait()
	return got
}

// A person who answers while somebody else is writing an answer is told so; Slack repeats a
// reply.
func TestSlackIsAnsweredBesideAHalfWrittenAnswer(t *testing.T) {
	t.Parallel()
	d := newSlackDouble(t)
	s := slackSite(t, d, "[serve]\nwait = \"1s\"\n")
	action, id, m := s.asks(d, nil)
	response := ".nemawashi/actions/" + action + "/requests/" + id + "/response.json"
	s.write(response, `{"request_id": "`+id+`", "respon`)
	for what, r := range s.answersOfAll(m, id, "Ev1") {
		s.wants(what, r, 503, "being_written")
		if !strings.Contains(r.text("detail"), "an answer is still being written in "+response) {
			t.Errorf("%s: %s", what, r.body)
		}
	}
	if got := s.read(response); !strings.HasSuffix(got, `"respon`) {
		t.Errorf("the answer that is being written was replaced: %s", got)
	}
	s.write(response, `{"request_id": "`+id+`", "response": "reject", "provided_by": {"user": "kim", "source": "file"}}`)
	s.until("the answer that was being written counts", func() bool {
		return strings.Contains(s.read(".nemawashi/actions/"+action+"/state.json"), `"status": "rejected"`)
	})
}

// sealed stops everybody, also root, from writing into a folder, until the test ends or the
// function that it returns is called.
func (s *site) sealed(rel string) (open func()) {
	s.t.Helper()
	dir := filepath.Join(s.root, rel)
	seal, unseal := exec.Command("chattr", "+i", dir), exec.Command("chattr", "-i", dir)
	if os.Geteuid() != 0 {
		seal, unseal = exec.Command("chmod", "a-w", dir), exec.Command("chmod", "u+w", dir)
	}
	if out, err := seal.CombinedOutput(); err != nil {
		s.t.Skipf("a folder cannot be sealed here: %v %s", err, out)
	}
	open = sync.OnceFunc(func() { _ = unseal.Run() })
	s.t.Cleanup(open)
	return open
}

// Scenario of section 13: an answer that cannot be written gets 503. Slack does not repeat a
// press, but repeats a reply.
func TestSlackAnAnswerThatCannotBeWrittenIs503(t *testing.T) {
	t.Parallel()
	d := newSlackDouble(t)
	s := slackSite(t, d, "")
	action, id, m := s.asks(d, nil)
	folder := ".nemawashi/actions/" + action + "/requests/" + id
	open := s.sealed(folder)
	for what, r := range s.answersOfAll(m, id, "Ev1") {
		s.wants(what, r, 503, "unavailable")
		if strings.Contains(r.body, ".nemawashi") || strings.Contains(r.body, "permitted") || strings.Contains(r.body, "denied") {
			t.Errorf("%s tells what the log is for: %s", what, r.body)
		}
	}
	s.until("the log says why", func() bool {
		log := s.daemon.said()
		return strings.Contains(log, "an answer cannot be written") && strings.Contains(log, folder)
	})
	s.until("who pressed is told", func() bool { return len(d.of("chat.postEphemeral")) > 0 })
	s.stays(folder + "/response.json")
	open()
	if r := s.says("U1", "plan b", "Ev1", "1700000040.000001", nil); r.status != 200 {
		t.Errorf("the reply again: %d %s", r.status, r.body)
	}
	s.until("the reply that Slack repeats counts", func() bool { next := s.actionAt(action); return next != id && next != "" })
	if draft := s.read(".nemawashi/actions/" + action + "/drafts/v2.md"); !strings.HasSuffix(draft, "[Steer] plan b\n[Plan] B\n") {
		t.Errorf("v2: %q", draft)
	}
}

// If something that is no file is in the place of an answer, the API names it, and Slack learns
// that the answer was not written.
func TestSlackWhatStandsInTheWayOfAnAnswerIsNamed(t *testing.T) {
	t.Parallel()
	d := newSlackDouble(t)
	s := slackSite(t, d, "")
	action, id, m := s.asks(d, nil)
	response := ".nemawashi/actions/" + action + "/requests/" + id + "/response.json"
	s.mkdir(response)
	for what, r := range s.answersOfAll(m, id, "Ev1") {
		status := 503
		if strings.HasPrefix(what, "an ") {
			status = 409
		}
		s.wants(what, r, status, "in_the_way")
		if !strings.Contains(r.text("detail"), response+" stands in the way") {
			t.Errorf("%s: %s", what, r.body)
		}
	}
	if err := os.Remove(filepath.Join(s.root, response)); err != nil {
		t.Fatal(err)
	}
	s.until("a press counts again", func() bool {
		r := s.press("U1", buttons(m)["hitl_approve"], nil)
		return r.status == 200 && r.text("text") == "approved"
	})
}

// A reply beside a different answer that waits must be repeated by Slack.
func TestSlackAReplyBesideADifferentAnswer(t *testing.T) {
	t.Parallel()
	d := newSlackDouble(t)
	s := slackSite(t, d, "")
	action, id, m := s.asks(d, nil)
	dir := ".nemawashi/actions/" + action
	s.write(".git/HEAD", "ref: refs/heads/main\n")
	s.write(".git/MERGE_HEAD", "") // nothing is decided while git works
	s.until("placet waits for git", func() bool {
		return strings.Contains(s.call("lead", "GET", "/metrics", nil).body, `placet_degraded{state="git_hold"} 1`)
	})
	if r := s.press("U1", buttons(m)["hitl_reject"], nil); r.status != 200 || r.text("text") != "rejected" {
		t.Fatalf("a press: %d %s", r.status, r.body)
	}
	r := s.says("U1", "plan b", "Ev1", "1700000050.000001", nil)
	s.wants("a reply", r, 503, "busy")
	if got := s.read(dir + "/requests/" + id + "/response.json"); !strings.Contains(got, `"reject"`) {
		t.Errorf("the answer that waited was replaced: %s", got)
	}
	if err := os.Remove(filepath.Join(s.root, ".git/MERGE_HEAD")); err != nil {
		t.Fatal(err)
	}
	// The outcome depends on the state of the action after the waiting answer.
	s.until("the reply that Slack repeats is taken", func() bool {
		return s.says("U1", "plan b", "Ev1", "1700000050.000001", nil).status == 200
	})
	s.postedWith(d, "action "+action+" is rejected; nothing changed")
	s.stays(dir + "/drafts/v2.md")
}

// Scenario 32: a concurrent press and POST approve are one answer, and one job.
func TestSlackAPressAndACallAtOnceAreOneAnswer(t *testing.T) {
	t.Parallel()
	d := newSlackDouble(t)
	s := slackSite(t, d, "")
	action, id, m := s.asks(d, nil)
	var all sync.WaitGroup
	jobs := make(chan string, 10)
	for range 10 {
		all.Go(func() {
			if r := s.press("U1", buttons(m)["hitl_approve"], nil); r.status != 200 || r.text("text") != "approved" {
				t.Errorf("a press: %d %s", r.status, r.body)
			}
		})
		all.Go(func() {
			r := s.call("lead", "POST", "/api/v1/approvals/"+id+"/approve", nil)
			if r.status != 200 || r.text("status") != "executed" {
				t.Errorf("a call: %d %s", r.status, r.body)
			}
			jobs <- r.text("job_id")
		})
	}
	all.Wait()
	close(jobs)
	first := <-jobs
	for job := range jobs {
		if job != first || job == "" {
			t.Errorf("jobs %q and %q", first, job)
		}
	}
	dir := filepath.Join(s.root, ".nemawashi/actions", action)
	for pattern, want := range map[string]int{"jobs/*": 1, "jobs/*/1/attempt-*.json": 1, "requests/*/response.json": 1, "runs/*.json": 1} {
		if found, _ := filepath.Glob(filepath.Join(dir, pattern)); len(found) != want {
			t.Errorf("%s: %q", pattern, found)
		}
	}
	if rc := s.read(".nemawashi/actions/" + action + "/requests/" + id + "/receipt.json"); strings.Contains(rc, `"slack:U1"`) == strings.Contains(rc, `"api:lead"`) {
		t.Errorf("receipt: %s", rc)
	}
}

// An answer to a draft that has changed since is not acknowledged as if it counted.
func TestSlackAPressOnAChangedDraftIsStale(t *testing.T) {
	t.Parallel()
	d := newSlackDouble(t)
	s := slackSite(t, d, "")
	action, id, m := s.asks(d, nil)
	file := ".nemawashi/actions/" + action + "/drafts/v1.md"
	draft := s.read(file)
	s.write(file, draft+"and more\n")
	s.until("placet has seen it", func() bool {
		return s.call("lead", "GET", "/api/v1/requests/"+id, nil).text("data", "problem") != ""
	})
	if r := s.press("U1", buttons(m)["hitl_approve"], nil); r.status != 200 || r.text("text") != "stale" {
		t.Errorf("a press: %d %s", r.status, r.body)
	}
	if r := s.says("U1", "plan b", "Ev1", "1700000060.000001", nil); r.status != 200 {
		t.Errorf("a reply: %d %s", r.status, r.body)
	}
	s.postedWith(d, "drafts/v1.md has changed since it was registered")
	s.stays(".nemawashi/actions/" + action + "/requests/" + id + "/response.json")
	s.write(file, draft)
	s.until("a press counts again", func() bool {
		return s.press("U1", buttons(m)["hitl_approve"], nil).text("text") == "approved"
	})
}
