package schemas

import (
	"bytes"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// badKind is a way to turn a good document of at least two bytes into a bad one.
type badKind struct {
	make func(good string) string
	torn bool
}

// badKinds returns the kinds of bad content that are never read as a document.
func badKinds() map[string]badKind {
	front := func(text string) func(string) string {
		return func(good string) string { return "{" + text + "," + good[1:] }
	}
	behind := func(text string) func(string) string { return func(good string) string { return good + text } }
	always := func(text string) func(string) string { return func(string) string { return text } }
	return map[string]badKind{
		"empty":                       {always(""), true},
		"blanks only":                 {always(" \n\t\r\n"), true},
		"half a file":                 {func(good string) string { return good[:len(good)/2] }, true},
		"all but the last byte":       {func(good string) string { return good[:len(good)-1] }, true},
		"half a string":               {front(`"x":"y` + "\n"), true},
		"half an escape":              {always(`{"a":"\ud8`), true},
		"half a word":                 {always(`{"a":tru`), true},
		"NUL tail":                    {behind("\x00\x00\x00"), true},
		"NUL in the middle":           {func(good string) string { return good[:len(good)/2] + "\x00" + good[len(good)/2:] }, true},
		"all NUL":                     {func(good string) string { return strings.Repeat("\x00", len(good)) }, true},
		"byte order mark":             {func(good string) string { return "\ufeff" + good }, false},
		"UTF-16 with mark":            {func(good string) string { return utf16LE(good, true) }, true},
		"UTF-16 without mark":         {func(good string) string { return utf16LE(good, false) }, true},
		"invalid UTF-8":               {front(`"x":"` + "\xff" + `"`), true},
		"lone surrogate":              {front(`"x":"\ud800 "`), true},
		"duplicate key":               {front(`"x":1,"x":2`), false},
		"duplicate key, escaped":      {front(`"x":1,"\u0078":2`), false},
		"key differing only in case":  {front(`"x":1,"X":2`), false},
		"duplicate key far inside":    {front(`"x":[{"y":{"a":1,"a":2}}]`), false},
		"trailing garbage":            {behind("x"), true},
		"tail of a longer older file": {behind(`"}`), true},
		"two documents":               {func(good string) string { return good + good }, true},
		"line comment":                {func(good string) string { return "// who\n" + good }, true},
		"block comment":               {behind(" /* one */"), true},
		"trailing comma":              {func(good string) string { return good[:len(good)-1] + ",}" }, true},
		"single quotes":               {front(`'x':1`), true},
		"bare name":                   {front(`x:1`), true},
		"number as name":              {front(`1:1`), true},
		"line break in text":          {front("\"x\":\"a\nb\""), true},
		"plain text":                  {always("completed\n"), true},
		"array at the top":            {func(good string) string { return "[" + good + "]" }, false},
		"text at the top":             {always(`"completed"`), false},
		"null at the top":             {always("null"), false},
		"1e400":                       {front(`"x":[-1E400]`), false},
		"NaN":                         {front(`"x":NaN`), true},
		"10,000 levels deep":          {always(`{"a":` + strings.Repeat("[", 10000)), false},
		"conflict markers":            {func(good string) string { return "{\n<<<<<<< HEAD\n=======\n>>>>>>> x\n" + good[1:] }, true},
	}
}

// TestNoDocumentIsReadFromABadFile tries every kind of bad content on every document of
// AFL and PAL. TestEveryKindOfBadFileIsNamed checks the messages.
func TestNoDocumentIsReadFromABadFile(t *testing.T) {
	documents := maps.Clone(goodAFL)
	maps.Copy(documents, goodPAL)
	for name, good := range documents {
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

// checkpointsYAML is the part of checkpoints.yaml that the family's machine reads.
type checkpointsYAML struct {
	ApprovedAt  *string `json:"approved_at"`
	Checkpoints []struct {
		ID           string   `json:"id"`
		Name         string   `json:"name"`
		Dependencies []string `json:"dependencies"`
		Criteria     []string `json:"criteria"`
		Validation   *struct {
			Command  string `json:"command"`
			Expected string `json:"expected"`
			Timeout  Raw    `json:"timeout"`
		} `json:"validation"`
	} `json:"checkpoints"`
}

func readCheckpoints(body string) (checkpointsYAML, error) {
	var read checkpointsYAML
	err := DecodeYAML("afl/checkpoints", "checkpoints.yaml", []byte(body), &read, CheckpointsYAML)
	return read, err
}

func TestCheckpointsYAMLKeepsWhatAPersonWrote(t *testing.T) {
	read, err := readCheckpoints(`session: abc12345
created_at: 2026-01-19
approved_at: 2026-01-19T10:30:00Z
approved_by: ~
prerequisites: []
checkpoints:
  - id: 010
    criteria: [answers 200, 200, yes, true]
    dependencies: [1.0, 0x1F]
    validation: {command: true, expected: 200, timeout: 60000}
  - name: status.json
    validation:
      command: |
        npm test -- \
          --grep "A: b"
      expected: "4 passing"
      timeout: 60s
  - id: ../x
    validation:
  - {}
`)
	if err != nil {
		t.Fatal(err)
	}
	if read.ApprovedAt == nil || *read.ApprovedAt != "2026-01-19T10:30:00Z" {
		t.Errorf("approved at %v", read.ApprovedAt)
	}
	a, b := read.Checkpoints[0], read.Checkpoints[1]
	got := []any{a.ID, a.Criteria, a.Dependencies, a.Validation.Command, a.Validation.Expected, string(a.Validation.Timeout),
		b.ID, b.Name, b.Validation.Command, string(b.Validation.Timeout), read.Checkpoints[2].ID, read.Checkpoints[3].ID}
	want := []any{"010", []string{"answers 200", "200", "yes", "true"}, []string{"1.0", "0x1F"}, "true", "200", `"60000"`,
		"", "status.json", "npm test -- \\\n  --grep \"A: b\"\n", `"60s"`, "../x", ""}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
	for _, body := range []string{"session: x", "checkpoints:", "checkpoints: []", "checkpoints: [{validation: {}}]", "approved_at: null"} {
		if _, err := readCheckpoints(body); err != nil {
			t.Errorf("%s: %v", body, err) // a finding, if anything
		}
	}
}

func TestCheckpointsYAMLOfAnotherShapeIsRefused(t *testing.T) {
	many := "checkpoints:\n" + strings.Repeat("  - {id: a}\n", 501)
	aliases := "a: &a x\nlist:\n" + strings.Repeat("  - *a\n", 10_000)
	merge := "base: &b {criteria: [x]}\ncheckpoints:\n  - <<: *b\n    id: a\n"
	for body, want := range map[string]string{
		"checkpoints: all\n":                                         "checkpoints.yaml: line 1, column 14: /checkpoints: is text: expected a list of at most 500 checkpoints",
		"checkpoints: {a: {}}\n":                                     "checkpoints.yaml: line 1, column 14: /checkpoints: is an object: expected a list of at most 500 checkpoints",
		"checkpoints:\n  - coupon\n":                                 "checkpoints.yaml: line 2, column 5: /checkpoints/0: is text: expected a checkpoint: id, criteria, validation",
		"checkpoints:\n  -\n":                                        "checkpoints.yaml: line 2, column 4: /checkpoints/0: is null: expected a checkpoint: id, criteria, validation",
		"checkpoints:\n  - id: [a]\n":                                "checkpoints.yaml: line 2, column 9: /checkpoints/0/id: is an array: expected a checkpoint id",
		"checkpoints:\n  - criteria: all of them\n":                  "checkpoints.yaml: line 2, column 15: /checkpoints/0/criteria: is text: expected a list of criteria",
		"checkpoints:\n  - criteria:\n      - a: b\n":                "checkpoints.yaml: line 3, column 9: /checkpoints/0/criteria/0: is an object: expected a criterion, as text",
		"checkpoints:\n  - criteria:\n      - a\n      - \n":         "checkpoints.yaml: line 4, column 8: /checkpoints/0/criteria/1: is null: expected a criterion, as text",
		"checkpoints:\n  - dependencies: a\n":                        "checkpoints.yaml: line 2, column 19: /checkpoints/0/dependencies: is text: expected a list of checkpoint ids",
		"checkpoints:\n  - validation: npm test\n":                   "checkpoints.yaml: line 2, column 17: /checkpoints/0/validation: is text: expected command, expected and timeout",
		"checkpoints:\n  - validation: {timeout: [1]}\n":             "checkpoints.yaml: line 2, column 27: /checkpoints/0/validation/timeout: is an array: expected a whole number of milliseconds from 1 to 86400000, without unit",
		"prerequisites:\n  - db\n":                                   "checkpoints.yaml: line 2, column 5: /prerequisites/0: is text: expected id, name, type and script",
		"checkpoints: []\nCheckpoints: []\n":                         `checkpoints.yaml: line 2, column 1: the names "checkpoints" and "Checkpoints" differ only in case: expected each name once`,
		"checkpoints:\n  - id: a\n    id: b\n":                       `checkpoints.yaml: line 3, column 5: the name "id" stands twice: expected each name once`,
		"checkpoints: []\n---\ncheckpoints: []\n":                    "checkpoints.yaml: line 2, column 1: a second document follows: expected one YAML mapping",
		"approved_at: !!timestamp 2026-01-19\n":                      "checkpoints.yaml: line 1, column 14: the tag !!timestamp: expected a value without tag",
		merge:                                                        "checkpoints.yaml: line 3, column 5: the key is the value <<: expected text",
		many:                                                         "checkpoints.yaml: line 2, column 3: /checkpoints: has 501 items: expected a list of at most 500 checkpoints",
		aliases:                                                      "checkpoints.yaml: line 103, column 5: too many aliases: expected at most 100",
		bomb(9):                                                      "", // by whichever limit is met first
		"x: " + strings.Repeat("[", 32):                              "", // torn, and too deep
		"x: " + strings.Repeat("{a: ", 32) + strings.Repeat("}", 32): "checkpoints.yaml: line 1, column 128: nested too deep: expected at most 32 levels",
		"x: " + strings.Repeat("x", 1<<20):                           "checkpoints.yaml: the file is larger than 1048576 bytes: expected less",
	} {
		_, err := readCheckpoints(body)
		if err == nil || want != "" && err.Error() != want {
			t.Errorf("%.60q:\n got  %v\n want %s", body, err, want)
		}
	}
}

// An alias may represent a list that contains others, so the document may become much
// larger than its text: the limit of nodes stops it long before the memory is full.
func TestABillionLaughsAreCounted(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("a0: &a0 [" + strings.TrimSuffix(strings.Repeat("lol,", 4000), ",") + "]\n")
	b.WriteString("a1: &a1 [" + strings.TrimSuffix(strings.Repeat("*a0,", 40), ",") + "]\n")
	if _, err := readCheckpoints(b.String()); err == nil || !strings.Contains(err.Error(), "too many keys and values: expected at most 100000") {
		t.Errorf("error %v", err)
	}
	b.Reset()
	b.WriteString("checkpoints:\n  - &a {id: a, criteria: [x]}\n" + strings.Repeat("  - *a\n", 100))
	if read, err := readCheckpoints(b.String()); err != nil || len(read.Checkpoints) != 101 || read.Checkpoints[100].ID != "a" {
		t.Errorf("a hundred aliases: %d checkpoints, %v", len(read.Checkpoints), err)
	}
}
