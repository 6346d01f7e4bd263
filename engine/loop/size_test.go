package loop

import (
	"testing"
	"unsafe"
)

// One byte more and Go takes the next larger size of memory for each of them.
func TestRunsOfTheRegistryAreSmall(t *testing.T) {
	if size := unsafe.Sizeof(knownRun{}); size > 64 {
		t.Errorf("a run takes %d bytes, want 64 at most", size)
	}
	if size := unsafe.Sizeof(activeRun{}); size > 256 {
		t.Errorf("what a run that can move takes besides is %d bytes, want 256 at most", size)
	}
}
