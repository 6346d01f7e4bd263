package testoutput

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"slices"
	"strings"

	"placet/internal/lazyregexp"
)

var (
	// absolute matches an absolute path, and the character before it that
	// cannot be part of a path.
	absolute = lazyregexp.New(`(^|[\s"'` + "`" + `(\[{<>=:,|@])((?:[A-Za-z]:)?[/\\]+[^\s"'` + "`" + `()\[\]{}<>=:,;|]*[^\s"'` + "`" + `()\[\]{}<>=:,;|/\\][/\\]*)`)
	numbers  = lazyregexp.New(`0x[0-9a-f]+|[0-9]+`)
)

// Signature returns 16 hex digits that are equal for two failures of the same
// kind. It hashes the type and the key lines, regardless of their order,
// without the folders of absolute paths, numbers and the width of blanks.
func Signature(t Type, keyLines []string) string {
	lines := make([]string, len(keyLines))
	for i, line := range keyLines {
		lines[i] = essence(line)
	}
	slices.Sort(lines)
	lines = slices.Compact(lines) // unique lines may differ only by a number
	sum := sha256.Sum256([]byte(string(t) + "\n" + strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:])[:16]
}

// essence returns the part of a line that stays the same from run to run.
func essence(line string) string {
	line = absolute.ReplaceAllStringFunc(line, func(m string) string {
		loc := absolute.FindStringSubmatchIndex(m)
		return m[:loc[3]] + path.Base(strings.ReplaceAll(m[loc[4]:], `\`, "/"))
	})
	return strings.Join(strings.Fields(numbers.ReplaceAllString(line, "#")), " ")
}
