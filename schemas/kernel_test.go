package schemas

import (
	"strings"
	"testing"
)

const goodRequest = `{"schema_version":1,"request_id":"fr-1","family":"faber","run":"a/b/c","type":"approval","prompt":"Go?",
"options":[{"id":"approve","description":""}],"comment_required":[],"items":[{"id":"i1","label":"one"}],"context":{},
"artifacts":[{"path":"specs/x.md","sha256":null,"binding":true}],"requested_at":"2025-12-06T18:00:00Z","deadline":null,"default":null,
"may_answer":[],"revision":1,"gate":{"kind":"step"}}`

const goodReceipt = `{"schema_version":1,"request_id":"fr-1","result":"accepted","response":"approve","selected":[],"comment":"","late":false,
"provided_by":{"user":"ana","source":"form"},"known_as":["owner:ana"],"answer":{"path":"requests/fr-1/form.md","sha256":"` + hex64 + `"},
"digest":"sha256:` + hex64 + `","received_at":"t","decided_at":"t","reason":"","revision":2}`

const hex64 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func with(body, old, text string) string { return strings.Replace(body, old, text, 1) }

func TestKernelDocuments(t *testing.T) {
	checkDocuments(t, map[string]map[string]string{
		"kernel/request": {
			goodRequest: "",
			with(goodRequest, `"sha256":null`, `"sha256":"`+hex64+`"`):                                "",
			with(goodRequest, `"comment_required":[]`, `"comment_required":[],"several":["approve"]`): "",
			with(goodRequest, `"comment_required":[]`, `"comment_required":[],"several":"approve"`):   "line 2, column 79: /several: is text: expected an array of option words",
			with(goodRequest, `"schema_version":1`, `"schema_version":2`):                             "line 1, column 19: /schema_version: is the number 2: expected 1, the version of this format",
			with(goodRequest, `"revision":1`, `"revision_":1`):                                        "line 1, column 1: /revision: is missing: expected a whole number, 0 or more",
			with(goodRequest, `"sha256":null`, `"sha256":"beef"`):                                     `line 3, column 44: /artifacts/0/sha256: "beef" does not fit: expected 64 hex digits, or null for a missing file`,
			with(goodRequest, `"fr-1"`, `".."`):                                                       `line 1, column 34: /request_id: ".." does not fit: expected a request id: a letter or digit, then at most 99 letters, digits, '.', '_' or '-'`,
			with(goodRequest, `{"id":"approve","description":""}`, `"approve"`):                       "line 2, column 12: /options/0: is text: expected an object with id and description",
		},
		"kernel/response": {
			answer: "",
			`{"request_id":"fr-1","response":"","selected":null,"comment":null,"digest":null,"signature":null,"provided_by":{"user":"a","source":"http"},"x":1}`: "",
			with(answer, "{\n", `{"digest":"sha256:`+hex64+`",`):                    "",
			with(answer, "{\n", `{"digest":"`+hex64+`",`):                           `line 1, column 11: /digest: "` + hex64 + `" does not fit: expected "sha256:" and 64 hex digits, or null`,
			with(answer, `"fr-20251206-a1b2c3"`, `""`):                              "line 2, column 17: /request_id: is too short: expected the id of the request that is answered",
			with(answer, "{\n", `{"selected":"i1",`):                                "line 1, column 13: /selected: is text: expected an array of ids or null",
			with(answer, `{"user": "jmcwilliam", "source": "cli"}`, `"jmcwilliam"`): "line 4, column 18: /provided_by: is text: expected an object with user and source",
		},
		"kernel/response-optional": {
			answer: "",
			`{"request_id":"fr-1","selected":["s1"],"provided_by":{"user":"a","source":"http"}}`:    "",
			`{"request_id":"fr-1","response":null,"provided_by":{"user":"a","source":"http"}}`:      "line 1, column 33: /response: is null: expected an option's word, or the answer as text",
			`{"request_id":"fr-1","response":"","provided_by":{"user":"a","source":"clairvoyant"}}`: `line 1, column 71: /provided_by/source: unknown word "clairvoyant": expected one of "form", "file", "cli", "http", "slack", "mcp", "web", "link", "issue_comment", "parallel_coordination", "deadline"`,
		},
		"kernel/receipt": {
			goodReceipt: "",
			with(goodReceipt, `{"path":"requests/fr-1/form.md","sha256":"`+hex64+`"}`, "null"): "",
			with(goodReceipt, `"accepted"`, `"refused"`):                                       `line 1, column 50: /result: unknown word "refused": expected one of "accepted", "expired", "superseded", "cancelled"`,
			with(goodReceipt, `"late":false`, `"late":0`):                                      "line 1, column 116: /late: is the number 0: expected true or false",
			with(goodReceipt, `,"reason":""`, ``):                                              "line 1, column 1: /reason: is missing: expected text",
		},
	})
}

func TestAnOptionalResponseIsAResponseThatMayLackItsAnswer(t *testing.T) {
	var source [2]string
	for i, name := range []string{"kernel/response", "kernel/response-optional"} {
		body, err := Source(name)
		if err != nil {
			t.Fatal(err)
		}
		_, source[i], _ = strings.Cut(string(body), `"type": "object",`)
	}
	if want := with(source[0], "    \"response\",\n", ""); want == source[0] || source[1] != want {
		t.Errorf("the two schemas differ in more than that the response is required:\n%s", source[1])
	}
}
