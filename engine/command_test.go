package engine_test

import (
	"testing"

	"placet/engine"
)

func TestCommandsThatDifferHaveDigestsThatDiffer(t *testing.T) {
	seen := map[engine.Digest]string{"": "no digest"}
	for name, digest := range map[string]engine.Digest{
		"one word":             engine.CommandDigest("p", "a b c"),
		"two words":            engine.CommandDigest("p", "a b", "c"),
		"two others":           engine.CommandDigest("p", "a", "b c"),
		"three":                engine.CommandDigest("p", "a", "b", "c"),
		"NUL inside":           engine.CommandDigest("p", "a\x00b", "c"),
		"NUL elsewhere":        engine.CommandDigest("p", "a", "b\x00c"),
		"line feed":            engine.CommandDigest("p", "a\nb"),
		"two lines":            engine.CommandDigest("p", "a", "\nb"),
		"JSON inside":          engine.CommandDigest("p", `a","b`),
		"an empty word":        engine.CommandDigest("p", "a", ""),
		"its absence":          engine.CommandDigest("p", "a"),
		"another purpose":      engine.CommandDigest("q", "a"),
		"purpose with a word":  engine.CommandDigest(`p","a`, "b"),
		"words as one part":    engine.CommandDigest("p", []string{"a", "b"}),
		"the words themselves": engine.CommandDigest("p", "a", "b"),
	} {
		if other, taken := seen[digest]; taken {
			t.Errorf("%s has the digest of %s: %q", name, other, digest)
		}
		seen[digest] = name
	}
	if a, b := engine.CommandDigest("p", "a", "b"), engine.CommandDigest("p", []any{"a", "b"}...); a != b {
		t.Errorf("the same words: %s and %s", a, b)
	}
}

// A digest must not depend on how a text that is not UTF-8 is repaired.
func TestWhatIsNoTextHasNoDigest(t *testing.T) {
	if d := engine.CommandDigest("p", "a\xff"); d != "" {
		t.Errorf("%q", d)
	}
}
