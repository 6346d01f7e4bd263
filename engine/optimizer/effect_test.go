package optimizer

import (
	"strings"
	"testing"

	"placet/engine/gate"
)

// Every option says what it does, in both languages: for a level, the one that the
// goal takes with it.
func TestEveryOptionHasAnEffect(t *testing.T) {
	for _, lang := range []string{"en", "ko"} {
		for _, option := range []string{optContinue, optStop, optRetry, optDemote} {
			if words := phrase(lang, "effect."+option); words == "" || strings.Contains(words, "effect.") {
				t.Errorf("%s: %s has no effect: %q", lang, option, words)
			}
		}
	}
	if words := phrase("en", "effect."+optStop); !gate.Refuses(optStop) || words != "ends this cycle for good" {
		t.Errorf("stop is shown as %q", words)
	}
	st := asked("en")
	for cur, want := range map[int]string{10: "10 20 10", 20: "20 30 10", 30: "30 30 20"} {
		st.Level.Current = cur
		var got []string
		for _, o := range st.levelOptions() {
			got = append(got, strings.TrimPrefix(o.Effect, "goes on at level "))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("at level %d: %q, want %q", cur, got, want)
		}
	}
}
