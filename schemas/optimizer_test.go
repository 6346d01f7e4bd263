package schemas

import (
	stdjson "encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	cycleTime = `"2026-03-02T09:14:07Z"`
	cycleID   = `"run_id":"20260302-msowd-sop-masking"`
	cycleGoal = `{"next_automation_level":30,"optimization_directives":["희귀 라벨 검사 추가"],"carry_over_issues":["Level 30 실패: exit 2"],"approved_by":"human_feedback"}`
	cycleBy   = `{"user":"ana","source":"form"}`

	cycleDecision = `"automation_level":30,"rationale":["Signal A: …","Signal B: …","Signal C: …"],"escalation_needed":false,"recommended_level":null,
		"signals":{"a":30,"b":30,"c":0},"signal_level":30,"goal_level":null`
)

// goodOptimizer is a good document of each schema of the family, with every member
// that it may have.
var goodOptimizer = map[string]string{
	"optimizer/trigger": `{"workflow_name":"sop-masking-engine","trigger_type":"external","current_metrics":{"precision":87,"tickets":{"value":3,"unit":"number","gate":false,"direction":"down"}},
		"last_run_id":"20260202-msowd-sop-masking","optimization_goal":"fewer misses","current_level":20,"optimization_directives":["d"],"carry_over_issues":["i"],
		"timeout_reentries":1,"created_by":"placet","created_at":` + cycleTime + `}`,
	"optimizer/assets": `{"evaluation_script":"scripts/evaluation.py","analysis_script":null,"criteria_fixed":true}`,
	"optimizer/kpi": `{"gate_threshold":85,"metrics":[{"name":"precision","value":78.1,"threshold":85,"target":95,"unit":"percent","direction":"up","gate":true},
		{"name":"misses","value":null,"unit":"number","gate":false,"direction":"down"}]}`,
	"optimizer/usage":       `{"title":"SOP","owner":["a"],"kpi":{"gate_threshold":85,"metrics":{"precision":{"threshold":0.85,"target":0.95,"unit":"ratio","direction":"up","gate":true,"value":0.9}}}}`,
	"optimizer/retrieved":   `{"record_id":"r-1","metric":"precision","value":-1.5e3,"flag":"anomaly"}`,
	"optimizer/suggestions": `{"suggestions":[{"text":"희귀 라벨 검사 추가","priority":"high"},{"text":"t"}],"summary":"s","patterns":["p"]}`,
	"optimizer/level-error": `{"level":30,"error":"no evaluation data"}`,
	"optimizer/stop":        `{"reason":"not needed","by":"ana"}`,
	"optimizer/context": `{"schema_version":1,` + cycleID + `,"workflow_name":"sop-masking-engine","collected_at":` + cycleTime + `,"usage":{"path":"docs/usage/sop-masking-engine.md","found":true},
		"previous_goal":{"run_id":"20260202-msowd-sop-masking","archived":true,"approved_by":"timeout_fallback","next_automation_level":20,"optimization_directives":["d"],"carry_over_issues":["i"]},
		"open_issues":["i"],"late_answer":{"request_id":"hitl-3f9a12c4","received_at":` + cycleTime + `,"response":"raise","selected":["s1"],"comment":"c","provided_by":` + cycleBy + `,"digest":` + aflDigest + `},
		"audit":{"db":".mso-context/audit_global.db","available":true,"rows":[{"id":"TASK-1","status":"fail"}]},"feedback":[{"id":"FB-1","date":"2026-02-02","level_before":20,"level_after":30}],
		"callbacks":[{"event_type":"anomaly_detected","checkpoint_id":null,"severity":"high","message":"m","timestamp":` + cycleTime + `}],"warnings":["w"]}`,
	"optimizer/decision": `{` + cycleID + `,"workflow_name":"sop-masking-engine",` + cycleDecision + `}`,
	"optimizer/attempt":  `{"level":30,"n":1,"argv":["python3","scripts/evaluation.py"],"started_at":` + cycleTime + `,"deadline":` + cycleTime + `}`,
	"optimizer/outcome":  `{"exit":2,"result":"failed","error":"exit 2","stdout_tail":"","stderr_tail":"bye","ended_at":` + cycleTime + `}`,
	"optimizer/audit": `{"db":".mso-context/audit_global.db","rows":[{"id":"TASK-20260302-9F3A61C2","table":"audit_logs","row":{"id":"TASK-20260302-9F3A61C2","notes":null,"duration_sec":7.5},
		"outcome":"pending","tries":5,"next_try_at":` + cycleTime + `,"last_error":"locked","settled_at":` + cycleTime + `}]}`,
	"optimizer/goal": cycleGoal,
	"optimizer/result": `{` + cycleID + `,"workflow_name":"sop-masking-engine","trigger_type":"direct","decision_output":{"automation_level":30,"rationale":["r"],"escalation_needed":false},
		"report_path":"p","goal":` + cycleGoal + `,"metadata":{"created_at":` + cycleTime + `,"level_before":20,"level_after":30,"hitl_responded":true}}`,
	"optimizer/late": `{"request_id":"hitl-3f9a12c4","received_at":` + cycleTime + `,"response":"raise","selected":["s1"],"comment":"c","provided_by":` + cycleBy + `,"digest":` + aflDigest + `}`,
	"optimizer/manifest": `{"run_id":"20260302-msowd-sop-masking","status":"completed","skill_key":"msowd","case_slug":"sop-masking","tags":["workflow:sop-masking-engine"],
		"completed_at":"2026-03-01T12:00:00Z","updated_at":"2026-03-01T12:00:00Z","phases":{"a":[1]},"retention":{"days":7}}`,
	"optimizer/callback": `{"event_type":"hitl_request","checkpoint_id":"cp-1","severity":null,"message":null,"timestamp":"2026-03-02T09:00:00+09:00","tags":["workflow:x"],"payload":{"severity":"high","message":"m","a":1}}`,
	"optimizer/state":    fullCycle,
}

// pageState is the example of the format page: demoted from 30, with an open
// request. Its digests are complete.
var pageState = strings.NewReplacer(`"sha256:…"`, aflDigest, `"sha256":"…"`, `"sha256":"`+hex64+`"`).Replace(`
{"schema_version":1,"run_id":"20260302-msowd-sop-masking","workflow_name":"sop-masking-engine","status":"awaiting_human","revision":7,
 "last_transition":{"edge":"recorded","from":"reporting","to":"awaiting_human","at":"2026-03-02T09:14:07Z","actor":"placet","reason":"audit row inserted","cause":{"optimizer/audit.json":"sha256:…"}},
 "began_at":"2026-03-02T09:12:00Z","lang":"ko","trigger":{"workflow_name":"sop-masking-engine","trigger_type":"direct"},"trigger_digest":"sha256:…","timeout_reentries":0,"inputs_until":"2026-03-02T09:22:00Z","suggestions_until":"2026-03-02T09:24:00Z",
 "decision":{"automation_level":30,"rationale":["Signal A: …","Signal B: …","Signal C: …"],"escalation_needed":false,"recommended_level":null,"signals":{"a":30,"b":30,"c":0},"signal_level":30,"goal_level":null},
 "kpi":[{"name":"precision","value":78.1,"threshold":85,"target":95,"unit":"percent","direction":"up","gate":true,"margin":-6.9}],
 "level":{"current":20,"retrieved":"sha256:…","extra_attempts":0},"demotions":[{"from":30,"to":20,"error":"evaluation: exit 2","at":"2026-03-02T09:13:20Z"}],
 "report":{"path":".mso-context/active/20260302-msowd-sop-masking/optimizer/level20_report.md","sha256":"…","at":"2026-03-02T09:14:05Z","inputs":{"retrieved.jsonl":"sha256:…","suggestions.json":"sha256:…"}},"suggestions":[{"id":"s1","text":"희귀 라벨 검사 추가","priority":"high"}],
 "audit_id":"TASK-20260302-9F3A61C2","request_id":"hitl-3f9a12c4","deadline":"2026-03-04T09:14:07Z","answer":null,"goal":null,"feedback_id":null,"error":null}
`)

// fullCycle is pageState with a value in every member.
var fullCycle = strings.NewReplacer(
	`"answer":null`, `"answer":{"response":"raise","selected":["s1"],"comment":"c","by":`+cycleBy+`}`, `"goal":null`, `"goal":`+cycleGoal,
	`"feedback_id":null`, `"feedback_id":"FB-20260302-9F3A61C2"`, `"error":null`, `"error":"stopped"`,
).Replace(strings.TrimSpace(pageState))

func TestGoodOptimizerDocuments(t *testing.T) {
	for _, name := range Names() {
		if !strings.HasPrefix(name, "optimizer/") {
			continue
		}
		if err := Decode(name, name, []byte(goodOptimizer[name]), nil); err != nil {
			t.Error(err)
		}
	}
	if err := Decode("optimizer/state", "state.json", []byte(pageState), nil); err != nil {
		t.Error(err)
	}
}

// Documents that only placet writes must be whole, like AFL's.
func TestPlacetsOwnOptimizerDocumentsAreStrict(t *testing.T) {
	for _, name := range []string{"context", "decision", "state", "attempt", "outcome", "audit", "goal", "result", "late"} {
		checkStrict(t, "optimizer/"+name, goodOptimizer["optimizer/"+name], func(where string) bool {
			return strings.HasPrefix(where, "/report/inputs/") || strings.HasPrefix(where, "/last_transition/cause/")
		}, foreign)
	}
}

// foreign reports whether a member holds somebody else's text, or belongs to a row
// whose columns another schema describes.
func foreign(where string) bool {
	return strings.HasPrefix(where, "/trigger/") || strings.HasPrefix(where, "/rows/0/row/") || strings.HasPrefix(where, "/audit/rows/") || where == "/feedback/0/date"
}

func TestUnknownMembersOfOptimizerDocumentsAreKept(t *testing.T) {
	want := map[string]any{"x": []any{stdjson.Number("1.0")}}
	for name, good := range goodOptimizer {
		var doc any
		err := Decode(name, "", []byte(`{"later":{"x":[1.0]},`+good[1:]), &doc)
		if err != nil || !cmp.Equal(doc.(map[string]any)["later"], any(want)) {
			t.Errorf("%s: %v, read as %v", name, err, doc)
		}
	}
}

// TestAStateHoldsWhatItsStatusNeeds checks that a state without a member that the
// machine needs at its status is refused.
func TestAStateHoldsWhatItsStatusNeeds(t *testing.T) {
	reached := map[string]string{ // by member, the first status that needs it
		"decision": "running", "level": "running", "report": "reporting", "goal": "goal",
	}
	order := []string{"context", "deciding", "running", "reporting", "awaiting_human", "goal"}
	for member, first := range reached {
		for _, status := range append(order, "failed") {
			doc := cycleOf(t)
			doc["status"], doc[member] = status, nil
			err := Decode("optimizer/state", "", encoded(t, doc), nil)
			needs := status != "failed" && slices.Index(order, status) >= slices.Index(order, first)
			if want := "/" + member + ": is null: expected the " + member; needs != (err != nil) || needs && !strings.Contains(err.Error(), want) {
				t.Errorf("%s without %s: %v", status, member, err)
			}
		}
	}
	for typ, members := range map[string][]string{"hitl": {"decision", "level", "report"}, "attempt_unknown": {"decision", "level"}, "reentry_cap": nil} {
		for member := range reached {
			doc := cycleOf(t)
			doc["status"], doc[member] = "failed", nil
			doc["requests"] = []any{map[string]any{"id": "a", "type": "other", "status": "open", "revision": 1}, map[string]any{"id": "x", "type": typ, "status": "open", "revision": 1}}
			if err := Decode("optimizer/state", "", encoded(t, doc), nil); slices.Contains(members, member) != (err != nil) {
				t.Errorf("a request %s without %s: %v", typ, member, err)
			}
		}
	}
	for by, good := range map[string]bool{"null": false, "{}": false, cycleBy: true} {
		body := with(fullCycle, `"lang":"ko"`, `"lang":"ko","requests":[{"id":"x","type":"reentry_cap","revision":1,"status":"accepted","by":`+by+`}]`)
		if err := Decode("optimizer/state", "", []byte(body), nil); good != (err == nil) {
			t.Errorf("answered by %s: %v", by, err)
		}
	}
}

// cycleOf returns a state with a value in every member.
func cycleOf(t *testing.T) map[string]any {
	t.Helper()
	var read any
	if err := Decode("optimizer/state", "", []byte(fullCycle), &read); err != nil {
		t.Fatal(err)
	}
	return read.(map[string]any)
}

func encoded(t *testing.T, doc any) []byte {
	t.Helper()
	body, err := Encode(doc)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// A document that is read and written again keeps the spelling of every number, and
// still fits the schema.
func TestNumbersOfOptimizerDocumentsStayAsTheyAre(t *testing.T) {
	for name, good := range goodOptimizer {
		for _, spelled := range []string{"20.0", "2e1", "20"} {
			good := strings.NewReplacer(`"current":20,`, `"current":`+spelled+`,`, `"current_level":20,`, `"current_level":`+spelled+`,`,
				`"level_before":20,`, `"level_before":`+spelled+`,`).Replace(good)
			var doc, again any
			if err := Decode(name, "", []byte(good), &doc); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			body, err := Encode(doc)
			if err != nil || Decode(name, "", body, &again) != nil || !cmp.Equal(doc, again) {
				t.Errorf("%s: %v: written as %s", name, err, body)
			}
			if strings.Contains(good, ":"+spelled+",") != strings.Contains(string(body), ": "+spelled) {
				t.Errorf("%s: %s is spelled otherwise in %s", name, spelled, body)
			}
		}
	}
}

func TestNoOptimizerDocumentIsReadFromABadFile(t *testing.T) {
	for name, good := range goodOptimizer {
		for kind, bad := range badKinds() {
			var into any
			err := Decode(name, "f.json", []byte(bad.make(good)), &into)
			var e *Error
			if !errors.As(err, &e) || e.Path != "f.json" || isZero(e.Problem) || e.Torn != bad.torn || into != nil {
				t.Errorf("%s, %s: %v, read as %v", name, kind, err, into)
			}
		}
	}
}

// TestOptimizerDocuments lists what each schema of the family accepts and refuses.
func TestOptimizerDocuments(t *testing.T) {
	const (
		name  = `the name of the workflow: 1 to 100 characters, without "/", "\" and control characters, not beginning with "."`
		noBar = `false: a metric of the unit "number" has no place in percent, so it cannot be a gate`
	)
	trigger := func(more string) string { return `{"workflow_name":"x",` + more + `}` }
	checkDocuments(t, map[string]map[string]string{
		"optimizer/trigger": {
			`{"workflow_name":"x"}`:                                "",
			`{"workflow_name":"희귀 라벨 (1).x"}`:                      "",
			`{"workflow_name":"` + strings.Repeat("희", 100) + `"}`: "",
			`{"workflow_name":"` + strings.Repeat("x", 101) + `"}`: "line 1, column 18: /workflow_name: length must be <= 100, but got 101: expected " + name,
			`{}`:                                            "line 1, column 1: /workflow_name: is missing: expected " + name,
			`{"workflow_name":null}`:                        "line 1, column 18: /workflow_name: is null: expected " + name,
			`{"workflow_name":7}`:                           "line 1, column 18: /workflow_name: is the number 7: expected " + name,
			`{"workflow_name":""}`:                          `line 1, column 18: /workflow_name: "" does not fit: expected ` + name,
			`{"workflow_name":"a/b"}`:                       `line 1, column 18: /workflow_name: "a/b" does not fit: expected ` + name,
			`{"workflow_name":"a\\b"}`:                      `line 1, column 18: /workflow_name: "a\\b" does not fit: expected ` + name,
			`{"workflow_name":".."}`:                        `line 1, column 18: /workflow_name: ".." does not fit: expected ` + name,
			`{"workflow_name":"a\nb"}`:                      `line 1, column 18: /workflow_name: "a\nb" does not fit: expected ` + name,
			`{"workflow_name":"\u0085"}`:                    `line 1, column 18: /workflow_name: "\u0085" does not fit: expected ` + name,
			trigger(`"trigger_type":"observability_alert"`): "", trigger(`"trigger_type":"milestone"`): "", trigger(`"trigger_type":null`): "",
			trigger(`"trigger_type":"cron"`):   `line 1, column 37: /trigger_type: unknown word "cron": expected one of "direct", "external", "observability_alert", "milestone", null`,
			trigger(`"trigger_type":"Direct"`): `line 1, column 37: /trigger_type: unknown word "Direct": expected one of "direct", "external", "observability_alert", "milestone", null`,
			trigger(`"current_level":20.0`):    "", trigger(`"current_level":2e1`): "", trigger(`"timeout_reentries":0.0`): "",
			trigger(`"current_level":"20"`):                                  `line 1, column 38: /current_level: is the text "20": expected one of 10, 20, 30, null`,
			trigger(`"current_level":40`):                                    "line 1, column 38: /current_level: is the number 40: expected one of 10, 20, 30, null",
			trigger(`"timeout_reentries":-1`):                                "line 1, column 42: /timeout_reentries: is the number -1: expected a whole number, 0 or more",
			trigger(`"timeout_reentries":1.5`):                               "line 1, column 42: /timeout_reentries: is the number 1.5: expected a whole number, 0 or more",
			trigger(`"last_run_id":"x"`):                                     `line 1, column 36: /last_run_id: "x" does not fit: expected the run id of the cycle before, as in 20260302-msowd-sop-masking, or null`,
			trigger(`"carry_over_issues":["a",1]`):                           "line 1, column 47: /carry_over_issues/1: is the number 1: expected an issue",
			trigger(`"current_metrics":{"a":"87"}`):                          "line 1, column 45: /current_metrics/a: is text: expected a number, or an object with value, threshold, target, unit, direction or gate",
			trigger(`"current_metrics":{"a":{"value":"87"}}`):                "line 1, column 54: /current_metrics/a/value: is text: expected the value, a number, or null",
			trigger(`"current_metrics":{"a":{"unit":"number","gate":true}}`): "line 1, column 69: /current_metrics/a/gate: is true: expected " + noBar,
			trigger(`"current_metrics":{"a":{"unit":"number","gate":null}}`): "",
		},
		"optimizer/assets": {
			`{}`: "", `{"evaluation_script":null,"criteria_fixed":null}`: "",
			`{"criteria_fixed":"true"}`: "line 1, column 19: /criteria_fixed: is text: expected true, false or null",
			`{"analysis_script":["a"]}`: "line 1, column 20: /analysis_script: is an array: expected the name of the analysis script, or null",
		},
		"optimizer/kpi": {
			`{}`: "", `{"metrics":[{"name":"a"}]}`: "", `{"metrics":[{"name":"a","gate":true,"unit":"ratio"}]}`: "",
			`{"metrics":[{"value":1}]}`:                                "line 1, column 13: /metrics/0/name: is missing: expected the name of the metric",
			`{"metrics":[{"name":" "}]}`:                               `line 1, column 21: /metrics/0/name: " " does not fit: expected the name of the metric`,
			`{"metrics":{"a":1}}`:                                      "line 1, column 12: /metrics: is an object: expected an array of metrics",
			`{"gate_threshold":"85"}`:                                  "line 1, column 19: /gate_threshold: is text: expected a number in percent, or null",
			`{"metrics":[{"name":"a","unit":"%"}]}`:                    `line 1, column 32: /metrics/0/unit: unknown word "%": expected one of "percent", "ratio", "number", null`,
			`{"metrics":[{"name":"a","direction":"left"}]}`:            `line 1, column 37: /metrics/0/direction: unknown word "left": expected one of "up", "down", null`,
			`{"metrics":[{"name":"a","gate":true,"unit":"number"}]}`:   "line 1, column 32: /metrics/0/gate: is true: expected " + noBar,
			`{"metrics":[{"name":"a","gate":"yes","unit":"percent"}]}`: "line 1, column 32: /metrics/0/gate: is text: expected true, false or null",
		},
		"optimizer/usage": {
			`{}`: "", `{"kpi":null}`: "", `{"kpi":{"metrics":{"a":{}}}}`: "", `{"secret":"x","kpi":{"gate_threshold":85.5}}`: "",
			`{"kpi":[]}`:                     "line 1, column 8: /kpi: is an array: expected an object with gate_threshold and metrics",
			`{"kpi":{"metrics":{"a":85}}}`:   "line 1, column 24: /kpi/metrics/a: is the number 85: expected an object with threshold, target, unit, direction, gate or value",
			`{"kpi":{"metrics":[{"a":85}]}}`: "line 1, column 19: /kpi/metrics: is an array: expected metrics by name",
			`{"kpi":{"metrics":{"a":{"unit":"number","gate":true}}}}`: "line 1, column 48: /kpi/metrics/a/gate: is true: expected " + noBar,
		},
		"optimizer/retrieved": {
			`{"record_id":"r","metric":"m","value":1}`: "", `{"record_id":"","metric":"m","value":-0.0,"flag":null}`: "",
			`{"record_id":"r","metric":"m"}`:                              "line 1, column 1: /value: is missing: expected a finite number",
			`{"record_id":"r","metric":"m","value":"1"}`:                  "line 1, column 39: /value: is text: expected a finite number",
			`{"record_id":"r","metric":"m","value":null}`:                 "line 1, column 39: /value: is null: expected a finite number",
			`{"record_id":7,"metric":"m","value":1}`:                      "line 1, column 14: /record_id: is the number 7: expected the name of the record, as text",
			`{"record_id":"r","metric":"m","value":1,"flag":"Anomaly"}`:   `line 1, column 48: /flag: unknown word "Anomaly": expected one of "anomaly", null`,
			`{"record_id":"r","metric":"m","value":1,"flag":"anomalous"}`: `line 1, column 48: /flag: unknown word "anomalous": expected one of "anomaly", null`,
		},
		"optimizer/suggestions": {
			`{"suggestions":[]}`: "", `{"suggestions":[{"text":"t","priority":null}],"summary":null,"patterns":null}`: "",
			`{"suggestions":[` + strings.Repeat(`{"text":"t"},`, 49) + `{"text":"t"}]}`: "",
			`{"suggestions":[` + strings.Repeat(`{"text":"t"},`, 50) + `{"text":"t"}]}`: "line 1, column 16: /suggestions: has 51 items: expected an array of at most 50 suggestions",
			`{}`:                                    "line 1, column 1: /suggestions: is missing: expected an array of at most 50 suggestions",
			`{"suggestions":["t"]}`:                 "line 1, column 17: /suggestions/0: is text: expected an object with text and priority",
			`{"suggestions":[{"text":" \n\t"}]}`:    `line 1, column 25: /suggestions/0/text: " \n\t" does not fit: expected the suggestion, as text`,
			`{"suggestions":[{"priority":"high"}]}`: "line 1, column 17: /suggestions/0/text: is missing: expected the suggestion, as text",
			`{"suggestions":[{"text":"t","priority":"low"}]}`: `line 1, column 40: /suggestions/0/priority: unknown word "low": expected one of "high", "normal", null`,
		},
		"optimizer/level-error": {
			`{"level":10,"error":"e"}`:   "",
			`{"level":"10","error":"e"}`: `line 1, column 10: /level: is the text "10": expected one of 10, 20, 30`,
			`{"level":40,"error":"e"}`:   "line 1, column 10: /level: is the number 40: expected one of 10, 20, 30",
			`{"level":10}`:               "line 1, column 1: /error: is missing: expected why it cannot be done, as text",
			`{"level":10,"error":"  "}`:  `line 1, column 21: /error: "  " does not fit: expected why it cannot be done, as text`,
		},
		"optimizer/stop": {
			`{"reason":"r"}`: "", `{"reason":"r","by":null}`: "",
			`{"by":"ana"}`:   "line 1, column 1: /reason: is missing: expected why, as text",
			`{"reason":" "}`: `line 1, column 11: /reason: " " does not fit: expected why, as text`,
		},
		"optimizer/goal": {
			with(cycleGoal, `:30`, `:30.0`):                     "",
			with(cycleGoal, `:30`, `:"30"`):                     `line 1, column 26: /next_automation_level: is the text "30": expected one of 10, 20, 30`,
			with(cycleGoal, `:30`, `:15`):                       "line 1, column 26: /next_automation_level: is the number 15: expected one of 10, 20, 30",
			with(cycleGoal, `"human_feedback"`, `"nobody"`):     `line 1, column 129: /approved_by: unknown word "nobody": expected one of "human_feedback", "timeout_fallback"`,
			with(cycleGoal, `"optimization_directives"`, `"x"`): "line 1, column 1: /optimization_directives: is missing: expected an array of directives",
		},
		"optimizer/manifest": {
			`{}`: "", `{"status":null,"tags":null}`: "",
			`{"status":1}`:  `line 1, column 11: /status: is the number 1: expected a status word or null; only "completed" means something`,
			`{"tags":"a"}`:  "line 1, column 9: /tags: is text: expected an array of tags",
			`{"tags":[{}]}`: "line 1, column 10: /tags/0: is an object: expected a tag",
		},
		"optimizer/callback": {
			`{"event_type":"x"}`:              "",
			`{}`:                              "line 1, column 1: /event_type: is missing: expected an event type",
			`{"event_type":"x","message":{}}`: "line 1, column 29: /message: is an object: expected text or null",
			`{"event_type":"x","payload":{"message":1}}`: "line 1, column 40: /payload/message: is the number 1: expected text or null",
			`{"event_type":"x","payload":null}`:          "",
		},
	})
}

func TestTheStateOfACycle(t *testing.T) {
	for _, c := range [][3]string{
		{`"status":"awaiting_human"`, `"status":"waiting"`, `/status: unknown word "waiting": expected one of "context", "deciding", "running", "reporting", "awaiting_human", "goal", "failed"`},
		{`"revision":7`, `"revision":0`, "/revision: is the number 0: expected a whole number, 1 or more"},
		{`"schema_version":1`, `"schema_version":2`, "/schema_version: is the number 2: expected 1, the version of this format"},
		{cycleID, `"run_id":"../x"`, `/run_id: "../x" does not fit: expected a run id, as in 20260302-msowd-sop-masking`},
		{`"edge":"recorded"`, `"edge":"moved"`, `/last_transition/edge: unknown word "moved": expected one of "triggered", "collected", "continued", "declined", "decided", "retrieved", "retried", "demoted", "level_failed", "reported", "recorded", "answered", "timed_out", "stopped"`},
		{`"2026-03-02T09:12:00Z"`, `"today"`, `/began_at: "today" does not fit: expected a time in UTC, as in 2026-03-02T09:14:07Z`},
		{`"2026-03-04T09:14:07Z"`, `"2026-03-04T09:14:07+09:00"`, `/deadline: "2026-03-04T09:14:07+09:00" does not fit: expected a time in UTC, as in 2026-03-02T09:14:07Z, or null`},
		{`"lang":"ko"`, `"lang":"fr"`, `/lang: "fr" does not fit: expected the language of the texts: ko, en or ja`},
		{`"b":30`, `"b":0`, "/decision/signals/b: is the number 0: expected one of 10, 20, 30, null"},
		{`"c":0`, `"c":20`, "/decision/signals/c: is the number 20: expected one of -10, 0, 10"},
		{`"margin":-6.9`, `"margin":"-6.9"`, "/kpi/0/margin: is text: expected a number or null"},
		{`optimizer/level20_report.md"`, `optimizer/../x"`, `/report/path: ".mso-context/active/20260302-msowd-sop-masking/optimizer/../x" does not fit: expected the path of a report, ending in /optimizer/level<NN>_report.md`},
		{`"id":"s1"`, `"id":"s0"`, `/suggestions/0/id: "s0" does not fit: expected s and a number`},
		{`TASK-20260302-9F3A61C2`, `TASK-x`, `/audit_id: "TASK-x" does not fit: expected the id of a row of audit_logs, or null`},
		{`"lang":"ko"`, `"lang":"ko","requests":[null]`, "/requests/0: is null: expected an object with id, type, status and revision"},
		{`"lang":"ko"`, `"lang":"ko","requests":[{"id":"../x","type":"hitl","status":"open","revision":1}]`, `/requests/0/id: "../x" does not fit: expected a request id`},
		{`"sha256":"` + hex64, `"sha256":"` + hex64 + "0", `/report/sha256: "` + hex64 + `0" does not fit: expected 64 hex digits`},
	} {
		err := Decode("optimizer/state", "", []byte(with(fullCycle, c[0], c[1])), nil)
		if err == nil || !strings.HasSuffix(err.Error(), ": "+c[2]) {
			t.Errorf("%v\nexpected %s", err, c[2])
		}
	}
	for _, c := range [][2]string{ // what another moment or a later version has
		{`"from":"reporting"`, `"from":""`}, {`"b":30`, `"b":null`}, {`"lang":"ko"`, `"lang":"en","requests":[],"later":{}`}, {`"lang":"ko"`, `"lang":"ko","requests":null`},
		{`"lang":"ko"`, `"lang":"ko","requests":[{"id":"hitl-3f9a12c4","type":"hitl","status":"open","revision":7,"by":null}]`},
		{`"recommended_level":null`, `"recommended_level":30`}, {`"goal_level":null`, `"goal_level":10`}, {`"comment":"c"`, `"comment":null`},
		{`"level":{"current":20,"retrieved":` + aflDigest, `"level":{"current":20.0,"retrieved":null`},
		{`"suggestions.json":` + aflDigest, `"suggestions.json":""`}, {`"cause":{"optimizer/audit.json"`, `"also":[],"cause":{"optimizer/audit.json"`},
	} {
		if err := Decode("optimizer/state", "state.json", []byte(with(fullCycle, c[0], c[1])), nil); err != nil {
			t.Errorf("%s: %v", c[1], err)
		}
	}
}
