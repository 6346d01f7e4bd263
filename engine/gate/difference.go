package gate

import (
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"
)

// longestDiff is the largest text that is compared, in bytes, and shownDiff how many lines
// of what changed are shown.
const (
	longestDiff = 256 << 10
	shownDiff   = 400
)

// Difference is what changed between two versions of a text: lines of a unified diff, and
// how many more there are. There are none where one is too large to be compared, or no text.
func Difference(then, now string) (lines []string, more int) {
	if max(len(then), len(now)) > longestDiff || !utf8.ValidString(then) || !utf8.ValidString(now) {
		return nil, 0
	}
	for line := range strings.Lines(udiff.Unified("asked", "now", then, now)) {
		lines = append(lines, strings.TrimRight(line, "\n"))
	}
	lines = lines[min(2, len(lines)):] // the names of the two
	if n := len(lines); n > shownDiff {
		return lines[:shownDiff], n - shownDiff
	}
	return lines, 0
}
