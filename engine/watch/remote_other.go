//go:build !linux

package watch

// remoteFS reports whether a folder is on a file system that others can change without an
// event on this machine. Only Linux can tell.
func remoteFS(string) bool { return false }
