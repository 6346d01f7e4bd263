package engine

import "testing"

func TestDiffersInLineEnds(t *testing.T) {
	for _, tt := range []struct {
		now, then string
		want      bool
	}{
		{"a\r\nb\r\n", "a\nb\n", true}, {"a\nb\n", "a\r\nb\r\n", true}, {"a\r\nb\n", "a\nb\n", true}, {"a", "a", false},
		{"a\nb\n", "a\nb\n", false}, {"a\nb\n", "a\nb", false}, {"a\n\nb\n", "a\r\nb\r\n", false}, {"", "", false}, {"a\rb\r", "a\nb\n", false},
	} {
		d := Document{Path: "plan.md", Body: []byte(tt.now), Sum: Sum([]byte(tt.now))}
		if got := d.DiffersInLineEnds(Sum([]byte(tt.then))); got != tt.want {
			t.Errorf("%q, %q: %v, want %v", tt.now, tt.then, got, tt.want)
		}
	}
}
