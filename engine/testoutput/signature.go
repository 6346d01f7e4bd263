package testoutput

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	// absolute matches an absolute path, and before it what no path holds.
	absolute = regexp.MustCompile(`(^|[\s"'` + "`" + `(\[{<>=:,|@])((?:[A-Za-z]:)?[/\\]+[^\s"'` + "`" + `()\[\]{}<>=:,;|]*[^\s"'` + "`" + `()\[\]{}<>=:,;|/\\][/\\]*)`)
	numbers  = regexp.MustCompile(`0x[0-9a-f]+|[0-9]+`)
)

// Signature returns 16 hex digits by which two failures of the same kind are
// known to be alike: of the type and of the key lines, whatever their order,
// without folders of absolute paths, numbers and the width of blanks.
func Signature(t Type, keyLines []string) string {
	lines := make([]string, len(keyLines))
	for i, line := range keyLines {
		lines[i] = essence(line)
	}
	slices.Sort(lines)
	lines = slices.Compact(lines) // unique lines may differ by a number alone
	sum := sha256.Sum256([]byte(string(t) + "\n" + strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:])[:16]
}

// essence returns what of a line stays the same from run to run.
func essence(line string) string {
	line = absolute.ReplaceAllStringFunc(line, func(m string) string {
		loc := absolute.FindStringSubmatchIndex(m)
		return m[:loc[3]] + path.Base(strings.ReplaceAll(m[loc[4]:], `\`, "/"))
	})
	return strings.Join(strings.Fields(numbers.ReplaceAllString(line, "#")), " ")
}
