package afl

import (
	"slices"
	"testing"
	"time"

	"placet/engine/run"
	"placet/internal/enginetest"
)

var (
	one      = []cp{{id: "a"}}
	chain    = []cp{{id: "a", expected: "4 passing"}, {id: "b", after: []string{"a"}}}
	siblings = []cp{{id: "a"}, {id: "b"}}
)

// designCases cover how a design arrives, is approved and changes.
func designCases(t *testing.T) []enginetest.Case {
	return append(append(approvalCases(), changeCases()...), wholeCases(t)...)
}

// unapproved returns a case of a design that nobody has approved.
func unapproved(name string, checkpoints []cp, steps ...enginetest.Step) enginetest.Case {
	c := newCase(name, checkpoints, steps...)
	c.Files = enginetest.Tree{sessionDir + "/" + specsYAML: design("", checkpoints...)}
	return c
}

// askedAndReviewed returns a case of a session that a person approves and reviews.
func askedAndReviewed(checkpoints []cp, steps ...enginetest.Step) enginetest.Case {
	steps = slices.Concat([]enginetest.Step{enginetest.Pass(5 * time.Minute), stands(Designing), ticks(typeApproval, "", "approve", "")}, steps,
		[]enginetest.Step{responds(typeReview, "", "accept", "well done"), stands(Completed)})
	return with(unapproved("asked, passed, reviewed", checkpoints, steps...), func(c *Config) { c.ApprovalQuiet = ptr("4m") })
}

func approvalCases() []enginetest.Case {
	return []enginetest.Case{
		askedAndReviewed(chain, stands(Delegating, "a=in_progress", "b=pending"),
			completes("a"), runEnds("a", outcome{stdout: "4 passing (3ms)\n"}), stands(Delegating, "a=completed", "b=in_progress"),
			completes("b"), passes("b")),
		unapproved("changes requested, rejected", one,
			responds(typeApproval, "", "request_changes", "split it"), enginetest.Pass(time.Hour), stands(Designing),
			redesigns("", siblings...), redesigns("", one[0], cp{id: "c"}), responds(typeApproval, "", "reject", ""), stands(Aborted),
		),
		unapproved("changes requested, then stamped", one,
			responds(typeApproval, "", "request_changes", "say more"), redesigns(approvedHead, one...), stands(Designing),
			restamps(one...), stands(Delegating, "a=in_progress"), wants(run.WantAbort), stands(Aborted, "a=aborted"),
		),
		outsider(enginetest.Case{
			Name: "approved by meta.json, in the second layout", Now: lawNow,
			Files: enginetest.Tree{
				sessionDir + "/checkpoints/a.json": `{"id": "a", "validation": {"command": "run a", "expectedOutput": 200}}`,
				sessionDir + "/meta.json":          `{"sessionId": "abc12345", "title": "A"}`,
			},
			Steps: []enginetest.Step{
				stands(Designing), lawPut("meta.json", `{"sessionId": "abc12345", "title": "A", "checkpointsApproved": true}`),
				stands(Delegating, "a=in_progress"), completes("a"), outside("a", 0, "HTTP 200", ""), stands(Delegating, "a=completed"),
			},
		}),
		{
			Name: "adopted", Now: lawNow,
			Files: enginetest.Tree{
				sessionDir + "/meta.json":    `{"sessionId": "abc12345", "status": "completed"}`,
				sessionDir + "/" + specsYAML: design(approvedHead, one...),
			},
		},
		oldSession(),
	}
}

// oldSession is a session that upstream has already worked on.
func oldSession() enginetest.Case {
	c := newCase("a checkpoint adopted", chain, stands(Delegating, "a=completed", "b=in_progress"), completes("b"), passes("b"))
	c.Files[sessionDir+"/delegations/a/status.json"] = `{"checkpointId": "a", "status": "checkpoint_passed"}`
	c.Files[sessionDir+"/delegations/b/iterations/1/result.json"] = result(1, 1, "x", "")
	c.Files[sessionDir+"/delegations/b/iterations/2/feedback.md"] = "upstream's\n"
	c.Notes = true
	return with(c, func(c *Config) { c.Review = ptr(reviewOff) })
}

func changeCases() []enginetest.Case {
	other := []cp{{id: "a", expected: "new"}, {id: "c"}}
	return []enginetest.Case{
		newCase("changed and undone, changed and approved", chain,
			redesigns(approvedHead, other...), stands(Paused, "a=in_progress"),
			redesigns(approvedHead, chain...), stands(Delegating, "a=in_progress"),
			redesigns(approvedHead, other...), responds(typeApproval, "", "request_changes", "why c?"), stands(Paused),
			restamps(other...), stands(Delegating, "a=in_progress", "b=aborted", "c=in_progress"),
		),
		newCase("redesigned and approved", siblings,
			completes("a"), breaks("a"), stands(Escalated, "a=escalated"), responds(typeEscalation, "a", "redesign", "think again"),
			stands(Paused, "a=pending", "b=in_progress"), ticks(typeApproval, "", "approve", ""), stands(Delegating, "a=in_progress"),
		),
		newCase("changed while escalated", siblings,
			completes("a"), breaks("a"), stands(Escalated, "a=escalated"),
			redesigns(approvedHead, other...), responds(typeApproval, "", "request_changes", "no"), stands(Escalated),
			redesigns(approvedHead, siblings...), stands(Escalated), redesigns(approvedHead, other...), restamps(other...),
			stands(Delegating, "a=in_progress", "b=aborted", "c=in_progress"),
		),
	}
}
