package loop

import (
	"reflect"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
)

// After a start with many runs the set is mostly empty.
func TestTheSetLetsGoOfWhatManyRunsTook(t *testing.T) {
	d := newWorkqueue()
	began := reflect.ValueOf(d.in).Pointer()
	turn := func(n int) {
		for i := range n {
			d.mark(strconv.Itoa(i))
			if _, ok := d.take(); !ok {
				t.Fatal("nothing is marked")
			}
		}
		d.mark("0")
		for i := range n {
			d.finish(strconv.Itoa(i))
		}
		if run, ok := d.take(); run != "0" || !ok {
			t.Fatalf("what was marked meanwhile is not next, but %q", run)
		}
		d.finish("0")
	}
	turn(manyDirty - 1)
	if reflect.ValueOf(d.in).Pointer() != began {
		t.Error("a new map after few runs")
	}
	turn(manyDirty)
	if reflect.ValueOf(d.in).Pointer() == began {
		t.Error("the map that many runs have grown is kept")
	}
}

// A queue that is closed while its next pass waits for room leaves that room to passes under
// way: a pass that comes back from a wait needs it to end.
func TestAClosedQueueLeavesRoomForPassesUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &session{queue: newWorkqueue(), working: make(semaphore, 1), underWay: make(semaphore, 2)}
		s.underWay.acquire()
		s.working.acquire() // the pass that is under way
		s.queue.mark("next")
		var passes sync.WaitGroup
		over := make(chan struct{})
		go func() {
			defer close(over)
			s.work(t.Context(), &passes)
		}()
		synctest.Wait() // it waits for room
		s.queue.close()
		s.working.release() // the pass waits for the disk
		<-over
		s.working.acquire()
		s.underWay.acquire()
	})
}
