package enginetest

import (
	"fmt"
	"runtime/debug"
	"testing"
	"testing/synctest"
)

// init makes the tests that use the laws collect garbage less often, because the laws
// evaluate thousands of small workspaces and keep none of them.
func init() { debug.SetGCPercent(400) }

// T is the part of *testing.T that the laws use.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	TempDir() string
}

// real returns the *testing.T behind a T.
func real(t T) *testing.T {
	switch t := t.(type) {
	case *testing.T:
		return t
	case named:
		return real(t.T)
	case interface{ Real() *testing.T }:
		return t.Real()
	}
	panic(fmt.Sprintf("enginetest: a %T stands for no *testing.T", t))
}

// under runs f as a subtest if t is a real one; otherwise it puts the name
// before every message.
func under(t T, name string, f func(T)) {
	if real, ok := t.(*testing.T); ok {
		real.Run(name, func(t *testing.T) { f(t) })
		return
	}
	f(named{t, name})
}

// abreast does the same as under for parallel subtests. It returns before they end.
func abreast(t T, name string, f func(T)) {
	if real, ok := t.(*testing.T); ok {
		real.Run(name, func(t *testing.T) {
			t.Parallel()
			f(t)
		})
		return
	}
	f(named{t, name})
}

// named puts a name before every message.
type named struct {
	T
	name string
}

func (n named) Errorf(format string, args ...any) {
	n.T.Helper()
	n.T.Errorf("%s: %s", n.name, fmt.Sprintf(format, args...))
}

// bubble runs f in time that passes only while every goroutine waits for it.
func bubble(t T, f func(T)) {
	t.Helper()
	if outer, ok := t.(*testing.T); ok {
		synctest.Test(outer, func(t *testing.T) { f(t) })
		return
	}
	synctest.Test(real(t), func(*testing.T) { f(t) })
}
