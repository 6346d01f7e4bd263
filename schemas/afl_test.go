package schemas

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

const (
	aflTime   = `"2026-01-19T10:30:00.000Z"`
	aflDigest = `"sha256:` + hex64 + `"`
)

const goodDefinition = `{"id":"coupon-a","name":"Coupon","type":"api","description":null,"dependencies":["coupon-b"],"criteria":["c"],
	"command":"npm test","expected":"4 passing","timeout_ms":60000}`

const goodCheckpoint = `{"status":"escalated","since":{"revision":7,"at":` + aflTime + `},"definition_digest":` + aflDigest + `,"iteration":2,"max_iterations":5,"epoch":0,
	"started_at":` + aflTime + `,"last_attempt_at":` + aflTime + `,"finished_at":null,"retry_at":null,"analysis_until":null,"extra_feedback":null,"skip":null,"aborted_because":null,
	"worker":{"mode":"outside","number":0,"started_at":` + aflTime + `,"deadline":null},
	"run":{"number":1,"mode":"command","started_at":` + aflTime + `,"timeout_ms":60000,"command_digest":` + aflDigest + `},
	"seen":{"result":[],"worker":[` + aflDigest + `],"question":[]},
	"questions":[{"number":1,"text":"Which?","source":"hook","request_id":"question-1","answer":"this","answered_by":"ana","answered_at":` + aflTime + `}],
	"escalation":{"at":` + aflTime + `,"iteration":2,"run":1,"route":"ESCALATE_ENV","failure_type":"ENV_ISSUE","reason":"no npm","request_id":"escalation-1"},
	"history":[{"iteration":1,"run":1,"epoch":0,"result":"failed","route":"RETRY","failure_type":"LOGIC_ERROR","rule":"L","signature":"0123456789abcdef",
		"failed_criteria":["c"],"timestamp":` + aflTime + `,"duration_ms":1200,"source":"validation"}]}`

// goodAFL is a good document of each schema of the family, with every member that it
// may have.
var goodAFL = map[string]string{
	"afl/meta": `{"sessionId":"abc12345","title":"Coupons","status":"completed","phase":"design","createdAt":"t","updatedAt":"t",
		"decisions":[{"topic":"t","decision":"d","reason":"r","decidedAt":"t"}],"checkpointsApproved":true}`,
	"afl/checkpoints": `{"session":"abc12345","created_at":"t","created_by":"ana","approved_at":null,"approved_by":null,
		"prerequisites":[{"id":"db","name":"Postgres","type":"environment","script":"./up"}],
		"checkpoints":[{"id":"coupon-a","name":"Coupon","type":"api","description":"d","dependencies":["b"],"criteria":["c"],
			"validation":{"command":"npm test","expected":"4 passing","timeout":"60000"}}]}`,
	"afl/checkpoint": `{"id":"coupon-a","criteria":["c"],"validation":{"command":"npm test","expectedOutput":"ok","timeout":60000},
		"contract":{"interface":"CouponService","tests":["CouponServiceTest"]},"prerequisites":{"environment":["db"],"tasks":["b"]}}`,
	"afl/control": `{"want":"pause","by":"ana","reason":"lunch"}`,
	"afl/review": `{"reviewer":"r","scores":{"code_quality":5,"design_conformity":1,"test_quality":3,"potential_problems":null},
		"findings":[{"checkpoint":"a","severity":"blocking","title":"t","detail":"d","file":"f","line":3}]}`,
	"afl/worker":     `{"status":"question","question":"Which?","message":null,"failure_type":null,"changed_files":["a.go"],"checkpoint":"a","iteration":1}`,
	"afl/worker-run": `{"number":1,"command_digest":` + aflDigest + `,"started_at":` + aflTime + `,"finished_at":` + aflTime + `,"outcome":"finished","exit_code":0,"tail":"bye"}`,
	"afl/result":     `{"iteration":1,"timestamp":"t","exitCode":1,"output":"1 failed","failure_type":"LOGIC_ERROR","failed_criteria":["c"],"timed_out":false}`,
	"afl/validation": `{"iteration":1,"run":2,"command_digest":` + aflDigest + `,"shell":["bash","-c"],"cwd":".","started_at":` + aflTime + `,"finished_at":` + aflTime + `,
		"duration_ms":12,"outcome":"timed_out","exit_code":null,"timed_out":true,"stdout":{"bytes":2,"head":"ok","tail":"","truncated":false},
		"stderr":{"bytes":0,"head":"","tail":"","truncated":false},"matched_expected":null,"failing_marker":null}`,
	"afl/analysis": `{"failure_type":"TYPE_ERROR","causes":["c"],"suggestions":[{"file":"f","line":1,"before":"a","after":"b","why":"w"}],"failed_criteria":["c"],"of":` + aflDigest + `}`,
	"afl/verdict": `{"iteration":1,"run":1,"source":"validation","source_digest":` + aflDigest + `,"passed":false,"timed_out":false,"exit_code":1,"matched_expected":false,
		"failing_marker":"2 failing","failure_type":"LOGIC_ERROR","type_from":"classifier","rule":"L","failed_criteria":["c"],"failing_tests":["t"],"key_lines":["k"],
		"related_files":["f"],"causes":["c"],"suggestions":[{"file":"f","line":null,"before":null,"after":null,"why":"w"}],"signature":"0123456789abcdef","route":"RETRY"}`,
	"afl/escalation": `{"session_id":"s","checkpoint_id":"a","iteration":5,"max_iterations":5,"route":"ESCALATE_MAX_RETRY","failure_type":"LOGIC_ERROR","reason":"5 of 5",
		"at":` + aflTime + `,"request_id":"escalation-1","history":[{}],"pattern":{"signature":"x","consecutive":3,"lines":["k"]},"causes":["c"],
		"suggestions":[{"file":"f","line":1,"before":"a","after":"b","why":"w"}],"recommended":"manual","dependents":["b"]}`,
	"afl/pending-question":   `{"timestamp":"t","checkpoint":"a","question":"{\"tool_input\":{}}"}`,
	"afl/current-delegation": `{"sessionId":"s","currentCheckpoint":"a","iteration":1,"maxIterations":5,"status":"validating","result":null,"lastIdleAt":null,"lastIdleNotified":false}`,
	"afl/config-yaml": `{"feedback_loop":{"max_iterations":5,"auto_retry_delay":5000,"retry_delay":1,"mode":"auto"},"delegation":{"parallel_workers":3},"agents":{"impl_reviewer":"off"},
		"notification":{"method":"none"},"validation":{"method":"test","timeout":120000},"feedbackRouting":null}`,
	"afl/config-json": `{"feedbackLoop":{"maxIterations":5,"autoRetryDelay":5000,"mode":"auto","escalationThreshold":3},"delegation":{"parallelWorkers":3},
		"feedbackRouting":{"maxIterations":5,"autoRetryDelay":5000,"escalationOnDesignMismatch":true,"runImplReviewerOnPass":true,"notifyOnEscalation":true}}`,
	"afl/delegation-status": `{"written_by":"placet","revision":3,"sessionId":"s","status":"in_progress","startedAt":"t","checkpoints":{"a":{"status":"retry","iterations":2}},"totalRounds":3,"currentRound":1}`,
	"afl/state": `{"schema_version":1,"family":"afl","session_id":"abc12345","revision":9,"status":"escalated","adopted":false,
		"created_at":` + aflTime + `,"updated_at":` + aflTime + `,"started_at":` + aflTime + `,"finished_at":null,"pause":{"reason":"redesign","at":` + aflTime + `,"by":"ana"},
		"specs":{"layout":"v1","digest":` + aflDigest + `,"seen_at":` + aflTime + `,"errors":["cycle"],"warnings":[],"changes_requested":{"digest":` + aflDigest + `,"at":` + aflTime + `,"by":"ana","comment":"more"}},
		"approved":{"digest":` + aflDigest + `,"at":` + aflTime + `,"by":"ana","source":"request","definitions":[` + goodDefinition + `],"prerequisites":[{"id":"db","name":"Postgres","type":"environment","script":"./up"}]},
		"checkpoints":{"coupon-a":` + goodCheckpoint + `},
		"requests":{"approve-1":{"type":"specs_approval","checkpoint":null,"revision":2,"opened_at":` + aflTime + `,"status":"accepted","option":"approve","selected":[],"comment":null,"answered_by":"ana","response_digest":` + aflDigest + `,"closed_at":` + aflTime + `}},
		"review":{"round":1,"mode":"person","status":"reopened","request_id":"review-1","reopen":["coupon-a"],"notes":[{"text":"n"}]},
		"last_transition":{"edge":"escalate","of":"session","subject":"abc12345","from":"delegating","to":"escalated","at":` + aflTime + `,"actor":"placet","reason":"no npm","cause":{"validation.json":` + aflDigest + `}}}`,
}

func TestGoodAFLDocuments(t *testing.T) {
	for _, name := range Names() {
		if !strings.HasPrefix(name, "afl/") {
			continue
		}
		if err := Decode(name, name, []byte(goodAFL[name]), nil); err != nil {
			t.Error(err)
		}
	}
}

// A document that only placet writes must be whole: no member may be missing or of
// another kind. Members that a later version added, which these documents do not
// have, may be missing.
func TestPlacetsOwnAFLDocumentsAreStrict(t *testing.T) {
	for _, name := range []string{"afl/state", "afl/worker-run", "afl/validation", "afl/verdict", "afl/escalation"} {
		checkStrict(t, name, goodAFL[name], open, func(where string) bool { return strings.HasPrefix(where, "/review/notes/0/") })
	}
}

// checkStrict asserts that no member of a good document may be missing, unless it is
// optional, or of another kind, unless it is free.
func checkStrict(t *testing.T, name, good string, optional, free func(where string) bool) {
	t.Helper()
	var doc any
	if err := Decode(name, "", []byte(good), &doc); err != nil {
		t.Fatal(err)
	}
	eachMember(doc, nil, func(at []string, object map[string]any, key string) {
		where := pointer(append(slices.Clone(at), key))
		if free(where) {
			return
		}
		value := object[key]
		delete(object, key)
		if !optional(where) {
			refused(t, name, doc, where+": is missing")
		}
		object[key] = []any{true}
		if _, isList := value.([]any); isList {
			object[key] = "no list"
		}
		refused(t, name, doc, where)
		object[key] = value
	})
}

// open reports whether a member may be missing: its key is an id or a path, or it
// belongs to a prerequisite.
func open(where string) bool {
	return where == "/checkpoints/coupon-a" || where == "/requests/approve-1" ||
		strings.HasPrefix(where, "/approved/prerequisites/") || strings.HasPrefix(where, "/last_transition/cause/")
}

func refused(t *testing.T, name string, doc any, want string) {
	t.Helper()
	body, err := Encode(doc)
	if err != nil {
		t.Fatal(err)
	}
	if err := Decode(name, "", body, nil); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: %v, expected %s", name, err, want)
	}
}

// eachMember visits every member of every object of a tree.
func eachMember(node any, at []string, visit func(at []string, object map[string]any, key string)) {
	switch n := node.(type) {
	case map[string]any:
		for key, child := range n {
			visit(at, n, key)
			eachMember(child, append(slices.Clone(at), key), visit)
		}
	case []any:
		for i, child := range n {
			eachMember(child, append(slices.Clone(at), fmt.Sprint(i)), visit)
		}
	}
}

// TestAFLDocuments lists what each schema of the family accepts and refuses.
func TestAFLDocuments(t *testing.T) {
	checkDocuments(t, map[string]map[string]string{
		"afl/meta": {
			`{}`:                             "",
			`{"checkpointsApproved":null}`:   "",
			`{"checkpointsApproved":"true"}`: "line 1, column 24: /checkpointsApproved: is text: expected true, false or null",
			`{"sessionId":7}`:                "line 1, column 14: /sessionId: is the number 7: expected the name of the session's folder",
		},
		"afl/control": {
			`{"want":"run"}`:  "",
			`{}`:              "line 1, column 1: /want: is missing: expected what is wanted",
			`{"want":"stop"}`: `line 1, column 9: /want: unknown word "stop": expected one of "run", "pause", "abort"`,
		},
		"afl/checkpoint": { // what a finding is for is taken
			`{}`: "",
			`{"id":"../x","criteria":null,"dependencies":null,"validation":null}`: "",
			`{"validation":{"timeout":"60s"}}`:                                    "",
			`{"validation":{"timeout":true}}`:                                     "",
			`{"validation":{"timeout":[1]}}`:                                      "line 1, column 26: /validation/timeout: is an array: expected a whole number of milliseconds from 1 to 86400000, without unit",
			`{"criteria":"all"}`:                                                  "line 1, column 13: /criteria: is text: expected a list of criteria",
			`{"criteria":[{"a":1}]}`:                                              "line 1, column 14: /criteria/0: is an object: expected a criterion, as text",
			`{"prerequisites":{"tasks":[[]]}}`:                                    "line 1, column 28: /prerequisites/tasks/0: is an array: expected a checkpoint id",
			`{"id":7,"validation":{"expected":200,"command":true}}`:               "", // scalars stand for their text
			`{"contract":{"tests":["t"],"interface":7}}`:                          "line 1, column 40: /contract/interface: is the number 7: expected a name, names or null",
		},
		"afl/review": {
			`{"findings":[]}`: "",
			`{}`:              "line 1, column 1: /findings: is missing: expected an array of findings",
			`{"findings":[{"checkpoint":"a","severity":"grave","title":"t"}]}`: `line 1, column 43: /findings/0/severity: unknown word "grave": expected one of "blocking", "non_blocking"`,
			`{"findings":[{"severity":"blocking","title":"t"}]}`:               "line 1, column 14: /findings/0/checkpoint: is missing: expected a checkpoint id",
			`{"findings":[],"scores":{"code_quality":6}}`:                      "line 1, column 41: /scores/code_quality: is the number 6: expected a whole number from 1 to 5",
		},
		"afl/worker": {
			`{"status":"completed"}`:                               "",
			`{"status":"failed","failure_type":"ENV_ISSUE"}`:       "",
			`{"status":"done"}`:                                    `line 1, column 11: /status: unknown word "done": expected one of "completed", "failed", "question"`,
			`{"status":"question"}`:                                "line 1, column 1: /question: is missing: expected the question, as text",
			`{"status":"question","question":" \n"}`:               `line 1, column 33: /question: " \n" does not fit: expected the question, as text`,
			`{"status":"question","question":null}`:                "line 1, column 33: /question: is null: expected the question, as text",
			`{"status":"completed","question":null}`:               "",
			`{"status":"failed","failure_type":"FLAKY"}`:           `line 1, column 35: /failure_type: unknown word "FLAKY": expected one of "NOT_IMPLEMENTED", "LOGIC_ERROR", "TYPE_ERROR", "DESIGN_MISMATCH", "ENV_ISSUE", "TIMEOUT", "UNKNOWN", null`,
			`{"status":"completed","iteration":0}`:                 "line 1, column 35: /iteration: is the number 0: expected the attempt's number, 1 or more",
			`{"status":"completed","changed_files":["a",{"b":1}]}`: "line 1, column 44: /changed_files/1: is an object: expected a path",
		},
		"afl/result": {
			`{"iteration":1,"exitCode":0,"output":""}`:     "", // a hook's event is judged by the family
			`{"iteration":null,"exitCode":0,"output":"x"}`: "line 1, column 14: /iteration: is null: expected the attempt's number, 1 or more",
			`{"iteration":1,"exitCode":"0","output":"x"}`:  "line 1, column 27: /exitCode: is text: expected an exit code",
			`{"iteration":1,"exitCode":0}`:                 "line 1, column 1: /output: is missing: expected what the validation put out, as text",
			`{"iteration":1,"exitCode":0,"output":{}}`:     "line 1, column 38: /output: is an object: expected what the validation put out, as text",
			`{"iteration":1.5,"exitCode":0,"output":""}`:   "line 1, column 14: /iteration: is the number 1.5: expected the attempt's number, 1 or more",
		},
		"afl/analysis": {
			`{"failure_type":"UNKNOWN"}`:                                 "",
			`{"causes":[]}`:                                              "line 1, column 1: /failure_type: is missing: expected a failure type",
			`{"failure_type":"TIMEOUT","of":"` + hex64 + `"}`:            `line 1, column 32: /of: "` + hex64 + `" does not fit: expected "sha256:" and 64 hex digits, or null`,
			`{"failure_type":"TIMEOUT","suggestions":[{"file":"f"}]}`:    "line 1, column 42: /suggestions/0/why: is missing: expected why, as text",
			`{"failure_type":"TIMEOUT","suggestions":[{"why":["r"]},1]}`: "line 1, column 49: /suggestions/0/why: is an array: expected why, as text",
		},
		"afl/pending-question": {
			`{"timestamp":"t","checkpoint":"../x","question":""}`: "",
			`{"timestamp":"t","checkpoint":"a"}`:                  "line 1, column 1: /question: is missing: expected the question, as text",
			`{"timestamp":"t","checkpoint":null,"question":""}`:   "line 1, column 31: /checkpoint: is null: expected the checkpoint's id",
		},
		"afl/current-delegation": {
			`{}`: "", `{"status":null,"iteration":null}`: "",
			`{"iteration":"1"}`: "line 1, column 14: /iteration: is text: expected the attempt's number",
			`{"status":[]}`:     "line 1, column 11: /status: is an array: expected a status word",
		},
		"afl/config-yaml": {
			`{"feedback_loop":null,"server":{"port":3847}}`: "",
			`{"feedback_loop":{"max_iterations":500}}`:      "", // its range is judged where all settings are known
			`{"feedback_loop":{"max_iterations":"5"}}`:      "line 1, column 36: /feedback_loop/max_iterations: is text: expected a whole number from 1 to 50",
			`{"validation":{"timeout":"120s"}}`:             "line 1, column 26: /validation/timeout: is text: expected a whole number of milliseconds",
		},
		"afl/config-json": {
			`{}`:                  "",
			`{"feedbackLoop":[]}`: "line 1, column 17: /feedbackLoop: is an array: expected settings of the feedback loop",
			`{"feedbackRouting":{"notifyOnEscalation":"no"}}`: "line 1, column 42: /feedbackRouting/notifyOnEscalation: is text: expected true, false or null",
		},
		"afl/delegation-status": {
			`{"checkpointId":"a","status":"checkpoint_passed","iteration":2,"maxIterations":5,"history":[{"iteration":1,"result":"failed"}]}`: "",
			`{"status":1}`:             "line 1, column 11: /status: is the number 1: expected a status word",
			`{"checkpoints":{"a":[]}}`: "line 1, column 21: /checkpoints/a: is an array: expected an object with status",
		},
	})
}

func TestTheStateOfASession(t *testing.T) {
	state := goodAFL["afl/state"]
	for body, want := range map[string]string{
		with(state, `"escalated","adopted"`, `"stuck","adopted"`):           `/status: unknown word "stuck": expected one of "designing", "approved", "delegating", "paused", "escalated", "completed", "aborted"`,
		with(state, `"status":"escalated","since"`, `"status":"x","since"`): `/checkpoints/coupon-a/status: unknown word "x": expected one of "pending", "in_progress", "validating", "retrying", "waiting_for_human", "escalated", "completed", "aborted"`,
		with(state, `"revision":9`, `"revision":0`):                         "/revision: is the number 0: expected a whole number, 1 or more",
		with(state, `"afl"`, `"faber"`):                                     `/family: is text: expected "afl"`,
		with(state, `"abc12345"`, `"../x"`):                                 `/session_id: "../x" does not fit: expected an id: a letter or digit, then at most 63 letters, digits, '.', '_' or '-'`,
		with(state, aflTime, `"today"`):                                     `/created_at: "today" does not fit: expected a time in UTC, as in 2026-01-19T10:30:00.000Z`,
		with(state, `"layout":"v1"`, `"layout":"v3"`):                       `/specs/layout: unknown word "v3": expected one of "v1", "v2", null`,
		with(state, `"epoch":0`, `"epoch":"0"`):                             "/checkpoints/coupon-a/epoch: is text: expected a whole number, 0 or more",
		with(state, `"skip":null`, `"skip":"gone"`):                         `/checkpoints/coupon-a/skip: unknown word "gone": expected one of "plain", "forced", null`,
	} {
		if err := Decode("afl/state", "", []byte(body), nil); err == nil || !strings.HasSuffix(err.Error(), ": "+want) {
			t.Errorf("%v\nexpected %s", err, want)
		}
	}
	for _, body := range []string{ // what another moment or a later version has
		with(state, `"validation.json":`+aflDigest, `"validation.json":""`),
		with(state, `"schema_version":1`, `"schema_version":1,"language":"ko","later":{}`),
		with(with(state, `"review":{`, `"review":null,"x":{`), `"last_transition":{`, `"last_transition":null,"y":{`),
	} {
		if err := Decode("afl/state", "state.json", []byte(body), nil); err != nil {
			t.Error(err)
		}
	}
}

// The largest session that the page allows can be read: 500 checkpoints, each with a
// long history.
func TestTheLargestStateIsRead(t *testing.T) {
	at := strings.Index(goodCheckpoint, `"history":[`) + len(`"history":[`)
	entry := strings.TrimSuffix(goodCheckpoint[at:], "]}")
	long := goodCheckpoint[:at] + strings.Repeat(entry+",", 49) + entry + "]}"
	checkpoints := make([]string, 500)
	for i := range checkpoints {
		checkpoints[i] = fmt.Sprintf("%q:%s", fmt.Sprintf("cp-%d", i), long)
	}
	body := []byte(with(goodAFL["afl/state"], `"coupon-a":`+goodCheckpoint, strings.Join(checkpoints, ",\n")))
	if len(body) < 4<<20 || len(body) > 16<<20 {
		t.Fatalf("the document has %d bytes", len(body))
	}
	if err := Decode("afl/state", "state.json", body, nil); err != nil {
		t.Error(err)
	}
}
