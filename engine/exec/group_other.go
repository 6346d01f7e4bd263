//go:build !linux

package exec

import "syscall"

// Elsewhere no program can be tied to another.
func tie(*syscall.SysProcAttr) {}

// Without /proc nobody knows what is left of a group whose leader has ended.
func sessionOf(int) (int, bool)    { return 0, false }
func groupSession(int) (int, bool) { return 0, false }
