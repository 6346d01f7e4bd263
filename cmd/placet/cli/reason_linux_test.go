package cli_test

import (
	"strings"
	"testing"
)

// A verb that gives a run up for good asks for a reason on a terminal if -m is missing, and is
// refused if nobody can be asked. Nothing is written without a reason.
func TestGivingUpAsksForAReason(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 0)
	p.write(".afl/sessions/shop/specs/checkpoints.yaml", "checkpoints:\n  - {id: a, criteria: [x], validation: {command: \"true\", expected: \"1 passing\"}}\n")
	p.write(".mso-context/active/20260302-msowd-sop/optimizer/trigger.json", `{"workflow_name": "sop"}`)
	p.write("placet.toml", "")
	p.must(0, "once")
	for verb, file := range map[string]string{
		"afl abort shop":                    ".afl/sessions/shop/control.json",
		"optimizer stop 20260302-msowd-sop": ".mso-context/active/20260302-msowd-sop/optimizer/stop.json",
	} {
		args := strings.Fields(verb)
		if said := p.must(2, args...); !strings.Contains(said, "without a reason") || !strings.Contains(said, "-m TEXT") {
			t.Errorf("%s without a terminal says %q", verb, said)
		}
		for name, keys := range map[string]string{"Ctrl-C": "\x03", "Ctrl-D": "\x04", "nothing": "\r", "blanks": "   \r"} {
			if said, code := p.onTerminal(80, args...).typed("Why?", keys); code != 130 || !strings.Contains(said, "nothing was written") {
				t.Errorf("%s, %s: exit %d\n%s", verb, name, code, said)
			}
		}
		if p.read(file) != "" {
			t.Errorf("%s: nobody gave a reason, and %s says %s", verb, file, p.read(file))
		}
		if said, code := p.onTerminal(80, args...).typed("Why?", "not needed\r"); code != 0 || !strings.Contains(p.read(file), `"reason": "not needed"`) {
			t.Errorf("%s: exit %d, %s says %s\n%s", verb, code, file, p.read(file), said)
		}
	}
}
