package loop

import (
	"testing"
	"unsafe"
)

// With one byte more, Go allocates the next larger size for each of them.
func TestRunsOfTheRegistryAreSmall(t *testing.T) {
	if size := unsafe.Sizeof(knownRun{}); size > 64 {
		t.Errorf("a run takes %d bytes, want 64 at most", size)
	}
	if size := unsafe.Sizeof(activeRun{}); size > 256 {
		t.Errorf("what a run that can move takes besides is %d bytes, want 256 at most", size)
	}
}
