// Package await waits in tests for other processes and goroutines. A wait has no limit of
// its own, because a busy machine may be slow. If the awaited event never comes, the test
// fails with its name, shortly before the test binary's own limit (go test -timeout).
package await

import (
	"context"
	"testing"
	"time"
)

// grace is how long before the test binary's limit a wait gives up. It gives the test the
// time to report what it waited for and to end what it started.
const grace = 15 * time.Second

// pause is the time between two looks at another process.
const pause = 5 * time.Millisecond

// Context returns a context that ends shortly before the test binary's limit, or with the
// test.
func Context(t testing.TB) context.Context {
	ctx, cancel := limit(t, t.Context())
	t.Cleanup(cancel)
	return ctx
}

// limit returns a context that ends with ctx, or shortly before the test binary's limit.
func limit(t testing.TB, ctx context.Context) (context.Context, context.CancelFunc) {
	if limited, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		if at, ok := limited.Deadline(); ok {
			return context.WithDeadline(ctx, at.Add(-grace))
		}
	}
	return context.WithCancel(ctx)
}

// Until returns as soon as ok returns true. It fails the test if that does not happen. It
// also waits during a test's cleanup, when the test's own context has ended.
func Until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	if ok() {
		return // a test in a bubble of synctest may call Deadline: it returns no limit
	}
	ctx, cancel := limit(t, context.Background())
	defer cancel()
	if !Is(ctx, ok) {
		t.Fatalf("waited in vain: %s", what)
	}
}

// Is calls ok until it returns true or the context ends, and returns the last result.
func Is(ctx context.Context, ok func() bool) bool {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for !ok() {
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
	}
	return true
}

// Receive returns the next value of a channel, or the zero value if the channel is closed.
// It fails the test if neither happens.
func Receive[V any](t testing.TB, what string, from <-chan V) V {
	t.Helper()
	ctx, cancel := limit(t, context.Background())
	defer cancel()
	select {
	case v := <-from:
		return v
	case <-ctx.Done():
		t.Fatalf("waited in vain: %s", what)
		panic("unreachable")
	}
}
