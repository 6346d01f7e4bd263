package enginetest

import (
	"errors"
	"fmt"
	"syscall"

	"placet/engine/store/memfs"
)

// Crash takes every step of every story again and again, with a crash at the
// first file call that placet makes (in a brief suite: by which it changes
// something), at the second, and so on, until the step is over without a crash.
// After each crash placet starts anew. When it has come to rest the tree must be
// that of the story without a crash, times aside; every few crashes the rest of
// the story is told as well.
//
// Three kinds of crash are tried at each call (in a brief suite one of them, in turn):
// placet is killed after the call
// (what was visible stays); the power fails before it (of what was not durable,
// something stays, by a seed); the power fails in the middle of it (nothing
// stays that was not durable).
func Crash(t T, s Suite) {
	t.Helper()
	everyCall(t, s, 1, func(t T, c Case, rests []rest, i, k int) (more bool) {
		for _, kind := range some(outages, k, short() || s.Brief) {
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

// everyCall calls try for every step of every story, the beginning included,
// and for the first file call of it and each stride-th after that, for as long as try
// says that there are more. A short test, which is one under the race detector, is not
// there to find the call after which something is lost: it tries each fifth.
func everyCall(t T, s Suite, stride int, try func(t T, c Case, rests []rest, i, k int) (more bool)) {
	t.Helper()
	if short() {
		stride = 5 // no divisor in common with the kinds of trouble, nor with onward
	}
	for _, c := range s.Cases {
		abreast(t, c.Name, func(t T) {
			rests := plain(t, s, c, telling{})
			for i := c.TroubleFrom; i < len(rests); i++ {
				for k := 1; try(t, c, rests, i, k); k += stride {
				}
			}
		})
	}
}

// some are the kinds of trouble to try at the k-th call: all, or one after the
// other.
func some[K any](kinds []K, k int, brief bool) []K {
	if !brief {
		return kinds
	}
	return kinds[k%len(kinds):][:1]
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

// onward is after every how many crashes the rest of the story is told as well.
const onward = 8

// crashed takes the i-th step with one crash. The error says what came out
// wrong.
func crashed(s Suite, c Case, kind outage, rests []rest, i, k int) (crashed bool, err error) {
	w := worldAt(s, c, telling{}, rests, i)
	if s.Brief {
		w.disk.CrashAtChange(k, kind.when)
	} else {
		w.disk.CrashAt(k, kind.when)
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

// contradiction is what a machine finds wrong between a run's documents, as a person may
// ask between a crash and the next pass. What a crash left is never that.
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

// faults are the errors that a call may meet.
var faults = []syscall.Errno{syscall.ENOSPC, syscall.EIO, syscall.EACCES}

// Errors takes every step of every story again and again, with an error (ENOSPC,
// EIO and EACCES in turn) at the first file call that placet makes, at the
// second, and so on. placet goes on by itself, and when it has come to rest the
// tree must be that of the story without an error, times aside.
func Errors(t T, s Suite) {
	t.Helper()
	stride := 1
	if s.Brief {
		stride = 4 // no divisor in common with the kinds of trouble
	}
	everyCall(t, s, stride, func(t T, c Case, rests []rest, i, k int) (more bool) {
		for _, errno := range some(faults, k, short() || s.Brief) {
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
