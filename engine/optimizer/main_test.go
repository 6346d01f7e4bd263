package optimizer

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain has the garbage collected less often: the laws look at thousands of small
// workspaces, of which nothing is kept.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
