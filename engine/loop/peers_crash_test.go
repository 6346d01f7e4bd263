package loop

import (
	"context"
	"errors"
	"sync"
	"syscall"
	"testing"
	"time"

	"placet/engine/store"
	"placet/engine/store/memfs"
)

// shelfLoop returns a loop on a disk in memory, with a clock that never waits.
func shelfLoop(m *memfs.FS) *Loop {
	var mu sync.Mutex
	at := time.Date(2026, 3, 2, 12, 0, 0, 8_000_000, time.UTC)
	now := func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return at
	}
	m.SetClock(now)
	return New(Options{
		Store: store.New(m, store.Options{Now: now, Parallel: 1}), Families: []Family{{shelfLayout{}, newShelf()}}, Now: now, Workers: 4,
		Pause: func(ctx context.Context, d time.Duration) error {
			mu.Lock()
			defer mu.Unlock()
			at = at.Add(d)
			return ctx.Err()
		},
	})
}

// fourWant makes a shelf with fewer tickets than runs that want one.
func fourWant() *memfs.FS {
	m := memfs.New(func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 8_000_000, time.UTC) })
	m.Put("shelf/tray/order.json", string(encode(shelfOrder{Brings: threeTickets})))
	for _, id := range numbered("w", 4) {
		m.Put("shelf/"+id+"/order.json", string(encode(shelfOrder{Wants: true})))
	}
	return m
}

var threeTickets = []string{"t1", "t2", "t3"}

// Whenever placet dies or the power fails, the next placet continues, and each ticket is
// taken once.
func TestNoCrashLetsTwoRunsTakeUpTheSame(t *testing.T) {
	for _, when := range []memfs.When{memfs.Before, memfs.After, memfs.Torn} {
		for k := 1; ; k++ {
			m := fourWant()
			m.CrashAtChange(k, when)
			_, _ = shelfLoop(m).Once(t.Context())
			if !m.Crashed() {
				if k < 10 {
					t.Errorf("only %d changes", k)
				}
				break
			}
			for name, left := range map[string]*memfs.FS{"killed": m.KillClone(), "power cut": m.CrashClone(0), "partly": m.CrashClone(uint64(k))} {
				if _, err := shelfLoop(left).Once(t.Context()); err != nil {
					t.Fatalf("%s at change %d: %v", name, k, err)
				}
				if wantTaken(t, left.Tree(), threeTickets); t.Failed() {
					t.Fatalf("%s at change %d (%v)", name, k, when)
				}
			}
		}
	}
}

// After an error of the disk at any call, no run has a ticket that another one took; when
// the error is over, all tickets are taken.
func TestNoErrorLetsTwoRunsTakeUpTheSame(t *testing.T) {
	for _, errno := range []error{syscall.EIO, syscall.ENOSPC, syscall.EMFILE, syscall.EACCES} {
		for k := 1; ; k++ {
			m := fourWant()
			l := shelfLoop(m)
			m.FailAt(k, errno)
			_, err := l.Once(t.Context())
			if m.Calls() < k {
				break
			}
			for range 3 {
				if _, err = l.Once(t.Context()); err == nil {
					break
				}
			}
			if err != nil && !errors.Is(err, store.ErrStopped) {
				t.Fatalf("call %d: %v", k, err)
			}
			if wantTaken(t, m.Tree(), threeTickets); t.Failed() {
				t.Fatalf("after %v at call %d", errno, k)
			}
		}
	}
}
