package jsonedit_test

import (
	"bytes"
	"testing"

	"placet/engine/jsonedit"
	"placet/schemas"
)

// FuzzApply checks that an edit of any bytes is refused, or gives strict JSON
// that holds what was set.
func FuzzApply(f *testing.F) {
	for _, seed := range []struct{ body, pointer, value string }{
		{`{"a":1}`, "/a", `2`}, {`{"a":[]}`, "/a", `{"x":1}`}, {"{\n  \"a\": {}\n}\n", "/a/b", `[1,[2]]`}, {`{}`, "", `1`}, {`{"a":1}`, "/A", `1`},
		{`{"a\/b":1}`, "/a~1b", `"\u00e9"`}, {"{\r\n\t\"a\":[1,\r\n2]}", "/a/1", `null`}, {`{"a":"\\\""}`, "/a", `"`}, {`[1]`, "/0", `1`},
		{"{\"a\" : 1 , \"b\" :\n2}", "/c", `{ "d" : [ ] }`}, {`{"":{"":1}}`, "//", `1e400`},
	} {
		for op := range 3 {
			f.Add([]byte(seed.body), seed.pointer, byte(op), []byte(seed.value))
		}
	}
	f.Add(bytes.Repeat([]byte(`{"a":`), 70), "/a/a", byte(0), []byte("1"))
	f.Fuzz(func(t *testing.T, body []byte, pointer string, op byte, value []byte) {
		e := jsonedit.Edit{Pointer: pointer, Op: jsonedit.Op(op % 4), Value: schemas.Raw(value)}
		before := bytes.Clone(body)
		got, err := jsonedit.Apply(body, e)
		if !bytes.Equal(body, before) {
			t.Fatal("the body was modified")
		}
		if err != nil {
			return
		}
		if err := schemas.Decode("", "", got, nil); err != nil {
			t.Fatalf("%v gives what cannot be read: %v\n%s", e, err, got)
		}
		if e.Op == jsonedit.Append {
			return
		}
		again, err := jsonedit.Apply(got, e)
		if err != nil || e.Op == jsonedit.Set && !bytes.Equal(again, got) {
			t.Fatalf("%v again: %v\n%s\n%s", e, err, got, again)
		}
	})
}
