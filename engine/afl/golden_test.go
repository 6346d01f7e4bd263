package afl

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/engine/gate"
	"placet/engine/run"
	"placet/engine/testoutput"
)

var updateGolden = flag.Bool("update", false, "write the golden files anew")

// golden compares a document with its golden file.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if *updateGolden {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// couponService is a checkpoint with everything that a definition can have.
func couponService() Definition {
	return Definition{
		ID: "coupon-service", Name: "Coupon service", Type: "implementation",
		Description:  "apply coupons\nto an order",
		Dependencies: []string{"coupon-model"},
		Criteria:     []string{"a second coupon on one order is refused", "an expired coupon is refused"},
		Command:      "npm test -- --grep CouponService", Expected: "4 passing", TimeoutMS: ptr(int64(60000)),
	}
}

// failedVerdict is a verdict that an analysis explains.
func failedVerdict() Verdict {
	return Verdict{
		Iteration: 2, Run: 2, Source: fromValidation, ExitCode: ptr(1), MatchedText: ptr(false),
		FailureType: text(testoutput.LogicError), TypeFrom: fromAnalysis, Rule: "L",
		FailedCriteria: []string{"a second coupon on one order is refused"},
		FailingTests:   []string{"CouponService applies one coupon"},
		KeyLines:       []string{"  1) CouponService applies one coupon", "AssertionError: expected 2 to equal 1"},
		RelatedFiles:   []string{"src/coupon.ts", "test/coupon.test.ts"},
		Causes:         []string{"the guard looks at the cart, not at the order"},
		Suggestions: []Suggestion{
			{File: "src/coupon.ts", Line: ptr(42), Before: "if (cart.coupon) {", After: "if (order.coupon) {", Why: "the order keeps the coupon"},
			{File: "docs/coupons.md", Why: "say so"},
		},
		Signature: "00112233445566ff", Route: routeRetry,
	}
}

func couponFeedback(lang string) feedbackData {
	return feedbackData{
		Lang: lang, Session: "abc12345", Def: couponService(), Max: 5, Verdict: failedVerdict(), Timeout: time.Minute,
		Stdout: "\x1b[32m3 passing\x1b[0m\r\n\x1b[31m1 failing\x1b[0m\r\n", Note: "Mind the currency.",
	}
}

func couponPrompt(lang string) promptData {
	return promptData{
		Lang: lang, Session: "abc12345", Def: couponService(), Attempt: 3, Max: 5, Timeout: time.Minute,
		Dependencies:  []string{"coupon-model: completed"},
		Prerequisites: []Prerequisite{{ID: "db", Name: "Database", Type: "environment", Script: "docker compose up -d db"}},
		Contracts:     []contract{{"Coupon service", ".afl/sessions/abc12345/specs/contracts.md", "## Coupon service\n\n```ts\napply(coupon): Order\n```\n"}},
		ContractNames: []string{"CouponService", "CouponService.test"},
		Architecture:  ".afl/sessions/abc12345/specs/architecture.md",
		Feedback:      string(feedbackMD(couponFeedback(lang))), FeedbackOf: 2,
		Worker:   ".afl/sessions/abc12345/delegations/coupon-service/iterations/3/worker.json",
		Answer:   ".afl/sessions/abc12345/delegations/coupon-service/iterations/3/answer.md",
		Question: ".afl/sessions/abc12345/delegations/coupon-service/pending-question.json",
	}
}

// judgedFailure is a failed verdict in a history.
func judgedFailure(n int, t testoutput.Type, signature string) Judged {
	return Judged{
		Iteration: n, Run: 1, Epoch: 0, Result: failed, Route: routeRetry, FailureType: text(t), Rule: "L", Signature: text(signature),
		FailedCriteria: []string{"CouponService applies one coupon"}, Timestamp: "2026-01-19T10:4" + text(rune('0'+n)) + ":00.000Z",
		DurationMS: 1200, Source: fromValidation,
	}
}

func couponEscalation(lang string) escalationData {
	v := failedVerdict()
	v.Iteration, v.Run, v.Route, v.Causes, v.Suggestions = 3, 1, routeMaxRetry, nil, nil
	last := judgedFailure(3, testoutput.LogicError, "b")
	last.Route = routeMaxRetry
	return escalationData{
		Lang: lang, Session: "abc12345", Def: couponService(), Verdict: v, PatternAfter: 2, Timeout: time.Minute,
		C: Checkpoint{
			Status: Escalated, Iteration: 3, MaxIterations: 3,
			Escalation: &Escalation{
				At: "2026-01-19T10:43:00.000Z", Iteration: 3, Run: ptr(1), Route: routeMaxRetry, FailureType: testoutput.LogicError,
				Reason: "ESCALATE_MAX_RETRY: 3 of 3 attempts failed", RequestID: "escalation-0123456789ab",
			},
			History: []Judged{judgedFailure(1, testoutput.NotImplemented, "a"), judgedFailure(2, testoutput.LogicError, "b"), last},
		},
		Dependents: []string{"coupon-api"},
		Files:      []string{".afl/sessions/abc12345/delegations/coupon-service/iterations/3/"},
		Options:    []string{"retry_more", "redesign", "env_fixed", "skip", "skip_forced", "abort"},
	}
}

// couponSession is an ended session with everything that a report can show.
func couponSession(lang string) State {
	pass := Judged{Iteration: 2, Run: 1, Result: passed, Route: routePass, FailedCriteria: []string{}, Timestamp: "2026-01-19T10:50:00.000Z", Source: fromValidation}
	escalated := judgedFailure(1, testoutput.EnvIssue, "e")
	escalated.Route = routeEnv
	return State{
		SessionID: "abc12345", Language: lang, Revision: 31, Status: Completed,
		CreatedAt: "2026-01-19T10:00:00.000Z", StartedAt: "2026-01-19T10:30:10.000Z", FinishedAt: "2026-01-19T11:40:00.000Z",
		Approved: &Approved{At: "2026-01-19T10:30:00.000Z", By: "min", Source: "request", Definitions: []Definition{
			{ID: "coupon-model"}, {ID: "coupon-service", Dependencies: []string{"coupon-model"}}, {ID: "coupon-api", Dependencies: []string{"coupon-service"}},
		}},
		Checkpoints: map[string]*Checkpoint{
			"coupon-model": {
				Status: Completed, Iteration: 2, MaxIterations: 5, StartedAt: "2026-01-19T10:31:00.000Z", LastAttemptAt: "2026-01-19T10:45:00.000Z",
				History: []Judged{judgedFailure(1, testoutput.LogicError, "a"), pass}, Feedback: []Feedback{{Iteration: 1}},
			},
			"coupon-service": {
				Status: Aborted, Iteration: 1, MaxIterations: 5, Skip: skipForced, AbortedBecause: becauseSkipped,
				StartedAt: "2026-01-19T10:31:00.000Z", LastAttemptAt: "2026-01-19T10:31:00.000Z", History: []Judged{escalated},
				Escalation: &Escalation{Iteration: 1, Run: ptr(1), Route: routeEnv, FailureType: testoutput.EnvIssue,
					Reason: "ESCALATE_ENV: sh: 1: docker: not found", RequestID: "escalation-0123456789ab"},
			},
			"coupon-api": {Status: Completed, Iteration: 1, MaxIterations: 5, StartedAt: "2026-01-19T10:55:00.000Z",
				Questions: []Question{{Number: 1, Text: "Which | currency?", RequestID: "question-0123456789ab"}},
				History:   []Judged{{Iteration: 1, Run: 1, Result: passed, Route: routePass, Timestamp: "2026-01-19T10:55:45.900Z"}}},
			"coupon-cache": {Status: Aborted, AbortedBecause: becauseRemoved, MaxIterations: 5},
		},
		Requests: []*run.Request{
			{ID: "approve-0123456789ab", Type: "specs_approval", Revision: 3, OpenedAt: "2026-01-19T10:20:00.000Z", Status: gate.Accepted, Response: "approve", By: &run.By{User: "min"}},
			{ID: "escalation-0123456789ab", Type: typeEscalation, Subject: "coupon-service", Revision: 9, OpenedAt: "2026-01-19T10:41:00.000Z", Status: gate.Accepted, Response: "skip_forced", Comment: "No docker here.\nGo on.", By: &run.By{User: "min"}},
			{ID: "question-0123456789ab", Type: "clarification", Subject: "coupon-api", Revision: 20, OpenedAt: "2026-01-19T10:55:10.000Z", Status: gate.Superseded},
			{ID: "review-0123456789ab", Type: "implementation_review", Revision: 30, OpenedAt: "2026-01-19T11:00:00.000Z", Status: gate.Accepted, Response: "accept", Selected: []string{"accept"}, By: &run.By{User: "ha"}},
		},
		Review: &Review{Round: 1, Mode: "person", Status: gate.Accepted, Notes: []Note{
			{Checkpoint: "coupon-api", Severity: "non_blocking", Text: "Name the limit\nsrc/api.ts:3"}, {Text: "Well done."},
		}},
	}
}

func TestGolden(t *testing.T) {
	for _, lang := range []string{"en", "ko"} {
		st := couponSession(lang)
		unanswered := couponEscalation(lang)
		unanswered.Verdict, unanswered.Question = Verdict{}, "Which currency:\nEUR or USD?"
		unanswered.C.Escalation.Run, unanswered.C.Escalation.Route, unanswered.C.Escalation.FailureType = nil, routeUnclear, testoutput.Unknown
		unanswered.C.Escalation.Reason = "ESCALATE_UNCLEAR: Which currency: EUR or USD?"
		reopened := couponFeedback(lang)
		reopened.Verdict = Verdict{Iteration: 1, Run: 1, Source: fromResult, Passed: true, ExitCode: ptr(0), Route: routePass}
		reopened.Stdout = "4 passing"
		for name, body := range map[string][]byte{
			"prompt.md":   promptMD(couponPrompt(lang)),
			"first.md":    promptMD(promptData{Lang: lang, Session: "s", Def: Definition{ID: "a", Name: "a", Type: "api"}, Attempt: 1, Max: 1}),
			"feedback.md": feedbackMD(couponFeedback(lang)),
			"reopened.md": feedbackMD(reopened),
			"answer.md": answerMD(lang, "abc12345", "coupon-service", 3, []Question{
				{Number: 1, Text: "EUR or USD?", Answer: "EUR\n\n# always", AnsweredBy: "min", AnsweredAt: "2026-01-19T11:00:00.000Z"},
				{Number: 2, Text: "Still open?"},
				{Number: 3, Text: "Round up?", Answer: "No", AnsweredBy: "ha", AnsweredAt: "2026-01-19T11:10:00.000Z"},
			}),
			"escalation.md":   escalationMD(couponEscalation(lang)),
			"unanswered.md":   escalationMD(unanswered),
			"escalation.json": escalationJSON(couponEscalation(lang)),
			"unanswered.json": escalationJSON(unanswered),
			"report.md":       reportMD(st),
			"changes.md": changesMD(lang, "abc12345", ChangesRequested{Digest: "sha256:00", At: "2026-01-19T10:25:00.000Z", By: "min", Comment: "Split the service.\n\n- [x] approve"},
				[]string{"W1 empty_criteria specs/checkpoints.yaml:3: coupon-model: no criteria"}),
		} {
			golden(t, lang+"-"+name, body)
		}
	}
	st := couponSession("en")
	st.Checkpoints["coupon-model"].Revision, st.Checkpoints["coupon-cache"].Revision = 8, 4
	golden(t, "status.json", statusJSON(st))
	golden(t, "checkpoint-status.json", checkpointStatusJSON(st, "coupon-model"))
	golden(t, "routing.json", routingJSON(st, "coupon-model"))
	golden(t, "routing-fresh.json", routingJSON(st, "coupon-cache"))
}
