package engine

import "testing"

func TestMatches(t *testing.T) {
	for _, tt := range []struct {
		now, then string
		want      bool
	}{
		{"a\r\nb\r\n", "a\nb\n", true}, {"a\nb\n", "a\r\nb\r\n", true}, {"a\r\nb", "a\nb", true}, {"a", "a", true}, {"a\nb\n", "a\nb\n", true},
		{"a\x00\r\n", "a\x00\r\n", true}, {"", "", true},
		{"a\nb\n", "a\nb", false}, {"a\n\nb\n", "a\r\nb\r\n", false}, {"", "\n", false}, {"a\rb\r", "a\nb\n", false}, {"ab", "a\nb", false},
		{"a\r\nb\n", "a\nb\n", false}, {"a\nb\n", "a\r\nb\n", false}, // in some places alone
		{"a\x00\r\n", "a\x00\n", false}, {"a\x00\n", "a\x00\r\n", false}, {"a\r\r\n", "a\r\n", false}, {"a\rb\n", "a\rb\r\n", false}, // no text of git's
	} {
		d := Document{Path: "plan.md", Body: []byte(tt.now), Sum: Sum([]byte(tt.now))}
		if got := d.Matches(Sum([]byte(tt.then)).Hex()); got != tt.want {
			t.Errorf("%q, %q: %v, want %v", tt.now, tt.then, got, tt.want)
		}
	}
	large := Document{Sum: Sum([]byte("a\r\n"))} // its content was not kept
	if large.Matches(Sum([]byte("a\n")).Hex()) || !large.Matches(Sum([]byte("a\r\n")).Hex()) || large.Matches("") || !(Document{Err: ErrAbsent}).Matches("") {
		t.Error("what is known by its digest alone is not compared by it")
	}
}
