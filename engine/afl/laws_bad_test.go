package afl

import (
	"time"

	"placet/internal/enginetest"
)

// badInputCases end with problem notes: bad input moves nothing.
func badInputCases() []enginetest.Case {
	cases := []enginetest.Case{
		newCase("a cycle", []cp{{id: "a", after: []string{"b"}}, {id: "b", after: []string{"a"}}}, stands(Designing), enginetest.Pass(time.Minute)),
		newCase("no YAML", one, lawPut(specsYAML, "checkpoints: [\n"), enginetest.Pass(time.Minute), stands(Delegating, "a=in_progress")),
		newCase("bad hand-ins", []cp{{id: "a"}, {id: "b"}, {id: "c"}, {id: "d"}},
			handsIn("a", map[string]any{"status": "question"}), handsIn("b", map[string]any{"status": "completed", "iteration": 7}),
			outside("c", 0, "", `, "more": [1]`), lawPut(place("c", 1, "worker.json"), `{"status": nearly}`), hookAsks("d", ""),
			lawPut("delegations/d/pending-question.json", `{"timestamp": "x", "checkpoint": "../a", "question": "?"}`), enginetest.Pass(time.Minute),
			lawPut("control.json", `{"want": "stop"}`), lawPut("meta.json", `{"sessionId": "another"}`), stands(Delegating, "a=in_progress", "b=in_progress", "c=in_progress")),
		newCase("a broken configuration", one, enginetest.Write(upstreamJSON, `{"feedbackLoop": {"maxIterations": 0}}`), completes("a"), stands(Delegating, "a=in_progress")),
		newCase("a foreign state", one, lawPut("events.jsonl", `{"seq": 99}`+"\n"), completes("a")),
		newCase("bad answers", one,
			hookAsks("a", "Which way?"), responds(typeClarification, "a", "perhaps", ""), responds(typeClarification, "a", "answer", ""),
			stands(Delegating, "a=waiting_for_human")),
		newCase("answered twice", one, hookAsks("a", "Which way?"), ticks(typeClarification, "a", "validate", ""), stands(Delegating, "a=validating"), answersAgain()),
		with(newCase("a stale analysis", one, completes("a"), fails("a"),
			lawPut(place("a", 1, "analysis.json"), `{"failure_type": "ENV_ISSUE", "of": "sha256:0000000000000000000000000000000000000000000000000000000000000000"}`),
			stands(Delegating, "a=validating")), func(c *Config) { c.OracleWait = ptr("2m") }),
		newCase("foreign documents", one, lawPut("delegations/a/routing.json", `{"mine": true}`), completes("a"), stands(Delegating, "a=validating")),
	}
	for i := range cases {
		cases[i].Notes = true
	}
	return cases
}

// answersAgain gives another answer to an answered request.
func answersAgain() enginetest.Step {
	return do("answer again", func(st State, put func(rel, body string)) {
		for _, q := range st.Requests {
			id := q.ID
			put("requests/"+id+"/response.json", jsonText(map[string]any{
				"request_id": id, "response": "escalate", "provided_by": map[string]any{"user": "kim", "source": "cli"},
			}))
		}
	})
}
