package cli_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A session's folder is made, the daemon reads it and finds no session, and only then the file
// comes that makes it one.
func TestASessionBeginsThoughItsFolderCameFirst(t *testing.T) {
	t.Parallel()
	for name, made := range map[string]string{"with specs": "specs", "without": "."} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, t.TempDir(), 0)
			d := p.measured()
			defer d.stop(syscall.SIGTERM)
			p.await(d)
			dir := ".afl/sessions/shop"
			if err := os.MkdirAll(filepath.Join(p.root, dir, made), 0o755); err != nil {
				t.Fatal(err)
			}
			p.reads(d, readings{`placet_runs{family="afl",standing="live"}`: 1})
			p.until("it was looked at", func() bool {
				return p.scrape(d)[`placet_pass_duration_seconds_count{family="afl"}`] > 0
			})
			p.write(dir+"/specs/checkpoints.yaml", "checkpoints:\n  - id: only\n    criteria: [it is well]\n")
			p.until("the session begins", func() bool { return p.read(dir+"/state.json") != "" })
		})
	}
}
