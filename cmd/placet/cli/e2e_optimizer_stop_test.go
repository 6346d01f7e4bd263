package cli_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// After an orderly stop in the middle of a level's command, for example at an upgrade, the
// command ends with placet and begins again with the next one, and nobody is asked. After a
// kill nobody knows what the command did.
func TestACommandThatAnOrderlyStopEndedBeginsAgain(t *testing.T) {
	for _, c := range []struct {
		name   string
		signal syscall.Signal
		asks   bool
	}{{"stopped", syscall.SIGTERM, false}, {"killed", syscall.SIGKILL, true}} {
		t.Run(c.name, func(t *testing.T) {
			p := newWorkspace(t, "[optimizer]\nlanguage = \"en\"\ninputs_wait = \"0s\"\n[optimizer.workflows]\nnear = { analysis = [\"sh\", \"analyse.sh\"] }\n")
			p.write("analyse.sh", "echo begun >> begun\ntest -e go || exec sleep 600\necho '{\"record_id\": \"r1\", \"metric\": \"precision\", \"value\": 86.5}' > \"$PLACET_OUT\"\n")
			if out, code := p.placet("trust", "--yes"); code != 0 {
				t.Fatalf("trust: %d: %s", code, out)
			}
			p.write(nearRun+"inputs/assets.json", `{"analysis_script": "analyse.sh"}`)
			p.trigger(nearRun, "near")
			d := p.start()
			p.awaitFile("begun")
			d.stop(c.signal)
			out, _ := p.placet("explain", "20260302-msowd-near")
			if again := strings.Contains(out, "begins again"); again == c.asks {
				t.Errorf("without a daemon it is explained:\n%s", out)
			}
			p.write("go", "")
			d = p.start()
			defer d.stop(syscall.SIGTERM)
			if c.asks {
				p.until("a person is asked", func() bool { return p.matches(nearRun + "requests/attempt_unknown-*/form.md") })
				return
			}
			p.asked(nearRun)
			if begun := p.read("begun"); begun != "begun\nbegun\n" {
				t.Errorf("it began %q", begun)
			}
			if p.matches(nearRun+"requests/attempt_unknown-*") || p.there(nearRun+"attempts/20-2.json") || !strings.Contains(p.read(nearRun+"attempts/20-1.outcome.json"), `"result": "ok"`) {
				t.Errorf("somebody is asked, or an attempt was used up: %s", p.read(nearRun+"attempts/20-1.outcome.json"))
			}
		})
	}
}

// matches reports whether a file matches a pattern.
func (p *place) matches(pattern string) bool {
	found, _ := filepath.Glob(filepath.Join(p.root, pattern))
	return len(found) > 0
}
