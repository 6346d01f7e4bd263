package badinput_test

import (
	"testing"

	"placet/internal/badinput"
)

var kept []byte

func TestAllocatedSeesWhatIsAllocated(t *testing.T) {
	const size = 8 << 20
	if n := badinput.Allocated(func() { kept = make([]byte, size) }); n < size || n > 2*size {
		t.Errorf("%d bytes, allocated were %d", n, size)
	}
	kept = nil
	if n := badinput.Allocated(func() {}); n > 1<<20 {
		t.Errorf("%d bytes for nothing", n)
	}
}
