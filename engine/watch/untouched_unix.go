//go:build unix

package watch

import (
	"time"

	"golang.org/x/sys/unix"
)

// changedAt returns when a file or folder last changed; ok is false if that is not known.
func changedAt(abs string) (time.Time, bool) {
	var st unix.Stat_t
	if err := unix.Lstat(abs, &st); err != nil {
		return time.Time{}, false
	}
	return time.Unix(st.Ctim.Unix()), true
}
