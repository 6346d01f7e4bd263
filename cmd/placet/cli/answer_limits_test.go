package cli_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestWhatTheDaemonWouldRefuseIsRefusedWhereItIsGiven gives answers at a limit and beyond it.
// Answers that are accepted are carried out.
func TestWhatTheDaemonWouldRefuseIsRefusedWhereItIsGiven(t *testing.T) {
	t.Parallel()
	const longest, longestUser = 64 << 10, 100
	for name, c := range map[string]struct {
		typ     string
		options []string
		args    []string
		says    string // of the refusal, "" for none
	}{
		"the longest comment":  {"review", []string{"approve", "reject"}, []string{"approve", "-m", strings.Repeat("x", longest-len("approve"))}, ""},
		"a longer one":         {"review", []string{"approve", "reject"}, []string{"approve", "-m", strings.Repeat("x", 70_000)}, "has 70007 bytes of text: expected at most 65536"},
		"one that escapes":     {"review", []string{"approve", "reject"}, []string{"approve", "-m", strings.Repeat("\x01", longest-len("approve"))}, ""},
		"the longest text":     {"clarification", nil, []string{strings.Repeat("x", longest)}, ""},
		"a longer text":        {"clarification", nil, []string{strings.Repeat("x", 70_000)}, "has 70000 bytes of text"},
		"text and comment":     {"clarification", nil, []string{strings.Repeat("x", 40_000), "-m", strings.Repeat("y", 40_000)}, "has 80000 bytes of text"},
		"the longest name":     {"review", []string{"approve", "reject"}, []string{"approve", "--as", strings.Repeat("k", longestUser)}, ""},
		"a longer name":        {"review", []string{"approve", "reject"}, []string{"approve", "--as", strings.Repeat("k", longestUser+1)}, "a name is one line of at most 100 visible characters"},
		"an option of another": {"review", []string{"approve", "reject"}, []string{"retry"}, `does not offer "retry"`},
		"two options":          {"review", []string{"approve", "reject"}, []string{"approve", "reject"}, "stands alone"},
		"no comment":           {"review", []string{"approve", "request_changes"}, []string{"request_changes"}, "needs a comment"},
		"nothing to select":    {"review", []string{"approve", "reject"}, []string{"approve", "--select", "a"}, "nothing to select"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, filepath.Join(t.TempDir(), "ws"), 0)
			p.asks(c.typ, "Is the design good?", c.options...)
			out, code := p.placet(append([]string{"respond", p.reference()}, c.args...)...)
			if c.says != "" {
				if code == 0 || !strings.Contains(out, c.says) || strings.Contains(out, "answered") {
					t.Errorf("exit %d, no %q in\n%.500s", code, c.says, out)
				}
				p.stays(p.request(0) + "/response.json")
				return
			}
			if code != 0 || !strings.Contains(out, "answered") {
				t.Fatalf("exit %d\n%.500s", code, out)
			}
			p.must(0, "once")
			p.says(p.read(p.request(0)+"/receipt.json"), `"result": "accepted"`)
		})
	}
}
