package fs

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// The number of a closed descriptor may be that of another file, so no call is made
// with it.
func TestAFileIsClosedWhileItIsUsed(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := OS(dir).Open("a", ForReading, 0)
	if err != nil {
		t.Fatal(err)
	}
	began, ended := make(chan bool), make(chan error)
	go func() {
		_, err := f.Stat()
		close(began)
		for err == nil {
			if _, err = f.Stat(); err == nil {
				_, err = f.ReadAt(make([]byte, 4), 0)
			}
		}
		ended <- err
	}()
	<-began
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, os.ErrClosed) {
		t.Errorf("a closed file is used: %v", err)
	}
	if err := f.Close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a file is closed twice: %v", err)
	}
}
