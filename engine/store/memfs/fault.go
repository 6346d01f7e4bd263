package memfs

import (
	"placet/engine/store/fs"
)

// When says how much of the call at which the machine crashes is still done.
type When int

// The ways to crash at a call.
const (
	Before When = iota // nothing of it
	After              // all of it, but the call returns an error
	Torn               // half of it if it can be halved, otherwise nothing
)

// fault says what goes wrong, and where.
type fault struct {
	hook       func(Call) error
	crashAt    int // a call's number
	changeAt   int // or its number among the calls that can change something
	when       When
	crashed    bool
	failAt     int
	err        error
	noExchange bool
	noSyncAll  bool
}

var _ fs.FS = (*FS)(nil)

// around makes a call as far as the faults allow it. The caller holds the lock.
func (f *fault) around(c Call, whole func() error, half func(error)) error {
	switch {
	case f.crashed:
		return ErrCrashed
	case f.crashAt == c.N || f.changeAt == c.Change && c.Change > 0:
		f.crashed = true
		if f.when == After {
			whole()
		}
		if f.when == Torn && half != nil {
			half(ErrCrashed)
		}
		return ErrCrashed
	case f.failAt == c.N:
		if half != nil {
			half(f.err)
		}
		return f.err
	}
	return whole()
}

// CrashAt makes the machine crash at the k-th call from now, counted from 1.
func (m *FS) CrashAt(k int, when When) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fault.crashAt, m.fault.when = m.calls+k, when
}

// CrashAtChange is CrashAt for the k-th call that can change something: a crash
// at any other call leaves what the change before it has left.
func (m *FS) CrashAtChange(k int, when When) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fault.changeAt, m.fault.when = m.changes+k, when
}

// FailAt makes the k-th call from now, counted from 1, return an error. A
// failed write has written half. A failed fsync of a file, and one of a folder
// that fails with EIO, drops the changes that it should have made durable.
func (m *FS) FailAt(k int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fault.failAt, m.fault.err = m.calls+k, err
}

// Hook sets a function that sees every call before it is made. If it returns an
// error, the call returns that and is not made, as with FailAt. It may use the
// test's own calls (Put, Get, …).
func (m *FS) Hook(hook func(Call) error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fault.hook = hook
}

// NoExchange makes the file system unable to exchange two names.
func (m *FS) NoExchange() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fault.noExchange = true
}

// NoSyncAll makes the file system support only syncs of single files and
// folders.
func (m *FS) NoSyncAll() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fault.noSyncAll = true
}

// Calls returns the number of calls made so far.
func (m *FS) Calls() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls
}

// Crashed reports whether the crash has happened.
func (m *FS) Crashed() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.fault.crashed
}
