package cli_test

import (
	"strings"
	"testing"
)

// detailed checks that a call was refused with a code, and says what to do instead.
func (s *site) detailed(what string, r reply, code, words string) {
	s.t.Helper()
	s.wants(what, r, 409, code)
	if !strings.Contains(r.text("detail"), words) {
		s.t.Errorf("%s: the detail is %q, expected %q in it", what, r.text("detail"), words)
	}
}

// A program repairs a draft and moves a meeting over HTTP: by revise while nobody has approved, and
// never by an execute that does nothing.
func TestServeRevisesAndCancels(t *testing.T) {
	t.Parallel()
	s := serveAt(newPlace(t, t.TempDir(), 0))
	s.token("lead", "read,write,decide")
	s.token("reader", "read")
	later := map[string]any{"attendee": "pm@acme.example", "title": "Delay", "startAt": "2030-01-07T10:00:00Z", "endAt": "2030-01-07T11:00:00Z"}
	action, first := s.begins("lead", map[string]any{"type": "meeting_request", "payload": map[string]any{"attendee": "pm@acme.example", "title": "Delay"}})
	at := "/api/v1/nemawashi/" + action
	s.detailed("a calendar before the approval", s.call("lead", "POST", at+"/execute", map[string]any{"calendar": later}), "not_approved", "revise the payload")
	s.detailed("a simulation that no execute can begin", s.call("lead", "POST", at+"/execute", map[string]any{"simulateFailure": true}), "not_approved", "execute_on_approve = false")
	s.wants("revise nothing", s.call("lead", "POST", at+"/revise", nil), 422, "invalid")
	s.wants("revise what is unknown", s.call("lead", "POST", at+"/revise", map[string]any{"paylod": later}), 422, "invalid")
	s.wants("revise into what cannot be", s.call("lead", "POST", at+"/revise", map[string]any{"payload": map[string]any{"attendee": "no address"}}), 422, "invalid")
	s.wants("a reader revises", s.call("reader", "POST", at+"/revise", map[string]any{"draft": "x"}), 403, "role")
	if s.actionAt(action) != first {
		t.Error("what was refused replaced the approval")
	}
	r := s.call("lead", "POST", at+"/revise", map[string]any{"draft": "Later, please.\n", "payload": later})
	s.wants("revise", r, 200, "")
	second := r.text("approval_request_id")
	if second == first || !strings.HasPrefix(second, "apr-") || r.text("status") != "approval_pending" || r.text("thread_id") != "action-"+action {
		t.Errorf("revise answers %s", r.body)
	}
	s.wants("approve the old one", s.call("lead", "POST", "/api/v1/approvals/"+first+"/approve", nil), 409, "stale_approval")
	s.wants("approve", s.call("lead", "POST", "/api/v1/approvals/"+second+"/approve", nil), 200, "")
	s.until("it is executed", func() bool {
		return strings.Contains(s.read(".nemawashi/actions/"+action+"/state.json"), `"status": "executed"`)
	})
	if job := s.read(".nemawashi/actions/" + action + "/runs/1.json"); !strings.Contains(job, "2030-01-07T") {
		t.Errorf("what was carried out: %s", job)
	}
	s.wants("execute again", s.call("lead", "POST", at+"/execute", nil), 200, "")
	s.detailed("a simulation after the job", s.call("lead", "POST", at+"/execute", map[string]any{"simulateFailure": true}), "job_begun", `"replaces": `+action)
	s.detailed("a calendar after the job", s.call("lead", "POST", at+"/execute", map[string]any{"calendar": later}), "job_begun", "begin a new action")
	s.wants("revise after the end", s.call("lead", "POST", at+"/revise", map[string]any{"draft": "x"}), 409, "wrong_status")
	s.wants("cancel after the end", s.call("lead", "POST", at+"/cancel", nil), 409, "wrong_status")

	other, approval := s.begins("lead", nil)
	for range 2 { // the second call repeats the first
		r := s.call("lead", "POST", "/api/v1/nemawashi/"+other+"/cancel", map[string]any{"reason": "not needed"})
		s.wants("cancel", r, 200, "")
		if r.text("status") != "canceled" || r.text("thread_id") != "action-"+other {
			t.Errorf("cancel answers %s", r.body)
		}
	}
	s.wants("approve what was taken back", s.call("lead", "POST", "/api/v1/approvals/"+approval+"/approve", nil), 409, "closed")
	if journal := s.read(".nemawashi/actions/" + other + "/events.jsonl"); !strings.Contains(journal, `"reason":"not needed"`) {
		t.Errorf("the journal does not say why: %s", journal)
	}
	if r := s.call("lead", "POST", "/api/v1/nemawashi/99/cancel", nil); r.status != 404 {
		t.Errorf("cancel of no action: %d %s", r.status, r.body)
	}
}

// A token for Slack without a channel posts nothing, and serve says so.
func TestServeSaysThatSlackHasNoChannel(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 0)
	p.write("../slack-token", "xoxb-test\n")
	for _, c := range []struct {
		settings string
		says     bool
	}{{"", true}, {"default_channel = \"C1\"\n", false}} {
		p.configure("[slack]\nbot_token_file = \"" + p.root + "/../slack-token\"\n" + c.settings)
		s := &site{place: p, tokens: map[string]string{}}
		s.begin()
		if said := s.daemon.said(); strings.Contains(said, "there is a bot token for Slack and no channel: nothing is posted there") != c.says {
			t.Errorf("with %q serve says %s", c.settings, said)
		}
		s.daemon.stopAfter(t)
	}
}
