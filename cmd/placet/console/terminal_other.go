//go:build unix && !linux

package console

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// longestLine is how many bytes of a line the kernel keeps. It drops the rest.
const longestLine = 1023

// dropTyped drops what was typed at a terminal and is still unread.
func dropTyped(in io.Reader) {
	if f, ok := in.(*os.File); ok && IsTerminal(f) {
		_ = unix.IoctlSetPointerInt(int(f.Fd()), unix.TIOCFLUSH, unix.TCIFLUSH)
	}
}
