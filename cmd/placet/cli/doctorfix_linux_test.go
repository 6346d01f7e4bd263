package cli_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// Whoever does not accept what others changed in one run is asked about the next one.
func TestDoctorFixAsksAboutEveryRun(t *testing.T) {
	p := newPlace(t, filepath.Join(t.TempDir(), "ws"), 0)
	p.shopSession()
	yard := strings.Replace(shop, "/shop", "/yard", 1)
	p.write(yard+"/specs/checkpoints.yaml", shopCheckpoints)
	p.once(0)
	for _, dir := range []string{shop, yard} {
		p.write(dir+"/state.json", firstOf.ReplaceAllString(p.read(dir+"/state.json"), `$1"completed"`))
	}
	p.once(1)
	s := p.onTerminal(80, "doctor", "--fix")
	s.await("(y/N)")
	s.keys("n\n")
	s.await("(y/N)", "(y/N)")
	s.keys("y\n")
	out, code := s.end()
	if code == 0 || !p.there(shop+"/state.json.problem.md") {
		t.Errorf("the session that was not accepted: exit %d: %s", code, out)
	}
	p.once(1)
	if p.there(yard + "/state.json.problem.md") {
		t.Errorf("the session that was accepted stands still: %s", out)
	}
}
