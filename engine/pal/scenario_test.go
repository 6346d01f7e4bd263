package pal

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"placet/engine"
	"placet/internal/enginetest"
	"placet/layout"
)

// desk is a workspace for a scenario of the format page.
type desk struct {
	*enginetest.Desk
	t testing.TB
}

// at begins a scenario with some files besides orchestration.json.
func at(t *testing.T, c enginetest.Case, tell func(d desk)) {
	t.Helper()
	enginetest.AtDesk(t, laws(), c, func(d *enginetest.Desk) {
		d.Lax = true
		d.Settle()
		tell(desk{d, t})
	})
}

func (d desk) state() State {
	d.t.Helper()
	st, err := ReadState("state.json", []byte(d.Read(dir+"/state.json")))
	if err != nil {
		d.t.Fatal(err)
	}
	return st
}

// put writes a file of the run, and settles. It returns the transitions as words.
func (d desk) put(rel, body string) []string {
	d.t.Helper()
	d.Put(path.Join(dir, rel), body)
	return d.settle()
}

func (d desk) settle() (words []string) {
	d.t.Helper()
	for _, tr := range d.Settle() {
		words = append(words, tr.Of+" "+tr.Event)
	}
	return words
}

func (d desk) result(port string, try int, body string) []string {
	d.t.Helper()
	return d.put(layout.PalResultFile(port, try), body)
}

func (d desk) feedback(port string, try int, body string) []string {
	d.t.Helper()
	return d.put(layout.PalFeedbackFile(port, try), body)
}

func (d desk) pass(port string, try int) []string {
	d.t.Helper()
	return append(d.result(port, try, otherFiles), d.feedback(port, try, good)...)
}

func (d desk) fail(port string, try int) []string {
	d.t.Helper()
	return append(d.result(port, try, otherFiles), d.feedback(port, try, bad)...)
}

// open returns the id of the open escalation of a type.
func (d desk) open(typ string) string {
	d.t.Helper()
	for id, e := range d.state().Escalations {
		if e.Type == typ && e.Status == Open {
			return id
		}
	}
	d.t.Fatalf("nothing of the type %s is open", typ)
	return ""
}

// answers answers an escalation, and returns what moved.
func (d desk) answers(id, option, comment string) []string {
	d.t.Helper()
	return d.put("requests/"+id+"/response.json", fmt.Sprintf(`{"request_id": %q, "response": %q, "comment": %q, "provided_by": {"user": "kim", "source": "file"}}`, id, option, comment))
}

func (d desk) wants(what string, got, want any) {
	d.t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		d.t.Errorf("%s: %v, expected %v", what, got, want)
	}
}

// statuses returns the statuses of ports.
func (d desk) statuses(ports ...string) (list []engine.Status) {
	d.t.Helper()
	st := d.state()
	for _, p := range ports {
		list = append(list, st.Ports[p].Status)
	}
	return list
}

// noted checks that a file has a note with some words.
func (d desk) noted(rel, says string) {
	d.t.Helper()
	d.Pass(11 * time.Second) // an incomplete file is no mistake yet
	d.Settle()
	note := path.Join(dir, rel) + layout.ProblemSuffix
	if !d.Has(note) {
		d.t.Errorf("there is no note beside %s", rel)
	} else if body := strings.Join(strings.Fields(d.Read(note)), " "); !strings.Contains(body, says) {
		d.t.Errorf("the note beside %s says %q, expected %q", rel, body, says)
	}
}

func (d desk) unnoted(rel string) {
	d.t.Helper()
	if d.Has(path.Join(dir, rel) + layout.ProblemSuffix) {
		d.t.Errorf("a note stands beside %s: %s", rel, d.Read(path.Join(dir, rel)+layout.ProblemSuffix))
	}
}

const seedGraph = `{"title": "Shop", "ports": ["A", "B", {"port_id": "C", "depends_on": ["A"]}, {"port_id": "D", "depends_on": ["A", "B", "C"]}]}`

func seed() enginetest.Case {
	c := story("seed", seedGraph)
	c.Files["ports/A.md"], c.Files["ports/B.md"] = "# Port: A\n", "# Port: B\n"
	return c
}

func TestScenario1TheSeedsGraph(t *testing.T) {
	at(t, seed(), func(d desk) {
		d.pass("A", 1)
		d.wants("C begins while B runs", d.statuses("A", "B", "C", "D"), []engine.Status{Complete, Running, Running, Pending})
		d.pass("C", 1)
		d.wants("D waits for B", d.statuses("D"), []engine.Status{Pending})
		d.pass("B", 1)
		d.pass("D", 1)
		d.wants("the run", []any{d.state().Status, d.state().Percent}, []any{Complete, 100})
	})
}

func TestScenario2OneAtATime(t *testing.T) {
	for name, settings := range map[string]string{"one slot": `"max_concurrency": 1`, "not parallel": `"max_concurrency": 3, "parallel_enabled": false`} {
		t.Run(name, func(t *testing.T) {
			body := `{"title": "Shop", ` + settings + `, "ports": [{"port_id": "b"}, {"port_id": "a"}, {"port_id": "c"}, {"port_id": "d", "status": "complete"}]}`
			at(t, story(name, body), func(d desk) {
				d.wants("the first by order", d.statuses("b", "a", "c", "d"), []engine.Status{Running, Ready, Ready, Complete})
				d.pass("b", 1)
				d.wants("then the next", d.statuses("b", "a", "c"), []engine.Status{Complete, Running, Ready})
			})
		})
	}
}

const three = `{"title": "Shop", "max_retries": 3, "max_concurrency": 1, "ports": [{"port_id": "A"}, {"port_id": "B"}]}`

func TestScenario3TheThirdFailureFreesItsSlot(t *testing.T) {
	at(t, story("three", three), func(d desk) {
		for try := 1; try <= 3; try++ {
			d.fail("A", try)
		}
		st := d.state()
		d.wants("the loop, the port, the slot", []any{st.Loops["A.r1"].Status, st.Ports["A"].Status, st.Ports["B"].Status}, []any{Escalated, Blocked, Running})
	})
}

// The next try of the impl worker has the whole feedback, member by member.
func TestTheNextTryHasTheWholeFeedback(t *testing.T) {
	at(t, story("A", orchestrationOf("A")), func(d desk) {
		d.result("A", 1, otherFiles)
		d.feedback("A", 1, `{"success": false, "failed_tests": [{"name": "TestTotal", "expected": "12 EUR", "actual": "11 EUR", "stack_trace": "total.go:7", "suggested_fix": "count the last line"}], "suggestions": ["round at the end"]}`)
		for _, rel := range []string{"sessions/build/A/impl/inbox/try-2.md", "channels/A/messages/0001-test-feedback.json"} {
			for _, words := range []string{"TestTotal", "12 EUR", "11 EUR", "total.go:7", "count the last line", "round at the end"} {
				if body := d.Read(path.Join(dir, rel)); !strings.Contains(body, words) {
					t.Errorf("%s does not hold %q:\n%s", rel, words, body)
				}
			}
		}
	})
}

// What a session files stands in the record and in the form, context and suggested actions too.
func TestAFiledEscalationKeepsWhatItSays(t *testing.T) {
	at(t, story("A", orchestrationOf("A")), func(d desk) {
		d.put("sessions/build/A/impl/escalation-1.json",
			`{"type": "decision", "severity": "critical", "title": "EUR or USD?", "description": "both are used", "context": {"file": "api/x.go"}, "suggested_actions": ["take EUR"]}`)
		id := d.open(typeDecision)
		for _, rel := range []string{"escalations/" + id + ".json", "requests/" + id + "/form.md"} {
			for _, words := range []string{"critical", "EUR or USD?", "both are used", "api/x.go", "take EUR"} {
				if body := d.Read(path.Join(dir, rel)); !strings.Contains(body, words) {
					t.Errorf("%s does not hold %q:\n%s", rel, words, body)
				}
			}
		}
	})
}

func TestScenario4WhatDoesNotAnswerAnEscalation(t *testing.T) {
	at(t, story("A, B", orchestrationOf("A", "B:A")), func(d desk) {
		d.fail("A", 1)
		d.fail("A", 2)
		id := d.open(typeTestFailure)
		d.wants("without a comment nothing moves", d.answers(id, "take_over", ""), []string(nil))
		d.wants("dismiss is not offered", d.answers(id, "dismiss", ""), []string(nil))
	})
}

func TestScenario5EverythingIsGivenUpInOneCommit(t *testing.T) {
	c := story("five", `{"title": "Shop", "max_concurrency": 2, "ports": [{"port_id": "A", "workers": {"impl": ["./impl"]}}, {"port_id": "B"}, {"port_id": "C"}]}`)
	c.Trusted = []engine.Digest{CommandDigest([]string{"./impl"})}
	at(t, c, func(d desk) {
		d.wants("the worker of A", len(d.Alive()), 1)
		d.put("sessions/build/B/test/escalation-1.json", `{"type": "quality", "title": "hm"}`)
		d.put("sessions/build/escalation-1.json", `{"type": "general", "title": "stop?"}`)
		revision := d.state().Revision
		d.answers(d.open(typeGeneral), "abort_orchestration", "enough")
		st := d.state()
		d.wants("one commit", st.Revision, revision+1)
		d.wants("all ports", d.statuses("A", "B", "C"), []engine.Status{Cancelled, Cancelled, Cancelled})
		d.wants("the worker of A", len(d.Alive()), 0)
		d.wants("nothing moves later", d.result("A", 1, otherFiles), []string(nil))
	})
}

func TestScenario7WhatContradictsItselfIsNotCounted(t *testing.T) {
	at(t, story("A", orchestrationOf("A")), func(d desk) {
		d.result("A", 1, otherFiles)
		for _, c := range [][2]string{
			{`{"success": `, "feedback-1.json"},
			{`{"success": true, "failed_tests": [{"name": "T"}]}`, "failed_tests names 1"},
			{`{"success": false, "metrics": {"total": 2, "passed": 3}}`, "is 3 of 2 tests"},
			{`{"success": true, "metrics": {"total": 3, "passed": 2}}`, "2 of 3 tests passed"},
			{`{"success": false, "result_digest": "sha256:` + strings.Repeat("0", 64) + `"}`, "/result_digest"},
			{`{"success": false, "try": 2}`, "/try: is 2"},
			{`{"success": false, "session_id": "shop/build/B/test"}`, "/session_id"},
		} {
			d.wants(c[0], d.feedback("A", 1, c[0]), []string(nil))
			d.noted(layout.PalFeedbackFile("A", 1), c[1])
		}
		d.feedback("A", 1, bad)
		d.unnoted(layout.PalFeedbackFile("A", 1))
		d.wants("counted once", d.state().Loops["A.r1"].CurrentTry, 1)
	})
}

func TestScenario8HandInsOutOfTurn(t *testing.T) {
	at(t, story("A", orchestrationOf("A")), func(d desk) {
		d.wants("a feedback before its result", d.feedback("A", 1, bad), []string(nil))
		d.unnoted(layout.PalFeedbackFile("A", 1))
		d.wants("then both", d.result("A", 1, otherFiles), []string{"loop result_taken", "loop tests_failed"})
		d.feedback("A", 1, good)
		d.noted(layout.PalFeedbackFile("A", 1), "not counted: it was changed after it was taken in")
		d.feedback("A", 1, bad)
		d.wants("a partial result", d.result("A", 2, `{"status": "partial", "summary": "half"}`), []string(nil))
		d.wants("is replaced", d.result("A", 2, otherFiles), []string{"loop result_taken"})
		d.put("sessions/build/A/impl/result-02.json", otherFiles)
		d.noted("sessions/build/A/impl/result-02.json", "the name is result-<try>.json")
		d.put("sessions/build/A/impl/feedback-2.json", good)
		d.noted("sessions/build/A/impl/feedback-2.json", "result-<try>.json")
		d.feedback("A", 2, good)
		d.wants("the port", d.statuses("A"), []engine.Status{Complete})
		d.feedback("A", 3, good)
		d.noted(layout.PalFeedbackFile("A", 3), "port A is complete")
	})
}

func TestScenario10TheDeadline(t *testing.T) {
	at(t, story("A", orchestrationOf("A")), func(d desk) {
		d.PassUntil(d.state().Ports["A"].Deadline.Time().Add(-10 * time.Second)) // settling takes a few seconds
		d.wants("shortly before", d.settle(), []string(nil))
		d.PassUntil(d.state().Ports["A"].Deadline.Time())
		d.wants("at it", d.settle(), []string{"port deadline_passed", "escalation opened"})
	})
	at(t, story("late", orchestrationOf("A")), func(d desk) {
		d.result("A", 1, otherFiles)
		d.Put(dir+"/"+layout.PalFeedbackFile("A", 1), good)
		d.Pass(time.Hour)
		d.Restart()
		d.settle()
		d.wants("what is there counts before the clock", d.statuses("A"), []engine.Status{Complete})
	})
	at(t, story("retried", orchestrationOf("A")), func(d desk) {
		d.result("A", 1, otherFiles)
		d.Pass(time.Hour)
		d.settle()
		d.answers(d.open(typeTimeout), "retry", "")
		d.feedback("A", 1, good)
		d.noted(layout.PalFeedbackFile("A", 1), "try 1 of port A is over")
	})
}

func TestScenario14WhatSessionsFile(t *testing.T) {
	at(t, story("A", orchestrationOf("A")), func(d desk) {
		d.put("sessions/build/A/impl/escalation-1.json", `{"type": "general", "title": "hm"}`)
		d.put("sessions/build/A/impl/escalation-2.json", `{"type": "general", "title": "hm again"}`)
		d.wants("the second of its type waits", len(d.state().Escalations), 1)
		d.put("sessions/build/A/test/escalation-1.json", `{"type": "question", "title": "left or right?", "suggestion": "left"}`)
		id := d.open(typeDecision)
		d.wants("the port", d.statuses("A"), []engine.Status{Blocked})
		d.wants("retry needs words", d.answers(id, "retry", ""), []string(nil))
		d.put("sessions/build/A/test/escalation-2.json", `{"type": "banana", "title": "hm"}`)
		d.noted("sessions/build/A/test/escalation-2.json", "unknown word \"banana\"")
		d.put("sessions/build/escalation-1.json", `{"type": "general", "title": "about all"}`)
		var offers []string
		for _, o := range d.Account("shop").Open {
			if o.Where == "running" && o.Prompt == "about all" {
				for _, option := range o.Options {
					offers = append(offers, option.ID)
				}
			}
		}
		d.wants("without a port", offers, []string{"abort_orchestration", "dismiss"})
		d.answers(id, "dismiss", "")
		d.pass("A", 1)
	})
}

func TestScenario15Pausing(t *testing.T) {
	at(t, story("A, B", orchestrationOf("A", "B:A")), func(d desk) {
		deadline := d.state().Ports["A"].Deadline.Time()
		d.put("control.json", `{"want": "pause", "by": "kim", "reason": "lunch"}`)
		d.fail("A", 1)
		d.wants("failures count", d.state().Loops["A.r1"].CurrentTry, 1)
		d.Pass(time.Hour)
		d.wants("nothing times out", d.settle(), []string(nil))
		d.Remove(dir + "/control.json")
		d.settle()
		d.wants("a wish that went changes nothing", d.state().Status, Paused)
		d.put("control.json", `{"want": "running"}`)
		d.noted("control.json", "want")
		d.put("control.json", `{"want": "run", "by": "kim"}`)
		if moved := d.state().Ports["A"].Deadline.Time().Sub(deadline); d.state().Status != Running || moved < time.Hour {
			t.Errorf("%s, and the deadline moved by %v", d.state().Status, moved)
		}
		d.put("control.json", `{"want": "abort", "by": "kim"}`)
		d.wants("given up", d.state().Status, Cancelled)
		d.Pass(time.Second)
		d.put("control.json", `{"want": "run", "by": "kim"}`)
		d.noted("control.json", "that is final")
	})
}

func TestScenario16Commands(t *testing.T) {
	body := `{"title": "Shop", "ports": [{"port_id": "A", "workers": {"impl": ["./impl"], "test": ["./test"]}}]}`
	c := story("A", body)
	at(t, c, func(d desk) {
		d.wants("untrusted", d.statuses("A"), []engine.Status{Ready})
		if waits := d.Account("shop").Untrusted; len(waits) != 2 {
			t.Errorf("untrusted: %v", waits)
		}
		d.Case.Trusted = []engine.Digest{CommandDigest([]string{"./impl"}), CommandDigest([]string{"./test"})}
		d.settle()
		d.wants("trusted", []any{d.statuses("A"), len(d.Alive())}, []any{[]engine.Status{Running}, 1})
		d.Restart()
		d.settle()
		d.wants("not begun twice", len(d.Alive()), 1)
		d.result("A", 1, otherFiles)
		if !d.Has(dir + "/sessions/build/A/test/attempt-1-1.json") {
			t.Errorf("the test worker did not begin: %q", d.Tree().Paths())
		}
		d.feedback("A", 1, good)
		d.wants("ended with the port", len(d.Alive()), 0)
	})
}

func TestScenario17Messages(t *testing.T) {
	at(t, story("A", orchestrationOf("A")), func(d desk) {
		query := func(name, from, to, id string) string {
			return fmt.Sprintf(`{"id": %q, "channel_id": "A", "from_session": "shop/build/A/%s", "to_session": "shop/build/A/%s", "type": "query", "payload": "which?"}`, id, from, to)
		}
		d.put("channels/A/messages/0001-test-query.json", query("", "test", "impl", "A/0001-test-query"))
		d.put("channels/A/messages/0001-impl-ack.json", `{"id": "A/0001-impl-ack", "channel_id": "A", "from_session": "shop/build/A/impl", "to_session": "shop/build/A/test", "type": "ack", "payload": {"of": "0001-test-query"}}`)
		if !d.Has(dir + "/channels/A/receipts/0001-test-query.processed.json") {
			t.Error("the ack was passed over")
		}
		for _, c := range [][3]string{
			{"0002-test-query", query("", "test", "test", "A/0002-test-query"), "/to_session"},
			{"0003-test-query", query("", "test", "impl", "A/0004-test-query"), "/id"},
			{"0004-test-banana", query("", "test", "impl", "A/0004-test-banana"), "with a type of"},
			{"0009-impl-result", strings.Replace(query("", "impl", "test", "A/0009-impl-result"), `"query"`, `"result"`, 1), "placet alone writes"},
			{"0005-test-ack", strings.NewReplacer(`"query"`, `"ack"`, `"which?"`, `{"of": "0007-impl-query"}`).Replace(query("", "test", "impl", "A/0005-test-ack")), "names no message to this worker"},
		} {
			d.put("channels/A/messages/"+c[0]+".json", c[1])
			d.noted("channels/A/messages/"+c[0]+".json", c[2])
		}
		d.put("sessions/build/A/helper/session.json", `{"type": "worker", "title": "helper"}`)
		if !slices.ContainsFunc(d.Account("shop").Parts, func(p engine.Part) bool { return p.ID == "build/A/helper" }) {
			t.Error("an agent's session is not shown")
		}
		for _, c := range [][3]string{{"a", `{"type": "banana"}`, "/type"}, {"b", `{"type": "build"}`, "/type"}, {"c", `{"type": "worker", "depth": 1}`, "/depth"}, {"e", `{"type": "worker", "path": "build/B/e"}`, "/path"}} {
			d.put("sessions/build/A/"+c[0]+"/session.json", c[1])
			d.noted("sessions/build/A/"+c[0]+"/session.json", c[2])
		}
	})
}

func TestScenario22TwoDifferentAnswers(t *testing.T) {
	at(t, story("A", orchestrationOf("A")), func(d desk) {
		d.fail("A", 1)
		d.result("A", 2, otherFiles)
		d.feedback("A", 2, bad)
		id := d.open(typeTestFailure)
		form := dir + "/requests/" + id + "/form.md"
		d.Put(form, strings.NewReplacer("- [ ] retry", "- [x] retry", "- [ ] submit", "- [x] submit").Replace(d.Read(form)))
		d.wants("neither counts", d.answers(id, "skip", ""), []string(nil))
		d.Remove(dir + "/requests/" + id + "/response.json")
		d.settle()
		d.wants("until one goes", d.statuses("A"), []engine.Status{Running})
	})
}

func TestChangesAfterTheStart(t *testing.T) {
	c := seed()
	at(t, c, func(d desk) {
		d.Put("ports/A.md", "# Port: A\n\nmore words\n")
		d.wants("a changed text", d.settle(), []string(nil))
		if d.Has(dir + "/problems/ports--A.md.problem.md") {
			t.Error("a changed text is noted")
		}
		d.Put("ports/A.md", "> ID: A\n> Depends on: B\n\n# Port: A\n")
		d.settle()
		if !d.Has(dir + "/problems/ports--A.md.problem.md") {
			t.Errorf("a changed dependency is not noted: %q", d.Tree().Paths())
		}
		d.put("orchestration.json", strings.Replace(seedGraph, "Shop", "Other", 1))
		d.noted("orchestration.json", "goes on with what it took in at revision 1")
		d.wants("the title", d.state().Title, "Shop")
	})
}

// What an option does to one port is said of one, and what it does to several of several.
func TestEffectsAgreeInNumber(t *testing.T) {
	for _, c := range []struct {
		ports []string
		tries int
		says  []string
	}{
		{[]string{"A", "B:A"}, 1, []string{"Port A failed its only try", "starts A again with one new try", "B runs without it", "B is blocked"}},
		{[]string{"A", "B:A", "C:A"}, 2, []string{"Port A failed 2 of 2 tries", "starts A again with 2 new tries", "B, C run without it", "B, C are blocked"}},
	} {
		at(t, set(story("effects", orchestrationOf(c.ports...)), func(conf *Config) { conf.MaxRetries = &c.tries }), func(d desk) {
			for try := range c.tries {
				d.fail("A", try+1)
			}
			form := d.Read(dir + "/requests/" + d.open(typeTestFailure) + "/form.md")
			for _, want := range c.says {
				if !strings.Contains(form, want) {
					t.Errorf("the form lacks %q:\n%s", want, form)
				}
			}
		})
	}
}

// The message of a feedback carries its counts in both dialects, whichever the worker wrote.
func TestAFeedbackCarriesItsCounts(t *testing.T) {
	counts := func(d desk, try int) string {
		d.t.Helper()
		var m struct {
			Payload struct {
				Total    *int     `json:"total_tests"`
				Passed   *int     `json:"passed_tests"`
				Coverage *float64 `json:"coverage"`
				Retries  int      `json:"retry_count"`
				Metrics  *struct{ Total, Passed *int }
			} `json:"payload"`
		}
		name := layout.PalMessageFile("A", messageName(try, roleTest, "feedback"))
		if err := json.Unmarshal([]byte(d.Read(dir+"/"+name)), &m); err != nil {
			d.t.Fatal(err)
		}
		words := fmt.Sprintf("retry %d", m.Payload.Retries)
		if p := m.Payload; p.Total != nil && p.Passed != nil {
			words += fmt.Sprintf(", %d of %d", *p.Passed, *p.Total)
		}
		if p := m.Payload; p.Coverage != nil {
			words += fmt.Sprintf(", %v %%", *p.Coverage)
		}
		if p := m.Payload; p.Metrics != nil && p.Metrics.Total != nil {
			words += fmt.Sprintf(", metrics of %d", *p.Metrics.Total)
		}
		return words
	}
	five := func(c *Config) { n := 5; c.MaxRetries = &n }
	at(t, set(story("A", orchestrationOf("A")), five), func(d desk) {
		for i, body := range []string{
			`{"success": false, "failed_tests": [{"name": "T"}], "metrics": {"total": 9, "passed": 7, "coverage": 81.5}}`,
			`{"success": false, "failed_tests": [{"name": "T"}], "total_tests": 9, "passed_tests": 8, "retry_count": 0}`,
			`{"success": false}`,
		} {
			d.result("A", i+1, otherFiles)
			d.feedback("A", i+1, body)
			d.wants(body, counts(d, i+1), []string{"retry 1, 7 of 9, 81.5 %, metrics of 9", "retry 0, 8 of 9", "retry 3"}[i])
		}
	})
}

func TestScenario11Tokens(t *testing.T) {
	progress := func(d desk, tokens int) []string {
		d.t.Helper()
		return d.put("sessions/build/A/impl/progress.json", fmt.Sprintf(`{"progress": 0.5, "current_task": "api", "tokens_used": %d}`, tokens))
	}
	at(t, story("A", orchestrationOf("A")), func(d desk) {
		d.wants("one less than 95 %", progress(d, 14249), []string(nil))
		d.wants("95 %", progress(d, 14250), []string{"escalation opened"})
		d.wants("the port runs on", d.statuses("A"), []engine.Status{Running})
		d.answers(d.open(typeTokens), "dismiss", "")
		d.wants("not again in this round", progress(d, 14900), []string(nil))
		d.fail("A", 1)
		d.fail("A", 2)
		d.answers(d.open(typeTestFailure), "retry", "")
		d.wants("the next round begins at what was used", d.state().Ports["A"].TokenBase.Impl, 14900)
		d.wants("so many more", progress(d, 14900+14250), []string{"escalation opened"})
		progress(d, 30000)
		d.Put(dir+"/sessions/build/A/impl/progress.json", `{"progress": 1.2}`)
		d.noted("sessions/build/A/impl/progress.json", "/progress")
	})
	at(t, set(story("nobody is asked", orchestrationOf("A")), func(c *Config) { c.AutoResolve = []string{typeTokens} }), func(d desk) {
		d.wants("told, and closed", progress(d, 14250), []string{"escalation auto_resolved"})
		d.wants("no request", len(d.state().Requests), 0)
	})
	at(t, story("in the last result", orchestrationOf("A")), func(d desk) {
		const used = `{"status": "ready", "summary": "done", "changed_files": [], "tokens_used": 14250}`
		d.wants("a result that says so", d.result("A", 1, used), []string{"loop result_taken", "escalation opened"})
		d.wants("it is about", d.state().Escalations[d.open(typeTokens)].SessionID, "shop/build/A/impl")
		d.wants("the tests pass", d.feedback("A", 1, good), []string{"port tests_passed", "loop tests_passed", "escalation superseded", "run finished"})
	})
	at(t, set(story("in a result that comes with its feedback, and nobody is asked", orchestrationOf("A")), func(c *Config) { c.AutoResolve = []string{typeTokens} }), func(d desk) {
		d.Put(dir+"/"+layout.PalFeedbackFile("A", 1), good)
		d.wants("both", d.result("A", 1, `{"status": "ready", "summary": "done", "changed_files": [], "tokens_used": 14250}`),
			[]string{"loop result_taken", "escalation auto_resolved", "port tests_passed", "loop tests_passed", "run finished"})
	})
	at(t, set(story("no budget", orchestrationOf("A")), func(c *Config) { n := 0; c.TokenBudget = &n }), func(d desk) {
		d.wants("never", progress(d, 1000000), []string(nil))
	})
}
