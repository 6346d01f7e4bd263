//go:build !linux

package main

// fileSystem asks whether changes make events and locks hold.
func (e *examination) fileSystem() {
	e.add(isFine, "files", "", "whether changes raise events is found out by placet watch")
}
