package exec

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// errEnded says that there is no such process, or that it waits to be reaped.
var errEnded = errors.New("the process has ended")

// boot names this run of the machine: start times count from it.
func boot() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}

// birth returns when a process started, in the kernel's clock ticks since
// boot. A process id comes back into use; together with this it does not.
func birth(pid int) (string, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH):
		return "", errEnded
	case err != nil:
		return "", err
	}
	fields, err := fieldsOf(string(stat))
	return fields.birth, err
}

// fields are what is read of a process that runs.
type fields struct {
	group, session int
	birth          string
}

// fieldsOf reads fields 5, 6 and 22 of /proc/<pid>/stat, proc(5). The second
// field is the program's name in parentheses and may itself hold blanks and
// parentheses.
func fieldsOf(stat string) (f fields, err error) {
	rest := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:]) // from field 3 on
	if len(rest) < 20 {
		return f, fmt.Errorf("cannot read /proc/<pid>/stat: %d fields after the name, expected 20 at least", len(rest))
	}
	if rest[0] == "Z" || rest[0] == "X" {
		return f, errEnded
	}
	if f.group, err = strconv.Atoi(rest[2]); err != nil {
		return f, fmt.Errorf("cannot read /proc/<pid>/stat: %w", err)
	}
	if f.session, err = strconv.Atoi(rest[3]); err != nil {
		return f, fmt.Errorf("cannot read /proc/<pid>/stat: %w", err)
	}
	f.birth = rest[19]
	return f, nil
}
