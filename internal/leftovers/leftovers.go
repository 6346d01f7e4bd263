// Package leftovers runs the tests of a package that starts programs, and fails the package if
// they leave something behind: processes, or files in the folder for temporary files.
package leftovers

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Dir is the folder for files that all tests of a package share; it is removed at the end. It
// is "" outside of [Run].
var Dir string

// Run runs the tests with their own folder for temporary files, and returns their exit code, or
// 1 if they leave something behind. Every program that they start has the folder in its
// environment, even if placet passes on only a part of it: on Linux, Run finds processes by it.
// It kills a process that is left.
func Run(m interface{ Run() int }) (code int) {
	dir, err := os.MkdirTemp("", "placet-tests-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	Dir = dir
	tmp := filepath.Join(dir, "tmp")
	if err := os.Mkdir(tmp, 0o700); err != nil {
		panic(err)
	}
	if err := os.Setenv("TMPDIR", tmp); err != nil {
		panic(err)
	}
	code = m.Run()
	for _, left := range slices.Concat(processesLeft(dir), filesLeft(tmp)) {
		fmt.Fprintln(os.Stderr, "the tests leave behind:", left)
		code = max(code, 1)
	}
	return code
}

// ending is how long a process may take to end after it was asked to.
const ending = time.Minute

// processesLeft returns the processes that did not end, and kills them.
func processesLeft(dir string) (left []string) {
	started := startedIn(dir)
	for until := time.Now().Add(ending); len(started) > 0 && time.Now().Before(until); started = startedIn(dir) {
		time.Sleep(20 * time.Millisecond)
	}
	for _, pid := range slices.Sorted(maps.Keys(started)) {
		left = append(left, fmt.Sprintf("process %d: %s", pid, started[pid]))
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	return left
}

// filesLeft returns the names in a folder.
func filesLeft(dir string) (left []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return []string{err.Error()}
	}
	for _, e := range entries {
		left = append(left, filepath.Join(dir, e.Name()))
	}
	return left
}

// startedIn returns the command lines of the other processes whose folder for temporary files
// is dir or below it, by process.
func startedIn(dir string) map[int]string {
	started := map[int]string{}
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		environment, err := os.ReadFile(file)
		if err != nil || !slices.ContainsFunc(strings.Split(string(environment), "\x00"), func(v string) bool { return strings.HasPrefix(v, "TMPDIR="+dir) }) {
			continue // another user's process, or one that has ended
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if line, err := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline")); err == nil && pid != os.Getpid() {
			started[pid] = string(bytes.TrimSpace(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
		}
	}
	return started
}
