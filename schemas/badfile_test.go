package schemas

import (
	"bytes"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
)

// answer is a good response document.
const answer = `{
  "request_id": "fr-20251206-a1b2c3",
  "response": "approve",
  "provided_by": {"user": "jmcwilliam", "source": "cli"}
}
`

// answerWith is answer with one text replaced.
func answerWith(old, text string) string { return strings.Replace(answer, old, text, 1) }

func utf16LE(text string, mark bool) string {
	var b bytes.Buffer
	if mark {
		b.WriteString("\xff\xfe")
	}
	for _, u := range utf16.Encode([]rune(text)) {
		b.Write([]byte{byte(u), byte(u >> 8)})
	}
	return b.String()
}

// TestEveryKindOfBadFileIsNamed tests the kinds of bad content. The message
// is what a person reads in the problem note.
func TestEveryKindOfBadFileIsNamed(t *testing.T) {
	requestID := ": expected a request id: a letter or digit, then at most 99 letters, digits, '.', '_' or '-'"
	tests := []struct {
		kind, schema, body string
		want               string
		torn               bool
	}{
		{kind: "empty", body: "", torn: true,
			want: "r.json: the file is empty: expected one JSON object"},
		{kind: "blanks only", body: " \n\t\r\n", torn: true,
			want: "r.json: the file holds nothing but blanks: expected one JSON object"},
		{kind: "half an object", body: answer[:40], torn: true,
			want: "r.json: line 3, column 1: the file ends in the middle of a value: expected one whole JSON object"},
		{kind: "half a string", body: answer[:30], torn: true,
			want: "r.json: line 2, column 29: /request_id: the file ends in the middle of a value: expected one whole JSON object"},
		{kind: "half an escape", body: `{"a":"\ud8`, torn: true,
			want: "r.json: line 1, column 11: /a: the file ends in the middle of a value: expected one whole JSON object"},
		{kind: "half a character", body: "{\"a\":\"\xc3", torn: true,
			want: "r.json: line 1, column 8: /a: the file ends in the middle of a value: expected one whole JSON object"},
		{kind: "half a word", body: `{"a":tru`, torn: true,
			want: "r.json: line 1, column 9: /a: the file ends in the middle of a value: expected one whole JSON object"},
		{kind: "NUL tail", body: answer + "\x00\x00\x00", torn: true,
			want: "r.json: line 6, column 1: the file holds NUL bytes: expected text"},
		{kind: "NUL in the middle", body: answer[:40] + "\x00\x00\x00", torn: true,
			want: "r.json: line 3, column 1: the file holds NUL bytes: expected text"},
		{kind: "all NUL", body: strings.Repeat("\x00", 64), torn: true,
			want: "r.json: line 1, column 1: the file holds NUL bytes: expected text"},
		{kind: "byte order mark", body: "\ufeff" + answer,
			want: "r.json: line 1, column 1: the file begins with a byte order mark: expected UTF-8 without one"},
		{kind: "UTF-16 with mark", body: utf16LE(answer, true), torn: true,
			want: "r.json: line 1, column 1: the file is UTF-16: expected UTF-8"},
		{kind: "UTF-16 without mark", body: utf16LE(answer, false), torn: true,
			want: "r.json: line 1, column 1: the file is UTF-16: expected UTF-8"},
		{kind: "invalid UTF-8", body: answerWith("jmc", "j\xff"), torn: true,
			want: "r.json: line 4, column 29: the file is not valid UTF-8: expected UTF-8"},
		{kind: "Latin-1", body: answerWith("jmcwilliam", "J\xfcrgen"), torn: true,
			want: "r.json: line 4, column 29: the file is not valid UTF-8: expected UTF-8"},
		{kind: "bidi character in a syntax error", body: "{\"a\":1 \u202e}", torn: true,
			want: "r.json: line 1, column 8: not JSON: invalid character '\\u202e' after object value (expecting ',' or '}')"},
		{kind: "lone surrogate", body: answerWith("jmc", `\ud800`), torn: true,
			want: "r.json: line 4, column 28: /provided_by/user: not JSON: invalid surrogate pair `\\ud800willia` in string"},
		{kind: "doubly encoded byte order mark", body: "\u00ef\u00bb\u00bf" + answer, torn: true,
			want: "r.json: line 1, column 1: not JSON: invalid character 'ï' at start of value"},
		{kind: "duplicate key", body: `{"response":"reject","response":"approve"}`,
			want: `r.json: line 1, column 22: the name "response" stands twice: expected each name once`},
		{kind: "duplicate key, escaped", body: `{"response":"reject","respons\u0065":"approve"}`,
			want: `r.json: line 1, column 22: the name "response" stands twice: expected each name once`},
		{kind: "key differing only in case", body: `{"response":"reject","RESPONSE":"approve"}`,
			want: `r.json: line 1, column 22: the names "response" and "RESPONSE" differ only in case: expected each name once`},
		{kind: "key differing only in case, beyond ASCII", body: "{\"kind\":1, \"\u212aind\":2}",
			want: `r.json: line 1, column 12: the names "kind" and "Kind" differ only in case: expected each name once`},
		{kind: "duplicate key far inside", body: `{"a":[{"b":{}},{"c":{"x":1,"y":2,"x":3}}]}`,
			want: `r.json: line 1, column 34: /a/1/c: the name "x" stands twice: expected each name once`},
		{kind: "duplicate key among many", body: `{` + manyNames(20) + `,"N7":0}`,
			want: `r.json: line 1, column 161: the names "n7" and "N7" differ only in case: expected each name once`},
		{kind: "trailing garbage", body: answer + "x", torn: true,
			want: "r.json: line 6, column 1: something follows the end of the document: expected nothing more"},
		{kind: "tail of a longer older file", body: `{"a":1}"}`, torn: true,
			want: "r.json: line 1, column 8: something follows the end of the document: expected nothing more"},
		{kind: "two documents", body: answer + answer, torn: true,
			want: "r.json: line 6, column 1: a second document follows: expected one JSON object"},
		{kind: "line comment", body: "{\n // who\n \"a\":1}", torn: true,
			want: "r.json: line 2, column 2: not JSON: a comment: expected no comments"},
		{kind: "block comment", body: `{"a":1 /* one */}`, torn: true,
			want: "r.json: line 1, column 8: not JSON: a comment: expected no comments"},
		{kind: "trailing comma", body: "{\"a\":1,\n}", torn: true,
			want: "r.json: line 1, column 7: not JSON: a comma before a closing bracket: expected no comma there"},
		{kind: "trailing comma in an array", body: `{"a":[1, ]}`, torn: true,
			want: "r.json: line 1, column 8: not JSON: a comma before a closing bracket: expected no comma there"},
		{kind: "single quotes", body: `{'a':1}`, torn: true,
			want: `r.json: line 1, column 2: not JSON: a single quotation mark: expected text in "double" ones`},
		{kind: "bare name", body: `{a:1}`, torn: true,
			want: "r.json: line 1, column 2: not JSON: invalid character 'a' at start of value"},
		{kind: "number as name", body: `{1:1}`, torn: true,
			want: "r.json: line 1, column 2: not JSON: object member name must be a string"},
		{kind: "line break in text", body: "{\"a\":\"b\nc\"}", torn: true,
			want: `r.json: line 1, column 8: /a: not JSON: invalid character '\n' in string (expecting non-control character)`},
		{kind: "plain text", body: "approve\n", torn: true,
			want: "r.json: line 1, column 1: not JSON: invalid character 'a' at start of value"},
		{kind: "array at the top", body: `[{"a":1}]`,
			want: "r.json: line 1, column 1: the document is an array: expected one JSON object"},
		{kind: "text at the top", body: "\n\"approve\"",
			want: "r.json: line 2, column 1: the document is text: expected one JSON object"},
		{kind: "null at the top", body: "null",
			want: "r.json: line 1, column 1: the document is null: expected one JSON object"},
		{kind: "required key missing", body: `{"request_id":"fr-1","provided_by":{"user":"a","source":"cli"}}`,
			want: "r.json: line 1, column 1: /response: is missing: expected an option's word, or the answer as text"},
		{kind: "required key missing inside", body: answerWith(`"user": "jmcwilliam", `, ""),
			want: "r.json: line 4, column 18: /provided_by/user: is missing: expected who answers, one line of at most 100 visible characters"},
		{kind: "wrong type", body: answerWith(`"approve"`, `["approve"]`),
			want: "r.json: line 3, column 15: /response: is an array: expected an option's word, or the answer as text"},
		{kind: "null where a value must be", body: answerWith(`"approve"`, `null`),
			want: "r.json: line 3, column 15: /response: is null: expected an option's word, or the answer as text"},
		{kind: "number for text", body: answerWith(`"approve"`, `1.0`),
			want: "r.json: line 3, column 15: /response: is the number 1.0: expected an option's word, or the answer as text"},
		{kind: "true for an object", body: answerWith(`{"user": "jmcwilliam", "source": "cli"}`, "true"),
			want: "r.json: line 4, column 18: /provided_by: is true: expected an object with user and source"},
		{kind: "unknown word", body: answerWith(`"cli"`, `"telepathy"`),
			want: `r.json: line 4, column 51: /provided_by/source: unknown word "telepathy": expected one of "form", "file", "cli", "http", "slack", "mcp", "web", "link", "issue_comment", "parallel_coordination", "deadline"`},
		{kind: "empty text", body: answerWith(`"jmcwilliam"`, `""`),
			want: "r.json: line 4, column 27: /provided_by/user: \"\" does not fit: expected who answers, one line of at most 100 visible characters"},
		{kind: "number as string", schema: "faber/state", body: `{"status":"pending","revision":"3"}`,
			want: "r.json: line 1, column 32: /revision: is text: expected a whole number, 0 or more"},
		{kind: "fraction for a whole number", schema: "faber/state", body: `{"status":"pending","revision":3.5}`,
			want: "r.json: line 1, column 32: /revision: is the number 3.5: expected a whole number, 0 or more"},
		{kind: "negative revision", schema: "faber/state", body: `{"status":"pending","revision":-1}`,
			want: "r.json: line 1, column 32: /revision: is the number -1: expected a whole number, 0 or more"},
		{kind: "1e400", schema: "faber/state", body: `{"status":"pending","revision":1e400}`,
			want: "r.json: line 1, column 32: /revision: the number 1e400 is out of range: expected a number that a program can hold"},
		{kind: "1e400 in an unknown key", schema: "faber/state", body: `{"status":"pending","x":{"y":[-1E400]}}`,
			want: "r.json: line 1, column 31: /x/y/0: the number -1E400 is out of range: expected a number that a program can hold"},
		{kind: "huge exponent", schema: "faber/state", body: `{"status":"pending","revision":1e-99999999999}`,
			want: "r.json: line 1, column 32: /revision: the number 1e-99999999999 is out of range: expected a number that a program can hold"},
		{kind: "NaN", schema: "faber/state", body: `{"status":"pending","revision":NaN}`, torn: true,
			want: "r.json: line 1, column 32: /revision: not JSON: invalid character 'N' at start of value"},
		{kind: "10,000 levels deep", body: `{"a":` + strings.Repeat("[", 10000),
			want: "r.json: line 1, column 69: nested too deep: expected at most 64 levels"},
		{kind: "65 levels deep", body: `{"a":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}`,
			want: "r.json: line 1, column 69: nested too deep: expected at most 64 levels"},
		{kind: "conflict markers", body: "{\n<<<<<<< HEAD\n  \"response\": \"approve\"\n=======\n  \"response\": \"reject\"\n>>>>>>> other\n}\n", torn: true,
			want: "r.json: line 2, column 1: the file holds merge-conflict markers: expected one side of the conflict"},
		{kind: "one conflict marker left", body: "{\"response\":\n\"approve\"\n>>>>>>> other\n}\n", torn: true,
			want: "r.json: line 3, column 1: the file holds merge-conflict markers: expected one side of the conflict"},
		{kind: "id with ..", schema: "faber/state", body: waiting("../../etc"),
			want: `r.json: line 1, column 65: /feedback_request/request_id: "../../etc" does not fit` + requestID},
		{kind: "id with a slash", schema: "faber/state", body: waiting("a/b"),
			want: `r.json: line 1, column 65: /feedback_request/request_id: "a/b" does not fit` + requestID},
		{kind: "id with a line break", schema: "faber/state", body: waiting(`fr-1\nfr-2`),
			want: `r.json: line 1, column 65: /feedback_request/request_id: "fr-1\nfr-2" does not fit` + requestID},
		{kind: "id ending in a line break", schema: "faber/state", body: waiting(`fr-1\n`),
			want: `r.json: line 1, column 65: /feedback_request/request_id: "fr-1\n" does not fit` + requestID},
		{kind: "id with bidi and zero-width characters", schema: "faber/state", body: waiting("fr\u202e\u200b1"),
			want: `r.json: line 1, column 65: /feedback_request/request_id: "fr\u202e\u200b1" does not fit` + requestID},
		{kind: "id of 300 characters", schema: "faber/state", body: waiting(strings.Repeat("a", 300)),
			want: `r.json: line 1, column 65: /feedback_request/request_id: "` + strings.Repeat("a", 80) + `…" does not fit` + requestID},
		{kind: "empty id", schema: "faber/state", body: waiting(""),
			want: `r.json: line 1, column 65: /feedback_request/request_id: "" does not fit` + requestID},
	}
	for _, tt := range tests {
		t.Run(tt.kind, func(t *testing.T) {
			if tt.schema == "" {
				tt.schema = "kernel/response"
			}
			for _, round := range []string{"examined", "remembered"} {
				var into struct{ Response string }
				err := Decode(tt.schema, "r.json", []byte(tt.body), &into)
				if err == nil {
					t.Fatalf("%s: accepted", round)
				}
				e, ok := err.(*Error)
				if !ok {
					t.Fatalf("%s: error of type %T: %v", round, err, err)
				}
				if diff := cmp.Diff(tt.want, e.Error()); diff != "" {
					t.Errorf("%s: message (-want +got):\n%s", round, diff)
				}
				if e.Torn != tt.torn {
					t.Errorf("%s: Torn = %v, want %v", round, e.Torn, tt.torn)
				}
				if into.Response != "" {
					t.Errorf("%s: a bad file was decoded: %q", round, into.Response)
				}
			}
		})
	}
}

// waiting returns a state document with an open request of the given id.
func waiting(id string) string {
	return `{"status":"awaiting_feedback", "feedback_request":{"request_id":"` + id + `","type":"approval","prompt":"?"}}`
}

// manyNames returns n members "n0" … of an object.
func manyNames(n int) string {
	var names []string
	for i := range n {
		names = append(names, `"n`+string(rune('a'+i/10))+string(rune('0'+i%10))+`":0`)
	}
	names[7] = `"n7":0`
	return strings.Join(names, ",")
}

func TestGoodFilesOfUnusualFormAreRead(t *testing.T) {
	tests := map[string]struct{ body, want string }{
		"CRLF":                  {strings.ReplaceAll(answer, "\n", "\r\n"), "approve"},
		"no final newline":      {strings.TrimSpace(answer), "approve"},
		"blanks around":         {"\n\n  " + answer + "  \n", "approve"},
		"doubly encoded UTF-8":  {answerWith("approve", "gro\u00c3\u009f"), "gro\u00c3\u009f"},
		"escapes":               {answerWith("approve", `\u0061pprove`), "approve"},
		"non-characters":        {answerWith("approve", "\ufffe\U0010ffff"), "\ufffe\U0010ffff"},
		"unknown keys":          {answerWith("{\n", `{"x":{"Response":"a"},"y":[1e300],`), "approve"},
		"nearly the same names": {answerWith("{\n", `{"response_":1,"respons":2,`), "approve"},
		"64 levels":             {answerWith("{\n", `{"x":`+strings.Repeat("[", 63)+strings.Repeat("]", 63)+`,`), "approve"},
		"marker in a text":      {answerWith("approve", `<<<<<<< HEAD`), "<<<<<<< HEAD"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var into struct {
				Response string `json:"response"`
			}
			if err := Decode("kernel/response", "r.json", []byte(tt.body), &into); err != nil {
				t.Fatal(err)
			}
			if into.Response != tt.want {
				t.Errorf("response = %q, want %q", into.Response, tt.want)
			}
		})
	}
}

func TestTenMegabytesAreReadWithoutATree(t *testing.T) {
	var b bytes.Buffer
	b.WriteString(`{"status":"pending","junk":[`)
	for b.Len() < 10<<20 {
		b.WriteString(`{"name":"x","steps":["a","b",1,2.5,null]},`)
	}
	b.WriteString(`0]}`)
	s, err := load("faber/state")
	if err != nil {
		t.Fatal(err)
	}
	tree, problem := parse(b.Bytes(), s.shape)
	if problem != nil {
		t.Fatal(problem)
	}
	if diff := cmp.Diff(map[string]any{"status": ""}, tree); diff != "" {
		t.Errorf("tree with texts left out (-want +got):\n%s", diff)
	}
}

func TestWhatMustBeRememberedIsBounded(t *testing.T) {
	names := bytes.Buffer{}
	names.WriteString(`{"status":"pending","x":{"a":0`)
	for i := range 150_000 {
		names.WriteString(`,"` + strings.Repeat("z", i%40) + string(rune(0x4e00+i/40)) + `":0`)
	}
	names.WriteString(`}}`)
	options := `{"status":"a","feedback_request":{"options":["a"` + strings.Repeat(`,"a"`, 150_000) + `]}}`
	long := `{"status":"a","feedback_request":{"options":["` + strings.Repeat("a", 4<<20) + `"` + strings.Repeat(`,"a"`, 600_000) + `]}}`
	for want, body := range map[string]string{
		"too many values: expected at most " + strconv.Itoa(len(long)/16):           long, // one per 16 bytes
		"/x: the object has too many names: expected at most 100000":                names.String(),
		"/feedback_request/options/99999: too many values: expected at most 100000": options,
	} {
		err := Decode("faber/state", "s.json", []byte(body), nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %.200v, want one with %q", err, want)
		}
	}
}
