package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The limits on what one answer crosses may only shrink. They leave room for what the loop does
// on a busy machine, such as another look.
func TestOneAnswerIsNarrow(t *testing.T) {
	cmd := exec.Command("go", "run", "-cover", "-covermode=atomic",
		"-coverpkg=placet/cmd/...,placet/engine/...,placet/layout,placet/schemas,placet/templates,placet/internal/crossing", ".")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	limits := map[string]int{"functions": 790, "files": 131, "encodings": 1}
	for line := range strings.Lines(string(out)) {
		var what string
		var n int
		if _, err := fmt.Sscanf(line, "%s %d", &what, &n); err != nil || limits[what] == 0 {
			continue
		}
		t.Logf("%s %d, the limit is %d", what, n, limits[what])
		if n > limits[what] {
			t.Errorf("one answer crosses %s %d, the limit is %d", what, n, limits[what])
		}
		delete(limits, what)
	}
	if len(limits) > 0 {
		t.Errorf("nothing is said of %v in\n%s", limits, out)
	}
}
