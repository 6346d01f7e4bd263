package testoutput

import (
	"slices"
	"strings"
	"sync"

	"placet/internal/lazyregexp"
)

// form is one way in which tools say the same thing. The table in docs/families/afl.md has a row
// for each id.
type form struct {
	id   string
	expr string
	// stems are pieces of text, in the form that [fold] writes. Every match
	// contains at least one of them.
	stems []string
}

func says(id, expr string, stems ...string) form { return form{id, expr, stems} }

// rule is an expression that is searched for anywhere in a text, with hints
// that make the search fast.
type rule struct {
	// re and stems are made of the forms when they are first used.
	re    func() *lazyregexp.Regexp
	stems func() []string
	forms []form
	// except, if it is set, matches the lines that do not count, although they
	// have the words.
	except *lazyregexp.Regexp
	// quoted says that a match may extend to the next ' across any text.
	// Otherwise a match extends to the next line only across white space.
	quoted bool
}

// newRule returns the rule of these forms. The flags are those of all their expressions.
func newRule(flags string, forms ...form) *rule {
	return &rule{
		forms: forms,
		re: sync.OnceValue(func() *lazyregexp.Regexp {
			var all []string
			for _, f := range forms {
				all = append(all, "(?:"+f.expr+")")
			}
			return lazyregexp.New(flags + strings.Join(all, "|"))
		}),
		stems: sync.OnceValue(func() (all []string) {
			all = slices.Clone(foreign)
			for _, f := range forms {
				all = append(all, f.stems...)
			}
			return all
		}),
	}
}

func (r *rule) withQuotes() *rule {
	r.quoted = true
	return r
}

func (r *rule) exceptIn(expr string) *rule {
	r.except = lazyregexp.New(expr)
	return r
}

// counts reports whether a match counts: whether the line in which it ends is not excepted.
func (r *rule) counts(text string, loc []int) bool {
	return r.except == nil || !r.except.MatchString(text[lineStart(text, loc[1]-1):lineEnd(text, loc[1]-1)])
}

// These rules say what ran, and which failures a runner names.
var (
	ruleW = newRule(`(?m)`,
		says("own-word", `^AFL_FAILURE_TYPE:[ \t]*([A-Z_]+)[ \t]*$`, "\nafl_failure_type:"))
	ruleD1 = newRule(`(?i)`,
		says("contract-file", `(?:^|[\s"'(/])(?:contracts?/|contract[._-]|[\w-]+[._-]contract\.)`,
			"contract/", "contracts/", "contract.", "contract_", "contract-"))
	ruleD2 = newRule(``,
		says("wrong-signature", `wrong type for method|(?:not enough|too many) arguments in call|takes (?:from )?\d+ .*positional arguments? but|got an unexpected keyword argument|missing \d+ required (?:positional|keyword-only) argument|\bTS2(?:345|416|554|555)\b|\bE0(?:050|053|061)\b|cannot be applied to given types|(?i)does not (?:match|satisfy|conform to) (?:the )?contract`,
			"wrong type for method", " arguments in call", "positional argument", "got an unexpected keyword argument", " required keyword-only argument",
			"ts0000", "e0000", "cannot be applied to given types", "does not match ", "does not satisfy ", "does not conform to "))
	ruleP = newRule(`(?im)`,
		says("passed", `\b[1-9]\d* (?:passed|passing)\b|^\s*--- PASS: |^ok\s|^# pass [1-9]`,
			"0 passed", "0 passing", "--- pass: ", "\nok ", "\nok\n", "\n# pass 0"))
	ruleF = newRule(`(?m)`,
		says("failing-test", `^(?:FAILED|ERROR) (\S+::\S+)|^\s*--- FAIL: (\S+)|^\s*● (.+)$|^\s*FAIL\s+(\S+ > .+)$|^---- (.+) stdout ----$|^not ok \d+ -? ?(.+)$|^\s+\d+\) (.+)$|^\[ERROR\]\s+([\w$.]+\.[\w$]+):\d+`,
			"\nfailed ", "\nerror ", "--- fail: ", "● ", " > ", " stdout ----", "\nnot ok 0", "0) ", "\n[error]"))
	// ruleR matches the reason that a runner gives for a failing test: a typed
	// error at the beginning of a line, an assertion, or a line of a Go test.
	ruleR = newRule(`(?m)`,
		says("reason", `^[ \t]*(?:E[ \t]+|→ |# )?(?:Uncaught |Caused by: )?(?:[\w$]+(?:\.|::|\\))*(?:[A-Z]\w*)?(?:Error|Exception)(?::| \[|$)|^E[ \t]+(?:assert\b|Failed: )|^[ \t]+(?:→ )?connect E[A-Z]+ |^[ \t]+error: '|panicked at|^[ \t]+\S+\.go:\d+: |expect\(received\)|\*\*\*(?:Failed|Exception)|Failed asserting that`,
			"error", "exception", "\ne assert", " assert", " failed: ", "connect e", "panicked at", ".go:0", "expect(received)", "***failed", "***exception", "failed asserting that")).
		exceptIn(`error: '\d+ subtests? failed'`)
	ruleFailedCount = newRule(`(?i)`,
		says("failed-count", `\b([1-9]\d*) (?:failed|failing|failures?|tests? failed)\b|\bFail(?:ed|ures): +([1-9]\d*)`, "0 fail", "0 test", "failed: ", "failures: "))
)

// ruleNear and ruleAny match the markers of a failure: near the expected text,
// and anywhere. A marker is a whole token of its runner.
var (
	ruleNear = newRule(`(?i)`,
		says("count-of-failures", `\b[1-9]\d* (?:failed|failing|failures?|errors?)\b|\b(?:failures|errors|failed): ?[1-9]|(?:failures|errors)=[1-9]`,
			"0 fail", "0 error", "failures:", "errors:", "failed:", "failures=", "errors=")).
		exceptIn(`(?i)\bexpected failures=[1-9]\d*\)|\bfailed as expected\b|\b[1-9]\d* expected failures?\b|\b[1-9]\d* failed (?:attempt|login|retr|tries)`)
	ruleAny = newRule(`(?m)`,
		says("mark-of-failure", `^--- FAIL: |^FAIL(?:ED)?(?:[\s:!(]|$)|^not ok \d+|test result: FAILED|^# fail [1-9]`,
			"\n--- fail: ", "\nfail", "\nnot ok 0", "test result: failed", "\n# fail 0")).
		exceptIn(`^FAIL(?:ED)?(?:[ \t]*[:=])?[ \t]+0\b|^not ok \d+[^#\n]*# ?(?i:todo|skip)`)
)
