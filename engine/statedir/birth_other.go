//go:build !linux

package statedir

// birth returns "", because the birth of a folder is not known.
func birth(string) string { return "" }
