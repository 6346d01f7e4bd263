package nemawashi

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"placet/engine"
	"placet/internal/enginetest"
	"placet/layout"
	"placet/schemas"
)

func TestLaws(t *testing.T)        { enginetest.Run(t, laws()) }
func TestCrash(t *testing.T)       { enginetest.Crash(t, some("retried in part")) }
func TestErrors(t *testing.T)      { enginetest.Errors(t, some("sent")) }
func TestMetamorphic(t *testing.T) { enginetest.Metamorphic(t, some("retried in part")) }
func TestLanguages(t *testing.T)   { enginetest.Languages(t, laws()) }

// some keeps the cases that run with faults at every call: one whole, and of the others what
// differs.
func some(whole string) enginetest.Suite {
	s := laws()
	from := map[string]int{whole: 0, "steered": 1, "unclear": 2}
	s.Cases = slices.DeleteFunc(s.Cases, func(c enginetest.Case) bool { _, told := from[c.Name]; return !told })
	for i := range s.Cases {
		s.Cases[i].TroubleFrom = from[s.Cases[i].Name]
	}
	return s
}

const dir = ".nemawashi/actions/7"

var now = time.Date(2026, 11, 22, 13, 51, 40, 0, time.UTC)

func laws() enginetest.Suite {
	return enginetest.Suite{
		Machine: New(), Layout: layout.Nemawashi{}, Config: engine.Config{Language: "en", Family: DefaultConfig()},
		Final:    map[string][]engine.Status{ofAction: {Executed, Rejected, Canceled, Expired}},
		Persons:  []string{evApproved, evRejected, evFeedback, evCanceled, evRetried, evGivenUp, evDraftRevised},
		EveryRow: true, Asks: []string{typeApproval, typeRetry, typeOutcome}, After: wellWritten, Cases: cases(),
	}
}

// wellWritten checks that placet's documents fit their schemas, and that the numbers of the journal
// have no gaps.
func wellWritten(tree enginetest.Tree, _ map[string][]engine.Row) error {
	for p, body := range tree {
		rel, ok := strings.CutPrefix(p, dir+"/")
		if !ok || layout.IsTemp(path.Base(p)) {
			continue
		}
		name := ""
		switch base := path.Base(rel); {
		case rel == "state.json":
			name = "state"
		case base == "job.json":
			name = "job"
		case strings.HasPrefix(rel, "jobs/") && strings.HasPrefix(base, "attempt-"):
			name = "attempt"
		case strings.HasPrefix(rel, "runs/"):
			name = "run"
		case strings.HasPrefix(rel, "intake/") && base == "receipt.json":
			name = "receipt"
		}
		if name != "" {
			if err := schemas.Decode("nemawashi/"+name, p, []byte(body), nil); err != nil {
				return err
			}
		}
	}
	seq := 0
	for line := range strings.Lines(tree[dir+"/events.jsonl"]) {
		var e Event
		if err := schemas.Decode("nemawashi/event", "events.jsonl", []byte(line), &e); err != nil {
			return err
		}
		if seq++; e.Seq != seq {
			return fmt.Errorf("the journal's line %d has the number %d", seq, e.Seq)
		}
	}
	return nil
}

const (
	mailAction    = `{"type": "mail_draft", "summary": "Tell the team", "requested_by": "agent", "payload": {"to": "pm@acme.example", "subject": "Delay"}}`
	liftedAction  = `{"type": "mail_draft", "summary": "Tell the team", "requested_by": "agent"}`
	explicit      = `{"type": "mail_draft", "summary": "Tell the team", "requested_by": "agent", "request_approval": "explicit"}`
	expiring      = `{"type": "mail_draft", "summary": "Tell the team", "requested_by": "agent", "expires_at": "2026-11-22T14:51:40Z"}`
	meetingAction = `{"type": "meeting_request", "summary": "Meet", "requested_by": "agent", "payload": {"attendee": "pm@acme.example", "title": "Delay", "start_at": "2026-11-24T10:00", "end_at": "2026-11-24T11:00"}}`
	batchAction   = `{"type": "mail_draft", "summary": "All of it", "requested_by": "agent", "payload": {"actions": [
 {"type": "mail_draft", "payload": {"to": "pm@acme.example"}}, {"type": "meeting_request", "payload": {"attendee": ["pm@acme.example"]}}, {"type": "hr_request", "payload": {"days": 1.50}}]}}`
	draft = "Dear all,\nwe are late.\n"
)

func story(name, action string, steps ...enginetest.Step) enginetest.Case {
	return enginetest.Case{Name: name, Now: now, Files: enginetest.Tree{dir + "/action.json": action, dir + "/drafts/v1.md": draft}, Steps: steps}
}

func noted(c enginetest.Case) enginetest.Case {
	c.Notes = true
	return c
}

func set(c enginetest.Case, change func(*Config)) enginetest.Case {
	c.Config = func(all *engine.Config) {
		own := all.Family.(Config)
		change(&own)
		all.Family = own
	}
	return c
}

func put(rel, body string) enginetest.Step { return enginetest.Write(path.Join(dir, rel), body) }

// commands returns the step in which somebody gives a command.
func commands(id, members string) enginetest.Step {
	return put("intake/"+id+"/command.json", `{"actor": {"user": "ami", "source": "file"}, `+members+`}`)
}

// ticks returns the step in which a reviewer ticks items of the request whose id has the prefix.
func ticks(prefix string, items ...string) enginetest.Step {
	return enginetest.Step{Name: "tick " + strings.Join(items, ", "), Do: func(t enginetest.Tree) {
		for _, item := range append(items, "submit") {
			t.Replace(open(t, prefix)+"/form.md", "- [ ] "+item, "- [x] "+item)
		}
	}}
}

// ticksAgain returns the step in which somebody fills in the form that was issued after answers
// became void.
func ticksAgain(prefix string, items ...string) enginetest.Step {
	return enginetest.Step{Name: "tick again " + strings.Join(items, ", "), Do: func(t enginetest.Tree) {
		for _, item := range append(items, "submit") {
			t.Replace(open(t, prefix)+"/form-*.md", "- [ ] "+item, "- [x] "+item)
		}
	}}
}

// open returns the folder of the open request.
func open(t enginetest.Tree, prefix string) string {
	for _, p := range t.Paths() {
		if d := path.Dir(p); path.Base(p) == "request.json" && strings.HasPrefix(path.Base(d), prefix) && t[d+"/receipt.json"] == "" {
			return d
		}
	}
	panic("no open request " + prefix)
}

// responds returns the step in which somebody writes response.json.
func responds(prefix, members string) enginetest.Step {
	return enginetest.Step{Name: "respond " + members, Do: func(t enginetest.Tree) {
		d := open(t, prefix)
		t[d+"/response.json"] = fmt.Sprintf(`{"request_id": %q, %s, "provided_by": {"user": "kim", "source": "file"}}`, path.Base(d), members)
	}}
}

// ends returns the step in which the running attempt ends.
func ends(outcome, more string) enginetest.Step {
	return enginetest.Step{Name: "the attempt ends: " + outcome, Do: func(t enginetest.Tree) {
		for _, p := range t.Paths() {
			o := strings.Replace(p, "/attempt-", "/outcome-", 1)
			if o == p || t[o] != "" {
				continue
			}
			var a Attempt
			if err := schemas.Decode("nemawashi/attempt", p, []byte(t[p]), &a); err != nil {
				panic(err)
			}
			t[o] = fmt.Sprintf(`{"job_id": %q, "part": %d, "attempt": %d, "provider": %q, "started_at": %q, "finished_at": %q, "duration_ms": 5, "outcome": %q, "code": null, "response": {"status": "sent"}%s}`,
				a.JobID, a.Part, a.Attempt, a.Provider, a.StartedAt, a.StartedAt, outcome, more)
			return
		}
		panic("no attempt is under way")
	}}
}

// onSlack returns a case whose requests go to Slack.
func onSlack(c enginetest.Case) enginetest.Case {
	c.Config = func(all *engine.Config) {
		all.Slack = engine.Slack{Families: []string{"nemawashi"}, API: "https://slack.example/api", Channel: "C1", HasToken: true, Buttons: true}
	}
	return c
}

// inSlack returns the step in which Slack takes the message of the open approval.
func inSlack(ts string) enginetest.Step {
	return enginetest.Step{Name: "Slack takes the message", Outcome: true, Do: func(t enginetest.Tree) {
		d := open(t, "apr-")
		if t[d+"/slack/ask/attempt-1.json"] == "" {
			panic("nothing was posted")
		}
		at := now.UTC().Format(time.RFC3339)
		t[d+"/slack/ask/outcome-1.json"] = fmt.Sprintf(`{"request_id": %q, "kind": "ask", "attempt": 1, "started_at": %q, "finished_at": %q, "duration_ms": 5, "outcome": "done", "code": 200, "response": {"ok": true, "channel": "C1", "ts": %q}}`,
			path.Base(d), at, at, ts)
	}}
}

func cases() []enginetest.Case {
	pass := enginetest.Pass
	smtpOn := func(c *Config) { c.Mail.Provider, c.Mail.SMTPHost = smtp, "mail.acme.example" }
	return []enginetest.Case{
		story("sent", mailAction, ticks("apr-", "approve"), ends("done", "")),
		story("rejected", liftedAction, ticks("apr-", "reject")),
		story("steered", mailAction, responds("apr-", `"response": "steer", "selected": ["plan b"], "comment": "softer tone"`), responds("apr-", `"response": "approve"`), ends("done", "")),
		story("asked by command", explicit, commands("a", `"command": "request-approval"`), commands("b", `"command": "cancel", "reason": "not needed"`)),
		story("revised while asked", mailAction, commands("a", `"command": "revise", "draft": "Another text", "payload": {"to": "hr@acme.example"}`), ticks("apr-", "reject")),
		story("revised before", explicit, commands("a", `"command": "revise", "payload": {"to": "hr@acme.example"}`), commands("b", `"command": "cancel"`)),
		{Name: "canceled before a draft", Now: now, Files: enginetest.Tree{dir + "/action.json": explicit}, Steps: []enginetest.Step{commands("a", `"command": "cancel"`)}},
		{Name: "expired before a draft", Now: now, Files: enginetest.Tree{dir + "/action.json": expiring}, Steps: []enginetest.Step{pass(2 * time.Hour)}},
		story("expired", expiring, pass(2*time.Hour)),
		set(story("expired, drafted", expiring, pass(2*time.Hour)), func(c *Config) { c.RequestApproval = "explicit" }),
		set(story("executed by command", mailAction, ticks("apr-", "approve"), commands("a", `"command": "execute"`), ends("done", "")), func(c *Config) { c.ExecuteOnApprove = false }),
		set(story("revised after approval", mailAction, ticks("apr-", "approve"), commands("a", `"command": "revise", "draft": "Better"`), ticks("apr-", "reject")),
			func(c *Config) { c.ExecuteOnApprove = false }),
		set(story("canceled after approval", mailAction, ticks("apr-", "approve"), commands("a", `"command": "cancel"`)), func(c *Config) { c.ExecuteOnApprove = false }),
		set(story("simulated", mailAction, ticks("apr-", "approve"), commands("a", `"command": "execute", "simulateFailure": true`), responds("rty-", `"response": "retry"`), ends("done", "")),
			func(c *Config) { c.ExecuteOnApprove = false }),
		set(story("given up", mailAction, ticks("apr-", "approve"), commands("a", `"command": "execute", "simulateFailure": true`), responds("rty-", `"response": "give_up"`)),
			func(c *Config) { c.ExecuteOnApprove = false }),
		set(story("overridden", meetingAction, ticks("apr-", "approve"),
			commands("a", `"command": "execute", "calendar": {"attendee": "hr@acme.example", "title": "Other", "startAt": "2026-11-25T10:00", "endAt": "2026-11-25T11:00"}`), ticks("apr-", "approve"),
			commands("b", `"command": "execute"`), ends("done", "")), func(c *Config) { c.ExecuteOnApprove = false }),
		story("retried in part", batchAction, ticks("apr-", "approve"), ends("done", ""), ends("refused", `, "reason": "404"`), ends("done", ""), responds("rty-", `"response": "retry"`), ends("done", "")),
		set(story("unclear", mailAction, ticks("apr-", "approve"), ends("unknown", ""), responds("out-", `"response": "happened"`)), smtpOn),
		set(story("did not happen", mailAction, ticks("apr-", "approve"), ends("lost", ""), responds("out-", `"response": "did_not_happen"`), responds("rty-", `"response": "give_up"`)), smtpOn),
		set(story("tried again", mailAction, ticks("apr-", "approve"), ends("failed", ""), pass(90*time.Second), ends("done", "")), smtpOn),
		onSlack(story("posted", mailAction, inSlack("1700000000.000001"), responds("apr-", `"response": "reject"`))),
		noted(story("no draft that can be used", explicit, put("drafts/v1.md", "x\n{\"a\":\n"))),
		noted(set(story("untrusted", mailAction), func(c *Config) { smtpOn(c); c.Untrusted = []string{"mail.provider"} })),
		noted(story("changed after asking", mailAction, put("drafts/v1.md", "Another"), ticks("apr-", "approve"))),
	}
}
