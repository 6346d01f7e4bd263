package cli_test

import (
	"strings"
	"syscall"
	"testing"
)

// Nobody can make a state folder below /proc, now or later: the daemon runs without one, says
// so once with what to do, and decides all the same.
func TestWatchSaysThatItHasNoStateFolder(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), 1)
	d := p.start("env", "XDG_STATE_HOME=/proc")
	defer d.stop(syscall.SIGTERM)
	p.await(d)
	p.until("the form is written", p.opened)
	p.write(p.request(0)+"/response.json", p.response(0, "approve", "c"))
	p.until("the run is answered", func() bool { return p.answered(0) })
	p.verify(0, "approve")
	if said := d.said(); strings.Count(said, "cannot use the state folder") != 1 || !strings.Contains(said, "set XDG_STATE_HOME") {
		t.Errorf("says: %s", said)
	}
}
