package reconcile

import (
	"testing"
	"unsafe"
)

// One byte more and Go takes the next larger size of memory for each of them.
func TestALiveRunIsSmall(t *testing.T) {
	if size := unsafe.Sizeof(live{}); size > 256 {
		t.Errorf("a run that can move takes %d bytes, want 256 at most", size)
	}
}
