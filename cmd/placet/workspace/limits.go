package workspace

import "syscall"

// scarceFiles is the limit of open files below which placet handles fewer files side by side.
// Above it, counting them gains nothing.
const scarceFiles = 512

// ampleFiles is the limit of open files from which on every run that waits for the disk may
// keep its locks open.
const ampleFiles = 2048

// sideBySide returns how many runs are processed at a time, how many more may wait for the
// disk, and how many files are made durable at a time, 0 for the usual numbers. With a low
// limit of open files, more of them would only meet the limit and have to wait.
func sideBySide() (runs, waiting, files int) {
	var limit syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit)
	switch {
	case err != nil || limit.Cur >= ampleFiles:
		return 0, 0, 0
	case limit.Cur >= scarceFiles:
		return 0, int(limit.Cur) / 16, 0
	}
	const standing = 19 // standard streams, inotify, locks, logs, the workspace itself
	spare := max(int(limit.Cur)-standing, 8)
	return max(spare/8, 1), max(spare/4, 1), max(spare/4, 1)
}
