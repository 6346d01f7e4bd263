package schemas

import (
	"bytes"
	"unicode"
)

// pairwise is the number of names up to which comparing each with each is
// cheaper than a map.
const pairwise = 12

// clash returns the first name that repeats an earlier one, in its letters or
// in all but their case, with that earlier name. i is -1 where all differ.
func clash(names [][]byte) (i int, earlier []byte) {
	if len(names) <= pairwise {
		return clashPairwise(names)
	}
	seen := make(map[string]int, len(names))
	for i, name := range names {
		folded := fold(name)
		if earlier, ok := seen[string(folded)]; ok {
			return i, names[earlier]
		}
		seen[string(folded)] = i
	}
	return -1, nil
}

func clashPairwise(names [][]byte) (int, []byte) {
	for i, name := range names {
		for _, earlier := range names[:i] {
			if bytes.EqualFold(name, earlier) {
				return i, earlier
			}
		}
	}
	return -1, nil
}

// fold returns the same text for all names that bytes.EqualFold takes as
// equal: each letter becomes the least of those that differ from it in case.
func fold(name []byte) []byte {
	return bytes.Map(func(r rune) rune {
		for {
			next := unicode.SimpleFold(r)
			if next <= r {
				return next
			}
			r = next
		}
	}, name)
}
