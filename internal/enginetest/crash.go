package enginetest

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"

	"placet/engine/store/memfs"
)

// Crash runs every step of every scenario again and again, with a crash at the first file call
// that changes something, at the second, and so on, until the step ends without a crash. After
// each crash placet starts again. When it is idle, the tree must be that of the scenario without
// a crash, times aside; after every few crashes the rest of the scenario is run as well.
//
// There are three kinds of crash, one of which is tried at each call, in turn: placet is killed
// after the call (what was visible stays); the power fails before it (a seed chooses what stays
// of what was not durable); the power fails in the middle of it (nothing stays that was not
// durable). A thorough suite also tries them at calls that change nothing.
func Crash(t T, s Suite) {
	t.Helper()
	everyCall(t, s, 1, func(Case, []rest, int) int { return 1 }, func(t T, c Case, rests []rest, i, k int) (more bool) {
		kinds := some(s, outages, k)
		if s.everyKind {
			kinds = append(slices.Clone(kinds), otherLuck)
		}
		for _, kind := range kinds {
			bubble(t, func(t T) {
				crashed, err := crashed(s, c, kind, rests, i, k)
				if err != nil {
					t.Errorf("%s call %d %s: %v", kind.name, k, c.where(i), err)
				}
				more = more || crashed && err == nil
			})
		}
		return more
	})
}

// thorough reports whether trouble is tried at every file call of placet: for the toy family,
// whose calls are those of the kernel, and for all families if PLACET_LAWS is "calls", or
// "all", with which families also run more scenarios. Otherwise the calls of the kernel before
// a family writes something are not tried again for each family.
func (s Suite) thorough() bool { return s.everyCall || os.Getenv("PLACET_LAWS") != "" }

// everyCall calls try for every step of every scenario, including the beginning: for its first
// file call and each stride-th call after it, as long as try returns true.
func everyCall(t T, s Suite, stride int, first func(c Case, rests []rest, i int) int, try func(t T, c Case, rests []rest, i, k int) (more bool)) {
	t.Helper()
	for _, c := range s.Cases {
		abreast(t, c.Name, func(t T) {
			rests := plain(t, s, c, telling{})
			for i := c.TroubleFrom; i < len(rests); i++ {
				from := 0
				bubble(t, func(T) { from = first(c, rests, i) })
				for k := from; try(t, c, rests, i, k); k += stride {
				}
			}
		})
	}
}

// some returns the kinds of trouble to try at the k-th call: one of them, in turn, or all if
// PLACET_LAWS asks for more.
func some[K any](s Suite, kinds []K, k int) []K {
	if s.everyKind || os.Getenv("PLACET_LAWS") != "" {
		return kinds
	}
	return kinds[k%len(kinds):][:1]
}

// firstChange returns the number of the file call, from 1, with which placet first changes
// something in a step.
func firstChange(s Suite, c Case, rests []rest, i int) int {
	w := worldAt(s, c, telling{twice: true}, rests, i)
	n, first := 0, 0
	w.disk.Hook(func(call memfs.Call) error {
		if n++; first == 0 && call.Change > 0 {
			first = n
		}
		return nil
	})
	_ = w.take(i) // the trials find what is wrong with it
	return max(first, 1)
}

// outage is one kind of crash.
type outage struct {
	name  string
	when  memfs.When
	after func(disk *memfs.FS, k int) *memfs.FS
}

var outages = []outage{
	{"killed after", memfs.After, func(disk *memfs.FS, _ int) *memfs.FS { return disk.KillClone() }},
	{"power cut before", memfs.Before, func(disk *memfs.FS, k int) *memfs.FS { return disk.CrashClone(uint64(k)) }},
	{"power cut within", memfs.Torn, func(disk *memfs.FS, _ int) *memfs.FS { return disk.CrashClone(0) }},
}

// otherLuck is a power cut after which other content stays: the number of a call decides that by
// luck, and luck alone must not decide whether a mutant is found.
var otherLuck = outage{"power cut before, with other luck", memfs.Before, func(disk *memfs.FS, k int) *memfs.FS { return disk.CrashClone(^uint64(k)) }}

// onward is the number of crashes after which the rest of the scenario is run as well.
const onward = 8

// crashed takes the i-th step with one crash. The error says what is wrong with the result.
func crashed(s Suite, c Case, kind outage, rests []rest, i, k int) (crashed bool, err error) {
	w := worldAt(s, c, telling{}, rests, i)
	if s.thorough() {
		w.disk.CrashAt(k, kind.when)
	} else {
		w.disk.CrashAtChange(k, kind.when)
	}
	w.like = rests
	if kind.when != memfs.After {
		w.equal = s.PowerCut
	}
	w.mend = func(err error) error {
		if !errors.Is(err, errDown) {
			return err
		}
		crashed = true
		w.disk = kind.after(w.disk, k)
		w.boot()
		if err := w.contradiction(); err != nil {
			return err
		}
		w.boot()
		return w.settle()
	}
	err = w.take(i)
	for next := i + 1; crashed && err == nil && k%onward == 0 && next < len(rests); next++ {
		err = w.take(next)
	}
	return crashed, err
}

// contradiction returns the contradictions that a machine finds between a run's documents, when
// a person asks between a crash and the next pass. A crash must never leave one.
func (w *world) contradiction() error {
	found, err := w.loop.Runs()
	if err != nil {
		return err
	}
	for _, f := range found {
		s, _, err := w.loop.Snapshot(f)
		if err != nil {
			return err
		}
		for _, finding := range w.suite.Machine.Account(s).Findings {
			if finding.Urgent {
				return fmt.Errorf("after the crash: %s", finding.Text)
			}
		}
	}
	return nil
}

// faults are the errors that calls return.
var faults = []syscall.Errno{syscall.ENOSPC, syscall.EIO, syscall.EACCES}

// Errors runs every step of every scenario again and again, with an error (ENOSPC, EIO and
// EACCES in turn) at the first file call that changes something, at the fourth after it, and so
// on. placet continues by itself, and when it is idle the tree must be that of the scenario
// without an error, times aside. A thorough suite tries every call.
func Errors(t T, s Suite) {
	t.Helper()
	stride := 4 // coprime with the number of errors
	first := func(c Case, rests []rest, i int) int { return firstChange(s, c, rests, i) }
	if s.thorough() {
		stride, first = 1, func(Case, []rest, int) int { return 1 }
	}
	everyCall(t, s, stride, first, func(t T, c Case, rests []rest, i, k int) (more bool) {
		for _, errno := range some(s, faults, k) {
			bubble(t, func(t T) {
				w := worldAt(s, c, telling{twice: true}, rests, i)
				w.disk.FailAt(k, errno)
				w.like, w.equal = rests, s.Fault
				err := w.take(i)
				if err != nil {
					t.Errorf("%v at call %d %s: %v", errno, k, c.where(i), err)
				}
				more = more || w.disk.Calls() >= k && err == nil
			})
		}
		return more
	})
}
