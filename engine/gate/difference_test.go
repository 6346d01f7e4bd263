package gate

import (
	"slices"
	"testing"
)

// Lines that look like the head of a diff are lines of the text.
func TestADifferenceLosesNoLine(t *testing.T) {
	got, more := Difference("-- keep this guard\nselect 1;\n", "select 1;\n++ drop table x\n")
	want := []string{"@@ -1,2 +1,2 @@", "--- keep this guard", " select 1;", "+++ drop table x"}
	if !slices.Equal(got, want) || more != 0 {
		t.Errorf("%q, %d more", got, more)
	}
	if got, _ := Difference("same\n", "same\n"); len(got) > 0 {
		t.Errorf("nothing changed: %q", got)
	}
}
