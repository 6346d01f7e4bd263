package gate

import (
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"
)

// longestDiff is the size of the largest text that is compared, in bytes, and ShownDiff is
// how many lines of a diff are shown where nothing else is said.
const (
	longestDiff = 256 << 10
	ShownDiff   = 400
)

// Difference returns what changed between two versions of a text: lines of a unified diff,
// and how many more lines it has. It returns no lines if one version is too large to be
// compared, or is not text.
func Difference(then, now string) (lines []string, more int) {
	return DifferenceOf(then, now, ShownDiff)
}

// DifferenceOf is Difference with another limit for the lines.
func DifferenceOf(then, now string, most int) (lines []string, more int) {
	if max(len(then), len(now)) > longestDiff || !utf8.ValidString(then) || !utf8.ValidString(now) {
		return nil, 0
	}
	for line := range strings.Lines(udiff.Unified("asked", "now", then, now)) {
		lines = append(lines, strings.TrimRight(line, "\n"))
	}
	lines = lines[min(2, len(lines)):] // without the header that names the versions
	if n := len(lines); n > most {
		return lines[:most], n - most
	}
	return lines, 0
}
