package store

// WalkPaths makes the machine's file system do without openat2 until the
// returned function is called.
func WalkPaths() (restore func()) { return walkPaths() }

// HotRuns is how many runs keep the traces of their files.
const HotRuns = hotRuns

// MoveWithout renames as on a kernel without exclusive renames.
var MoveWithout = moveWithout
