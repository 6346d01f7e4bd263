package daemon

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

// releaseEvery is how often a daemon releases the pages of its own file.
const releaseEvery = time.Minute

// keepSmall releases the pages of the program's file now and every minute until ctx ends.
// The kernel maps files in pieces of 64 KiB and more, so that a start leaves nearly the
// whole file resident, and a spell of work again: 22 MiB in place of 13.
func keepSmall(ctx context.Context) {
	releasePages()
	everyTick(ctx, releaseEvery, releasePages)
}

// releasePages gives the pages of the program's file back. What is needed again comes from
// the page cache by itself, and never as a huge page. Nothing is lost where that fails.
func releasePages() {
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return
	}
	for text := range strings.Lines(string(maps)) {
		var from, to uintptr
		var perms string
		n, _ := fmt.Sscanf(text, "%x-%x %s", &from, &to, &perms)
		if n != 3 || perms != "r-xp" && perms != "r--p" || !strings.HasSuffix(text, " "+exe+"\n") {
			continue // only what is never written holds what the file holds
		}
		for _, advice := range []uintptr{syscall.MADV_NOHUGEPAGE, syscall.MADV_DONTNEED} {
			_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, from, to-from, advice)
		}
	}
}
