package cli_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"placet/engine"
	"placet/engine/pal"
	"placet/layout"
)

// tokens makes a worker of the port A report how many tokens it has used.
func (s orchestrated) tokens(n int) {
	s.t.Helper()
	s.put(layout.PalMember("A", "impl")+"/progress.json", fmt.Sprintf(`{"progress": 0.5, "current_task": "writing", "tokens_used": %d}`, n))
}

// stays checks that the workers' reports do not move the run: a pause and a resumption make two
// passes, which read it again, and two revisions, and nothing else does.
func (s orchestrated) stays(what string) {
	s.t.Helper()
	before := s.state()
	for _, wish := range []struct {
		want string
		is   engine.Status
	}{{"pause", pal.Paused}, {"run", pal.Running}} {
		s.put("control.json", fmt.Sprintf(`{"want": %q, "by": "kim"}`, wish.want))
		s.reaches(wish.want, func(st pal.State) bool { return st.Status == wish.is })
	}
	if now := s.state(); now.Revision != before.Revision+2 || len(now.Escalations) != len(before.Escalations) {
		s.t.Errorf("%s moves the run from revision %d to %d", what, before.Revision+2, now.Revision)
	}
}

// escalated waits for the n-th escalation of a type to be opened, and returns its id.
func (s orchestrated) escalated(typ string, n int) (id string) {
	s.t.Helper()
	s.reaches(fmt.Sprintf("%s is opened for the %d. time", typ, n), func(st pal.State) bool {
		all := 0
		for of, e := range st.Escalations {
			if e.Type == typ {
				all++
				if e.Status == pal.Open || e.AutoResolve {
					id = of
				}
			}
		}
		return all == n && id != ""
	})
	return id
}

// answers answers an escalation, and waits until it is closed.
func (s orchestrated) answers(id, option string) {
	s.t.Helper()
	s.until("the form is there", func() bool { return s.there(s.dir + "/requests/" + id + "/form.md") })
	s.put("requests/"+id+"/response.json", fmt.Sprintf(`{"request_id": %q, "response": %q, "comment": "go on", "provided_by": {"user": "kim", "source": "file"}}`, id, option))
	s.reaches("the answer counts", func(st pal.State) bool { return st.Escalations[id].Status != pal.Open })
}

// isRunning waits until the port A runs.
func (s orchestrated) isRunning() {
	s.t.Helper()
	s.reaches("port A runs", func(st pal.State) bool { return st.Ports["A"] != nil && st.Ports["A"].Status == pal.Running })
}

// Scenario 11: the tokens of a worker are noted once they reach 95 % of its limit, by one pass,
// and no sooner, and once in a round.
func TestTokensOfAWorker(t *testing.T) {
	t.Parallel()
	s := newOrchestration(t, `{"title": "Shop", "token_budget": 15000, "ports": [{"port_id": "A"}]}`)
	d := s.start()
	defer func() { d.stop(syscall.SIGTERM) }()
	s.await(d)
	s.isRunning()
	s.tokens(14249)
	s.stays("14249 of 15000")
	s.tokens(14250)
	id := s.escalated("token_exhausted", 1)
	s.isRunning()
	s.answers(id, "dismiss")
	s.tokens(14999)
	s.stays("what was dismissed")
	s.put(layout.PalFiledFile("build/A/impl", 1), `{"type": "decision", "title": "which?"}`)
	s.answers(s.escalated("decision", 1), "retry")
	s.isRunning()
	if base := s.state().Ports["A"].TokenBase.Impl; base != 14999 {
		t.Errorf("the next round begins with %d", base)
	}
	s.tokens(14999 + 14249)
	s.stays("14249 of 15000 in the second round")
	s.tokens(14999 + 14250)
	s.escalated("token_exhausted", 2)
}

// An escalation about which a person need not be asked is recorded and reported all the same;
// nobody may skip one that stops a port.
func TestTokensThatNobodyIsAskedAbout(t *testing.T) {
	t.Parallel()
	s := newOrchestration(t, `{"title": "Shop", "token_budget": 1000, "ports": [{"port_id": "A"}]}`)
	s.configure("[pal]\nauto_resolve = [\"token_exhausted\"]\n")
	d := s.start()
	s.await(d)
	s.isRunning()
	s.tokens(950)
	id := s.escalated("token_exhausted", 1)
	if e := s.state().Escalations[id]; e.Status != pal.Resolved || e.Resolution != "auto" {
		t.Errorf("the escalation is %s by %s: %s", e.Status, e.ResolvedBy, e.Resolution)
	}
	for _, event := range []string{"escalation.new", "escalation.resolved"} {
		s.until(event+" is journaled", func() bool { return strings.Contains(s.read(s.dir+"/events.jsonl"), `"type":"`+event+`"`) })
	}
	if s.there(s.dir + "/requests/" + id) {
		t.Error("a person is asked")
	}
	d.stop(syscall.SIGTERM)
	s.configure("[pal]\nauto_resolve = [\"timeout\"]\n")
	if out, code := s.placet("once"); code == 0 || !strings.Contains(out, "timeout stops its port: silence is not consent") {
		t.Errorf("auto_resolve of what stops a port: %d %s", code, out)
	}
}
