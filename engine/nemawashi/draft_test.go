package nemawashi

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"placet/schemas"
)

func TestLiftPayload(t *testing.T) {
	for _, test := range []struct{ name, draft, payload, body, err string }{
		{name: "last line", draft: "x\n{\"a\":1}", payload: `{"a":1}`, body: "x\n"},
		{name: "blank lines after it", draft: "x\n{\"a\":1}\n \n\t\n\u3000\n", payload: `{"a":1}`, body: "x\n"},
		{name: "CRLF", draft: "x\r\n{\"a\":1}\r\n", payload: `{"a":1}`, body: "x\r\n"},
		{name: "behind a text", draft: `x {"a":1}`, payload: `{}`, body: `x {"a":1}`},
		{name: "on several lines", draft: "x\n{\n \"a\":1\n}\n", payload: `{}`, body: "x\n{\n \"a\":1\n}\n"},
		{name: "an array", draft: "x\n[1]", payload: `{}`, body: "x\n[1]"},
		{name: "two objects", draft: "{\"a\":1}\n{\"b\":2}", payload: `{"b":2}`, body: "{\"a\":1}\n"},
		{name: "a line after it", draft: "{\"a\":1}\ntrailing", payload: `{}`, body: "{\"a\":1}\ntrailing"},
		{name: "alone", draft: "{\"a\":1}\n", payload: `{"a":1}`},
		{name: "indented", draft: "x\n  {\"a\": 1.0} ", payload: `{"a": 1.0}`, body: "x\n"},
		{name: "broken", draft: "x\n\n{\"a\":", err: "the last line begins with { and must be one JSON object: line 3, column 6: "},
		{name: "broken after a good one", draft: "{\"a\":1}\n{\"b\":", err: "line 2"},
		{name: "two on a line", draft: "{}{}", err: "line 1"},
		{name: "a name twice", draft: `{"to":"a@b.example","TO":"c@d.example"}`, err: "differ only in case"},
	} {
		t.Run(test.name, func(t *testing.T) {
			payload, body, err := LiftPayload(test.draft)
			if checkError(t, err, test.err) && (string(payload) != test.payload || body != test.body) {
				t.Errorf("got %s and %q, want %s and %q", payload, body, test.payload, test.body)
			}
		})
	}
}

// checkError checks whether an operation succeeded, as wanted. Its error must contain want.
func checkError(t *testing.T, err error, want string) bool {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("unexpected error: %v", err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("got error %v, want %q", err, want)
	case want != "" && !utf8.ValidString(err.Error()):
		t.Errorf("the error %q is not UTF-8", err)
	}
	return err == nil && want == ""
}

func TestCheckDraft(t *testing.T) {
	for _, test := range []struct{ name, body, err string }{
		{"plain", "hello\r\n\tworld\n", ""},
		{"largest", strings.Repeat("x", 256<<10), ""},
		{"too big", strings.Repeat("x", 256<<10+1), "has 262145 bytes: expected at most 262144"},
		{"empty", "", "blank"},
		{"blank", " \n\u3000\u200b\n", "blank"},
		{"Latin-1", "caf\xe9", "not UTF-8"},
		{"escape", "a\x1b[2J", `\u{1b}`},
		{"bidi", "a\u202eb", ""},
	} {
		t.Run(test.name, func(t *testing.T) { checkError(t, CheckDraft([]byte(test.body)), test.err) })
	}
}

func TestNextDraft(t *testing.T) {
	for _, test := range []struct{ name, draft, feedback, plan, want string }{
		{"plan", "Hello\n\n", "softer tone", "B", "Hello\n\n[Steer] softer tone\n[Plan] B\n"},
		{"without plan", "Hello", " two\r\nlines \n", "", "Hello\n\n[Steer] two\nlines\n"},
		{"again", "Hello\n\n[Steer] a\n", "b", "", "Hello\n\n[Steer] a\n\n[Steer] b\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := NextDraft(test.draft, test.feedback, test.plan); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestPlan(t *testing.T) {
	for word, want := range map[string]string{
		"A": "A", "b": "B", "plan_c": "C", "PLAN-A": "A", "Plan b": "B", "planc": "C",
		"": "", "d": "", "plan": "", "plan  a": "", "ab": "", "a\n": "", " a": "", "plan__a": "", "Ａ": "",
	} {
		letter, ok := Plan(word)
		if letter != want || ok != (want != "") {
			t.Errorf("Plan(%q) is %q, %t: want %q", word, letter, ok, want)
		}
	}
}

func TestCanonical(t *testing.T) {
	for _, test := range []struct{ raw, want string }{
		{`{ "b" : [ 1.0, 1e2, 123456789012345678901234567890, -0 ], "a" : {"d":null,"c":true} }`,
			`{"a":{"c":true,"d":null},"b":[1.0,1e2,123456789012345678901234567890,-0]}`},
		{`"<a> & \u003cb\u003e \u2028\u00e9"`, "\"<a> & <b> \u2028é\""},
		{`{"é":1,"z":2,"Z":3}`, `{"Z":3,"z":2,"é":1}`},
		{` {} `, `{}`},
	} {
		got, err := Canonical(schemas.Raw(test.raw))
		if err != nil || string(got) != test.want {
			t.Errorf("Canonical(%s) is %s, %v: want %s", test.raw, got, err, test.want)
		}
		if again, err := Canonical(got); err != nil || !bytes.Equal(again, got) {
			t.Errorf("Canonical of %s is %s, %v", got, again, err)
		}
	}
	for _, raw := range []string{``, `{`, `{} {}`, `{"a":1}x`} {
		if got, err := Canonical(schemas.Raw(raw)); err == nil {
			t.Errorf("Canonical(%q) is %s: want an error", raw, got)
		}
	}
}
