package testoutput

import (
	"iter"
	"slices"
	"strings"

	"placet/internal/lazyregexp"
)

// These constants bound how much of an output is kept.
const (
	maxKeyLines = 20
	maxTests    = 10
	maxRelated  = 10
	maxNames    = 10
)

// keyLines returns the first maxKeyLines unique lines at the decisive positions
// or at those of failing tests. If there are none, it returns the last lines
// that are not blank.
func (s *sheet) keyLines(decisive, failing []int) []string {
	at := slices.Concat(decisive, failing)
	slices.Sort(at)
	lines := unique{max: maxKeyLines}
	for _, i := range at {
		lines.add(s.line(i))
	}
	if len(lines.list) == 0 {
		return s.lastLines()
	}
	return lines.list
}

// ends returns positions in the lines in which matches end: one for each
// distinct line, at most maxKeyLines.
func (s *sheet) ends(matches iter.Seq[[]int]) []int {
	var at []int
	lines := unique{max: maxKeyLines}
	for loc := range matches {
		if end := loc[1] - 1; lines.add(s.line(end)) {
			at = append(at, end)
		}
		if lines.full() {
			break
		}
	}
	return at
}

// line returns the line that holds the byte at i.
func (s *sheet) line(i int) string {
	return short(s.text[lineStart(s.text, i):lineEnd(s.text, i)])
}

func (s *sheet) lastLines() []string {
	var lines []string
	for rest, more := s.text, true; more && len(lines) < maxKeyLines; {
		var line string
		at := strings.LastIndexByte(rest, '\n')
		line, more = rest[at+1:], at >= 0
		rest = rest[:max(0, at)]
		if strings.TrimSpace(line) != "" {
			lines = append(lines, short(line))
		}
	}
	slices.Reverse(lines)
	return lines
}

// failing returns the names of failing tests, and positions in the lines that
// name them.
func (s *sheet) failing() (tests []string, at []int) {
	names := unique{max: maxTests}
	// Tests with equal names may be on different lines, so ends counts lines
	// and not names.
	at = s.ends(func(yield func([]int) bool) {
		for loc := range s.matches(ruleF) {
			names.add(short(strings.TrimSpace(captured(s.text, loc))))
			if !yield(loc) {
				return
			}
		}
	})
	return names.list, at
}

// captured returns the group that took part in a match.
func captured(text string, loc []int) string {
	for i := 2; i < len(loc); i += 2 {
		if loc[i] >= 0 {
			return text[loc[i]:loc[i+1]]
		}
	}
	return ""
}

// sourceFile matches a path that ends in the suffix of a source file. The first
// group is the scheme of a URL before it, if there is one.
var sourceFile = lazyregexp.New(`(\w+://)?((?:\b[A-Za-z]:)?[\p{L}\p{N}_./\\@+-]*[\p{L}\p{N}_]\.` +
	`(?:go|pyi?|[cm]?[jt]sx?|vue|svelte|java|kts?|scala|groovy|rs|rb|php|c|cc|cpp|cxx|h|hh|hpp|m|mm|cs|fs|swift|dart|exs?|erl|hs|ml|lua|sql|sh|bash|proto|graphql))\b`)

// related returns the source files that the key lines name, then the changed
// files.
func related(keyLines, changed []string) []string {
	files := unique{max: maxRelated}
	for _, line := range keyLines {
		for _, m := range sourceFile.FindAllStringSubmatch(line, -1) {
			if scheme := m[1]; scheme == "" || scheme == "file://" {
				files.add(strings.TrimPrefix(m[2], "./"))
			}
		}
	}
	for _, file := range changed {
		files.add(file)
	}
	return files.list
}

// unique is a list without equal or empty elements, of at most max.
type unique struct {
	list []string
	max  int
}

func (u *unique) full() bool { return len(u.list) >= u.max }

// add adds s unless it is empty, present or one too many, and reports whether
// it did.
func (u *unique) add(s string) bool {
	if s == "" || u.full() || slices.Contains(u.list, s) {
		return false
	}
	u.list = append(u.list, s)
	return true
}
