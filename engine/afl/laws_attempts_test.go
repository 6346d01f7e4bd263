package afl

import (
	"time"

	"placet/engine"
	"placet/internal/enginetest"
)

// attemptCases cover an attempt from its start to its verdict.
func attemptCases() []enginetest.Case {
	return append(append(runCases(), questionCases()...), workerCases()...)
}

// runCases are validations and verdicts.
func runCases() []enginetest.Case {
	return []enginetest.Case{
		newCase("passed", chain[:1], completes("a"), runEnds("a", outcome{stdout: "4 passing (3ms)\n"}), stands(Delegating, "a=completed")),
		newCase("failed, retried, passed", []cp{{id: "a", expected: "3 passed"}},
			completes("a"), runEnds("a", outcome{stdout: "13 passed\n"}), stands(Delegating, "a=retrying"), enginetest.Pass(3*time.Minute),
			stands(Delegating, "a=in_progress"), completes("a"), runEnds("a", outcome{stdout: "3 passed\n"}), stands(Delegating, "a=completed")),
		outsider(untrusted("a result decides", siblings,
			outside("a", 0, `{"hook_event_name":"PostToolUse"}`, ""), stands(Delegating, "a=in_progress"),
			outside("a", 1, "the interface differs\n", `, "failure_type": "DESIGN_MISMATCH"`), stands(Escalated, "a=escalated", "b=in_progress"),
			completes("b"), outside("b", 0, "fine\n", ""), stands(Escalated, "b=completed"), ticks(typeEscalation, "a", "env_fixed", ""),
			stands(Delegating, "a=validating"), outside("a", 0, "fine now\n", ""), stands(Delegating, "a=completed"))),
		trustedLater(),
		newCase("lost, run again, lost, failed, run again", one,
			completes("a"), runEnds("a", outcome{how: engine.CommandLost}), stands(Delegating, "a=validating"),
			ticks(typeInterrupted, "a", "run_again", ""), runEnds("a", outcome{how: engine.CommandStopped}), runEnds("a", outcome{how: engine.CommandLost}),
			responds(typeInterrupted, "a", "failed", ""), stands(Escalated, "a=escalated"),
			ticks(typeEscalation, "a", "env_fixed", ""), passes("a"), stands(Delegating, "a=completed")),
		with(newCase("lost and run again unasked", one, completes("a"), runEnds("a", outcome{how: engine.CommandLost}), runEnds("a", outcome{how: engine.CommandNotStarted}), stands(Escalated, "a=escalated")),
			func(c *Config) { c.Interrupted = ptr(interruptedAuto) }),
		with(newCase("analysed, not analysed", siblings,
			completes("a"), completes("b"), fails("a"), fails("b"), stands(Delegating, "a=validating", "b=validating"),
			lawPut(place("a", 1, "analysis.json"), `{"failure_type": "ENV_ISSUE", "causes": ["no database"], "suggestions": [{"file": "db.go", "why": "start it"}]}`),
			stands(Escalated, "a=escalated", "b=validating"), enginetest.Pass(3*time.Minute), stands(Escalated, "b=retrying")),
			func(c *Config) { c.OracleWait = ptr("2m") }),
	}
}

// untrusted returns a case whose commands nobody trusts.
func untrusted(name string, checkpoints []cp, steps ...enginetest.Step) enginetest.Case {
	c := newCase(name, checkpoints, steps...)
	c.Trusted = nil
	return c
}

// outsider makes an outside validator decide in a case.
func outsider(c enginetest.Case) enginetest.Case {
	return with(c, func(c *Config) { c.Validation = ptr(validateResult) })
}

// trustedLater returns a case in which a command becomes runnable while its attempt waits for an
// outside result. Trust cannot change in a case, so the setting for outside results is removed
// instead.
func trustedLater() enginetest.Case {
	c := newCase("may be run later", one, completes("a"), stands(Delegating, "a=validating"), enginetest.Remove(upstreamJSON), passes("a"), stands(Delegating, "a=completed"))
	c.Files[upstreamJSON] = `{"validation": {"method": "manual"}}`
	c.Trusted = append(c.Trusted, engine.Sum([]byte("afl.validation\n\"result\"")))
	return c
}

// questionCases are questions of outside workers.
func questionCases() []enginetest.Case {
	event := `{"tool_name":"AskUserQuestion","tool_input":{"questions":[{"question":"Which way?","options":[{"label":"left"},{"label":"right"}]}]}}`
	three := []cp{{id: "a"}, {id: "b"}, {id: "c"}}
	return []enginetest.Case{
		newCase("asked and answered", one,
			hookAsks("a", event), stands(Delegating, "a=waiting_for_human"), ticks(typeClarification, "a", "answer", "left, please"),
			stands(Delegating, "a=in_progress"), hookAsks("a", "And then?"), handsIn("a", map[string]any{"status": "question", "question": "Or rather?"}),
			stands(Delegating, "a=waiting_for_human"), responds(typeClarification, "a", "answer", "straight on"), stands(Delegating, "a=in_progress"),
			hookAsks("a", "Well?"), completes("a"), stands(Delegating, "a=validating")),
		newCase("asked in vain", three,
			hookAsks("a", "Well?"), hookAsks("b", "Well?"), hookAsks("c", "Well?"),
			responds(typeClarification, "a", "validate", ""), stands(Delegating, "a=validating"), handsIn("b", map[string]any{"status": "failed", "message": "TypeError: x is not a function"}),
			stands(Delegating, "b=retrying"), responds(typeClarification, "c", "escalate", ""), stands(Escalated, "c=escalated")),
		newCase("given up", three,
			handsIn("a", map[string]any{"status": "failed", "message": "TypeError: x is not a function"}), stands(Delegating, "a=retrying"),
			hookAsks("c", "Well?"), handsIn("b", map[string]any{"status": "failed", "failure_type": "ENV_ISSUE"}), stands(Escalated, "b=escalated"),
			handsIn("c", map[string]any{"status": "failed", "failure_type": "DESIGN_MISMATCH"}), stands(Escalated, "c=escalated")),
		newCase("stopped", one,
			enginetest.Write(currentDelegation, `{"sessionId": "abc12345", "currentCheckpoint": "a", "iteration": 1, "maxIterations": 5, "status": "validating"}`),
			stands(Delegating, "a=validating")),
	}
}

// commanded returns a case whose workers are a trusted command.
func commanded(name string, checkpoints []cp, steps ...enginetest.Step) enginetest.Case {
	change := func(c *Config) { c.WorkerCommand = ptr("work") }
	c := newCase(name, checkpoints, steps...)
	c.Trusted = append(c.Trusted, lawConfig(change).WorkerDigest())
	return with(c, change)
}

// workerCases are workers that placet starts.
func workerCases() []enginetest.Case {
	return []enginetest.Case{
		commanded("worker asks, ends and is started again", one,
			handsIn("a", map[string]any{"status": "question", "question": "Which way?"}), workerEnds("a", engine.CommandFinished, "0"),
			stands(Delegating, "a=waiting_for_human"), responds(typeClarification, "a", "answer", "left"), stands(Delegating, "a=in_progress"),
			workerEnds("a", engine.CommandFinished, "0"), stands(Delegating, "a=validating")),
		commanded("worker lost", siblings,
			workerEnds("a", engine.CommandLost, "null"), workerEnds("b", engine.CommandLost, "null"), stands(Delegating, "a=in_progress"),
			ticks(typeInterrupted, "a", "run_again", ""), completes("a"), passes("a"), stands(Delegating, "a=completed"),
			responds(typeInterrupted, "b", "validate", ""), passes("b"), stands(Delegating, "b=completed")),
		commanded("worker fails", siblings,
			workerEnds("a", engine.CommandTimedOut, "null"), stands(Delegating, "a=retrying"), workerEnds("b", engine.CommandFinished, "1"), stands(Escalated, "b=escalated")),
		commanded("worker lost, failed", one,
			workerEnds("a", engine.CommandLost, "null"), responds(typeInterrupted, "a", "failed", ""), stands(Escalated, "a=escalated")),
	}
}
