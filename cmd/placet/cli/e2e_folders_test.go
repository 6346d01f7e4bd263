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

	"placet/internal/await"
)

// A run's events are renamed away and back, around the moment at which its answer is accepted.
// The folder can always come back, because nothing is made in its place, and one answer makes
// one event.
func TestTortureEventsRenamedAwayAroundAnAnswer(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), tortured(12, 200))
	d := p.start()
	defer func() { d.stop(syscall.SIGTERM) }()
	p.await(d)
	p.until("all forms are written", p.opened)
	for i := range p.runs {
		events := filepath.Join(p.root, p.runs[i], "events")
		gone := time.Duration(i%10) * 3 * time.Millisecond
		if i%20 == 19 {
			gone = 400 * time.Millisecond
		}
		answer(t, p, i)
		jitter(time.Duration(i%8) * time.Millisecond)
		for range 4 {
			move(t, events, events+"-away")
			jitter(gone)
			if err := os.Rename(events+"-away", events); err != nil {
				t.Errorf("run %d: the events cannot come back: %v", i, err)
				break
			}
			jitter(time.Millisecond)
		}
	}
	p.decided(upTo(len(p.runs)))
	d.stop(syscall.SIGTERM)
	p.placet("once") // all possible passes are made
	for i := range p.runs {
		p.verifyEvents(i)
	}
}

// A run is removed right after its answer was accepted, while placet writes what the agent
// reads next. Nothing is left or made again there. A removal that has listed a folder just
// before a file came into it fails once, and not again.
func TestTortureAnsweredRunsRemoved(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), tortured(12, 200))
	d := p.start()
	defer func() { d.stop(syscall.SIGTERM) }()
	p.await(d)
	p.until("all forms are written", p.opened)
	ctx := await.Context(t)
	var failed []string
	for i := range p.runs {
		full := filepath.Join(p.root, p.runs[i])
		answer(t, p, i)
		for !p.answered(i) && ctx.Err() == nil { // without a pause, because it must come at once
		}
		jitter(time.Duration(i%8) * 500 * time.Microsecond)
		if out, err := exec.Command("rm", "-rf", full).CombinedOutput(); err != nil {
			failed = append(failed, fmt.Sprintf("%d: %v: %s", i, err, out))
			if err := os.RemoveAll(full); err != nil {
				t.Errorf("run %d: once more: %v", i, err)
			}
		}
	}
	t.Logf("%d of %d failed at first: %s", len(failed), len(p.runs), failed)
	d.stop(syscall.SIGTERM)
	for i := range p.runs {
		if left, err := os.ReadDir(filepath.Join(p.root, p.runs[i])); !os.IsNotExist(err) {
			t.Errorf("run %d: left are %v, %v", i, left, err)
		}
	}
}

// Upstream sets a run that has ended waiting again, or an old copy of its state overwrites the
// new one. Both are seen at once, because their folders are still watched, and not by the scan
// of each minute.
func TestTortureEndedRunsAreSetWaitingAgain(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir(), tortured(6, 100))
	d := p.measured()
	defer func() { d.stop(syscall.SIGTERM) }()
	p.await(d)
	p.until("all forms are written", p.opened)
	old := make([]string, len(p.runs))
	for i := range p.runs {
		old[i] = p.read(p.runs[i] + "/state.json")
		p.write(p.request(i)+"/response.json", p.response(i, "reject", "no"))
	}
	p.decided(upTo(len(p.runs)))
	p.until("all count as final", func() bool {
		return p.scrape(d)[`placet_runs{family="faber",standing="final"}`] == float64(len(p.runs))
	})
	for i, run := range p.runs {
		if !d.watches(t, filepath.Join(p.root, run)) {
			t.Errorf("run %d is not watched any more", i)
		}
		if i%2 == 0 {
			again := strings.Replace(p.read(run+"/state.json"), `"status": "cancelled"`, `"status": "awaiting_feedback"`, 1)
			again = strings.Replace(again, `"phases"`, `"feedback_request": {"request_id": "fr-again", "type": "review", "prompt": "Really?"}, "phases"`, 1)
			p.write(run+"/state.json", again)
			p.until("the form is written", func() bool { return p.read(run+"/requests/fr-again/form.md") != "" })
		} else {
			p.write(run+"/state.json", old[i])
			p.until("the answer is carried out again", func() bool { return p.state(i).Status == "cancelled" })
		}
		p.verifyEvents(i)
	}
}

// watches reports whether the daemon watches a folder.
func (d *daemon) watches(t *testing.T, dir string) bool {
	t.Helper()
	info, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	infos, _ := filepath.Glob("/proc/" + pidOf(d) + "/fdinfo/*")
	for _, name := range infos {
		body, _ := os.ReadFile(name)
		if strings.Contains(string(body), fmt.Sprintf(" ino:%x ", info.Sys().(*syscall.Stat_t).Ino)) {
			return true
		}
	}
	return false
}
