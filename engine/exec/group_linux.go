package exec

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

// sessionOf is the session that a process lies in. In a container it is often
// 0: that session's leader lies outside.
func sessionOf(pid int) (sid int, known bool) {
	sid, err := unix.Getsid(pid)
	return sid, err == nil
}

// groupSession is the session of a process group if a member of it runs. As
// long as one does, the group's id is given to no process.
func groupSession(pgid int) (sid int, runs bool) {
	dir, err := os.Open("/proc")
	if err != nil {
		return 0, false
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
		return fields.session, true
	}
	return 0, false
}
