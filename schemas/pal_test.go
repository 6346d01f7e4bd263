package schemas

import (
	"strings"
	"testing"
)

const (
	palTime   = `"2026-03-02T09:14:07Z"`
	palEscID  = `"esc-0123456789ab"`
	palStream = `{"bytes":2,"head":"ok","tail":"","truncated":false}`
)

// goodPAL is a good document of each schema of the family, with every member that it
// may have.
var goodPAL = map[string]string{
	"pal/orchestration": `{"title":"Shop","id":"shop","description":"d","autostart":false,"max_concurrency":3,"parallel_enabled":true,"timeout_per_port":"30m","max_retries":3,
		"token_budget":15000,"workers":{"impl":["./run-impl"],"test":["./run-test","-v"]},"ports":["A",{"port_id":"B","order":2,"depends_on":["A"],"title":"t","body":"b","spec":"ports/b.md",
		"agent":"g","priority":"P1","max_retries":2,"timeout":"0s","token_budget":0,"workers":{"impl":["x"]},"status":"complete"},{"id":"C"}]}`,
	"pal/config": `{"orchestration":{"max_concurrency":2,"parallel_enabled":false,"timeout_per_port":"1h"},"context":{"token_budget":"any"}}`,
	"pal/plan": `{"schema_version":1,"orchestration_digest":` + aflDigest + `,"valid":false,"ports":[{"port_id":"A","order":1,"depends_on":["B"],"spec":"ports/A.md"}],"levels":[["A"]],
		"critical_path":["A"],"max_parallelism":1,"cycle":["A","A"],"unknown_deps":[{"port":"A","dependency":"B"}],"duplicates":[["a","A"]],"errors":[{"code":"cycle","port":"A","message":"m"}]}`,
	"pal/session": `{"id":"shop/build/A/impl","type":"worker","title":"t","port_id":"A","parent_id":"shop/build/A","root_id":"shop/build","depth":2,"path":"build/A/impl","agent_id":null,
		"token_budget":15000,"status":"running","substatus":"coding","started_at":` + palTime + `,"ended_at":null}`,
	"pal/result": `{"status":"ready","summary":"order entity","changed_files":["api/order.go"],"build_passed":true,"notes":"n","tokens_used":5100,"try":1,"session_id":"shop/build/A/impl"}`,
	"pal/feedback": `{"success":false,"failed_tests":[{"name":"TestTotal","expected":"3","actual":"2","stack_trace":"s","suggested_fix":"count the last line","file":"api/order_test.go","line":41}],
		"suggestions":["s"],"metrics":{"total":9,"passed":8,"coverage":81.5},"total_tests":9,"passed_tests":8,"coverage":81.5,"retry_count":1,"result_digest":` + aflDigest + `,"try":1,"session_id":"x"}`,
	"pal/channel":   `{"id":"A","session_a":"shop/build/A/impl","session_b":"shop/build/A/test","port_id":"A","orchestration_id":"shop","status":"closed","created_at":` + palTime + `,"closed_at":` + palTime + `}`,
	"pal/message":   `{"id":"A/0001-impl-query","channel_id":"A","from_session":"shop/build/A/impl","to_session":"shop/build/A/test","type":"query","payload":["any"],"created_at":` + palTime + `}`,
	"pal/delivered": `{"message":"A/0001-impl-query","digest":` + aflDigest + `,"to_session":"shop/build/A/test","delivered_at":` + palTime + `}`,
	"pal/processed": `{"message":"A/0001-impl-query","digest":` + aflDigest + `,"to_session":"shop/build/A/test","processed_at":` + palTime + `,"by":"channels/A/messages/0001-test-ack.json"}`,
	"pal/progress":  `{"progress":0.25,"current_task":"t","tokens_used":12}`,
	"pal/filed":     `{"type":"question","title":"Which?","issue":"Which?","severity":"high","description":"d","context":{"a":1},"suggested_actions":["s"],"suggestion":["s"],"port_id":"A"}`,
	"pal/escalation": `{"id":` + palEscID + `,"orchestration_id":"shop","session_id":"shop/build/A/test","port_id":"A","type":"decision","reported_type":"question","severity":"medium","title":"Which?",
		"description":"d","context":{},"suggested_actions":["retry"],"auto_resolve":false,"status":"resolved","request_id":` + palEscID + `,"created_at":` + palTime + `,"resolved_by":"ana","resolved_at":` + palTime + `,"resolution":"retry","comment":"c"}`,
	"pal/control": `{"want":"pause","by":"ana","reason":"lunch"}`,
	"pal/attempt": `{"role":"impl","try":2,"start":1,"argv":["./run-impl"],"command_digest":` + aflDigest + `,"started_at":` + palTime + `}`,
	"pal/outcome": `{"role":"test","try":2,"start":1,"started_at":` + palTime + `,"finished_at":` + palTime + `,"duration_ms":12,"outcome":"lost","exit_code":null,"stdout":` + palStream + `,"stderr":` + palStream + `,"reason":"r"}`,
	"pal/event":   `{"seq":1,"revision":1,"type":"port.end","upstream":"port:end","timestamp":` + palTime + `,"session_id":"shop/build/A","port_id":"A","data":{"id":"A"},"state":` + aflDigest + `}`,
	"pal/state": `{"schema_version":1,"id":"shop","title":"Shop","language":"ko","event_seq":20,"admitted_revision":2,"revision":17,"status":"running","progress_percent":33,"created_at":` + palTime + `,"started_at":` + palTime + `,"paused_at":null,
		"completed_at":null,"orchestration_digest":` + aflDigest + `,"specs":{"A":` + aflDigest + `},"settings":{"max_concurrency":3,"parallel_enabled":true},
		"ports":{"A":` + goodPort + `},"loops":{"A.r1":` + goodLoop + `},
		"sessions":{"build/A/impl":{"type":"worker","status":"running","started_at":` + palTime + `,"ended_at":null}},
		"escalations":{` + palEscID + `:{"type":"test_failure","severity":"high","subject":"port:A","port_id":"A","session_id":"shop/build/A/test","cause":"A.r1",
			"digest":null,"auto_resolve":false,"status":"open","opened_at":` + palTime + `,"resolved_at":null,"resolved_by":null,"resolution":null}},
		"requests":[{"id":` + palEscID + `,"type":"escalation","revision":17,"opened_at":` + palTime + `,"digest":` + aflDigest + `,"status":"open"}],
		"last_transition":{"edge":"retries_exhausted","row":"P6","of":"port","subject":"A","from":"running","to":"blocked","at":` + palTime + `,"actor":"placet",
			"reason":"3 of 3 tries failed","cause":{"sessions/build/A/test/feedback-3.json":` + aflDigest + `},"also":[{"edge":"L6","of":"loop","subject":"A.r1",
			"from":"running","to":"escalated"},{"edge":"E1","of":"escalation","subject":` + palEscID + `,"to":"open"}],"events":[{"type":"port.blocked"}]}}`,
}

const goodPort = `{"status":"blocked","title":"t","spec":"ports/A.md","body":"b","agent":"g","order":1,"depends_on":["B"],"waived":["B"],"round":1,"starts":1,"last_try":3,
	"limits":{"max_retries":3,"timeout":"30m0s","token_budget":15000},"workers":{"impl":["./run-impl"]},"token_base":{"impl":0,"test":0},
	"first_started_at":` + palTime + `,"started_at":` + palTime + `,"deadline":` + palTime + `,"no_deadline":false,"completed_at":null,"skipped":false,"taken_over_by":null,
	"blocked_by":{"escalations":[` + palEscID + `],"ports":["B"]},"reason":"retries_exhausted"}`

const goodLoop = `{"port_id":"A","round":1,"channel_id":"A","impl_session":"shop/build/A/impl","test_session":"shop/build/A/test","max_retries":3,"current_try":3,
	"first_try":1,"awaiting":null,"status":"escalated","history":[{"try":1,"success":false,"cause":"tests","result_digest":` + aflDigest + `,"feedback_digest":` + aflDigest + `,
	"total":9,"passed":7,"coverage":81.5,"at":` + palTime + `}]}`

func TestGoodPALDocuments(t *testing.T) {
	for _, name := range Names() {
		if !strings.HasPrefix(name, "pal/") {
			continue
		}
		if err := Decode(name, name, []byte(goodPAL[name]), nil); err != nil {
			t.Error(err)
		}
	}
}

func TestPlacetsOwnPALDocumentsAreStrict(t *testing.T) {
	optional := map[string]bool{
		"/ports/A": true, "/loops/A.r1": true, "/sessions/build~1A~1impl": true, "/escalations/esc-0123456789ab": true, "/specs/A": true, "/language": true, "/event_seq": true, "/admitted_revision": true, "/ports/A/title": true, "/ports/A/spec": true, "/ports/A/body": true, "/ports/A/agent": true, "/ports/A/workers/impl": true,
		"/last_transition/row": true, "/last_transition/also": true, "/last_transition/also/0/from": true, "/last_transition/events": true, "/last_transition/cause/sessions~1build~1A~1test~1feedback-3.json": true,
		"/session_id": true, "/port_id": true, "/reported_type": true, "/reason": true, "/state": true,
	}
	for _, name := range []string{"pal/state", "pal/plan", "pal/channel", "pal/delivered", "pal/processed", "pal/escalation", "pal/attempt", "pal/outcome", "pal/event"} {
		checkStrict(t, name, goodPAL[name], func(where string) bool { return optional[where] }, func(where string) bool {
			return strings.HasPrefix(where, "/last_transition/events/0/") || strings.HasPrefix(where, "/data/") || strings.HasPrefix(where, "/context/")
		})
	}
}

// TestPALDocuments lists what each schema of the family accepts and refuses.
func TestPALDocuments(t *testing.T) {
	checkDocuments(t, map[string]map[string]string{
		"pal/orchestration": {
			`{"title":"t","ports":["A"]}`:        "",
			`{"title":"t","atomic_ports":["A"]}`: "",
			`{"title":"t","ports":[{"port_id":"../x","depends_on":["nowhere"],"status":""}]}`: "", // ids are judged together
			`{"ports":["A"]}`:                                                    "line 1, column 1: /title: is missing: expected text",
			`{"title":"t"}`:                                                      "line 1, column 1: /ports: is missing: expected an array of 1 to 500 ports",
			`{"title":"t","ports":[]}`:                                           "line 1, column 22: /ports: minimum 1 items required, but found 0 items: expected an array of 1 to 500 ports",
			`{"title":"t","ports":["A",7]}`:                                      "line 1, column 27: /ports/1: is the number 7: expected the id of a port, or an object with port_id",
			`{"title":"t","ports":[{"order":1}]}`:                                "line 1, column 23: /ports/0/port_id: is missing: expected the id of a port",
			`{"title":"t","ports":[{"id":"A","order":1.5}]}`:                     "line 1, column 41: /ports/0/order: is the number 1.5: expected a whole number",
			`{"title":"t","ports":[{"id":"A","status":"done"}]}`:                 `line 1, column 42: /ports/0/status: unknown word "done": expected one of "", "pending", "ready", "running", "blocked", "complete", "failed", "cancelled"`,
			`{"title":"t","ports":[{"id":"A","depends_on":"B"}]}`:                "line 1, column 46: /ports/0/depends_on: is text: expected an array of at most 500 port ids",
			`{"title":"t","ports":[{"id":"A","workers":{"impl":[]}}]}`:           "line 1, column 51: /ports/0/workers/impl: minimum 1 items required, but found 0 items: expected an array of words, the program first",
			`{"title":"t","ports":["A"],"max_concurrency":0}`:                    "line 1, column 46: /max_concurrency: is the number 0: expected a whole number from 1 to 64",
			`{"title":"t","ports":["A"],"max_concurrency":65}`:                   "line 1, column 46: /max_concurrency: is the number 65: expected a whole number from 1 to 64",
			`{"title":"t","ports":["A"],"max_retries":101}`:                      "line 1, column 42: /max_retries: is the number 101: expected a whole number from 1 to 100",
			`{"title":"t","ports":["A"],"token_budget":-1}`:                      "line 1, column 43: /token_budget: is the number -1: expected a whole number, 0 or more",
			`{"title":"t","ports":["A"],"timeout_per_port":30}`:                  "line 1, column 47: /timeout_per_port: is the number 30: expected a length of time such as 30m, or 0s for none",
			`{"title":"t","ports":[` + strings.Repeat(`"A",`, 500) + `"A"]}`:     "line 1, column 22: /ports: has 501 items: expected an array of 1 to 500 ports",
			`{"title":"t","ports":["A"],"later":{"max_concurrency":"whatever"}}`: "",
		},
		"pal/config": {
			`{}`: "", `{"orchestration":null}`: "", `{"context":{"token_budget":0},"orchestration":{"max_concurrency":null}}`: "",
			`{"orchestration":{"max_concurrency":0}}`:   "line 1, column 37: /orchestration/max_concurrency: is the number 0: expected a whole number from 1 to 64",
			`{"orchestration":{"parallel_enabled":""}}`: "line 1, column 38: /orchestration/parallel_enabled: is text: expected true, false or null",
		},
		"pal/session": {
			`{"type":"worker"}`: "",
			`{"type":"banana"}`: `line 1, column 9: /type: unknown word "banana": expected one of "build", "operator", "worker", "test"`,
			`{"depth":2}`:       "line 1, column 1: /type: is missing: expected one of build, operator, worker, test",
		},
		"pal/result": {
			`{"status":"failed","summary":"it does not build"}`:          "",
			`{"status":"partial","summary":"","changed_files":null}`:     "",
			`{"status":"ready","summary":"s","changed_files":[]}`:        "",
			`{"status":"ready","summary":"s"}`:                           "line 1, column 1: /changed_files: is missing: expected an array of paths",
			`{"status":"ready","summary":"s","changed_files":null}`:      "line 1, column 49: /changed_files: is null: expected an array of paths",
			`{"status":"done","summary":"s"}`:                            `line 1, column 11: /status: unknown word "done": expected one of "ready", "partial", "failed"`,
			`{"status":"failed"}`:                                        "line 1, column 1: /summary: is missing: expected text",
			`{"status":"failed","summary":"s","tokens_used":-1}`:         "line 1, column 48: /tokens_used: is the number -1: expected a whole number, 0 or more, or null",
			`{"status":"ready","summary":"s","changed_files":["a",{}]}`:  "line 1, column 54: /changed_files/1: is an object: expected a path below the workspace",
			`{"status":"failed","summary":"s","try":0,"session_id":"x"}`: "line 1, column 40: /try: is the number 0: expected a whole number, 1 or more, or null",
		},
		"pal/feedback": {
			`{"success":false}`: "", // the build broke
			`{"success":true,"failed_tests":[{"name":"t"}],"metrics":{"total":1,"passed":2}}`: "", // contradictions are judged by the machine
			`{"success":true,"retry_count":"3rd"}`:                                            "",
			`{"failed_tests":[]}`:                                                             "line 1, column 1: /success: is missing: expected true or false",
			`{"success":"true"}`:                                                              "line 1, column 12: /success: is text: expected true or false",
			`{"success":false,"failed_tests":[{"line":1}]}`:                                   "line 1, column 34: /failed_tests/0/name: is missing: expected the name of a test",
			`{"success":false,"failed_tests":[{"name":""}]}`:                                  "line 1, column 42: /failed_tests/0/name: is too short: expected the name of a test",
			`{"success":false,"metrics":{"coverage":101}}`:                                    "line 1, column 40: /metrics/coverage: is the number 101: expected a number from 0 to 100, or null",
			`{"success":false,"passed_tests":-1}`:                                             "line 1, column 33: /passed_tests: is the number -1: expected a whole number, 0 or more, or null",
			`{"success":false,"result_digest":"` + hex64[:8] + `"}`:                           `line 1, column 34: /result_digest: "01234567" does not fit: expected "sha256:" and 64 hex digits, or null`,
		},
		"pal/message": {
			`{"from_session":"a","to_session":"b","type":"ack","payload":{"of":"0001-impl-query"}}`: "",
			`{"from_session":"a","to_session":"b","type":"query","payload":null}`:                   "",
			`{"from_session":"a","to_session":"b","type":"banana","payload":1}`:                     `line 1, column 45: /type: unknown word "banana": expected one of "result", "feedback", "query", "ack"`,
			`{"from_session":"a","to_session":"b","type":"query"}`:                                  "line 1, column 1: /payload: is missing: expected any value",
		},
		"pal/progress": {
			`{"progress":0}`: "", `{"progress":1.0}`: "", `{"progress":1,"tokens_used":null}`: "",
			`{"progress":1.2}`:                "line 1, column 13: /progress: is the number 1.2: expected a number from 0 to 1",
			`{"progress":-0.1}`:               "line 1, column 13: /progress: is the number -0.1: expected a number from 0 to 1",
			`{"tokens_used":1}`:               "line 1, column 1: /progress: is missing: expected a number from 0 to 1",
			`{"progress":1,"tokens_used":-1}`: "line 1, column 29: /tokens_used: is the number -1: expected a whole number, 0 or more, or null",
		},
		"pal/filed": {
			`{"type":"general","title":"t"}`:                    "",
			`{"type":"manual_review","issue":"t"}`:              "",
			`{"type":"general","issue":"t","suggestion":"one"}`: "",
			`{"type":"general"}`:                                "line 1, column 1: /title: is missing: expected what it is about, in a few words",
			`{"type":"general","title":""}`:                     "line 1, column 27: /title: is too short: expected what it is about, in a few words",
			`{"type":"gossip","title":"t"}`:                     `line 1, column 9: /type: unknown word "gossip": expected one of "test_failure", "timeout", "dependency", "blocked", "decision", "conflict", "quality", "token_exhausted", "general", "test_fail", "token_exceeded", "question", "manual_review", "build_fail", "dependency_loop", "compact_warning"`,
			`{"type":"general","title":"t","severity":"grave"}`: `line 1, column 42: /severity: unknown word "grave": expected one of "low", "medium", "high", "critical"`,
		},
		"pal/control": {
			`{"want":"run"}`:     "",
			`{"want":"running"}`: `line 1, column 9: /want: unknown word "running": expected one of "run", "pause", "abort"`,
			`{"by":"ana"}`:       "line 1, column 1: /want: is missing: expected what is wanted",
		},
	})
}

func TestTheStateOfAnOrchestration(t *testing.T) {
	state := goodPAL["pal/state"]
	for body, want := range map[string]string{
		with(state, `"status":"running"`, `"status":"ready"`):                 `/status: unknown word "ready": expected one of "pending", "running", "paused", "complete", "failed", "cancelled"`,
		with(state, `"status":"blocked"`, `"status":"paused"`):                `/ports/A/status: unknown word "paused": expected one of "pending", "ready", "running", "blocked", "complete", "failed", "cancelled"`,
		with(state, `"status":"escalated"`, `"status":"complete"`):            `/loops/A.r1/status: unknown word "complete": expected one of "running", "success", "escalated", "failed"`,
		with(state, `"awaiting":null`, `"awaiting":"file"`):                   `/loops/A.r1/awaiting: unknown word "file": expected one of "result", "feedback", null`,
		with(state, `"id":"shop"`, `"id":"../x"`):                             `/id: "../x" does not fit: expected an id: a letter or digit, then at most 63 letters, digits, '.', '_' or '-'`,
		with(state, `"waived":["B"]`, `"waived":["B/C"]`):                     `/ports/A/waived/0: "B/C" does not fit: expected an id: a letter or digit, then at most 63 letters, digits, '.', '_' or '-'`,
		with(state, `"revision":17`, `"revision":0`):                          "/revision: is the number 0: expected a whole number, 1 or more",
		with(state, `"progress_percent":33`, `"progress_percent":101`):        "/progress_percent: is the number 101: expected a whole number from 0 to 100",
		with(state, `"subject":"port:A"`, `"subject":"port:A/B"`):             `/escalations/esc-0123456789ab/subject: "port:A/B" does not fit: expected run, port:<id> or session:<path>`,
		with(state, `"created_at":`+palTime, `"created_at":"today"`):          `/created_at: "today" does not fit: expected a time in UTC, as in 2026-03-02T09:14:07Z`,
		with(state, `"edge":"L6"`, `"edge":"L9"`):                             `/last_transition/also/0/edge: unknown word "L9": expected one of "admitted", `,
		with(state, `"type":"escalation"`, `"type":"question"`):               `/requests/0/type: is text: expected escalation`,
		with(state, `"max_retries":3,"timeout"`, `"max_retries":0,"timeout"`): "/ports/A/limits/max_retries: is the number 0: expected a whole number from 1 to 100",
	} {
		if err := Decode("pal/state", "", []byte(body), nil); err == nil || !strings.Contains(err.Error(), ": "+want) {
			t.Errorf("%v\nexpected %s", err, want)
		}
	}
	for _, body := range []string{ // what another moment or a later version has
		with(state, `"language":"ko","event_seq":20,"admitted_revision":2,`, `"later":{},`),
		with(state, `"subject":"port:A"`, `"subject":"run"`),
		with(state, `"subject":"port:A"`, `"subject":"session:build/A/impl"`),
		with(state, `"feedback-3.json":`+aflDigest, `"feedback-3.json":""`),
		with(state, `"from":"running","to":"blocked"`, `"from":null,"to":"blocked"`),
	} {
		if err := Decode("pal/state", "state.json", []byte(body), nil); err != nil {
			t.Error(err)
		}
	}
}
