package provider

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

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
