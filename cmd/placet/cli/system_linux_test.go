package cli_test

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// detach unmounts what is still in use.
const detach = unix.MNT_DETACH

// endingWithTests has a program end with the test binary, even if that is killed.
func endingWithTests(attr *syscall.SysProcAttr) *syscall.SysProcAttr {
	attr.Pdeathsig = syscall.SIGKILL
	return attr
}

// changedAt returns when a file or its attributes were changed last.
func changedAt(st *syscall.Stat_t) time.Time { return time.Unix(st.Ctim.Unix()) }

// renameNew renames a file to a name that nothing has.
func renameNew(from, to string) error {
	return unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
}

// hasEnded reports whether a child has ended; whoever waits for it still gets its status.
func hasEnded(pid int) bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return err == nil && info.Signo != 0
}
