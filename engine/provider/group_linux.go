package provider

import (
	"fmt"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// tie has a program end when this process ends, however that ends. Until its
// record names it, a later placet could not find it to end it. What it started
// itself is not tied. (The system ties it to the thread; Go ends only threads
// that a goroutine is locked to.)
func tie(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// sessionOf is the session that a process lies in, 0 where nobody can tell.
func sessionOf(pid int) int {
	sid, err := unix.Getsid(pid)
	if err != nil {
		return 0
	}
	return sid
}

// groupSession is the session of a process group, 0 where no member of the
// group runs. As long as one does, the group's id is given to no process.
func groupSession(pgid int) int {
	dir, err := os.Open("/proc")
	if err != nil {
		return 0
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		if _, err := strconv.Atoi(name); err != nil {
			continue
		}
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%s/stat", name))
		if err != nil {
			continue // it has just ended
		}
		fields, err := fieldsOf(string(stat))
		if err != nil || fields.group != pgid {
			continue
		}
		return fields.session
	}
	return 0
}
