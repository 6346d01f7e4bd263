package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A run's events are renamed away and back, around the moment at which its answer is
// taken. The folder can always come back, since nothing was made in its place, and
// one answer makes one event.
func TestTortureEventsRenamedAwayAroundAnAnswer(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), tortured(40, 200))
	d := p.start()
	defer func() { d.stop(syscall.SIGTERM) }()
	p.await(d)
	p.until("all forms are written", 30*time.Second, p.opened)
	for i := range p.runs {
		events := filepath.Join(p.root, p.runs[i], "events")
		gone := time.Duration(i%10) * 3 * time.Millisecond
		if i%20 == 19 {
			gone = 400 * time.Millisecond
		}
		answer(t, p, i)
		time.Sleep(time.Duration(i%8) * time.Millisecond)
		for range 4 {
			move(t, events, events+"-away")
			time.Sleep(gone)
			if err := os.Rename(events+"-away", events); err != nil {
				t.Errorf("run %d: the events cannot come back: %v", i, err)
				break
			}
			time.Sleep(time.Millisecond)
		}
	}
	p.decided(d, upTo(len(p.runs)), time.Now(), 20*time.Second)
	p.rests(d)
	for i := range p.runs {
		p.verifyEvents(i)
	}
}

// A run is removed right after its answer was taken, while placet writes what the
// agent reads next. Nothing is left there or made anew. A removal that has listed a
// folder just before a file came into it fails; that is rare.
func TestTortureAnsweredRunsRemoved(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), tortured(40, 200))
	d := p.start()
	defer func() { d.stop(syscall.SIGTERM) }()
	p.await(d)
	p.until("all forms are written", 30*time.Second, p.opened)
	var failed []string
	for i := range p.runs {
		full := filepath.Join(p.root, p.runs[i])
		answer(t, p, i)
		for !p.answered(i) {
			time.Sleep(100 * time.Microsecond)
		}
		time.Sleep(time.Duration(i%8) * 500 * time.Microsecond)
		if out, err := exec.Command("rm", "-rf", full).CombinedOutput(); err != nil {
			failed = append(failed, fmt.Sprintf("%d: %v: %s", i, err, out))
			if err := os.RemoveAll(full); err != nil {
				t.Errorf("run %d: once more: %v", i, err)
			}
		}
	}
	if t.Logf("%d of %d failed: %s", len(failed), len(p.runs), failed); len(failed) > 2+len(p.runs)/20 {
		t.Error("that is more than two and a twentieth")
	}
	p.rests(d)
	for i := range p.runs {
		if left, err := os.ReadDir(filepath.Join(p.root, p.runs[i])); !os.IsNotExist(err) {
			t.Errorf("run %d: left are %v, %v", i, left, err)
		}
	}
}

// A run that has ended is set waiting again by upstream, or is overwritten with an old
// copy of its state: both are seen at once, and not by the scan of each minute.
func TestTortureEndedRunsAreSetWaitingAgain(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), tortured(6, 100))
	d := p.start()
	defer func() { d.stop(syscall.SIGTERM) }()
	p.await(d)
	p.until("all forms are written", 30*time.Second, p.opened)
	old := make([]string, len(p.runs))
	for i := range p.runs {
		old[i] = p.read(p.runs[i] + "/state.json")
		p.write(p.request(i)+"/response.json", p.response(i, "reject", "no"))
	}
	p.decided(d, upTo(len(p.runs)), time.Now(), 20*time.Second)
	p.rests(d)
	for i, run := range p.runs {
		began := time.Now()
		if i%2 == 0 {
			again := strings.Replace(p.read(run+"/state.json"), `"status": "cancelled"`, `"status": "awaiting_feedback"`, 1)
			again = strings.Replace(again, `"phases"`, `"feedback_request": {"request_id": "fr-again", "type": "review", "prompt": "Really?"}, "phases"`, 1)
			p.write(run+"/state.json", again)
			p.until("the form is written", 10*time.Second, func() bool { return p.read(run+"/requests/fr-again/form.md") != "" })
		} else {
			p.write(run+"/state.json", old[i])
			p.until("the answer is carried out again", 10*time.Second, func() bool { return p.state(i).Status == "cancelled" })
		}
		p.atMost("an ended run", time.Since(began), time.Second, 10*time.Second)
		p.verifyEvents(i)
	}
}
