package statedir

import (
	"slices"
	"sync"
)

// nameLocks lets one caller at a time hold a name. Callers with different names never wait for
// each other: each holds its names while the disk syncs, and many should share one sync.
type nameLocks struct {
	mu   sync.Mutex
	held map[string]*nameLock
}

// nameLock is the lock of a name that somebody holds or waits for.
type nameLock struct {
	sync.Mutex
	callers int
}

// hold waits until it holds all of the names, and returns what releases them. The names are taken in
// one order, so that two callers never wait for each other.
func (l *nameLocks) hold(names ...string) (release func()) {
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	for _, name := range names {
		l.enter(name).Lock()
	}
	return func() {
		for _, name := range names {
			l.leave(name)
		}
	}
}

// enter returns the lock of a name for one more caller.
func (l *nameLocks) enter(name string) *nameLock {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == nil {
		l.held = map[string]*nameLock{}
	}
	one := l.held[name]
	if one == nil {
		one = &nameLock{}
		l.held[name] = one
	}
	one.callers++
	return one
}

// leave releases a name, and forgets its lock after the last caller.
func (l *nameLocks) leave(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	one := l.held[name]
	if one.callers--; one.callers == 0 {
		delete(l.held, name)
	}
	one.Unlock()
}
