//go:build !linux

package main

import (
	"errors"
	"syscall"
)

func syncfs(string) error { return errors.ErrUnsupported }

// changedAt returns when a file or its attributes were changed last.
func changedAt(st *syscall.Stat_t) syscall.Timespec { return st.Ctimespec }
