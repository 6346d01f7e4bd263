package schemas

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Stray is a member that is kept and that nobody reads: no field of a struct is
// called so.
type Stray struct {
	// Pointer is its place in the document, as a JSON pointer.
	Pointer string
	Name    string
	// Meant is the name that it was probably meant to have, "" if none is near.
	Meant string
}

// Strays returns those members of an object for which a struct has no field, in
// their order. at is the object's place in its document, as a JSON pointer; into is
// a pointer to the struct, and more are further names that are read. A name that
// begins with a dollar sign, such as $schema, says something of the document, one with
// x- is the writer's own, and neither is a stray.
func Strays(at string, o Object, into any, more ...string) []Stray {
	names := append(fieldNames(into), more...)
	absent := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return o.Get(name) != nil })
	var list []Stray
	for _, m := range o {
		if slices.Contains(names, m.Name) || strings.HasPrefix(m.Name, "$") || strings.HasPrefix(m.Name, "x-") {
			continue
		}
		list = append(list, Stray{string(jsontext.Pointer(at).AppendToken(m.Name)), m.Name, Nearest(m.Name, absent)})
	}
	return list
}

// Nearest is the nearest of some names, "" if none is near: two names are near that
// differ in case, in dashes, or by at most two letters and no more than half of the
// first.
func Nearest(name string, names []string) string {
	best, least := "", 0
	for _, other := range names {
		if d, is := apart(name, other); is && (best == "" || d < least) {
			best, least = other, d
		}
	}
	return best
}

// apart is by how many letters two names differ; is is false if they are not near.
func apart(a, b string) (n int, is bool) {
	if len(a) > len(b)+2 || len(b) > len(a)+2 {
		return 0, false
	}
	fold := func(s string) string { return strings.ReplaceAll(strings.ToLower(s), "-", "_") }
	a, b = fold(a), fold(b)
	n = distance(a, b)
	return n, n <= min(2, len(a)/2)
}

// distance counts the letters to insert, remove or change between two names.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
