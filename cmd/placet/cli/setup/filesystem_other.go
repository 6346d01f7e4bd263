//go:build !linux

package setup

// RemoteName returns "": the kind of a file system is not known here.
func RemoteName(string) string { return "" }

// fileSystem checks whether changes cause events, and whether locks hold.
func (e *examination) fileSystem() {
	e.add(isFine, "files", "", "cli.doctor.files.other")
}
