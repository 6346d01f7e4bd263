package workspace

import (
	"fmt"
	"os"
	"syscall"
)

// mark stands for this program and its user in what is stored between two starts:
// another program may make something else of the same files, and another user may
// be refused some of them. ok is false where the program cannot tell which it is.
func mark() (m string, ok bool) {
	info, err := os.Stat("/proc/self/exe") // the one that runs, even if it was replaced since
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
