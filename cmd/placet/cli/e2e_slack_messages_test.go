package cli_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// shownText is what the sections of a message show.
func shownText(c slackCall) string {
	var all strings.Builder
	blocks, _ := c.body["blocks"].([]any)
	for _, b := range blocks {
		text, _ := b.(map[string]any)["text"].(map[string]any)
		fmt.Fprint(&all, text["text"])
	}
	return all.String()
}

// An answer counts only for what was shown: a question of another family is shown whole, in as
// many sections as that takes, or has no buttons and says where it can be read and answered.
func TestSlackALongQuestionIsShownWholeOrHasNoButtons(t *testing.T) {
	t.Parallel()
	d := newSlackDouble(t)
	s := slackSite(t, d, "families = [\"*\"]\n")
	question := "Deploy?\n\n" + strings.Repeat("a long reason, line by line\n", 140) + "The end."
	s.write(".asks/q1/ask.json", fmt.Sprintf(`{"question": %q, "options": [{"id": "deploy", "description": "Roll it out"}, {"id": "wait", "description": "Ask again tomorrow"}]}`, question))
	m := s.posted(d, 1)
	if text := shownText(m); !strings.Contains(text, question) || !strings.Contains(text, "Roll it out") || !strings.Contains(text, "Ask again tomorrow") || len(buttons(m)) != 2 {
		t.Errorf("a question of %d characters has %d buttons: %.4000s", len(question), len(buttons(m)), m.raw)
	}
	const uuid = "00001eef-0000-4000-8000-000000000001"
	p := newPlace(t, s.root, 0)
	p.runs = []string{".fractary/faber/runs/acme/web/" + uuid}
	p.write(p.runs[0]+"/state.json", strings.Replace(fmt.Sprintf(waitingState, uuid, 1), "Is the design of item 1 good?", strings.Repeat("Is the design good? ", 2000)+"Drop the tables?", 1))
	long := s.posted(d, 2)
	if text := shownText(long); len(buttons(long)) != 0 || strings.Contains(text, "Drop the tables?") ||
		!strings.Contains(text, "… cut here: the whole of it is in "+p.request(0)+"/form.md") || !strings.Contains(text, "placet show "+p.requestID(0)) {
		t.Errorf("a question that is cut has %d buttons: %.4000s", len(buttons(long)), long.raw)
	}
	if len(d.broken) > 0 {
		t.Errorf("Slack would refuse: %q", d.broken)
	}
}

// A message does not show the text of a part that is in a file.
func TestSlackALongBodyHasNoButtons(t *testing.T) {
	t.Parallel()
	d := newSlackDouble(t)
	s := slackSite(t, d, "")
	_, id, m := s.asks(d, map[string]any{"payload": map[string]any{"body": strings.Repeat("a body of many words. ", 1000)}})
	if text := shownText(m); len(buttons(m)) != 0 || !strings.Contains(text, "part-1-body.txt") || !strings.Contains(text, "placet show "+id) {
		t.Errorf("%d buttons: %.4000s", len(buttons(m)), m.raw)
	}
}

// A closed question names the one that replaces it, once that is known.
func TestSlackAClosedQuestionNamesWhatReplacesIt(t *testing.T) {
	t.Parallel()
	d := newSlackDouble(t)
	s := slackSite(t, d, "")
	action, first, _ := s.asks(d, nil)
	if out, code := s.typed("Dear all,\nwe are early.\n", "nemawashi", "revise", action, "--draft", "-"); code != 0 {
		t.Fatalf("revise: %s", out)
	}
	s.until("it is asked again", func() bool { next := s.actionAt(action); return next != first && next != "" })
	second := s.actionAt(action)
	s.until("the first question is closed", func() bool { return len(d.of("chat.update")) == 1 })
	closed := d.of("chat.update")[0]
	if text := shownText(closed); !strings.HasSuffix(text, "replaced by "+second) || strings.Contains(text, "superseded at") || len(buttons(closed)) != 0 || closed.body["ts"] != "1700000000.000001" {
		t.Errorf("the first question then: %s", closed.raw)
	}
	if r := s.says("U1", "plan b", "Ev1", "1700000010.000001", nil); r.status != 200 {
		t.Errorf("a reply: %d %s", r.status, r.body)
	}
	s.until("it is asked a third time", func() bool { next := s.actionAt(action); return next != second && next != "" })
	s.until("the second question is closed", func() bool { return len(d.of("chat.update")) == 2 })
	if text := shownText(d.of("chat.update")[1]); !regexp.MustCompile(`changes requested by U1 at \S+; replaced by ` + s.actionAt(action) + `$`).MatchString(text) {
		t.Errorf("the second question then: %s", d.of("chat.update")[1].raw)
	}
}

// The thread reports a job that failed, and asks whether to try again, with buttons.
func TestSlackAFailedJobIsToldAndAskedAbout(t *testing.T) {
	t.Parallel()
	d := newSlackDouble(t)
	s := slackSite(t, d, "[nemawashi]\nexecute_on_approve = false\n")
	action, id, m := s.asks(d, nil)
	if r := s.press("U1", buttons(m)["hitl_approve"], nil); r.text("text") != "approved" {
		t.Fatalf("approve: %s", r.body)
	}
	s.until("it is approved", func() bool {
		return s.read(".nemawashi/actions/"+action+"/requests/"+id+"/receipt.json") != ""
	})
	r := s.call("lead", "POST", "/api/v1/nemawashi/"+action+"/execute", map[string]any{"simulateFailure": true})
	if r.status != 200 || r.text("status") != "failed" {
		t.Fatalf("execute: %d %s", r.status, r.body)
	}
	told := s.postedWith(d, "Execution failed.")
	if told.body["text"] != "Execution failed. job_id="+r.text("job_id")+" action_id="+action+" error=simulated failure" || told.body["thread_ts"] != "1700000000.000001" {
		t.Errorf("the failure: %s", told.raw)
	}
	asked := s.postedWith(d, "request_id=rty-")
	have := buttons(asked)
	if asked.body["thread_ts"] != "1700000000.000001" || asked.body["channel"] != "C1" || len(have) != 2 || !strings.Contains(shownText(asked), "tries again: part 1") {
		t.Errorf("whether to try again: %s", asked.raw)
	}
	s.outcomeOf(action, "rty-")
	if r := s.press("U1", labelled(have, "retry"), nil); r.status != 200 || r.text("text") != "retry" {
		t.Errorf("retry: %d %s", r.status, r.body)
	}
	s.postedWith(d, "Execution completed.")
	s.until("the question says how it ended", func() bool {
		for _, c := range d.of("chat.update") {
			if strings.Contains(c.raw, "answered retry by U1 at ") {
				return true
			}
		}
		return false
	})
	if r := s.press("U1", labelled(have, "give_up"), nil); r.text("text") != "stale" {
		t.Errorf("another press then: %s", r.body)
	}
	if len(d.broken) > 0 {
		t.Errorf("Slack would refuse: %q", d.broken)
	}
}

// The thread asks about an action with an unknown end, with buttons.
func TestSlackAnUnclearPartIsAskedAbout(t *testing.T) {
	t.Parallel()
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }))
	t.Cleanup(provider.Close)
	d := newSlackDouble(t)
	s := slackSite(t, d, fmt.Sprintf("[nemawashi]\nhr = { provider = \"http\", api_url = %q }\n", provider.URL))
	action, _, m := s.asks(d, map[string]any{"type": "hr_request", "payload": map[string]any{"days": 1}})
	if r := s.press("U1", buttons(m)["hitl_approve"], nil); r.text("text") != "approved" {
		t.Fatalf("approve: %s", r.body)
	}
	asked := s.postedWith(d, "request_id=out-")
	have := buttons(asked)
	if asked.body["thread_ts"] != "1700000000.000001" || len(have) != 2 || !strings.Contains(shownText(asked), "counts part 1 as done, it is not sent again") {
		t.Errorf("whether it happened: %s", asked.raw)
	}
	s.outcomeOf(action, "out-")
	if r := s.press("U1", labelled(have, "happened"), nil); r.status != 200 || r.text("text") != "happened" {
		t.Errorf("happened: %d %s", r.status, r.body)
	}
	s.postedWith(d, "Execution completed.")
}

// labelled is the button with a label.
func labelled(all map[string]map[string]any, label string) map[string]any {
	for _, b := range all {
		if text, _ := b["text"].(map[string]any); text["text"] == label {
			return b
		}
	}
	return nil
}

// outcomeOf waits until the outcome of posting a question is on disk, for the action whose id
// has a prefix.
func (s *site) outcomeOf(action, prefix string) {
	s.t.Helper()
	s.until("its outcome is on disk", func() bool {
		found, _ := filepath.Glob(filepath.Join(s.root, ".nemawashi/actions", action, "requests", prefix+"*", "slack/ask/outcome-1.json"))
		return len(found) == 1
	})
}
