package badinput

import "unicode"

// Unseen reports whether a character must not be in a text for people: it moves
// the cursor, hides a word or reverses a sentence.
func Unseen(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r))
}
