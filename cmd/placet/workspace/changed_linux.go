package workspace

import "syscall"

// changedNano returns a file's ctime in nanoseconds.
func changedNano(st *syscall.Stat_t) int64 { return st.Ctim.Nano() }
