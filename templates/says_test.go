package templates

import "testing"

func TestAMessageKnowsItsWordsInEveryLanguage(t *testing.T) {
	m := NewMessage("faber.effect.retry", "name", "build:make")
	for _, lang := range append(Languages(), Pseudo) {
		if !m.Says(m.In(lang)) {
			t.Errorf("%s: %q is not recognized", lang, m.In(lang))
		}
	}
	for _, other := range []string{"", "repeats build:test", "repeats {name}"} {
		if m.Says(other) {
			t.Errorf("%q is taken for %q", other, m)
		}
	}
}
