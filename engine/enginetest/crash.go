package enginetest

import (
	"errors"
	"fmt"
	"syscall"

	"placet/engine/store/memfs"
)

// Crash tells every story again and again, with a crash at the first file call
// that placet makes, at the second, and so on, until one is told without a
// crash. After each crash placet starts anew and the story goes on. At every
// rest the tree must be that of the story without a crash, times aside.
//
// Three kinds of crash are tried at each call: placet is killed after the call
// (what was visible stays); the power fails before it (of what was not durable,
// something stays, by a seed); the power fails in the middle of it (nothing
// stays that was not durable).
func Crash(t T, s Suite) {
	t.Helper()
	for _, c := range s.Cases {
		abreast(t, c.Name, func(t T) {
			want := plain(t, s, c, telling{})
			for k := 1; want != nil; k++ {
				if crashes := crashAt(t, s, c, k, want); crashes == 0 {
					break
				}
			}
		})
	}
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

// crashAt tells a story with a crash at the k-th call, once for each kind, in
// short tests for one of them. It returns how many crashes there were.
func crashAt(t T, s Suite, c Case, k int, want []Tree) (crashes int) {
	t.Helper()
	kinds := outages
	if short() {
		kinds = outages[k%len(outages):][:1]
	}
	for _, kind := range kinds {
		name := fmt.Sprintf("%s call %d", kind.name, k)
		bubble(t, func(t T) {
			crashed, err := crashed(s, c, kind, k, want)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			} else if crashed {
				crashes++
			}
		})
	}
	return crashes
}

// crashed tells a story with one crash. The error says what came out wrong.
func crashed(s Suite, c Case, kind outage, k int, want []Tree) (crashed bool, err error) {
	w := newWorld(s, c, s.Machine, telling{})
	w.disk.CrashAt(k, kind.when)
	rest := w.like(want)
	if kind.when != memfs.After && s.PowerCut != nil {
		rest = w.alike(want, s.PowerCut)
	}
	err = w.tell(rest, func(err error) error {
		if !errors.Is(err, errDown) {
			return err
		}
		crashed = true
		w.disk = kind.after(w.disk, k)
		w.boot()
		return w.settle()
	})
	return crashed, err
}

// like returns an error where a rest's tree is not the one that it ought to be.
func (w *world) like(want []Tree) func(int) error {
	return func(steps int) error {
		if diff := difference(want[steps], w.tree()); diff != "" {
			return fmt.Errorf("the tree is another one (-without +with):\n%s", diff)
		}
		return nil
	}
}

// alike is like, with what a power cut may change made equal.
func (w *world) alike(want []Tree, equal func(Tree) Tree) func(int) error {
	return func(steps int) error {
		if diff := difference(equal(want[steps].Clone()), equal(w.tree())); diff != "" {
			return fmt.Errorf("the tree is another one (-without +with):\n%s", diff)
		}
		return nil
	}
}

// faults are the errors that a call may meet.
var faults = []syscall.Errno{syscall.ENOSPC, syscall.EIO, syscall.EACCES}

// Errors tells every story again and again, with an error (ENOSPC, EIO and
// EACCES in turn) at the first file call that placet makes, at the second, and
// so on. placet goes on by itself, and at every rest the tree must be that of
// the story without an error, times aside.
func Errors(t T, s Suite) {
	t.Helper()
	for _, c := range s.Cases {
		abreast(t, c.Name, func(t T) {
			want := plain(t, s, c, telling{})
			for k := 1; want != nil; k++ {
				if !errorAt(t, s, c, k, want) {
					break
				}
			}
		})
	}
}

// errorAt tells a story with each error at the k-th call, in short tests with
// one of them. It is false if the story makes fewer calls.
func errorAt(t T, s Suite, c Case, k int, want []Tree) (happened bool) {
	t.Helper()
	kinds := faults
	if short() {
		kinds = faults[k%len(faults):][:1]
	}
	for _, errno := range kinds {
		bubble(t, func(t T) {
			w := newWorld(s, c, s.Machine, telling{})
			w.disk.FailAt(k, errno)
			like := w.like(want)
			err := w.tell(func(steps int) error {
				// What an error hid is found by the next look.
				if err := w.settle(); err != nil {
					return err
				}
				return like(steps)
			}, nil)
			if err != nil {
				t.Errorf("%v at call %d: %v", errno, k, err)
			}
			happened = happened || w.disk.Calls() >= k
		})
	}
	return happened
}
