//go:build !linux

package statedir

// birth is when a folder was made, "" where that is not known.
func birth(string) string { return "" }
