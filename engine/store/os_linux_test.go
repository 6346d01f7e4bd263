package store_test

import (
	"testing"

	"placet/engine/store/fs"
)

func TestWhatWaitsToBeWrittenIsKnown(t *testing.T) {
	fsys, ok := fs.OS(t.TempDir()).(interface{ Unwritten() (int64, bool) })
	if !ok {
		t.Fatal("the file system does not tell")
	}
	if bytes, known := fsys.Unwritten(); !known || bytes < 0 || bytes > 1<<50 {
		t.Errorf("%d bytes, known: %v", bytes, known)
	}
}
