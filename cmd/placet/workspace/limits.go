package workspace

import "syscall"

// scarceFiles is the limit of open files below which placet works with fewer
// files side by side; above it nothing is gained by counting them.
const scarceFiles = 512

// ampleFiles is the limit of open files from which on every run that waits for
// the disk may keep its locks open.
const ampleFiles = 2048

// sideBySide says how many runs are passed, how many more may wait for the disk,
// and how many files are made durable at the same time, 0 for the usual numbers.
// Where few files may be open, more would only meet the limit and have to wait.
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
