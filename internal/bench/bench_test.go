package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"placet/internal/leftovers"
	"placet/layout"
	"placet/schemas"
)

// TestMain lets the test program be the floor, as the bench itself is.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "-floor" {
		if err := runFloor(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(leftovers.Run(m))
}

func TestMadeRunsAreRunsOfFABER(t *testing.T) {
	w, err := newWorkspace(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []func() error{
		func() error { return many(3, func(n int) error { return w.waiting(n, 12) }) },
		func() error { return many(perProject+1, w.completed) },
	} {
		if err := kind(); err != nil {
			t.Fatal(err)
		}
	}
	runs, err := layout.Faber{}.Runs(func(dir string) ([]layout.Entry, error) {
		entries, err := os.ReadDir(filepath.Join(w.root, dir))
		if os.IsNotExist(err) {
			return nil, nil
		}
		var all []layout.Entry
		for _, e := range entries {
			all = append(all, layout.Entry{Name: e.Name(), Dir: e.IsDir()})
		}
		return all, err
	})
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for _, run := range runs {
		ids[run.ID] = true
	}
	if len(ids) != 3+perProject+1 {
		t.Errorf("found %d runs", len(ids))
	}
	for _, run := range []string{w.run("waiting", 2), w.run("completed", perProject)} {
		for name, schema := range map[string]string{
			"state.json": "faber/state", "metadata.json": "faber/metadata", "events/001-workflow_start.json": "faber/event",
		} {
			body, err := os.ReadFile(filepath.Join(w.root, run, name))
			if err != nil {
				t.Fatal(err)
			}
			if err := schemas.Decode(schema, name, body, nil); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestShapeIsWhatTheTransitionWrote(t *testing.T) {
	at := func(ino uint64, size, nsec int64) stamp {
		return stamp{ino: ino, size: size, ctime: syscall.Timespec{Sec: 1, Nsec: nsec}}
	}
	before := map[string]stamp{"state.json": at(1, 10, 1), "metadata.json": at(2, 20, 1), "events/.next-id": at(3, 2, 1)}
	after := map[string]stamp{
		"state.json": at(4, 100, 50), "metadata.json": at(2, 20, 1), "events/.next-id": at(5, 3, 40),
		"requests/a/response.json": at(6, 60, 30), "requests/a/receipt.json": at(7, 70, 40),
		"resume.md": at(8, 80, 60), // follows from the state, written afterwards
	}
	want := shape{{"events/.next-id", 3}, {"requests/a/receipt.json", 70}, {"state.json", 100}}
	got := written(before, after, "requests/a/response.json")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("shape (-want +got):\n%s", diff)
	}
	if got.bytes() != 173 || got.largest() != 100 {
		t.Errorf("%d bytes, the largest %d", got.bytes(), got.largest())
	}
}

func TestRoundsAreTheCommitsOfAnAttempt(t *testing.T) {
	own := measured("cp-007", 3)
	all := own.general(shape{
		{"delegations/cp-007/iterations/3/feedback.md", 5}, {"delegations/cp-007/iterations/3/verdict.json", 4},
		{"delegations/cp-007/iterations/4/prompt.md", 3}, {"delegations/cp-007/status.json", 2}, {"events.jsonl", 9}, {"state.json", 1},
	})
	status, state := piece{"delegations{checkpoint}status.json", 2}, piece{"state.json", 1}
	want := []shape{
		{status, state}, {{"{attempt}feedback.md", 5}, {"{attempt}verdict.json", 4}, status, state}, {{"{next}prompt.md", 3}, status, state},
	}
	got := rounds(all)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rounds (-want +got):\n%s", diff)
	}
	other := measured("cp-100", 12)
	for general, place := range map[string]string{
		"{attempt}verdict.json": "delegations/cp-100/iterations/12/verdict.json", "{next}prompt.md": "delegations/cp-100/iterations/13/prompt.md",
		"delegations{checkpoint}status.json": "delegations/cp-100/status.json", "state.json": "state.json",
	} {
		if got := other.place(general); got != place {
			t.Errorf("%s goes to %s, want %s", general, got, place)
		}
	}
}

func TestFloorMakesTheFilesOfTheShape(t *testing.T) {
	for _, whole := range []bool{false, true} {
		t.Run(fmt.Sprintf("syncfs %t", whole), func(t *testing.T) {
			b := &bench{dir: t.TempDir()}
			s := shape{{"events/016-x.json", 300}, {"requests/{request}/receipt.json", 70}, {"state.json", 1000}}
			r, err := b.beside("floor", 3, s, whole)
			if err != nil {
				t.Fatal(err)
			}
			for n := range 3 {
				took, err := r.answer(n, r.floor)
				if err != nil {
					t.Fatal(err)
				}
				if took <= 0 || took > time.Minute {
					t.Errorf("took %s", took)
				}
				for name, size := range map[string]int64{
					r.run("waiting", n) + "/events/016-x.json": 300, r.request(n) + "/receipt.json": 70,
					r.run("waiting", n) + "/state.json": 1000,
				} {
					info, err := os.Stat(filepath.Join(r.root, name))
					if err != nil || info.Size() != size {
						t.Errorf("%s: %v, want %d bytes", name, err, size)
					}
				}
			}
			if err := r.close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestFloorTakesABurst(t *testing.T) {
	b := &bench{dir: t.TempDir()}
	r, err := b.beside("floor", 50, shape{{"requests/{request}/receipt.json", 70}, {"state.json", 1000}}, false)
	if err != nil {
		t.Fatal(err)
	}
	if took, err := r.burst(50, r.floor); err != nil || took <= 0 {
		t.Errorf("took %s, %v", took, err)
	}
	if err := r.close(); err != nil {
		t.Error(err)
	}
}

func TestTableSaysWhatIsMet(t *testing.T) {
	var out strings.Builder
	table := newTable(&out)
	table.head()
	table.ratio("S1", "speed", 1300*time.Microsecond, time.Millisecond, 1.3)
	table.ratio("S1", "speed", 1400*time.Microsecond, time.Millisecond, 1.3)
	table.rate("S3", "burst", 599, 1000, 0.6)
	table.most("S6", "memory", 15.9, 16, "MiB")
	table.note("S5", "cold", short(90*time.Second))
	if err := table.end(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		got = append(got, strings.Join(strings.Fields(line), " "))
	}
	want := []string{
		"what placet floor ratio goal",
		"S1 speed 1.30 ms 1.00 ms 1.30 ≤ 1.3 met",
		"S1 speed 1.40 ms 1.00 ms 1.40 ≤ 1.3 MISSED",
		"S3 burst 599/s 1000/s 0.60 ≥ 0.6 MISSED",
		"S6 memory 15.9 MiB ≤ 16 met",
		"S5 cold 90.00 s",
		"2 figures missed",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

func TestTimes(t *testing.T) {
	var all times
	for i := 100; i >= 1; i-- {
		all = append(all, time.Duration(i))
	}
	if all.median() != 51 || all.at(0.99) != 100 || (times{}).median() != 0 || all[0] != 100 {
		t.Errorf("median %d, p99 %d", all.median(), all.at(0.99))
	}
}

func TestMeasurementsAreChosenByName(t *testing.T) {
	if all, err := choose(""); err != nil || len(all) != len(measurements) {
		t.Errorf("%d, %v", len(all), err)
	}
	if some, err := choose("S4, S1"); err != nil || len(some) != 2 || some[0].id != "S4" {
		t.Errorf("%v, %v", some, err)
	}
	if _, err := choose("S77"); err == nil {
		t.Error("an unknown measurement is accepted")
	}
}
