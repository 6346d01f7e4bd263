package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A stopped daemon loses file events (the kernel usually keeps 16,384), but no answer: after it
// wakes, it decides those that came before the queue was full, after it, and in between.
func TestTortureStoppedWhileFortyThousandEventsHappen(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), tortured(8, 100))
	n := tortured(17_000, 40_000)
	d := p.start()
	defer d.stop(syscall.SIGTERM)
	p.await(d)
	p.until("all forms are written", p.opened)
	want := make([]string, len(p.runs))
	d.freeze(t)
	events := 0
	for i := range p.runs {
		if i%2 == 0 { // the others stay silent until all has been lost
			want[i] = answer(t, p, i)
		}
		events += p.flood(i, n/len(p.runs))
	}
	for i := range p.runs {
		if i%2 == 1 {
			want[i] = answer(t, p, i)
		}
	}
	if events <= queueLimit(t) {
		t.Logf("the kernel keeps %d events here: none of the %d was lost", queueLimit(t), events)
	}
	d.thaw(t)
	p.decided(upTo(len(p.runs)))
	for i := range p.runs {
		p.verify(i, want[i])
	}
}

// flood makes and removes meaningless files in a run's folder until it has caused n events, and
// returns how many.
func (p *place) flood(run, n int) (events int) {
	p.t.Helper()
	dir := filepath.Join(p.root, p.runs[run])
	for k := 0; events < n; k++ {
		name := filepath.Join(dir, fmt.Sprintf("note-%d.txt", k))
		f, err := os.Create(name)
		if err != nil {
			p.t.Fatal(err)
		}
		f.Close()
		if err := os.Remove(name); err != nil {
			p.t.Fatal(err)
		}
		events += 2 // made, removed
	}
	return events
}

func queueLimit(t *testing.T) int {
	t.Helper()
	body, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	if err != nil {
		t.Skipf("cannot tell how many events the kernel keeps: %v", err)
	}
	return atoi(t, string(body))
}
