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

// keepSmall releases the pages of the program's file now and every minute until ctx ends. The
// kernel maps files in pieces of 64 KiB and more, so a start, and each busy period after it,
// leaves nearly the whole file resident: 22 MiB instead of 13.
func keepSmall(ctx context.Context) {
	releasePages()
	everyTick(ctx, releaseEvery, releasePages)
}

// releasePages gives back the pages of the program's file. The kernel reloads those that are
// needed from the page cache, and never as a huge page. A failure costs nothing but memory.
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
			continue // a page that was never written holds only the file's content
		}
		for _, advice := range []uintptr{syscall.MADV_NOHUGEPAGE, syscall.MADV_DONTNEED} {
			_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, from, to-from, advice)
		}
	}
}
