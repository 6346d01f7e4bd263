package afl

import (
	"placet/engine/gate"
	"placet/engine/run"
	"strings"
	"testing"
)

// An earlier escalation, which the state no longer holds, is told by its
// verdict.
func TestTheReportTellsOfEarlierEscalations(t *testing.T) {
	first := judgedFailure(1, "DESIGN_MISMATCH", "d")
	first.Route = routeDesign
	st := State{
		Language: "en", SessionID: "s", Status: Aborted,
		Checkpoints: map[string]*Checkpoint{"a": {Status: Aborted, Skip: skipPlain, History: []Judged{first},
			Escalation: &Escalation{RequestID: "second", Reason: "ESCALATE_UNCLEAR: why?"}}},
		Requests: []*run.Request{
			{ID: "second", Type: typeEscalation, Subject: "a", Revision: 9, OpenedAt: "2026-01-19T11:00:00.000Z", Status: gate.Accepted, Response: "skip"},
			{ID: "first", Type: typeEscalation, Subject: "a", Revision: 5, OpenedAt: first.Timestamp, Status: gate.Accepted, Response: "retry_more"},
			{ID: "lost", Type: typeEscalation, Subject: "b", Revision: 7, Status: gate.Cancelled},
		},
	}
	body := string(reportMD(st))
	want := "| 2026-01-19T10:41:00.000Z | escalation | a | ESCALATE_DESIGN: DESIGN_MISMATCH | retry_more | — | — |\n" +
		"| — | escalation | b | — | cancelled | — | — |\n" +
		"| 2026-01-19T11:00:00.000Z | escalation | a | ESCALATE_UNCLEAR: why? | skip | — | — |\n"
	if !strings.Contains(body, want) || !strings.Contains(body, "- a: skipped by a person\n") {
		t.Errorf("report.md:\n%s", body)
	}
}

func TestEveryReasonOfAnAbortHasWords(t *testing.T) {
	for _, lang := range []string{"en", "ko"} {
		for _, why := range []string{skipPlain, skipForced, becauseSkipped, becauseDependency, becauseRemoved, becauseSession} {
			if words := phrase(lang, "report.because."+why); strings.HasPrefix(words, "afl.") {
				t.Errorf("%s has no words for %s", lang, why)
			}
		}
	}
}

func TestARejectedSessionHasAReport(t *testing.T) {
	st := State{Language: "ko", SessionID: "s", Status: Aborted, CreatedAt: "2026-01-19T10:00:00.000Z"}
	if body := string(reportMD(st)); !strings.Contains(body, "# 세션 s: aborted\n") || !strings.Contains(body, "| 승인 | — |\n") {
		t.Errorf("report.md:\n%s", body)
	}
}
