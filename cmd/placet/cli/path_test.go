package cli_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// The name of the workspace's own folder is foreign text, too: whoever makes an archive chooses
// it.
func TestTheWorkspacesOwnPathIsShownEscaped(t *testing.T) {
	t.Parallel()
	p := newPlace(t, filepath.Join(t.TempDir(), "ws\nINJECTED\x1b[31m\u202e"), 0)
	p.write("placet.toml", "[afl]\nnonsense = 1\n")
	check := func(args []string, out string) {
		if strings.Contains(out, "\nINJECTED") || strings.ContainsAny(out, "\x1b\u202e") {
			t.Errorf("placet %q shows the path as it is:\n%q", args, out)
		}
	}
	verbs := [][]string{
		{"status"}, {"check"}, {"doctor"}, {"once"}, {"inbox"}, {"show", "nobody"}, {"explain", "nobody"}, {"approve", "nobody"},
		{"respond", "nobody"}, {"show", "a:b"}, {"trust"}, {"log", "nobody"}, {"-C", "missing", "status"}, {"init"},
	}
	for _, args := range verbs[:1] {
		out, _ := p.placet(args...) // with settings that cannot be used
		check(args, out)
	}
	p.write("placet.toml", "")
	for _, args := range verbs {
		out, _ := p.placet(args...)
		check(args, out)
	}
	d := p.start()
	<-d.ready
	again, _ := p.placet("watch")
	d.stop(syscall.SIGTERM)
	check([]string{"watch"}, again+d.said())
}
