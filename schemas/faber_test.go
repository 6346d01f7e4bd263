package schemas

import "testing"

// TestFaberDocuments lists what each schema of the family accepts and
// refuses. An empty want means that the document is good.
func TestFaberDocuments(t *testing.T) {
	wholeNumber := "a whole number, 0 or more"
	tests := map[string]map[string]string{
		"faber/state": {
			`{"status":"pending"}`:          "",
			`{"status":"a brand-new word"}`: "",
			`{}`:                            "line 1, column 1: /status: is missing: expected a status word",
			`{"status":null}`:               "line 1, column 11: /status: is null: expected a status word",
			`{"status":"x","work_id":258,"workflow_version":2.1,"phases":[],"errors":{},"artifacts":null}`:                                                  "",
			`{"status":"x","work_id":null,"phases":{},"errors":[],"feedback_request":null,"resume_point":null,"feedback_history":null,"current_step":null}`: "",
			`{"status":"x","work_id":true}`:               "line 1, column 25: /work_id: is true: expected text, a number or null",
			`{"status":"x","phases":"frame"}`:             "line 1, column 24: /phases: is text: expected an object or an array of phases",
			`{"status":"x","errors":"none"}`:              "line 1, column 24: /errors: is text: expected an array or an object of errors",
			`{"status":"x","revision":0}`:                 "",
			`{"status":"x","revision":null}`:              "line 1, column 26: /revision: is null: expected " + wholeNumber,
			`{"status":"x","feedback_history":[{},{}]}`:   "",
			`{"status":"x","feedback_history":[{},"no"]}`: "line 1, column 38: /feedback_history/1: is text: expected an object that records one answer",
			`{"status":"x","feedback_request":[]}`:        "line 1, column 34: /feedback_request: is an array: expected an object with request_id, type and prompt, or null",
			`{"status":"x","feedback_request":{"request_id":"fr-1","type":"approval","prompt":"Go?"}}`:                                                                         "",
			`{"status":"x","feedback_request":{"request_id":"fr-1","type":"vote","prompt":"Go?","options":[],"context":{"gate":{}},"requested_at":null,"extra":1}}`:            "",
			`{"status":"x","feedback_request":{"request_id":"fr-1","type":"approval","prompt":"Go?","notification_sent":{"cli":true,"comment_url":null,"form":"requests/f"}}}`: "",
			`{"status":"x","feedback_request":{"type":"approval","prompt":"Go?"}}`:                                                                                             "line 1, column 34: /feedback_request/request_id: is missing: expected a request id: a letter or digit, then at most 99 letters, digits, '.', '_' or '-'",
			`{"status":"x","feedback_request":{"request_id":"fr-1","prompt":"Go?"}}`:                                                                                           `line 1, column 34: /feedback_request/type: is missing: expected a request type, for example "approval"`,
			`{"status":"x","feedback_request":{"request_id":"fr-1","type":"approval"}}`:                                                                                        "line 1, column 34: /feedback_request/prompt: is missing: expected what is asked, as text",
			`{"status":"x","feedback_request":{"request_id":"fr-1","type":"approval","prompt":""}}`:                                                                            "line 1, column 82: /feedback_request/prompt: is too short: expected what is asked, as text",
			`{"status":"x","feedback_request":{"request_id":"fr-1","type":"approval","prompt":"Go?","options":["a",1]}}`:                                                       "line 1, column 103: /feedback_request/options/1: is the number 1: expected text",
			`{"status":"x","feedback_request":{"request_id":"fr-1","type":"approval","prompt":"Go?","context":"c"}}`:                                                           "line 1, column 98: /feedback_request/context: is text: expected an object or null",
			`{"status":"x","resume_point":{"phase":"build","step":null,"step_index":2}}`:                                                                                       "",
			`{"status":"x","resume_point":{"phase":"build","step":"s","step_index":"2"}}`:                                                                                      "line 1, column 71: /resume_point/step_index: is text: expected the step's number in its phase, from 0, or null",
			`{"status":"x","step_attempts":{"build:implement":2}}`:                                                                                                             "",
			`{"status":"x","step_attempts":{"build:implement":0}}`:                                                                                                             "line 1, column 50: /step_attempts/build:implement: is the number 0: expected a whole number, 1 or more",
		},
		"faber/metadata": {
			`{}`: "",
			`{"run_id":"a/b/c","work_id":7,"phases":["frame"],"relationships":{"parent_run_id":null,"child_runs":[]},"environment":{"hostname":"h"},"driver":"placet"}`: "",
			`{"phases":"frame"}`: "line 1, column 11: /phases: is text: expected an array of phase names or null",
			`{"driver":1}`:       `line 1, column 11: /driver: is the number 1: expected "placet" for a driven run`,
		},
		"faber/event": {
			`{"event_id":16,"type":"feedback_received","timestamp":"2025-12-06T18:15:00.120Z","run_id":"r"}`:                                                       "",
			`{"event_id":1,"type":"own_type","timestamp":"t","run_id":"r","metadata":{"placet":{"revision":2,"key":"0123456789ab"}},"duration_ms":0,"phase":null}`: "",
			`{"event_id":0,"type":"x","timestamp":"t","run_id":"r"}`:                                                                                               "line 1, column 13: /event_id: is the number 0: expected the event's number, 1 or more",
			`{"event_id":"1","type":"x","timestamp":"t","run_id":"r"}`:                                                                                             "line 1, column 13: /event_id: is text: expected the event's number, 1 or more",
			`{"event_id":1,"timestamp":"t","run_id":"r"}`:                                                                                                          "line 1, column 1: /type: is missing: expected an event type",
			`{"event_id":1,"type":"x","timestamp":"t"}`:                                                                                                            "line 1, column 1: /run_id: is missing: expected a run id",
			`{"event_id":1,"type":"x","timestamp":"t","run_id":"r","metadata":{"placet":{"revision":-1}}}`:                                                         "line 1, column 88: /metadata/placet/revision: is the number -1: expected " + wholeNumber,
		},
		"faber/cancel": {
			`{"by":"ana","reason":"not needed"}`: "",
			`{"by":"ana"}`:                       "line 1, column 1: /reason: is missing: expected why, as text",
			`{"by":"","reason":"x"}`:             "line 1, column 7: /by: is too short: expected who cancels",
		},
		"faber/issue": {
			`{"number":258,"title":"T","body":null,"labels":["bug"],"comments":[{"author":"a","body":"b","created_at":"t"}]}`: "",
			`{"error":"auth"}`:              "",
			`{}`:                            "line 1, column 1: /number: is missing: expected the issue's number",
			`{"number":1}`:                  "line 1, column 1: /title: is missing: expected text",
			`{"error":"auth","number":"1"}`: "line 1, column 26: /number: is text: expected the issue's number",
			`{"number":1,"title":"T","comments":[{"author":"a"}]}`: "line 1, column 37: /comments/0/body: is missing: expected text",
		},
		"faber/again": {
			`{"by":"kim","at":"2025-12-06T18:15:00Z"}`: "",
			`{"by":"kim"}`: "line 1, column 1: /at: is missing: expected a time",
		},
		"faber/comment": {
			`{"author":"kim","body":"","created_at":"2025-12-06T18:15:00Z","issue":7,"several":["a/b/c"]}`: "",
			`{"author":"kim","body":"x"}`:                                   "line 1, column 1: /created_at: is missing: expected a time",
			`{"author":"","body":"x","created_at":"2025-12-06T18:15:00Z"}`:  "line 1, column 11: /author: is too short: expected who wrote it",
			`{"author":"kim","body":7,"created_at":"2025-12-06T18:15:00Z"}`: "line 1, column 24: /body: is the number 7: expected text",
		},
		"faber/coordinator": {
			`{"runs":["acme/web/1"]}`: "",
			`{"coordinator_id":"coord-20251206-a1b2c3","runs":["a/b/c","a/b/d"],"created_by":"kim"}`: "",
			`{}`:           "line 1, column 1: /runs: is missing: expected 1 to 200 run ids",
			`{"runs":[]}`:  "line 1, column 9: /runs: minimum 1 items required, but found 0 items: expected 1 to 200 run ids",
			`{"runs":[1]}`: "line 1, column 10: /runs/0: is the number 1: expected a run id, org/project/uuid",
		},
		"faber/posted": {
			`{"comment_url":null,"posted_at":"t","view":"sha256:0000000000000000000000000000000000000000000000000000000000000000"}`: "",
			`{"comment_url":"https://example.invalid/1","posted_at":"2025-12-06T18:15:00Z"}`:                                        "",
			`{"comment_url":"","posted_at":"t"}`: "line 1, column 16: /comment_url: is too short: expected the comment's address or null",
			`{"comment_url":"u"}`:                "line 1, column 1: /posted_at: is missing: expected a time",
		},
		"faber/workflow": {
			`{}`: "",
			`{"id":"w","extends":"default","skip_steps":["a"],"autonomy":{"level":"assist","require_approval_for":["release"],"pause_before_release":true},
			  "phases":{"build":{"enabled":true,"max_retries":3,"pre_steps":[],"steps":[{"id":"implement","produces":["x"],"result_handling":{"on_failure":"stop"}}],"post_steps":null},"release":null}}`: "",
			`{"phases":{"build":{"max_retries":11}}}`:              "line 1, column 35: /phases/build/max_retries: is the number 11: expected a whole number from 0 to 10",
			`{"phases":{"build":{"steps":["implement"]}}}`:         "line 1, column 30: /phases/build/steps/0: is text: expected a step, as an object",
			`{"phases":{"build":{"steps":[{"description":"d"}]}}}`: "line 1, column 30: /phases/build/steps/0/id: is missing: expected the step's id, or its name",
			`{"phases":[]}`: "line 1, column 11: /phases: is an array: expected an object of phases",
			`{"autonomy":{"allow_destructive_auto":"yes"}}`:             "line 1, column 39: /autonomy/allow_destructive_auto: is text: expected true or false",
			`{"phases":{"p":{"steps":[{"name":"s","destructive":1}]}}}`: "line 1, column 52: /phases/p/steps/0/destructive: is the number 1: expected true or false",
		},
	}
	checkDocuments(t, tests)
}

// checkDocuments decodes each body by its schema and compares the message.
func checkDocuments(t *testing.T, tests map[string]map[string]string) {
	t.Helper()
	for schema, documents := range tests {
		for body, want := range documents {
			got := ""
			if err := Decode(schema, "", []byte(body), nil); err != nil {
				got = err.Error()
			}
			if got != want {
				t.Errorf("%s: %s\n got  %s\n want %s", schema, body, got, want)
			}
		}
	}
}
