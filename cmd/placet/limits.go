package main

import "syscall"

// scarceFiles is the limit of open files below which placet works with fewer
// files side by side; above it nothing is gained by counting them.
const scarceFiles = 512

// sideBySide says how many runs are passed and how many files are made durable
// at the same time, 0 for the usual numbers. Where few files may be open, more
// would only meet the limit and have to wait.
func sideBySide() (runs, files int) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur >= scarceFiles {
		return 0, 0
	}
	const standing = 16 // standard streams, inotify, locks, logs
	spare := max(int(limit.Cur)-standing, 8)
	return max(spare/8, 1), max(spare/4, 1)
}
