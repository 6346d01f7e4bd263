//go:build !linux

package setup

// RemoteName is the kind of a file system on which other machines may write,
// "" for a local one or where nobody can tell.
func RemoteName(string) string { return "" }

// fileSystem asks whether changes make events and locks hold.
func (e *examination) fileSystem() {
	e.add(isFine, "files", "", "cli.doctor.files.other")
}
