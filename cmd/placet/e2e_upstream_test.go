package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// emit writes an event as upstream's emit-event.sh does: a number under the
// lock of .next-id, which it then unlinks; state.json rewritten from an older
// reading, by rename, without any lock.
func emit(dir string, worker int) error {
	temp := fmt.Sprintf(".NAME.%d.tmp", worker)
	lock := filepath.Join(dir, "events/.next-id.lock")
	f, err := os.OpenFile(lock, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	body, err := os.ReadFile(filepath.Join(dir, "events/.next-id"))
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(body)))
	if err != nil {
		return err
	}
	event := fmt.Sprintf(`{"event_id": %d, "type": "test_run", "timestamp": "2026-11-20T10:00:00.000Z", "run_id": "x", "source": "emit-event.sh"}`+"\n", n)
	if err := replaced(temp)(filepath.Join(dir, fmt.Sprintf("events/%03d-test_run.json", n)), event); err != nil {
		return err
	}
	if err := replaced(temp)(filepath.Join(dir, "events/.next-id"), strconv.Itoa(n+1)+"\n"); err != nil {
		return err
	}
	if err := os.Remove(lock); err != nil && !os.IsNotExist(err) {
		return err
	}
	return rewriteState(dir, n, temp)
}

var lastEventID = regexp.MustCompile(`"last_event_id": \d+`)

func rewriteState(dir string, n int, temp string) error {
	state := filepath.Join(dir, "state.json")
	body, err := os.ReadFile(state)
	if err != nil {
		return err
	}
	body = lastEventID.ReplaceAll(body, []byte(fmt.Sprintf(`"last_event_id": %d`, n)))
	return replaced(temp)(state, string(body))
}

// Scenario 10: dozens of parallel upstream emits during an answer. History,
// status and one feedback_received hold at the end.
func TestScenario10ParallelUpstreamEmits(t *testing.T) {
	p := newPlace(t, t.TempDir(), 1)
	d := p.start()
	defer d.stop(syscall.SIGTERM)
	p.await(d)
	p.until("the form is written", 20*time.Second, p.opened)
	dir := filepath.Join(p.root, p.runs[0])
	var wg sync.WaitGroup
	for worker := range 12 {
		wg.Go(func() {
			for range 5 {
				if err := emit(dir, worker); err != nil {
					t.Error(err)
				}
			}
		})
	}
	p.write(p.request(0)+"/response.json", p.response(0, "approve", "c"))
	wg.Wait()
	p.until("the run is answered: "+d.said(), 20*time.Second, func() bool { return p.answered(0) })
	// An older copy may have been put back after the answer; the receipt
	// makes the transition again.
	p.until("the answer holds", 20*time.Second, func() bool {
		st := p.state(0)
		return st.Status == "in_progress" && len(st.History) == 1 && st.History[0].Response == "approve"
	})
	received, err := filepath.Glob(filepath.Join(dir, "events/*-feedback_received.json"))
	if err != nil || len(received) != 1 {
		t.Errorf("feedback_received events: %v, %v", received, err)
	}
	if !json.Valid([]byte(p.read(p.runs[0] + "/state.json"))) {
		t.Error("state.json is no JSON")
	}
}
