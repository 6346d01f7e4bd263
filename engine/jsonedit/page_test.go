package jsonedit_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"placet/engine/jsonedit"
	"placet/schemas"
)

// The files in testdata are the FABER page's example: a state document that
// waits for an answer, and the same after approve and after request_changes.

func file(t testing.TB, name string) []byte {
	t.Helper()
	body, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// answered are the edits that an answer makes, beside those of its own step.
func answered(response, action, comment string, point schemas.Object) []jsonedit.Edit {
	const at, seconds, id = "2025-12-06T18:15:00.120Z", "2025-12-06T18:15:00Z", "fr-20251206-a1b2c3"
	point = append(point, schemas.Object{{Name: "position", Value: "at"}, {Name: "action", Value: action}, {Name: "request_id", Value: id}}...)
	return []jsonedit.Edit{
		{Pointer: "/status", Value: "in_progress"},
		{Pointer: "/last_event_id", Value: 17},
		{Pointer: "/updated_at", Value: at},
		{Pointer: "/feedback_request", Op: jsonedit.Remove},
		{Pointer: "/resume_point", Value: point},
		{Pointer: "/revision", Value: int64(2)},
		{Pointer: "/last_transition", Value: schemas.Object{
			{Name: "edge", Value: "answered_" + action}, {Name: "at", Value: at}, {Name: "actor", Value: "placet"},
			{Name: "reason", Value: response + " by jmcwilliam (cli)"},
			{Name: "cause", Value: schemas.Object{{Name: "requests/" + id + "/response.json", Value: "sha256:<64 hex>"}}},
		}},
		{Pointer: "/feedback_history", Value: []any{schemas.Object{
			{Name: "request_id", Value: id}, {Name: "request_type", Value: "approval"}, {Name: "response", Value: response},
			{Name: "provided_by", Value: schemas.Raw(`{"user":"jmcwilliam","source":"cli"}`)},
			{Name: "received_at", Value: seconds}, {Name: "comment", Value: comment}, {Name: "action", Value: action},
		}}},
	}
}

func approved() []jsonedit.Edit {
	edits := answered("approve", "continue", "Looks good", schemas.Object{
		{Name: "phase", Value: "build"}, {Name: "step", Value: "implement"}, {Name: "step_index", Value: 0}})
	return append(edits,
		jsonedit.Edit{Pointer: "/phases/architect/steps/2/status", Value: "completed"},
		jsonedit.Edit{Pointer: "/phases/architect/steps/2/completed_at", Value: "2025-12-06T18:15:00Z"})
}

func revised() []jsonedit.Edit {
	return answered("request_changes", "revise", "Use UTF-8", schemas.Object{
		{Name: "phase", Value: "architect"}, {Name: "step", Value: "design-review"}, {Name: "step_index", Value: 2}})
}

// layouts are ways in which programs write JSON; each takes and gives one.
var layouts = map[string]func([]byte) []byte{
	"as the page has it": func(b []byte) []byte { return b },
	"two spaces":         indented("  ", "\n"),
	"four spaces":        indented("    ", "\n"),
	"tabs":               indented("\t", "\n"),
	"CRLF":               indented("  ", "\r\n"),
	"tabs and CRLF":      indented("\t", "\r\n"),
	"no final newline":   func(b []byte) []byte { return bytes.TrimSpace(indented("  ", "\n")(b)) },
	"one line":           compacted,
	"one spaced line":    spaced,
}

func indented(unit, eol string) func([]byte) []byte {
	return func(b []byte) []byte {
		var out bytes.Buffer
		if err := json.Indent(&out, bytes.TrimSpace(b), "", unit); err != nil {
			panic(err)
		}
		out.WriteByte('\n')
		return bytes.ReplaceAll(out.Bytes(), []byte("\n"), []byte(eol))
	}
}

func compacted(b []byte) []byte {
	var out bytes.Buffer
	if err := json.Compact(&out, b); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// spaced is the form of Python's json.dumps.
func spaced(b []byte) []byte {
	var out []byte
	inText := false
	for i, c := range compacted(b) {
		if c == '"' && (i == 0 || !escaped(out)) {
			inText = !inText
		}
		out = append(out, c)
		if !inText && (c == ':' || c == ',') {
			out = append(out, ' ')
		}
	}
	return append(out, '\n')
}

// escaped reports whether the next byte of a text is escaped.
func escaped(text []byte) bool {
	return (len(text)-len(bytes.TrimRight(text, `\`)))%2 == 1
}

func TestAnAnswerGivesThePagesExampleInEveryLayout(t *testing.T) {
	for name, layout := range layouts {
		for want, edits := range map[string][]jsonedit.Edit{"approved.json": approved(), "revised.json": revised()} {
			got, err := jsonedit.Apply(layout(file(t, "waiting.json")), edits...)
			if err != nil {
				t.Fatalf("%s, %s: %v", want, name, err)
			}
			if diff := cmp.Diff(string(layout(file(t, want))), string(got)); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", want, name, diff)
			}
		}
	}
}

func TestTheSameAnswerAgainChangesNothing(t *testing.T) {
	once, err := jsonedit.Apply(file(t, "waiting.json"), approved()...)
	if err != nil {
		t.Fatal(err)
	}
	twice, err := jsonedit.Apply(once, approved()...)
	if err != nil || !bytes.Equal(once, twice) {
		t.Errorf("error %v, changed: %v", err, !bytes.Equal(once, twice))
	}
}

func TestApplyLeavesItsInputAlone(t *testing.T) {
	body := file(t, "waiting.json")
	before := strings.Clone(string(body))
	if _, err := jsonedit.Apply(body, approved()...); err != nil {
		t.Fatal(err)
	}
	if string(body) != before {
		t.Error("the body was modified")
	}
}
