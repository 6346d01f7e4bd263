package cli

import (
	"context"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A daemon looks now and then whether it has come to rest with more of its file
// resident than a daemon at rest uses.
const (
	leanEvery = 5 * time.Second
	leanAbove = 4 << 20               // bytes of files that are resident
	atRest    = 25 * time.Millisecond // of processor time from one look to the next
)

// stayLean lets go of the pages of the program's own file each time the daemon
// has come to rest, until ctx ends: once more after the start, whose last work is
// done when all runs are served already, and after each spell of work; while it
// rests it looks again, more and more seldom.
func stayLean(ctx context.Context) {
	tick := time.NewTicker(leanEvery)
	defer tick.Stop()
	rests, spent := 0, processorTime() // how many looks in a row found it at rest
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := processorTime()
		if rests++; now-spent >= atRest {
			rests = 0
		}
		if seldom(rests) && residentOfFiles() > leanAbove {
			lean()
		}
		spent = now
	}
}

// seldom is whether the n-th look in a row is one of the 1st, 2nd, 4th, 8th, …:
// little work brings many pages back, and what a daemon at rest truly needs is not
// let go of for ever.
func seldom(n int) bool { return n > 0 && n&(n-1) == 0 }

// processorTime is what the process has used so far.
func processorTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// residentOfFiles is how many bytes of files are resident, 0 where the system
// does not tell: the third figure of /proc/<pid>/statm, see proc_pid_statm(5).
func residentOfFiles() int {
	body, _ := os.ReadFile("/proc/self/statm")
	fields := strings.Fields(string(body))
	if len(fields) < 3 {
		return 0
	}
	pages, _ := strconv.Atoi(fields[2])
	return pages * os.Getpagesize()
}

// lean lets go of the pages of the program's own file. The kernel maps files in
// pieces of 64 KiB and more, and so has nearly the whole file resident by the end
// of a start; what is needed again comes back from the page cache by itself, and
// never as a huge page: where the cache holds the file in those, one byte needed
// would have 2 MiB resident. Nothing is lost where it cannot be done.
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
		for _, advice := range []uintptr{syscall.MADV_NOHUGEPAGE, syscall.MADV_DONTNEED} {
			_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, s.from, s.to-s.from, advice)
		}
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
