package templates

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Reveal returns a person's text in which every character that cannot be seen, and that no
// word or picture needs, appears as its number, \u{200b}. [Clean] also shows those that
// are needed.
func Reveal(s string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	runes := []rune(s)
	for i, r := range runes {
		if needless(runes, i) {
			fmt.Fprintf(&b, `\u{%x}`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// HidesWords reports whether a text holds a character that cannot be seen and that no word
// or picture needs. Such characters can spell words that nobody sees.
func HidesWords(s string) bool {
	if plain(s) {
		return false
	}
	runes := []rune(s)
	for i := range runes {
		if needless(runes, i) {
			return true
		}
	}
	return false
}

// needless reports whether the character at an index cannot be seen and is not needed to
// spell a word or a picture.
func needless(runes []rune, i int) bool {
	before, r := ' ', runes[i]
	if i > 0 {
		before = runes[i-1]
	}
	switch {
	case r == '\n' || r == '\t' || !unseen(before, r):
		return false
	case r == zeroWidthJoiner && isPicture(before) && i+1 < len(runes) && isPicture(runes[i+1]):
		return false
	case r == zeroWidthJoiner || r == zeroWidthNonJoiner:
		return !unicode.In(before, joining...)
	case r == zeroWidthSpace:
		return !unicode.In(before, unspaced...)
	}
	return !inFlag(runes, i)
}

// Characters without width that words and pictures are spelled with.
const (
	zeroWidthSpace     = '\u200b'
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
)

// joining are the scripts in which a joiner decides how the letters of a word are written.
var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Nko, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati,
	unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar, unicode.Tibetan,
}

// unspaced are the scripts that separate words without a blank.
var unspaced = []*unicode.RangeTable{unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}

// isPicture reports whether a character is a picture, or ends one.
func isPicture(r rune) bool {
	return r > unicode.MaxLatin1 && (unicode.In(r, unicode.So, unicode.Sm, unicode.Sk) || unicode.Is(unicode.Variation_Selector, r))
}

// flags are the pictures of flags that are spelled with tag characters.
var flags = func() (all [][]rune) {
	for _, region := range []string{"gbeng", "gbsct", "gbwls"} {
		flag := []rune{'\U0001f3f4'}
		for _, c := range region {
			flag = append(flag, 0xe0000+c)
		}
		all = append(all, append(flag, 0xe007f))
	}
	return all
}()

// inFlag reports whether the character at an index is a part of a flag.
func inFlag(runes []rune, i int) bool {
	return slices.ContainsFunc(flags, func(flag []rune) bool {
		at := i - slices.Index(flag, runes[i])
		return slices.Contains(flag[1:], runes[i]) && at >= 0 && at+len(flag) <= len(runes) && slices.Equal(runes[at:at+len(flag)], flag)
	})
}
