package workspace

import (
	"fmt"
	"os"
	"syscall"
)

// mark returns a text for this program and its user, for what is stored between two starts:
// another program may derive something else from the same files, and another user may not be
// allowed to read some of them. ok is false if the program cannot identify itself.
func mark() (m string, ok bool) {
	info, err := os.Stat("/proc/self/exe") // the running one, even if it was replaced since
	if err != nil {
		var exe string
		if exe, err = os.Executable(); err == nil {
			info, err = os.Stat(exe)
		}
	}
	if err != nil {
		return "", false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", false
	}
	return fmt.Sprint(st.Dev, st.Ino, info.Size(), info.ModTime().UnixNano(), changedNano(st), os.Geteuid(), os.Getegid()), true
}
