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

// pipeDelay bounds how long the pipes of an ended command are read on. Its group has
// been killed by then, so that only a process outside of it can hold them open.
const pipeDelay = linger / 4

// boot returns the ID of this boot of the machine: start times count from it.
func boot() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}

// birth returns when a process started, in the kernel's clock ticks since boot. A
// process ID is used again; together with its birth it is not.
func birth(pid int) (string, error) {
	fields, err := readStat(fmt.Sprintf("/proc/%d/stat", pid))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return "", errEnded
	}
	return fields.birth, err
}

// stat holds what is read of a running process.
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
	rest := strings.Fields(text[strings.LastIndexByte(text, ')')+1:]) // from field 3 on
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

// setDeathSignal has a program end when this process ends, however that ends. Until
// its record names it, a later placet could not find it. What the program started
// itself is not tied. (The system ties it to the thread; Go ends only threads that a
// goroutine is locked to.)
func setDeathSignal(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// sessionOf returns the session of a process. In a container it is often 0 because
// the session's leader is outside.
func sessionOf(pid int) (sid int, known bool) {
	sid, err := unix.Getsid(pid)
	return sid, err == nil
}

// groupSession returns the session of a process group if a member of it runs. As
// long as one does, the group's ID is given to no process.
func groupSession(pgid int) (sid int, runs bool) {
	names, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range names {
		if s, err := readStat(name); err == nil && s.group == pgid {
			return s.session, true
		}
	}
	return 0, false
}

// sessionLeader returns the process that leads a session and whose standard output or error
// output is a file, 0 for none.
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

// awaitExit returns when the process has ended and leaves it unreaped: its ID, and so
// its group's, cannot be given to another as long as signals may be sent.
func (p *process) awaitExit() {
	for err := error(unix.EINTR); err == unix.EINTR; {
		err = unix.Waitid(unix.P_PID, p.pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
	}
}
