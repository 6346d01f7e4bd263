package provider

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
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
	return birthOf(string(stat))
}

// birthOf reads field 22 of /proc/<pid>/stat, proc(5). The second field is the
// program's name in parentheses and may itself hold blanks and parentheses.
func birthOf(stat string) (string, error) {
	rest := stat[strings.LastIndexByte(stat, ')')+1:]
	fields := strings.Fields(rest) // from field 3 on
	if len(fields) < 20 {
		return "", fmt.Errorf("cannot read /proc/<pid>/stat: %d fields after the name, expected 20 at least", len(fields))
	}
	if fields[0] == "Z" || fields[0] == "X" {
		return "", errEnded
	}
	return fields[19], nil
}
