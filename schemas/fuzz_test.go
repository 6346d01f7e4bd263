package schemas

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"placet/internal/badinput"
)

// addReal adds the real documents that match some patterns below testdata.
func addReal(f *testing.F, add func(body []byte), patterns ...string) {
	f.Helper()
	for _, pattern := range patterns {
		names, err := filepath.Glob(filepath.Join("..", pattern))
		if err != nil || len(names) == 0 {
			f.Fatalf("nothing real at %s: %v", pattern, err)
		}
		for _, name := range names[:min(len(names), 2)] {
			body, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			add(body)
		}
	}
}

// inBounds asserts that one input costs no more memory than one input may.
func inBounds(t *testing.T, read func()) {
	t.Helper()
	if n := badinput.Allocated(read); n > badinput.MostMemory {
		t.Fatalf("reading it took %d bytes, more than %d", n, badinput.MostMemory)
	}
}

// FuzzDecode checks the laws of strict reading on any bytes.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		answer, goodRequest, goodReceipt, waiting("fr-1"), waiting("../x"), "", "{", "[]", "\ufeff{}", `{"a":1,"A":2}`, `{"a":1e400}`,
		`{"a":"\ud800"}`, "{\"a\":\"\xff\"}", "{\n<<<<<<< a\n", "{}\x00", `{"a":[[[[[[]]]]]]}`, `{"status":"x","revision":1e99999}`,
		`{"status":"x","revision":0e-9999999999}`, `{"feedback_request":{"request_id":"\u202e"}}`,
	} {
		f.Add([]byte(seed))
	}
	for _, good := range goodOptimizer {
		f.Add([]byte(good))
	}
	real := "testdata/real/faber/awaiting-six-types/.fractary/faber/runs/*/*/*/"
	addReal(f, func(body []byte) { f.Add(body) }, real+"state.json", real+"metadata.json", real+"events/00?-*.json", "testdata/real/faber/written-by-agents/.fractary/runs/*/state.json")
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, schema := range Names() {
			inBounds(t, func() { checkVerdict(t, schema, body) })
		}
		var tree any
		if err := Decode("", "f.json", body, &tree); err != nil {
			checkVerdict(t, "", body)
			return
		}
		var std map[string]any
		dec := stdjson.NewDecoder(bytes.NewReader(body))
		dec.UseNumber()
		if err := dec.Decode(&std); err != nil {
			t.Fatalf("accepted what encoding/json refuses: %v", err)
		}
		again, err := Encode(tree)
		if err != nil {
			t.Fatalf("cannot encode what was decoded: %v", err)
		}
		stdAgain, err := Encode(std)
		if err != nil || !bytes.Equal(again, stdAgain) {
			t.Fatalf("read as\n%s, encoding/json as\n%s, %v", again, stdAgain, err)
		}
		checkPrefixes(t, bytes.TrimSpace(body))
		if members, err := Members(body); err != nil || len(members) != len(std) {
			t.Fatalf("%d members of %d, %v", len(members), len(std), err)
		}
	})
}

// checkVerdict asserts that a refusal has a message that can be shown, and a
// place within the document.
func checkVerdict(t *testing.T, schema string, body []byte) {
	err := Decode(schema, "f.json", body, nil)
	var e *Error
	if err == nil {
		return
	}
	if !errors.As(err, &e) {
		t.Fatalf("%s: error of type %T", schema, err)
	}
	if text := e.Error(); text != printable(text) || len(text) > 20_000+10*len(body) {
		t.Fatalf("%s: message of %d bytes: %q", schema, len(text), text)
	}
	if lines := bytes.Count(body, []byte("\n")) + 1; e.Line > lines || e.Column > len(body)+1 || isZero(e.Problem) {
		t.Fatalf("%s: line %d of %d, column %d: %q", schema, e.Line, lines, e.Column, e.Problem)
	}
}

// checkVerdictYAML asserts that checkpoints.yaml is refused with a message that
// can be shown, or that its content matches the schema.
func checkVerdictYAML(t *testing.T, body []byte) {
	var into struct {
		Checkpoints []struct {
			ID         string   `json:"id"`
			Criteria   []string `json:"criteria"`
			Validation struct {
				Command  string `json:"command"`
				Expected string `json:"expected"`
				Timeout  string `json:"timeout"`
			} `json:"validation"`
		} `json:"checkpoints"`
	}
	err := DecodeYAML("afl/checkpoints", "f.yaml", body, &into, CheckpointsYAML)
	var e *Error
	if err != nil && (!errors.As(err, &e) || e.Error() != printable(e.Error())) {
		t.Fatalf("%T %q", err, err)
	}
}

// checkPrefixes asserts that a document that is cut anywhere is torn: a reader
// of a half-written one decides nothing, and waits.
func checkPrefixes(t *testing.T, body []byte) {
	for cut := 0; cut < len(body); cut += 1 + len(body)/64 {
		var e *Error
		if err := Decode("", "f.json", body[:cut], nil); !errors.As(err, &e) || !e.Torn {
			t.Fatalf("the first %d bytes of %q: %v", cut, body, err)
		}
	}
}

// FuzzDecodeYAML checks that any bytes are refused with a message or become
// JSON that reads back the same.
func FuzzDecodeYAML(f *testing.F) {
	for _, seed := range []string{
		"a: 1\nb: [x, {y: z}]\n", "a: &x [*x]\n", bomb(5), "a: !!str 1", "<<: {a: 1}", "? [a]\n: 1", "---\na: 1\n...\n", "a: |\n  x\n y\n",
		"a: 0x1F\nb: 1_000\nc: .5\nd: 1e400\n", "\"\\x00\": 1", "a: \"\\ud800\"", "%YAML 1.2\n---\na: 1", "a: 2001-12-14t21:59:43.10-05:00", "{a: 1, a: 2}",
		"checkpoints:\n  - id: a\n    criteria: [b, 2]\n    validation: {command: npm test, expected: 200, timeout: 1e400}\n", "checkpoints: [{id: [a]}, x]",
	} {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, body []byte, wide bool) {
		limits := YAMLLimits{}
		if wide {
			limits = CheckpointsYAML
			inBounds(t, func() { checkVerdictYAML(t, body) })
		}
		var tree any
		var err error
		inBounds(t, func() { err = DecodeYAML("", "f.yaml", body, &tree, limits) })
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Error() != printable(e.Error()) || e.Line > bytes.Count(body, []byte("\n"))+bytes.Count(body, []byte("\r"))+2 {
				t.Fatalf("%T %q", err, err)
			}
			return
		}
		text, err := Encode(tree)
		if err != nil {
			t.Fatal(err)
		}
		var back any
		if err := Decode("", "f.json", text, &back); err != nil {
			t.Fatalf("YAML became what JSON refuses: %v\n%s", err, text)
		}
		if again, err := Encode(back); err != nil || !bytes.Equal(text, again) {
			t.Fatalf("%v\n%s\n%s", err, text, again)
		}
	})
}
