package exec

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// errEnded says that a process does not exist or waits to be reaped.
var errEnded = errors.New("the process has ended")

// pipeDelay is how long the pipes of an ended command are still read. Its group has
// been killed by then, so that only a process outside the group can hold them open.
const pipeDelay = linger / 4

// boot returns the ID of this boot of the machine, from which start times
// count.
func boot() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}

// birth returns when a process started, in the kernel's clock ticks since boot.
// The system reuses a process ID, but never with the same birth.
func birth(pid int) (string, error) {
	fields, err := readStat(fmt.Sprintf("/proc/%d/stat", pid))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return "", errEnded
	}
	return fields.birth, err
}

// stat holds the fields that are read of a running process.
type stat struct {
	group, session int
	birth          string
}

func readStat(name string) (stat, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return stat{}, err
	}
	return parseStat(string(text))
}

// parseStat reads fields 5, 6 and 22 of /proc/<pid>/stat, proc(5). The second field
// is the program's name in parentheses and may itself hold blanks and parentheses.
func parseStat(text string) (s stat, err error) {
	rest := strings.Fields(text[strings.LastIndexByte(text, ')')+1:]) // field 3 and later
	if len(rest) < 20 {
		return s, fmt.Errorf("cannot read /proc/<pid>/stat: %d fields after the name, expected 20 at least", len(rest))
	}
	if rest[0] == "Z" || rest[0] == "X" {
		return s, errEnded
	}
	var errs [2]error
	s.group, errs[0] = strconv.Atoi(rest[2])
	s.session, errs[1] = strconv.Atoi(rest[3])
	if err := errors.Join(errs[:]...); err != nil {
		return s, fmt.Errorf("cannot read /proc/<pid>/stat: %w", err)
	}
	s.birth = rest[19]
	return s, nil
}

// setDeathSignal makes the system kill a program when this process ends, however it
// ends, because a later placet cannot find the program until its record names it.
// What the program itself started is not killed. (The system ties the signal to the
// thread; Go ends only threads that a goroutine is locked to.)
func setDeathSignal(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// sessionOf returns the session of a process. In a container it is often 0 because
// the session's leader is outside.
func sessionOf(pid int) (sid int, known bool) {
	sid, err := unix.Getsid(pid)
	return sid, err == nil
}

// groupSession returns the session of a process group if a member of the group
// runs. As long as one does, the system gives the group's ID to no other
// process.
func groupSession(pgid int) (sid int, runs bool) {
	names, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range names {
		if s, err := readStat(name); err == nil && s.group == pgid {
			return s.session, true
		}
	}
	return 0, false
}

// sessionLeader returns the process that leads a session and writes its standard output or
// error output to the file, or 0 if there is none.
func sessionLeader(output fs.FileInfo) int {
	names, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range names {
		dir := filepath.Dir(name)
		pid, err := strconv.Atoi(filepath.Base(dir))
		if s, unread := readStat(name); err != nil || unread != nil || s.group != pid {
			continue
		}
		if sid, known := sessionOf(pid); !known || sid != pid {
			continue
		}
		for _, fd := range []string{"1", "2"} {
			if info, err := os.Stat(filepath.Join(dir, "fd", fd)); err == nil && os.SameFile(info, output) {
				return pid
			}
		}
	}
	return 0
}

// awaitExit returns when the process has ended, and leaves it unreaped: as long as
// signals may be sent, the system must not give its ID or its group's to another.
func (p *process) awaitExit() {
	for err := error(unix.EINTR); err == unix.EINTR; {
		err = unix.Waitid(unix.P_PID, p.pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
	}
}
