package nemawashi

import (
	"fmt"
	"path"
	"strings"
	"testing"
	"time"

	"placet/engine"
	"placet/internal/enginetest"
)

// desk tells a story by hand.
type desk struct {
	*enginetest.Desk
	t *testing.T
}

func tells(t *testing.T, c enginetest.Case, story func(d desk)) {
	t.Helper()
	enginetest.AtDesk(t, laws(), c, func(d *enginetest.Desk) {
		d.Settle()
		story(desk{d, t})
	})
}

// takes takes a step of the laws' stories.
func (d desk) takes(steps ...enginetest.Step) {
	d.t.Helper()
	for _, step := range steps {
		was := d.Tree()
		after := was.Clone()
		step.Do(after)
		for _, p := range after.Paths() {
			if was[p] != after[p] {
				d.Put(p, after[p])
			}
		}
		d.Settle()
	}
}

func (d desk) holds(rel string, words ...string) {
	d.t.Helper()
	for _, w := range words {
		if body := d.Read(dir + "/" + rel); !strings.Contains(body, w) {
			d.t.Errorf("%s does not hold %q:\n%s", rel, w, body)
		}
	}
}

func (d desk) status(want engine.Status) {
	d.t.Helper()
	d.holds("state.json", fmt.Sprintf("\"status\": %q,\n  \"is_approved\"", want))
}

// receipt is what became of a command.
func (d desk) receipt(id, result, code string) {
	d.t.Helper()
	d.holds("intake/"+id+"/receipt.json", fmt.Sprintf(`"result": %q`, result), fmt.Sprintf(`"code": %s`, code))
}

func byCommand(c *Config) { c.ExecuteOnApprove = false }

func TestScenario04WhatHasEndedStaysAndMayBeRenewed(t *testing.T) {
	tells(t, story("", mailAction), func(d desk) {
		d.takes(ticks("apr-", "reject"))
		d.status(Rejected)
		before := d.Read(dir + "/state.json")
		d.takes(commands("a", `"command": "execute"`), commands("b", `"command": "request-approval"`), commands("c", `"command": "revise", "draft": "x"`), commands("d", `"command": "cancel"`))
		for _, id := range []string{"a", "b", "c", "d"} {
			d.receipt(id, "refused", `"wrong_status"`)
		}
		if d.Read(dir+"/state.json") != before {
			t.Error("a refused command changed the state")
		}
		d.Put(".nemawashi/actions/8/drafts/v1.md", draft)
		d.Put(".nemawashi/actions/8/action.json", strings.Replace(mailAction, `"type"`, `"replaces": 7, "type"`, 1))
		d.Put(".nemawashi/actions/9/action.json", strings.Replace(mailAction, `"type"`, `"replaces": 8, "type"`, 1))
		d.Settle()
		if !d.Has(".nemawashi/actions/8/state.json") || d.Has(".nemawashi/actions/9/state.json") || !strings.Contains(d.Notes(), "/replaces: action 8 is still ") {
			t.Errorf("%q\n%s", d.Tree().Paths(), d.Notes())
		}
	})
}

func TestScenario05ARefusedCommandNeverFires(t *testing.T) {
	tells(t, set(story("", mailAction), byCommand), func(d desk) {
		d.takes(commands("a", `"command": "execute"`))
		d.receipt("a", "refused", `"not_approved"`)
		d.takes(ticks("apr-", "approve"))
		d.Pass(time.Hour)
		d.Settle()
		d.status(Approved)
	})
}

// An attempt whose end nobody knows is repeated with the same key where the provider
// honours it, three times in all, and then a person is asked.
func TestScenario09KeysThatAreHonoured(t *testing.T) {
	const hr = `{"type": "hr_request", "summary": "A day off", "requested_by": "agent", "payload": {"days": 1}}`
	httpOn := func(c *Config) {
		c.HR.Provider, c.HR.APIURL, c.HR.HonoursIdempotencyKey = http, "https://hr.acme.example/api", true
	}
	tells(t, set(story("", hr), httpOn), func(d desk) {
		d.takes(ticks("apr-", "approve"))
		for n := 1; n <= 3; n++ {
			job := path.Dir(path.Dir(d.Tree().Find(dir + "/jobs/*/1/attempt-1.json")))
			if rel := strings.TrimPrefix(job, dir+"/") + fmt.Sprintf("/1/attempt-%d.json", n); d.Has(dir + "/" + rel) {
				d.holds(rel, fmt.Sprintf(`"idempotency_key": "%s-1"`, path.Base(job)))
			} else {
				t.Fatalf("there is no attempt %d", n)
			}
			d.takes(ends("unknown", ""))
			d.Pass(62 * time.Second)
			d.Settle()
		}
		if open(d.Tree(), "out-") == "" || count(d.Tree(), "/attempt-") != 3 {
			t.Errorf("%q", d.Tree().Paths())
		}
	})
}

func TestScenario10RetryAfterIsKept(t *testing.T) {
	smtpOn := func(c *Config) { c.Mail.Provider, c.Mail.SMTPHost = smtp, "mail.acme.example" }
	tells(t, set(story("", mailAction), smtpOn), func(d desk) {
		d.takes(ticks("apr-", "approve"), ends("failed", `, "retry_after_seconds": 90`))
		d.Pass(80 * time.Second)
		d.Settle()
		if count(d.Tree(), "/attempt-2") > 0 {
			t.Fatal("it was tried again before the provider wants it")
		}
		d.Pass(15 * time.Second)
		d.Settle()
		if count(d.Tree(), "/attempt-2") != 1 {
			t.Fatal("it was not tried again")
		}
		d.takes(ends("failed", `, "retry_after_seconds": 4000`))
		d.status(Failed)
		d.holds("state.json", `"status": "failed"`)
	})
}

func TestScenario11AnOverride(t *testing.T) {
	const other = `"command": "execute", "calendar": {"attendee": "hr@acme.example", "title": "Other", "startAt": "2026-11-25T10:00", "endAt": "2026-11-25T11:00"}`
	tells(t, set(story("", meetingAction), byCommand), func(d desk) {
		d.takes(ticks("apr-", "approve"), commands("a", other))
		d.receipt("a", "refused", `"override_needs_approval"`)
		d.holds(strings.TrimPrefix(open(d.Tree(), "apr-"), dir+"/")+"/form.md", "hr@acme.example", "Other")
	})
	tells(t, set(story("", meetingAction), func(c *Config) { byCommand(c); c.ExecuteOverride = "allow" }), func(d desk) {
		d.takes(ticks("apr-", "approve"), commands("a", strings.Replace(other, "hr@acme.example", "not an address", 1)), commands("b", other))
		d.receipt("a", "refused", `"bad_override"`)
		d.receipt("b", "accepted", "null")
		d.takes(ends("done", ""))
		d.status(Executed)
		d.holds("runs/1.json", "hr@acme.example")
	})
}

func TestScenario13TwoWordsAtOnce(t *testing.T) {
	tells(t, story("", mailAction), func(d desk) {
		request := open(d.Tree(), "apr-")
		d.Put(request+"/response.json", fmt.Sprintf(`{"request_id": %q, "response": "approve", "provided_by": {"user": "kim", "source": "file"}}`, path.Base(request)))
		d.takes(commands("a", `"command": "cancel"`))
		d.status(Canceled)
	})
	tells(t, enginetest.Case{Now: now, Notes: true, Files: story("", mailAction).Files}, func(d desk) {
		request := open(d.Tree(), "apr-")
		d.Lax = true
		d.Put(request+"/response.json", fmt.Sprintf(`{"request_id": %q, "response": "approve", "provided_by": {"user": "kim", "source": "file"}}`, path.Base(request)))
		d.takes(ticks("apr-", "reject"))
		d.status(ApprovalPending)
		d.Remove(request + "/response.json")
		d.Settle()
		d.status(Rejected)
	})
}

func TestScenario14Deadlines(t *testing.T) {
	tells(t, story("", mailAction), func(d desk) {
		d.Pass(365 * 24 * time.Hour)
		d.Settle()
		d.status(ApprovalPending)
	})
	tells(t, set(story("", mailAction), func(c *Config) { c.ApprovalTTL = "1h" }), func(d desk) {
		request := open(d.Tree(), "apr-")
		d.Pass(2 * time.Hour)
		d.Put(request+"/response.json", fmt.Sprintf(`{"request_id": %q, "response": "approve", "provided_by": {"user": "kim", "source": "file"}}`, path.Base(request)))
		d.Settle()
		if d.Has(dir+"/jobs") || !strings.Contains(d.Read(request+"/receipt.json"), `"late": true`) {
			t.Error(d.Read(request + "/receipt.json"))
		}
	})
}

// A body of 256 KiB is shown by its head, stands beside the request, and is sent whole,
// or not at all once the file has changed.
func TestScenario15ALongBody(t *testing.T) {
	long := strings.Repeat("0123456789abcdef", 256<<10/16-2)
	files := enginetest.Tree{dir + "/action.json": mailAction, dir + "/drafts/v1.md": long}
	tells(t, enginetest.Case{Now: now, Files: files}, func(d desk) {
		rel := strings.TrimPrefix(open(d.Tree(), "apr-"), dir+"/")
		d.holds(rel+"/form.md", string(engine.Sum([]byte(long))), "part-1-body.txt")
		if form, request := d.Read(dir+"/"+rel+"/form.md"), d.Read(dir+"/"+rel+"/request.json"); len(form) > 16<<10 || len(request) > 16<<10 || d.Read(dir+"/"+rel+"/part-1-body.txt") != long {
			t.Fatalf("form %d, request %d bytes", len(form), len(request))
		}
		d.Put(dir+"/"+rel+"/part-1-body.txt", "Another")
		d.takes(ticks("apr-", "approve"))
		d.status(ApprovalPending)
		d.holds(rel+"/problem.md", "part-1-body.txt is not what was asked about")
		d.Put(dir+"/"+rel+"/part-1-body.txt", long)
		d.Settle()
		d.takes(ends("done", ""))
		d.status(Executed)
	})
}

func TestScenario16WhoMayAnswer(t *testing.T) {
	lead := func(all *engine.Config) {
		own := DefaultConfig()
		own.Approvers = []string{"lead", "guest"}
		all.Family, all.Gates = own, map[string]engine.Gate{"nemawashi": {Level: "file", Approvers: []string{"api:lead"}}}
	}
	c := story("", mailAction)
	c.Config = lead
	tells(t, c, func(d desk) {
		d.holds("state.json", "\"may_answer\": [\n    \"api:lead\"\n  ]")
		d.takes(responds("apr-", `"response": "approve"`))
		d.status(ApprovalPending)
	})
	c.Notes = true
	c.Config = func(all *engine.Config) {
		lead(all)
		own := all.Family.(Config)
		own.ApproverIDs = []string{"U1"}
		all.Family = own
	}
	tells(t, c, func(d desk) {
		d.status(Drafted)
		d.holds("action.json.problem.md", "nobody may answer", "api:lead", "U1")
	})
}

func TestScenario17AnotherProviderThanApproved(t *testing.T) {
	c := set(story("", mailAction), byCommand)
	c.Notes = true
	tells(t, c, func(d desk) {
		d.takes(ticks("apr-", "approve"))
		d.Case.Config = set(enginetest.Case{}, func(c *Config) { byCommand(c); c.Mail.Provider, c.Mail.SMTPHost = smtp, "mail.acme.example" }).Config
		d.takes(commands("a", `"command": "execute"`))
		d.receipt("a", "refused", `"provider_changed"`)
		d.status(Approved)
		d.holds("action.json.problem.md", "part 1 was approved for mock")
	})
}

// What no form can show is not asked.
func TestWhatNoFormCanShowIsNotAsked(t *testing.T) {
	var parts []string
	for range mostParts {
		var to []string
		for n := range mostAddresses {
			to = append(to, fmt.Sprintf(`"n%d.%s@bücher-%s.example"`, n, strings.Repeat("a", 60)+"."+strings.Repeat("b", 60)+"."+strings.Repeat("c", 50), strings.Repeat("ü", 20)))
		}
		parts = append(parts, fmt.Sprintf(`{"type": "mail_draft", "payload": {"to": [%s], "body": %q}}`, strings.Join(to, ", "), strings.Repeat("`", 12<<10)))
	}
	c := story("", fmt.Sprintf(`{"type": "mail_draft", "summary": "Many", "requested_by": "agent", "payload": {"actions": [%s]}}`, strings.Join(parts, ", ")))
	c.Notes = true
	tells(t, c, func(d desk) {
		d.status(Drafted)
		d.holds("action.json.problem.md", "what a person must be shown takes ")
	})
}
