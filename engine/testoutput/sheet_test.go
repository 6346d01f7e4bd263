package testoutput

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// byName names every rule.
var byName = map[string]*rule{
	"W": ruleW, "E0": ruleE0, "E2": ruleE2, "E3": ruleE3, "E4": ruleE4, "E5": ruleE5, "D1": ruleD1, "D2": ruleD2, "N1": ruleN1, "N2": ruleN2,
	"E6": ruleE6, "E7": ruleE7, "E8": ruleE8, "T2": ruleT2, "R": ruleR, "counted": ruleFailedCount, "N3 zero": ruleN3Zero, "N3 empty": ruleN3Empty,
	"Y": ruleY, "L": ruleL, "N3": ruleN3, "P": ruleP, "F": ruleF, "near": ruleNear, "any": ruleAny,
}

// naive returns the result of a search of the whole text: the line in which
// each match ends, and what it captures.
func naive(text string, r *rule) []string {
	var found []string
	for _, loc := range r.re().FindAllStringSubmatchIndex(text, -1) {
		if r.counts(text, loc) {
			found = append(found, fact(text, loc))
		}
	}
	return found
}

func fact(text string, loc []int) string {
	return fmt.Sprintf("line at %d: %q", lineStart(text, loc[1]-1), captured(text, loc))
}

func quick(text string, r *rule) []string {
	var found []string
	for loc := range newSheet(text).matches(r) {
		found = append(found, fact(text, loc))
	}
	return found
}

// matching draws texts that the alternatives of the rules match.
func matching() *rapid.Generator[string] {
	var gens []*rapid.Generator[string]
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		gens = append(gens, rapid.StringMatching(byName[name].re().String()))
	}
	return rapid.OneOf(gens...)
}

// pieces are texts between matches, some of which a match may extend over.
var pieces = rapid.SampledFrom([]string{
	"\n", "\n", "\n", "\n\n", " ", "\t", "\n \t\n", "\r", "\f", "FAIL", "FAIL\n", "  FAIL  ", "E", "E ", "\nE\n", "[ERROR]", "\n[ERROR]\n", "assert x", " > ", "a > b",
	"'", "\"", "Cannot find module 'x", "No module named '", "FAILED", "ERROR ", "a::b", "12) x", "1", "7", ".", ",", "ok", "ok\n", "\nok\t", "x.go:1:2: ", "sh: ", "K", "ſ",
	"no ſuch hoſt", "not oK", "NETWORK is unreachable", "3 passed", "2 failed", "contract", "contracts/", "a_contract.go", "TypeError", "\u00a0", "é", "\xff", "\x1b", "●",
})

func texts() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		parts := rapid.SliceOfN(rapid.OneOf(pieces, pieces, pieces, matching()), 0, 14).Draw(t, "parts")
		return strings.Join(parts, "")
	})
}

// TestStemsChangeNothing compares the search of lines that hold stems with that
// of the whole text.
func TestStemsChangeNothing(t *testing.T) {
	gen := texts()
	rapid.Check(t, func(t *rapid.T) {
		text := gen.Draw(t, "text")
		for name, r := range byName {
			if diff := cmp.Diff(naive(text, r), quick(text, r)); diff != "" {
				t.Fatalf("rule %s in %q (-naive +quick):\n%s", name, text, diff)
			}
		}
	})
}

// TestEveryRuleFindsItsStems draws from the expression alone, so that each
// alternative comes up often.
func TestEveryRuleFindsItsStems(t *testing.T) {
	for name, r := range byName {
		t.Run(name, func(t *testing.T) {
			gen := rapid.StringMatching(r.re().String())
			rapid.Check(t, func(t *rapid.T) {
				text := gen.Draw(t, "text")
				if diff := cmp.Diff(naive(text, r), quick(text, r)); diff != "" {
					t.Fatalf("in %q (-naive +quick):\n%s", text, diff)
				}
			})
		})
	}
}

// TestMatchesRunOverLines has what a rule may run over, one case a way.
func TestMatchesRunOverLines(t *testing.T) {
	tests := []struct {
		name, text string
		rule       *rule
	}{
		{"blank lines before", "x\n \n\t\n--- FAIL: TestA", ruleF},
		{"a blank line makes the indentation", "x\n\n1) refuses", ruleF},
		{"blank lines alone make no indentation here", "x\n1) refuses", ruleF},
		{"E and its assertion", "E\n\n  assert a == b", ruleL},
		{"FAIL and its test", "FAIL\n\n\na > b\n", ruleF},
		{"FAIL, blank lines and another FAIL", "FAIL\n\nFAIL\n\nFAIL a > b", ruleF},
		{"FAIL after FAIL", strings.Repeat("FAIL\n", 50), ruleL},
		{"[ERROR] and its test", "[ERROR]\n  CouponTest.refuses:12", ruleF},
		{"a name in two lines", "Cannot find module 'a\nb\nc' here\nCannot find module 'd'", ruleE4},
		{"a name without an end", "Cannot find module 'a\nb\nCannot find module \"c", ruleE4},
		{"a name that ends in the next match", "Cannot find module 'a\nCannot find module 'b' 'c'", ruleE4},
		{"ok at the line's end", "ok\n", ruleP},
		{"ok at the text's end", "ok", ruleP},
		{"a contract's file at the line's start", "x\ncontract.md\n", ruleD1},
		{"the first line", "FAILED a::b", ruleF},
		{"Kelvin", "NETWOR\u212a IS UNREACHABLE", ruleE5},
		{"long s", "no \u017fuch ho\u017ft", ruleE5},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(naive(test.text, test.rule), quick(test.text, test.rule)); diff != "" {
				t.Errorf("(-naive +quick):\n%s", diff)
			}
		})
	}
}

// TestOccurrencesAreAll compares with a search at every place.
func TestOccurrencesAreAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, want := rapid.StringMatching(`[ab\n]{0,60}`).Draw(t, "text"), rapid.StringMatching(`[ab\n]{1,7}`).Draw(t, "want")
		var naive []int
		for i := range text {
			if strings.HasPrefix(text[i:], want) {
				naive = append(naive, i)
			}
		}
		if diff := cmp.Diff(naive, slices.Collect(occurrences(text, want))); diff != "" {
			t.Fatalf("%q in %q (-want +got):\n%s", want, text, diff)
		}
	})
}
