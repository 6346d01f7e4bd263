package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// At a terminal init shows the rules and asks before it writes anything.
func TestRulesSafeAreShownAndAskedAbout(t *testing.T) {
	p := newPlace(t, filepath.Join(t.TempDir(), "ws"), 0)
	p.vars = append(p.vars, "PATH="+filepath.Dir(placetBinary(t))+":"+os.Getenv("PATH"))
	p.write("placet.toml", "# mine\n")
	args := []string{"init", "--for", "claude-code", "--rules", "safe"}
	for _, keys := range []string{"n\r", "\r", "\x04"} {
		said, code := p.terminal(keys, args...)
		if code != 130 || !strings.Contains(said, "# safe/force-push: ") || p.read("placet.toml") != "# mine\n" || p.there(".mcp.json") {
			t.Errorf("%q: exit %d\n%s\n%s", keys, code, said, p.read("placet.toml"))
		}
	}
	said, code := p.terminal("y\r", args...)
	if code != 0 || strings.Count(said, "# safe/force-push: ") != 1 || !strings.Contains(p.read("placet.toml"), "# mine\n\n# safe/force-push: ") {
		t.Errorf("exit %d\n%s\n%s", code, said, p.read("placet.toml"))
	}
	if said, code := p.onTerminal(80, args...).end(); code != 0 || strings.Contains(said, "(y/N)") || !strings.Contains(said, "placet.toml has the rules safe") {
		t.Errorf("again: exit %d\n%s", code, said)
	}
}
