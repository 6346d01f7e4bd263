package hostile_test

import (
	"testing"

	"placet/engine/hostile"
)

var kept []byte

func TestAllocatedSeesWhatIsAllocated(t *testing.T) {
	const size = 8 << 20
	if n := hostile.Allocated(func() { kept = make([]byte, size) }); n < size || n > 2*size {
		t.Errorf("%d bytes, allocated were %d", n, size)
	}
	kept = nil
	if n := hostile.Allocated(func() {}); n > 1<<20 {
		t.Errorf("%d bytes for nothing", n)
	}
}
