package engine

import (
	"strings"
	"testing"
)

// A note that repeats what others wrote stays readable: it keeps its
// beginning and its end.
func TestANoteIsBounded(t *testing.T) {
	var n Notes
	n.Add("x.problem.md", "cannot use x: "+strings.Repeat("é", 1<<20)+": expected less")
	text := n.Text("x.problem.md")
	if len(text) > longestNote+8 || !strings.HasPrefix(text, "cannot use x: é") || !strings.HasSuffix(text, "é: expected less") || strings.ToValidUTF8(text, "") != text {
		t.Errorf("%d bytes: %.60q … %.60q", len(text), text, text[len(text)-60:])
	}
}
