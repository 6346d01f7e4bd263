package schemas

import (
	"bytes"
	"fmt"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestFoldAgreesWithEqualFoldOnEveryCharacter(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		a := []byte(string(r))
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			if b := []byte(string(next)); !bytes.Equal(fold(a), fold(b)) {
				t.Fatalf("%q and %q differ in case alone, but fold to %q and %q", a, b, fold(a), fold(b))
			}
		}
		if !bytes.EqualFold(a, fold(a)) {
			t.Fatalf("%q folds to %q", a, fold(a))
		}
	}
}

// clashPairwise is the model of clash.
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

// TestClashFindsWhatComparingAllPairsFinds compares clash with its model.
func TestClashFindsWhatComparingAllPairsFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[a-cA-CkKſsS\x{212a}]{0,3}`)
		texts := rapid.SliceOfN(name, 0, 30).Draw(t, "names")
		names := make([][]byte, len(texts))
		for i, text := range texts {
			names[i] = []byte(text)
		}
		i, earlier := clash(names)
		j, first := clashPairwise(names)
		if i != j || !bytes.Equal(earlier, first) {
			t.Fatalf("%q: clash at %d with %q, pairwise at %d with %q", texts, i, earlier, j, first)
		}
	})
}

func TestManyDifferentNamesDoNotClash(t *testing.T) {
	var names [][]byte
	for i := range 1000 {
		names = append(names, fmt.Appendf(nil, "name-%d", i))
	}
	if i, _ := clash(names); i >= 0 {
		t.Errorf("%q clashes", names[i])
	}
	if i, earlier := clash(append(names, []byte("NAME-500"))); i != 1000 || string(earlier) != "name-500" {
		t.Errorf("clash at %d with %q", i, earlier)
	}
}
