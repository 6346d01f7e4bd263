package statedir

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// birth returns when a folder was made, "" if the file system does not say. An
// inode number is used again, but not together with the same birth.
func birth(dir string) string {
	var st unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, dir, unix.AT_STATX_SYNC_AS_STAT, unix.STATX_BTIME, &st)
	if err != nil || st.Mask&unix.STATX_BTIME == 0 {
		return ""
	}
	return fmt.Sprintf("%d.%09d", st.Btime.Sec, st.Btime.Nsec)
}
