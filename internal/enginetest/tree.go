package enginetest

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"placet/engine"
	"placet/layout"
)

// Tree is the content of a workspace, by path.
type Tree map[string]string

// Clone returns a copy.
func (t Tree) Clone() Tree { return maps.Clone(t) }

// Paths returns the paths, sorted.
func (t Tree) Paths() []string { return slices.Sorted(maps.Keys(t)) }

// Find returns the first path that a pattern of path.Match matches, "" if none does.
func (t Tree) Find(pattern string) string {
	for _, p := range t.Paths() {
		if ok, _ := path.Match(pattern, p); ok {
			return p
		}
	}
	return ""
}

// Replace replaces text in the file that a pattern finds. It panics if there is
// nothing to replace, because the scenario then differs from its description.
func (t Tree) Replace(pattern string, oldnew ...string) {
	p := t.Find(pattern)
	for i := 0; i < len(oldnew); i += 2 {
		if !strings.Contains(t[p], oldnew[i]) {
			panic(fmt.Sprintf("cannot tell the story: %q (%s) does not hold %q", pattern, p, oldnew[i]))
		}
	}
	t[p] = strings.NewReplacer(oldnew...).Replace(t[p])
}

var (
	timeText   = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`)
	digestText = regexp.MustCompile(`\b[0-9a-f]{64}\b`)
	viewName   = regexp.MustCompile(`\bform-[0-9a-f]{8}\.md\b`)
	markText   = regexp.MustCompile(`(<!-- placet (?:answer|comment|(?:text|end) \d+) )[0-9a-f]{8}\b`)
	madeOfText = regexp.MustCompile(`(<!-- placet faber \S+ r\d+ c)[0-9a-f]{12}\b`)
	lockName   = regexp.MustCompile(`(^|/)[^/]*\.lock$`)
)

// Normal returns the tree without what may differ between two executions
// of one scenario:
//
//   - Times. Every RFC 3339 time becomes <time>: an execution that waits longer
//     writes later times.
//   - Digests of content that contains times. A digest of a file in the tree
//     becomes the name of that file; any other, the 8 digits in the name and in
//     the marks of a form, and the 12 digits of FABER's context.md become <digest>.
//   - placet's scratch below .placet/ and its temporary files. What a crash
//     left of them is no document.
//   - Lock files, which are empty.
//
// Everything else is compared byte for byte.
func (t Tree) Normal() Tree { return t.normal(nil) }

// normal does the same as Normal, without the files that another tree
// contains byte for byte.
func (t Tree) normal(other Tree) Tree {
	files := map[string]string{}
	for _, p := range t.Paths() {
		if layout.IsTemp(path.Base(p)) {
			continue
		}
		files[engine.Sum([]byte(t[p])).Hex()] = p
	}
	normal := Tree{}
	for p, content := range t {
		if same, there := other[p]; there && same == content {
			continue
		}
		if layout.Under(p, ".placet") || layout.IsTemp(path.Base(p)) || content == "" && lockName.MatchString(p) {
			continue
		}
		content = digestText.ReplaceAllStringFunc(content, func(hex string) string {
			if p, ok := files[hex]; ok {
				return "<digest of " + viewName.ReplaceAllString(p, "form-<digest>.md") + ">"
			}
			return "<digest>"
		})
		content = timeText.ReplaceAllString(content, "<time>")
		content = viewName.ReplaceAllString(content, "form-<digest>.md")
		content = markText.ReplaceAllString(content, "$1<digest>")
		content = madeOfText.ReplaceAllString(content, "$1<digest>")
		normal[viewName.ReplaceAllString(p, "form-<digest>.md")] = content
	}
	return normal
}

// difference returns how two trees differ, apart from times and durations; ""
// if they do not.
func (s Suite) difference(want, got Tree) string {
	if s.Lengths != nil {
		want, got = s.Lengths(want.Clone()), s.Lengths(got.Clone())
	}
	a, b := want.normal(got), got.normal(want)
	if maps.Equal(a, b) {
		return ""
	}
	return cmp.Diff(a, b)
}
