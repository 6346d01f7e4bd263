package main

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// syncfs makes all of the file system durable in which a file is.
func syncfs(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.Syncfs(int(f.Fd()))
}

// changedAt returns when a file or its attributes were changed last.
func changedAt(st *syscall.Stat_t) syscall.Timespec { return st.Ctim }
