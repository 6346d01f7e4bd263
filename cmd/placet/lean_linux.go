package main

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// lean lets go of the pages of the program's own file. Most were needed by the
// start alone, and mapping them in pieces of 64 KiB the kernel has nearly the
// whole file resident by then; what is needed again comes back from the page
// cache by itself. Nothing is lost where it cannot be done.
func lean() {
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return
	}
	for _, s := range unchanged(string(maps), exe) {
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, s.from, s.to-s.from, syscall.MADV_DONTNEED)
	}
}

// span is a part of the address space.
type span struct{ from, to uintptr }

// unchanged are the mappings of a file, as /proc/<pid>/smaps lists them, that are
// read alone and hold what the file holds: one in which the linker or a debugger
// has changed a page would lose that.
func unchanged(smaps, file string) (spans []span) {
	var now *span
	for text := range strings.Lines(smaps) {
		fields := strings.Fields(text)
		switch {
		case len(fields) >= 5 && !strings.HasSuffix(fields[0], ":"):
			now = nil
			if s, ok := spanOf(fields[0]); ok && strings.HasSuffix(text, " "+file+"\n") && readAlone(fields[1]) {
				now = &s
			}
		case now != nil && len(fields) == 3 && fields[0] == "Anonymous:":
			if fields[1] == "0" {
				spans = append(spans, *now)
			}
			now = nil
		}
	}
	return spans
}

func readAlone(perms string) bool { return perms == "r-xp" || perms == "r--p" }

// spanOf reads "from-to", both hexadecimal.
func spanOf(text string) (s span, ok bool) {
	from, to, _ := strings.Cut(text, "-")
	a, err := strconv.ParseUint(from, 16, 64)
	b, err2 := strconv.ParseUint(to, 16, 64)
	return span{uintptr(a), uintptr(b)}, err == nil && err2 == nil && a < b
}
