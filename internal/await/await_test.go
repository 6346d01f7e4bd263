package await

import (
	"context"
	"sync/atomic"
	"testing"
)

func TestUntilReturnsOnceItIsSo(t *testing.T) {
	var n atomic.Int64
	go n.Store(3)
	Until(t, "a number", func() bool { return n.Load() == 3 })
}

func TestAWaitEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	looks := 0
	if Is(ctx, func() bool { looks++; cancel(); return false }) || looks == 0 {
		t.Errorf("it waited for what never comes: %d looks", looks)
	}
}

func TestReceiveReturnsWhatComes(t *testing.T) {
	numbers := make(chan int, 1)
	numbers <- 7
	if n := Receive(t, "a number", numbers); n != 7 {
		t.Errorf("received %d", n)
	}
}

func TestUntilWaitsWhileATestCleansUp(t *testing.T) {
	looks := 0
	t.Cleanup(func() {
		Until(t, "the third look", func() bool { looks++; return looks == 3 })
	})
}
