package nemawashi

import (
	"fmt"
	"path"
	"strings"
	"testing"
	"time"

	"placet/engine"
	"placet/internal/enginetest"
	"placet/layout"
)

// The scenarios of section 15 A of the format page that the cases of the laws do not show.

// scene is a case with its expected result.
type scene struct {
	story  enginetest.Case
	status engine.Status // "" if the action is not registered
	// holds maps a file, or a pattern in the folder of the action, to words that it contains.
	holds map[string]string
	// lacks are files that do not exist.
	lacks []string
}

func TestScenarios(t *testing.T) {
	for _, s := range scenes() {
		t.Run(s.story.Name, func(t *testing.T) {
			plays(t, s.story, func(d *storyDesk) {
				d.takes(s.story.Steps...)
				d.leaves(s)
			})
		})
	}
}

// storyDesk runs an action's case.
type storyDesk struct{ *enginetest.Desk }

func plays(t *testing.T, c enginetest.Case, story func(d *storyDesk)) {
	t.Helper()
	enginetest.AtDesk(t, laws(), c, func(d *enginetest.Desk) { story(&storyDesk{d}) })
}

// takes runs steps, the first one once the existing files have settled.
func (d *storyDesk) takes(steps ...enginetest.Step) {
	d.T.Helper()
	d.Settle()
	for _, s := range steps {
		d.Pass(s.After)
		if s.Do != nil {
			d.does(s)
		}
		d.Settle()
	}
}

// does runs a step.
func (d *storyDesk) does(s enginetest.Step) {
	d.T.Helper()
	defer func() {
		if problem := recover(); problem != nil {
			d.T.Fatalf("cannot take the step %q: %v", s.Name, problem)
		}
	}()
	before, after := d.Tree(), d.Tree()
	s.Do(after)
	for p, body := range after {
		if before[p] == body {
			continue
		}
		if d.Put(p, body); s.Outcome {
			d.PutBack(dir, p, body)
		}
	}
}

// leaves checks the result of a case.
func (d *storyDesk) leaves(s scene) {
	d.T.Helper()
	tree := d.Tree()
	if st, _ := ReadState("state.json", []byte(tree[dir+"/state.json"])); st.Status != s.status {
		d.T.Errorf("the action is %q, expected %q\n%s", st.Status, s.status, d.Notes())
	}
	if s.status != "" {
		d.draws(s.status)
	}
	for pattern, words := range s.holds {
		files := matching(tree, pattern)
		if len(files) == 0 {
			d.T.Errorf("there is no %s; there are %q", pattern, tree.Paths())
		}
		for _, p := range files {
			if !strings.Contains(tree[p], words) {
				d.T.Errorf("%s does not hold %q:\n%s", p, words, tree[p])
			}
		}
	}
	for _, pattern := range s.lacks {
		if files := matching(tree, pattern); len(files) > 0 {
			d.T.Errorf("there is %q", files)
		}
	}
}

// draws checks the statuses in the plan of the action.
func (d *storyDesk) draws(status engine.Status) {
	d.T.Helper()
	plan := d.Account(path.Base(dir)).Graph
	if len(plan) < 2 || plan[0].ID != nodeDraft || plan[1].ID != nodeApproval {
		d.T.Fatalf("the plan is %+v", plan)
	}
	current := map[string]bool{}
	for _, n := range plan {
		if n.Current {
			current[n.ID] = true
		}
		if status == Executed && n.Status != Drafted && n.Status != Approved && n.Status != partSucceeded {
			d.T.Errorf("the action is executed, and %s is %s", n.ID, n.Status)
		}
	}
	if isFinal(status) && len(current) > 0 || status == ApprovalPending && !current[nodeApproval] || (status == Pending || status == Drafted) && !current[nodeDraft] {
		d.T.Errorf("the action is %s, and the run is at %v", status, current)
	}
}

func matching(t enginetest.Tree, pattern string) (files []string) {
	for _, p := range t.Paths() {
		if ok, _ := path.Match(dir+"/"+pattern, p); ok {
			files = append(files, p)
		}
	}
	return files
}

// both returns the step in which several things happen at once.
func both(steps ...enginetest.Step) enginetest.Step {
	return enginetest.Step{Name: "at once", Do: func(t enginetest.Tree) {
		for _, s := range steps {
			s.Do(t)
		}
	}}
}

// repeats returns the step in which somebody answers a closed request.
func repeats(members string) enginetest.Step {
	return enginetest.Step{Name: "answer what is closed", Do: func(t enginetest.Tree) {
		d := path.Dir(matching(t, "requests/*/receipt.json")[0])
		t[d+"/response.json"] = `{"request_id": "` + path.Base(d) + `", ` + members + `, "provided_by": {"user": "kim", "source": "file"}}`
	}}
}

func byHand(c *Config) { c.ExecuteOnApprove = false }

func onSMTP(c *Config) { c.Mail.Provider, c.Mail.SMTPHost = smtp, "mail.acme.example" }

func scenes() []scene {
	const (
		execute  = `"command": "execute"`
		simulate = execute + `, "simulateFailure": true`
		calendar = execute + `, "calendar": {"attendee": "hr@acme.example", "title": "Other", "startAt": "2026-11-25T10:00", "endAt": "2026-11-25T11:00"}`
		revise   = `"command": "revise", "draft": "Another text", "payload": {"to": "hr@acme.example"}`
		badBatch = `{"type": "mail_draft", "summary": "s", "requested_by": "a", "payload": {"actions": `
	)
	approve := ticks("apr-", "approve")
	onHTTP := func(c *Config) { c.Calendar.Provider, c.Calendar.APIURL = http, "https://calendar.acme.example" }
	return []scene{
		{
			story("4: after a rejection nothing moves", mailAction, ticks("apr-", "reject"), commands("a", `"command": "request-approval"`), commands("b", execute),
				commands("c", revise), repeats(`"response": "approve"`)),
			Rejected, map[string]string{"intake/*/receipt.json": `"code": "wrong_status"`, "requests/apr-*/problem.md": "approve"}, []string{"jobs/*/*", "drafts/v2.md"},
		},
		{
			set(story("5: an early execute does not fire later", mailAction, commands("a", execute), approve, enginetest.Pass(time.Hour)), byHand),
			Approved, map[string]string{"intake/a/receipt.json": `"code": "not_approved"`}, []string{"jobs/*/*"},
		},
		{
			set(story("6: a simulated failure does nothing", mailAction, approve, commands("a", simulate)), byHand),
			Failed, map[string]string{"requests/rty-*/request.json": `"error": "simulated failure"`, "events.jsonl": `"error":"simulated failure"`}, []string{"runs/*", "jobs/*/*/*"},
		},
		{
			set(story("6: given up", mailAction, approve, commands("a", simulate), responds("rty-", `"response": "give_up"`)), byHand),
			Canceled, map[string]string{"state.json": `"execution_status": "failed"`}, []string{"runs/*"},
		},
		{
			set(story("7: a part of a batch fails", batchAction, approve, ends("done", ""), ends("refused", `, "reason": "404"`), ends("done", "")), onHTTP),
			Failed, map[string]string{"runs/1.json": `"status": "succeeded"`, "runs/2.json": `"error": "refused: 404"`, "runs/3.json": `"status": "succeeded"`}, []string{"runs/4.json"},
		},
		{
			set(story("7: it alone is tried again", batchAction, approve, ends("done", ""), ends("refused", ""), ends("done", ""), responds("rty-", `"response": "retry"`), ends("done", "")), onHTTP),
			Executed, map[string]string{"runs/4.json": `"part": 2`, "jobs/*/2/attempt-1.json": `"part": 2`}, []string{"runs/5.json", "jobs/*/*/attempt-2.json"},
		},
		{story("8: an unknown type in a batch", badBatch+`[{"type": "mail_draft"}, {"type": "fax"}]}}`), "", map[string]string{"action.json.problem.md": "/payload/actions/1"}, []string{"state.json"}},
		{story("8: no object in a batch", badBatch+`[{"type": "mail_draft"}, 7]}}`), "", map[string]string{"action.json.problem.md": "/payload/actions/1"}, []string{"state.json"}},
		{story("8: an empty batch", badBatch+`[]}}`), "", map[string]string{"action.json.problem.md": "/payload/actions"}, []string{"state.json"}},
		{
			story("8: a broken line in the draft", explicit, put("drafts/v1.md", "x\n{\"a\":"), enginetest.Pass(time.Minute)),
			Drafted, map[string]string{"drafts/v1.md.problem.md": "restore it"}, nil,
		},
		{
			story("8: a broken command", explicit, put("intake/a/command.json", `{"command": "cancel", "actor": 7}`)),
			Drafted, map[string]string{"intake/a/problem.md": "/actor"}, []string{"intake/a/receipt.json"},
		},
		{
			story("8: it is mended", explicit, put("intake/a/command.json", `{"command": "cancel", "actor": 7}`), commands("a", `"command": "cancel"`)),
			Canceled, map[string]string{"intake/a/receipt.json": `"result": "accepted"`}, []string{"intake/a/problem.md"},
		},
		{
			set(story("9: it did not happen", mailAction, approve, ends("lost", ""), responds("out-", `"response": "did_not_happen"`)), onSMTP),
			Failed, map[string]string{"runs/1.json": `"resolved_by": "out-`, "requests/rty-*/form.md": "retry"}, []string{"jobs/*/1/attempt-2.json"},
		},
		{
			set(story("9: a service that honours keys is called again", meetingAction, approve, ends("lost", ""), enginetest.Pass(2*time.Minute)),
				func(c *Config) { onHTTP(c); c.Calendar.HonoursIdempotencyKey = true }),
			Executing, map[string]string{"jobs/*/1/attempt-2.json": `-1",`}, []string{"requests/out-*/*"},
		},
		{
			set(story("10: three attempts", mailAction, approve, ends("failed", ""), enginetest.Pass(61*time.Second), ends("failed", ""), enginetest.Pass(61*time.Second), ends("failed", "")), onSMTP),
			Failed, map[string]string{"runs/1.json": `"error": "failed"`}, []string{"jobs/*/1/attempt-4.json"},
		},
		{
			set(story("10: refused", mailAction, approve, ends("refused", `, "reason": "550 no such user"`)), onSMTP),
			Failed, map[string]string{"runs/1.json": "refused: 550 no such user"}, []string{"jobs/*/1/attempt-2.json"},
		},
		{
			set(story("10: cut after DATA", mailAction, approve, ends("unknown", ""), enginetest.Pass(time.Hour)), onSMTP),
			Executing, map[string]string{"requests/out-*/form.md": "happened", "state.json": `"type": "outcome"`}, []string{"jobs/*/1/attempt-2.json", "runs/*"},
		},
		{
			set(story("10: not before Retry-After", meetingAction, approve, ends("failed", `, "retry_after_seconds": 90`), enginetest.Pass(80*time.Second)), onHTTP),
			Executing, nil, []string{"jobs/*/1/attempt-2.json", "requests/rty-*/*"},
		},
		{
			set(story("10: after Retry-After", meetingAction, approve, ends("failed", `, "retry_after_seconds": 90`), enginetest.Pass(91*time.Second)), onHTTP),
			Executing, map[string]string{"jobs/*/1/attempt-2.json": `"attempt": 2`}, nil,
		},
		{
			set(story("10: a later Retry-After than an hour", meetingAction, approve, ends("failed", `, "retry_after_seconds": 3601`)), onHTTP),
			Failed, nil, []string{"jobs/*/1/attempt-2.json"},
		},
		{
			set(story("10: a secret is missing", mailAction, approve, ends("not_started", `, "reason": "SMTP_PASSWORD is not set"`)), onSMTP),
			Failed, map[string]string{"runs/1.json": "SMTP_PASSWORD is not set", "requests/rty-*/form.md": "SMTP"}, nil,
		},
		{
			set(story("11: an override is asked about", meetingAction, approve, commands("a", calendar)), byHand),
			ApprovalPending, map[string]string{"intake/a/receipt.json": `"code": "override_needs_approval"`, "requests/apr-*/request.json": `"title"`, "state.json": `"reason": "override"`}, []string{"jobs/*/*"},
		},
		{
			set(story("11: an override that is allowed", meetingAction, approve, commands("a", calendar), ends("done", "")), func(c *Config) { byHand(c); c.ExecuteOverride = "allow" }),
			Executed, map[string]string{"jobs/*/job.json": `"title": "Other"`, "intake/a/receipt.json": `"result": "accepted"`, "runs/1.json": "hr@acme.example"}, nil,
		},
		{
			story("a calendar before the approval", meetingAction, commands("a", calendar)),
			ApprovalPending, map[string]string{"intake/a/receipt.json": "to change the meeting before it is approved, revise the payload"}, []string{"jobs/*/*"},
		},
		{
			story("a simulation that no execute could begin", mailAction, commands("a", simulate)),
			ApprovalPending, map[string]string{"intake/a/receipt.json": "set execute_on_approve = false"}, []string{"jobs/*/*"},
		},
		{
			story("a calendar after the job", meetingAction, approve, ends("done", ""), commands("a", calendar)),
			Executed, map[string]string{"intake/a/receipt.json": `"code": "job_begun"`}, nil,
		},
		{
			story("a simulation while the job runs", mailAction, approve, commands("a", simulate)),
			Executing, map[string]string{"intake/a/receipt.json": `simulateFailure would change nothing: begin a new action with \"replaces\": 7`}, nil,
		},
		{
			set(story("the same simulation again", mailAction, approve, commands("a", simulate), commands("b", simulate)), byHand),
			Failed, map[string]string{"intake/b/receipt.json": `"code": "same"`}, nil,
		},
		{
			story("12: the old approval moves nothing", mailAction, commands("a", revise), repeats(`"response": "approve"`)),
			ApprovalPending, map[string]string{"requests/apr-*/problem.md": "The action asks apr-", "state.json": `"payload_source": "revise"`, "drafts/v2.md": "Another text"}, []string{"jobs/*/*"},
		},
		{
			story("13: taken back and approved", mailAction, both(commands("a", `"command": "cancel"`), responds("apr-", `"response": "approve"`))),
			Canceled, map[string]string{"requests/apr-*/receipt.json": `"result": "cancelled"`}, []string{"jobs/*/*"},
		},
		{story("14: nobody answers for a year", mailAction, enginetest.Pass(366*24*time.Hour)), ApprovalPending, nil, []string{"requests/*/receipt.json"}},
		{
			set(story("14: approval_ttl", mailAction, enginetest.Pass(73*time.Hour)), func(c *Config) { c.ApprovalTTL = "72h" }),
			Expired, map[string]string{"requests/*/receipt.json": `"result": "expired"`}, nil,
		},
		{story("16: approvers", mailAction), ApprovalPending, map[string]string{"state.json": `"may_answer": []`}, nil},
		{
			gated(story("16: approvers and gates", mailAction, responds("apr-", `"response": "approve"`)), func(c *Config) { c.Approvers = []string{"lead", "guest"} }),
			ApprovalPending, map[string]string{"state.json": "\"may_answer\": [\n    \"api:lead\"\n  ]", "requests/apr-*/problem.md": "api:lead"}, []string{"requests/*/receipt.json"},
		},
		{
			gated(story("16: nobody may answer", mailAction), func(c *Config) { c.ApproverIDs = []string{"U1"} }),
			Drafted, map[string]string{"action.json.problem.md": "[gates] lets api:lead answer, approvers everybody, and APPROVER_USER_IDS U1"}, []string{"requests/*/*"},
		},
		{
			set(story("17: untrusted", mailAction), func(c *Config) { onSMTP(c); c.Untrusted = []string{"mail.smtp_host"} }),
			Drafted, map[string]string{"action.json.problem.md": "placet trust"}, []string{"requests/*/*"},
		},
		{
			story("17: the draft is edited after asking", mailAction, put("drafts/v1.md", "Another"), responds("apr-", `"response": "approve"`)),
			ApprovalPending, map[string]string{"drafts/v1.md.problem.md": "restore it"}, []string{"requests/*/receipt.json", "jobs/*/*"},
		},
		{
			story("17: it is restored", mailAction, put("drafts/v1.md", "Another"), responds("apr-", `"response": "approve"`), put("drafts/v1.md", draft), ticksAgain("apr-", "approve"), ends("done", "")),
			Executed, nil, []string{"drafts/v1.md.problem.md"},
		},
	}
}

// gated is a configuration with a gate that lets one person answer, identified by a token, and with
// other settings.
func gated(c enginetest.Case, change func(*Config)) enginetest.Case {
	c = set(c, change)
	settings := c.Config
	c.Config = func(all *engine.Config) {
		settings(all)
		all.Gates = map[string]engine.Gate{"nemawashi": {Level: "file", Approvers: []string{"api:lead"}}}
	}
	return c
}

// 4: an action renews another one only after that one has ended.
func TestReplaces(t *testing.T) {
	const next = ".nemawashi/actions/8"
	renewed := strings.Replace(mailAction, "{", `{"replaces": 7, `, 1)
	plays(t, story("", mailAction), func(d *storyDesk) {
		d.takes(enginetest.Write(next+"/drafts/v1.md", draft), enginetest.Write(next+"/action.json", renewed))
		if d.Has(next+"/state.json") || !strings.Contains(d.Read(next+"/action.json.problem.md"), "action 7 is still approval_pending") {
			t.Errorf("it is registered: %s", d.Notes())
		}
		d.takes(both(ticks("apr-", "reject"), enginetest.Write(".nemawashi/actions/9/action.json", strings.Replace(mailAction, "{", `{"replaces": 8, `, 1))))
		d.Settle()
		if st, _ := ReadState("", []byte(d.Read(next+"/state.json"))); st.Status != ApprovalPending || d.Has(next+"/action.json.problem.md") {
			t.Errorf("it is %s: %s", st.Status, d.Notes())
		}
	})
}

// 4: a refused command leaves the state unchanged, byte for byte.
func TestWhatIsRefusedLeavesTheState(t *testing.T) {
	plays(t, story("", mailAction), func(d *storyDesk) {
		d.takes(ticks("apr-", "reject"))
		before := d.Read(dir + "/state.json")
		for i, word := range []string{cmdRequest, cmdExecute, cmdCancel} {
			d.takes(commands(string(rune('a'+i)), `"command": "`+word+`"`))
		}
		if d.Read(dir+"/state.json") != before {
			t.Errorf("the state is another one:\n%s\nit was\n%s", d.Read(dir+"/state.json"), before)
		}
	})
}

// 6: a retried job keeps its files, and the next job is another one.
func TestARetryLeavesTheJobBefore(t *testing.T) {
	plays(t, set(story("", mailAction), byHand), func(d *storyDesk) {
		d.takes(ticks("apr-", "approve"), commands("a", `"command": "execute", "simulateFailure": true`))
		first := matching(d.Tree(), "jobs/*/job.json")[0]
		before := d.Read(first)
		d.takes(responds("rty-", `"response": "retry"`), ends("done", ""))
		d.leaves(scene{status: Executed, holds: map[string]string{"runs/1.json": `"succeeded"`}})
		if jobs := matching(d.Tree(), "jobs/*/job.json"); len(jobs) != 2 || d.Read(first) != before {
			t.Errorf("there are %q, and the first says\n%s", jobs, d.Read(first))
		}
	})
}

// 8: placet waits for a draft whose last line is broken.
func TestADraftThatIsMended(t *testing.T) {
	c := story("", explicit)
	c.Files[dir+"/drafts/v1.md"] = "x\n{\"a\":\n"
	plays(t, c, func(d *storyDesk) {
		d.takes(enginetest.Pass(time.Minute))
		d.leaves(scene{status: Pending, holds: map[string]string{"drafts/v1.md.problem.md": ""}})
		d.takes(put("drafts/v1.md", "x\n{\"to\": \"pm@acme.example\"}\n"))
		d.leaves(scene{status: Drafted, holds: map[string]string{"state.json": `"payload_source": "draft_line"`}, lacks: []string{"drafts/v1.md.problem.md"}})
	})
}

// 13: two answers that differ do not count until one is removed.
func TestTwoAnswers(t *testing.T) {
	plays(t, story("", mailAction), func(d *storyDesk) {
		d.Lax = true
		d.takes(both(responds("apr-", `"response": "approve"`), ticks("apr-", "reject")))
		d.leaves(scene{status: ApprovalPending, holds: map[string]string{"requests/apr-*/problem.md": ""}, lacks: []string{"jobs/*/*", "requests/*/receipt.json"}})
		d.Remove(matching(d.Tree(), "requests/apr-*/response.json")[0])
		d.Settle()
		d.leaves(scene{status: Rejected, lacks: []string{"requests/*/problem.md"}})
	})
}

// 14: an answer that exists when placet starts after the deadline counts.
func TestAnAnswerInPlaceIsLate(t *testing.T) {
	plays(t, story("", expiring), func(d *storyDesk) {
		d.Settle()
		respond := d.Tree()
		responds("apr-", `"response": "approve"`).Do(respond)
		for _, p := range matching(respond, "requests/*/response.json") {
			d.Put(p, respond[p])
		}
		d.Pass(2 * time.Hour)
		d.Restart()
		d.Settle()
		d.leaves(scene{status: Executing, holds: map[string]string{"requests/apr-*/receipt.json": `"late": true`}})
	})
}

// 15: a text that is too long is in a file, and the approval covers that file.
func TestWhatIsTooLongStandsInAFile(t *testing.T) {
	body := strings.Repeat("燃え尽き ", longestBody/13)
	c := story("", strings.Replace(mailAction, `"subject"`, `"body": "`+body+`", "subject"`, 1))
	plays(t, c, func(d *storyDesk) {
		d.Settle()
		file := matching(d.Tree(), "requests/apr-*/part-1-body.txt")[0]
		d.leaves(scene{status: ApprovalPending, holds: map[string]string{
			"requests/apr-*/part-1-body.txt": body, "requests/apr-*/form.md": engine.Sum([]byte(body)).Hex(), "requests/apr-*/request.json": `"head": "燃え尽き`,
		}})
		d.takes(enginetest.Write(file, body+"!"), responds("apr-", `"response": "approve"`))
		d.leaves(scene{status: ApprovalPending, lacks: []string{"requests/*/receipt.json"}, holds: map[string]string{"requests/apr-*/problem.md": "part-1-body.txt"}})
		d.takes(enginetest.Write(file, body))
		d.leaves(scene{status: ApprovalPending, holds: map[string]string{"requests/apr-*/form-*.md": "does not count"}})
		d.takes(ticksAgain("apr-", "approve"))
		d.leaves(scene{status: Executing})
	})
}

// 15: whatever a batch contains, its request and its form keep their limits.
func TestTheLargestBatchFits(t *testing.T) {
	const batch = `{"type": "mail_draft", "summary": "s", "requested_by": "a", "payload": {"actions": [`
	for name, c := range map[string]struct {
		parts       int
		part, draft string
	}{
		"20 of 256 KiB":     {mostParts, `{"type": "mail_draft"}`, strings.Repeat("w", longestBody)},
		"fences and quotes": {mostParts, `{"type": "mail_draft"}`, strings.Repeat("```\"", longestBody/4)},
		"16 that are shown": {16, `{"type": "mail_draft"}`, "x" + strings.Repeat("\u202e", shownText/3-1)},
	} {
		t.Run(name, func(t *testing.T) {
			s := story(name, batch+strings.Repeat(c.part+",", c.parts-1)+c.part+`]}}`)
			s.Files[dir+"/drafts/v1.md"] = c.draft
			plays(t, s, func(d *storyDesk) {
				d.Settle()
				d.leaves(scene{status: ApprovalPending})
				tree := d.Tree()
				for file, most := range map[string]int{"request.json": 1 << 20, "form.md": 512 << 10} {
					list := matching(tree, "requests/apr-*/"+file)
					if len(list) != 1 || len(tree[list[0]]) > most {
						t.Errorf("of %s there is %q; it may have %d bytes\n%s", file, list, most, d.Notes())
					}
				}
			})
		})
	}
}

// 17: a state that says approved is no approval.
func TestAStateThatSaysApproved(t *testing.T) {
	plays(t, story("", mailAction), func(d *storyDesk) {
		d.Lax = true
		d.Settle()
		for _, status := range []string{"approved", "executing"} {
			was := d.Read(dir + "/state.json")
			d.takes(put("state.json", strings.Replace(was, `"status": "approval_pending"`, `"status": "`+status+`"`, 1)))
			d.leaves(scene{status: engine.Status(status), holds: map[string]string{"state.json.problem.md": ""}, lacks: []string{"jobs/*/*"}})
			d.takes(put("state.json", was))
		}
	})
}

// 17: a part that was approved for one provider is not carried out by another.
func TestAProviderThatChanged(t *testing.T) {
	plays(t, set(story("", mailAction), byHand), func(d *storyDesk) {
		d.takes(ticks("apr-", "approve"))
		d.Case.Config = set(enginetest.Case{}, func(c *Config) { byHand(c); onSMTP(c) }).Config
		d.takes(commands("a", `"command": "execute"`))
		d.leaves(scene{status: Approved, lacks: []string{"jobs/*/*"}, holds: map[string]string{
			"action.json.problem.md": "part 1 was approved for mock", "intake/a/receipt.json": `"code": "provider_changed"`,
		}})
	})
}

// 9: an attempt that no process carries out any more is lost at its deadline, not earlier; a mail
// is never sent again.
func TestLostAfterACrash(t *testing.T) {
	run, _ := layout.Nemawashi{}.At(dir + "/state.json")
	config := laws().Config
	set(enginetest.Case{}, onSMTP).Config(&config)
	s := enginetest.NewStage(t, New(), layout.Nemawashi{}, run, config)
	s.Now = now
	s.Write("action.json", mailAction)
	s.Write("drafts/v1.md", draft)
	s.Settle()
	tree := enginetest.Tree(s.Files)
	s.Tick(open(tree, "apr-")+"/form.md", "approve", "submit")
	s.Settle()
	if len(s.Begun) != 1 || s.Begun[0].Recorded || s.Begun[0].Send.Mail.Body != draft {
		t.Fatalf("it begins %+v", s.Begun)
	}
	clear(s.Facts.Alive) // the process is killed
	s.Now = s.Now.Add(80 * time.Second)
	if s.Settle(); len(s.Begun) != 1 {
		t.Fatalf("before the deadline it begins %+v", s.Begun[1:])
	}
	s.Now = s.Now.Add(2 * time.Second)
	if s.Settle(); len(s.Begun) != 2 || !s.Begun[1].Recorded || s.Begun[1].Send.Mail != nil || s.Begun[1].ID != s.Begun[0].ID {
		t.Fatalf("at the deadline it begins %+v", s.Begun[1:])
	}
	ends("lost", "").Do(tree)
	clear(s.Facts.Alive)
	s.Settle()
	s.Now = s.Now.Add(24 * time.Hour)
	if s.Settle(); len(s.Begun) != 2 || open(tree, "out-") == "" {
		t.Errorf("it begins %+v", s.Begun[2:])
	}
}

// 9: an attempt with an unknown result is repeated with the same key if the provider honours it,
// three times in all; then a person is asked.
func TestKeysThatAreHonoured(t *testing.T) {
	const hr = `{"type": "hr_request", "summary": "A day off", "requested_by": "agent", "payload": {"days": 1}}`
	httpOn := func(c *Config) {
		c.HR.Provider, c.HR.APIURL, c.HR.HonoursIdempotencyKey = http, "https://hr.acme.example/api", true
	}
	plays(t, set(story("", hr), httpOn), func(d *storyDesk) {
		d.takes(ticks("apr-", "approve"))
		for n := 1; n <= 3; n++ {
			job := path.Dir(path.Dir(d.Tree().Find(dir + "/jobs/*/1/attempt-1.json")))
			if body := d.Read(fmt.Sprintf("%s/1/attempt-%d.json", job, n)); !strings.Contains(body, fmt.Sprintf(`"idempotency_key": "%s-1"`, path.Base(job))) {
				t.Errorf("attempt %d has another key: %s", n, body)
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

// 11: an unusable override is refused.
func TestAnOverrideThatCannotBeUsed(t *testing.T) {
	const other = `"command": "execute", "calendar": {"attendee": "hr@acme.example", "title": "Other", "startAt": "2026-11-25T10:00", "endAt": "2026-11-25T11:00"}`
	plays(t, set(story("", meetingAction), func(c *Config) { byHand(c); c.ExecuteOverride = "allow" }), func(d *storyDesk) {
		d.takes(ticks("apr-", "approve"), commands("a", strings.Replace(other, "hr@acme.example", "not an address", 1)), commands("b", other), ends("done", ""))
		d.leaves(scene{status: Executed, holds: map[string]string{"intake/a/receipt.json": `"code": "bad_override"`}})
	})
}

// An approval that fits into no form is not requested.
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
	plays(t, c, func(d *storyDesk) {
		d.Settle()
		d.leaves(scene{status: Drafted, holds: map[string]string{"action.json.problem.md": "what a person must be shown takes "}})
	})
}

// 11: an override is carried out if its author may approve. Whoever pulled a command is not its
// author.
func TestAnOverrideThatCameByGitIsAskedAbout(t *testing.T) {
	const other = `"command": "execute", "calendar": {"attendee": "hr@acme.example", "title": "Other", "startAt": "2026-11-25T10:00", "endAt": "2026-11-25T11:00"}`
	for mail, want := range map[string]engine.Status{"": Executed, "alice@example.com": ApprovalPending} {
		suite := laws()
		suite.Lookup = func(need string) engine.Document {
			d := engine.Document{Path: need, Err: engine.ErrAbsent}
			if strings.HasPrefix(need, engine.CommitterNeed) && strings.HasSuffix(need, "/command.json") {
				d.Body, d.Err = []byte(mail), nil
			}
			return d
		}
		c := set(story("", meetingAction), func(c *Config) { byHand(c); c.ExecuteOverride = "allow" })
		own := c.Config
		c.Config = func(all *engine.Config) {
			own(all)
			all.Gates = map[string]engine.Gate{"*": {Approvers: []string{"owner:root", "committed:bob@example.com"}}}
		}
		enginetest.AtDesk(t, suite, c, func(desk *enginetest.Desk) {
			d := &storyDesk{desk}
			d.takes(ticks("apr-", "approve"), commands("a", other))
			if want == Executed {
				d.takes(ends("done", ""))
			}
			d.leaves(scene{status: want})
		})
	}
}
