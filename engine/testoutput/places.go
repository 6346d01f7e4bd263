package testoutput

import (
	"strconv"
	"strings"

	"placet/internal/lazyregexp"
)

// Place is a line of a source file that an output names.
type Place struct {
	File string // as the output names it
	Line int
}

// maxPlaces bounds how many places are kept.
const maxPlaces = 20

// lineAfter matches the number of a line after the name of a file: ":12", "(12,3)", and Python's
// ", line 12".
var lineAfter = lazyregexp.New(`^(?::\[?|\(|\[|"?, line )(\d{1,6})\b`)

// Places returns the places that an output names, each once, in their order, at most 20.
func Places(text string) (places []Place) {
	seen := unique{max: maxPlaces}
	for line := range strings.Lines(Clean(text)) {
		for _, at := range sourceFile.FindAllStringSubmatchIndex(line, -1) {
			if scheme := line[max(at[2], 0):max(at[3], 0)]; scheme != "" && scheme != "file://" || seen.full() {
				continue
			}
			file := strings.TrimPrefix(line[at[4]:at[5]], "./")
			m := lineAfter.FindStringSubmatch(line[at[1]:])
			if m == nil {
				continue
			}
			if n, err := strconv.Atoi(m[1]); err == nil && n > 0 && seen.add(file+":"+m[1]) {
				places = append(places, Place{file, n})
			}
		}
	}
	return places
}
