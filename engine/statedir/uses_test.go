package statedir_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"placet/engine"
	"placet/engine/statedir"
)

// useOf returns a use of the answer to a request, by a process.
func useOf(request string, pid int) statedir.Use {
	return statedir.Use{
		Request: engine.Sum([]byte(request)), By: statedir.Taker{Tool: "ask", PID: pid}, TakenAt: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC),
	}
}

func TestAUseIsTakenOnce(t *testing.T) {
	home, workspace := folders(t)
	var taken atomic.Int32
	var wg sync.WaitGroup
	for n := range 16 {
		d := create(t, home, workspace)
		wg.Go(func() {
			before, err := d.TakeUse("k-1", useOf("first", n))
			if err != nil {
				t.Error(err)
			}
			if before == nil {
				taken.Add(1)
			}
		})
	}
	wg.Wait()
	if n := taken.Load(); n != 1 {
		t.Errorf("it is taken %d times", n)
	}
	d := create(t, home, workspace)
	ledger := filepath.Join(d.Location(), "permits/k-1")
	if names, err := os.ReadDir(ledger); err != nil || len(names) != 1 {
		t.Errorf("it left %v, %v", names, err)
	}
	if info, err := os.Stat(filepath.Join(ledger, "1")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the entry is %v, %v", info, err)
	}
	// The answer to another question under the same name has a use of its own, and so has
	// that of another ask.
	for _, u := range []struct {
		ask, request string
		pid          int
	}{{"k-1", "second", 0}, {"k-2", "first", 0}, {"k-1", "second", 7}} {
		before, err := d.TakeUse(u.ask, useOf(u.request, 7))
		if err != nil || (before != nil) != (u.pid != 0) || before != nil && before.By.PID != u.pid {
			t.Errorf("%v: %+v, %v", u, before, err)
		}
	}
	if before, err := d.TakeUse("k-1", useOf("first", 9)); err != nil || before == nil || !before.TakenAt.Equal(useOf("", 0).TakenAt) {
		t.Errorf("the first again: %+v, %v", before, err)
	}
}

// An unreadable entry may have been a use, so no use is taken beside it.
func TestNothingIsTakenFromALedgerThatCannotBeRead(t *testing.T) {
	for name, body := range map[string]string{
		"empty": "", "torn": `{"schema_version":1,"request":"sha256:`, "an object": "{}", "a list": "[]", "two": `{}{}`,
		"long": `{"note":"` + strings.Repeat("x", 8<<10) + `"}`, "no taker": `{"request":"` + string(engine.Sum(nil)) + `","taken_at":"2026-11-20T12:00:00Z"}`,
	} {
		home, workspace := folders(t)
		d := create(t, home, workspace)
		ledger := filepath.Join(d.Location(), "permits/k-1")
		if err := os.MkdirAll(ledger, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(ledger, "1"), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
		if before, err := d.TakeUse("k-1", useOf("first", 1)); err == nil || before != nil || !strings.Contains(err.Error(), ledger) {
			t.Errorf("%s: %+v, %v", name, before, err)
		}
		if names, err := os.ReadDir(ledger); err != nil || len(names) != 1 {
			t.Errorf("%s: it left %v, %v", name, names, err)
		}
	}
}
