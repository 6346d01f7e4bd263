//go:build !unix

package watch

import (
	"fmt"
	"hash/maphash"
	"os"
	"time"
)

func printPath(h *maphash.Hash, abs string) {
	info, err := os.Lstat(abs)
	if err != nil {
		fmt.Fprintf(h, "%v\x00", err)
		return
	}
	fmt.Fprintf(h, "%d %d %v\x00", info.ModTime().UnixNano(), info.Size(), info.Mode())
}

// changedAt is when a file or folder last changed. Without change times nothing
// can be said.
func changedAt(string) (time.Time, bool) { return time.Time{}, false }
