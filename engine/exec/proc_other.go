//go:build !linux

package exec

import (
	"errors"
	"io/fs"
	"syscall"
)

var errEnded = errors.New("the process has ended")

const pipeDelay = linger

// boot and the functions below identify no process, because this system has no /proc: an
// agent that outlived placet counts as lost, and nobody knows which members of a group run
// on after its leader has ended.
func boot() string                  { return "" }
func sessionOf(int) (int, bool)     { return 0, false }
func groupSession(int) (int, bool)  { return 0, false }
func sessionLeader(fs.FileInfo) int { return 0 }

func birth(int) (string, error) {
	return "", errors.New("this system does not say when a process started")
}

// setDeathSignal does nothing, because this system cannot tie one program to
// another.
func setDeathSignal(*syscall.SysProcAttr) {}

// awaitExit returns when the process has ended. Systems that can only wait and reap in
// one step leave a moment in which its ID may be given to another.
func (p *process) awaitExit() { p.wait() }
