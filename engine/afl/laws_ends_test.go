package afl

import (
	"testing"
	"time"

	"placet/engine/run"
	"placet/internal/enginetest"
)

// personCases are what a person does with control.json and with escalations.
func personCases() []enginetest.Case {
	two := []cp{{id: "a"}, {id: "b", after: []string{"a"}}, {id: "c"}}
	once := func(c enginetest.Case) enginetest.Case {
		return with(c, func(c *Config) { c.MaxIterations = ptr(1) })
	}
	return []enginetest.Case{
		newCase("paused and resumed", siblings,
			completes("a"), fails("a"), wants(run.WantPause), stands(Paused, "a=retrying"), enginetest.Pass(time.Hour), lawRemove("control.json"),
			stands(Paused, "a=retrying"), wants(run.WantRun), stands(Delegating, "a=in_progress"),
		),
		newCase("escalated while paused", two,
			completes("a"), completes("c"), wants(run.WantPause), breaks("a"), stands(Escalated, "a=escalated"),
			responds(typeEscalation, "a", "skip", ""), stands(Paused, "a=aborted", "b=aborted"), breaks("c"),
			wants(run.WantRun), stands(Escalated, "c=escalated"), lawRemove("control.json"), wants(run.WantPause), stands(Escalated),
			responds(typeEscalation, "c", "env_fixed", ""), stands(Paused, "c=validating"), wants(run.WantAbort), stands(Aborted, "c=aborted"),
		),
		once(newCase("retry_more, skip_forced, abort", two,
			completes("a"), fails("a"), stands(Escalated, "a=escalated"),
			responds(typeEscalation, "a", "retry_more", "attempts: 1\nlook at the totals"), stands(Delegating, "a=in_progress"),
			completes("a"), fails("a"), ticks(typeEscalation, "a", "skip_forced", ""), stands(Delegating, "a=aborted", "b=in_progress"),
			completes("b"), fails("b"), responds(typeEscalation, "b", "abort", "enough"), stands(Aborted, "b=aborted", "c=aborted"),
		)),
		once(newCase("skipped to the end", two[:2], completes("a"), fails("a"), ticks(typeEscalation, "a", "skip", ""), stands(Aborted, "a=aborted", "b=aborted"))),
		{
			Name: "aborted before it was read", Now: lawNow,
			Files: enginetest.Tree{sessionDir + "/meta.json": `{}`}, Steps: []enginetest.Step{wants(run.WantAbort), stands(Aborted)},
		},
	}
}

// reviewed returns a case whose two checkpoints have passed.
func reviewed(name, review string, steps ...enginetest.Step) enginetest.Case {
	c := newCase(name, siblings, append([]enginetest.Step{completes("a"), passes("a"), completes("b"), passes("b")}, steps...)...)
	return with(c, func(c *Config) { c.Review = &review })
}

// endCases are reviews and sessions that end.
func endCases(t *testing.T) []enginetest.Case {
	external := func(round, severity string) enginetest.Step {
		return lawPut("review"+round+".json", `{"reviewer": "oracle", "findings": [{"checkpoint": "b", "severity": "`+severity+`", "title": "no tests"}]}`)
	}
	return []enginetest.Case{
		reviewed("reopened by a person", reviewPerson,
			ticks(typeReview, "", "reopen:a", "rounding is wrong"), stands(Delegating, "a=in_progress", "b=completed"),
			completes("a"), passes("a"), ticks(typeReview, "", "accept", ""), stands(Completed)),
		newCase("what depends on a reopened one is validated again", chain,
			completes("a"), runEnds("a", outcome{stdout: "4 passing (3ms)\n"}), completes("b"), passes("b"),
			ticks(typeReview, "", "reopen:a", "rounding is wrong"), stands(Delegating, "a=in_progress", "b=completed"),
			completes("a"), runEnds("a", outcome{stdout: "4 passing (4ms)\n"}), stands(Delegating, "a=completed", "b=validating"),
			passes("b"), ticks(typeReview, "", "accept", ""), stands(Completed)),
		reviewed("reopened by an outside reviewer", reviewExternal,
			external("", "blocking"), stands(Delegating, "a=completed", "b=in_progress"), completes("b"), passes("b"),
			external("-2", "non_blocking"), stands(Completed)),
		reviewed("not reviewed", reviewOff, stands(Completed)),
		abortedWhileApproved(t),
	}
}

// abortedWhileApproved begins where another placet was killed: the definitions are approved but not
// applied yet.
func abortedWhileApproved(t *testing.T) enginetest.Case {
	w := approvedWorld(t, siblings...)
	for w.step("state.json"); w.state().Status != Approving; w.Step() {
	}
	w.Write("control.json", `{"want": "abort", "by": "kim"}`)
	return enginetest.Case{Name: "aborted while approved", Now: lawNow, Files: w.Files, Steps: []enginetest.Step{stands(Aborted)}}
}
