package testoutput_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"placet/engine/testoutput"
)

// decider is a text, or a fact, that makes a rule apply.
type decider struct {
	rule, text string
	exit       int
	timedOut   bool
}

// deciders has one for every rule, in the order of the rules.
var deciders = []decider{
	{"W", "AFL_FAILURE_TYPE: LOGIC_ERROR", 1, false},
	{"T", "", 1, true},
	{"E0", "bash: line 1: ./testoutput.sh: No such file or directory", 1, false},
	{"E1", "", 127, false},
	{"E2", "make: pytest: No such file or directory", 1, false},
	{"E3", "no space left on device", 1, false},
	{"E4", "Error: Cannot find module 'big.js'", 1, false},
	{"E5", "connect ECONNREFUSED 127.0.0.1:1", 1, false},
	{"D", "contracts/a_test.go:1: too many arguments in call to f", 1, false},
	{"N1", "panic: not implemented", 1, false},
	{"N2", "apply is not a function", 1, false},
	{"Y", "a.go:1:2: mismatched types", 1, false},
	{"L", "2 failed", 1, false},
	{"N3", "no test files", 1, false},
	{"Z", "", 0, false},
	{"U", "", 1, false},
}

// TestTheFirstRuleWins puts every two deciders together, the later rule's text
// first.
func TestTheFirstRuleWins(t *testing.T) {
	for i, first := range deciders {
		for _, second := range deciders[i:] {
			t.Run(first.rule+" before "+second.rule, func(t *testing.T) {
				exit := first.exit
				if exit == 1 {
					exit = second.exit
				}
				got := testoutput.Classify(testoutput.Input{
					Text: second.text + "\n\n\n\n\n\n\n\n" + first.text, Exit: &exit, TimedOut: first.timedOut || second.timedOut,
				})
				if got.Rule != first.rule || got.Type != typeOf[first.rule] {
					t.Errorf("%s by %s, want %s by %s", got.Type, got.Rule, typeOf[first.rule], first.rule)
				}
			})
		}
	}
}

func TestClassifyByFacts(t *testing.T) {
	code := func(n int) *int { return &n }
	tests := []struct {
		name string
		in   testoutput.Input
		typ  testoutput.Type
		rule string
	}{
		{"exit 126", testoutput.Input{Exit: code(126)}, testoutput.EnvIssue, "E1"},
		{"exit 127", testoutput.Input{Exit: code(127)}, testoutput.EnvIssue, "E1"},
		{"exit 137", testoutput.Input{Exit: code(137)}, testoutput.EnvIssue, "E1"},
		{"exit 128", testoutput.Input{Exit: code(128)}, testoutput.Unknown, "U"},
		{"exit 5", testoutput.Input{Exit: code(5)}, testoutput.NotImplemented, "N3"},
		{"exit 0", testoutput.Input{Exit: code(0)}, testoutput.LogicError, "Z"},
		{"exit 3", testoutput.Input{Exit: code(3)}, testoutput.Unknown, "U"},
		{"exit not known", testoutput.Input{}, testoutput.Unknown, "U"},
		{"timed out", testoutput.Input{TimedOut: true}, testoutput.Timeout, "T"},
		{"timed out with exit 137", testoutput.Input{TimedOut: true, Exit: code(137)}, testoutput.Timeout, "T"},
		{"not found, with exit 127", testoutput.Input{Text: "sh: 1: ./testoutput.sh: not found", Exit: code(127)}, testoutput.NotImplemented, "E0"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := testoutput.Classify(test.in)
			if got.Type != test.typ || got.Rule != test.rule {
				t.Errorf("%s by %s, want %s by %s", got.Type, got.Rule, test.typ, test.rule)
			}
			checkFinding(t, test.in, got)
		})
	}
}

func TestOwnWord(t *testing.T) {
	tests := []struct {
		name, text string
		typ        testoutput.Type
		rule       string
	}{
		{"the last", "AFL_FAILURE_TYPE: TYPE_ERROR\nAFL_FAILURE_TYPE: DESIGN_MISMATCH", testoutput.DesignMismatch, "W"},
		{"the last that is known", "AFL_FAILURE_TYPE: TYPE_ERROR\nAFL_FAILURE_TYPE: BAD_LUCK", testoutput.TypeError, "W"},
		{"none that is known", "AFL_FAILURE_TYPE: BAD_LUCK\nno test files", testoutput.NotImplemented, "N3"},
		{"after many", strings.Repeat("AFL_FAILURE_TYPE: TYPE_ERROR\n", 50) + "AFL_FAILURE_TYPE: TIMEOUT\n", testoutput.Timeout, "W"},
		{"UNKNOWN is a word, too", "AFL_FAILURE_TYPE: UNKNOWN\nno test files", testoutput.Unknown, "W"},
		{"coloured, with CRLF", "\x1b[31mAFL_FAILURE_TYPE: TIMEOUT\x1b[0m\r\n", testoutput.Timeout, "W"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := testoutput.Classify(testoutput.Input{Text: test.text})
			if got.Type != test.typ || got.Rule != test.rule {
				t.Errorf("%s by %s, want %s by %s", got.Type, got.Rule, test.typ, test.rule)
			}
		})
	}
	for _, word := range []string{"NOT_IMPLEMENTED", "LOGIC_ERROR", "TYPE_ERROR", "DESIGN_MISMATCH", "ENV_ISSUE", "TIMEOUT", "UNKNOWN"} {
		if got, ok := testoutput.Known(word); string(got) != word || !ok {
			t.Errorf("Known(%s) = %q, %v", word, got, ok)
		}
	}
	for _, word := range []string{"", "timeout", "PASS", " TIMEOUT"} {
		if got, ok := testoutput.Known(word); got != "" || ok {
			t.Errorf("Known(%q) = %q, %v", word, got, ok)
		}
	}
}

func TestModulesOfTheProjectsOwn(t *testing.T) {
	own := []string{"coupon-service", "Rabatt für Käufer", "net of tax"}
	missing := func(names ...string) string {
		var b strings.Builder
		for _, name := range names {
			fmt.Fprintf(&b, "E   ModuleNotFoundError: No module named '%s'\n", name)
		}
		return b.String()
	}
	tests := []struct {
		name, text string
		changed    []string
		typ        testoutput.Type
	}{
		{"a part of the id", missing("coupon_rules"), nil, testoutput.NotImplemented},
		{"in another case", missing("com.shop.COUPON"), nil, testoutput.NotImplemented},
		{"a part of a text, with letters outside ASCII", missing("käufer"), nil, testoutput.NotImplemented},
		{"another name", missing("stripe"), nil, testoutput.EnvIssue},
		{"a part of a part is none", missing("coupons"), nil, testoutput.EnvIssue},
		{"fewer than four characters say nothing", missing("net"), nil, testoutput.EnvIssue},
		{"internal", missing("example.com/x/internal/y"), nil, testoutput.NotImplemented},
		{"internal at the end is not enough", missing("example.com/x/internal"), nil, testoutput.EnvIssue},
		{"a changed file", missing("app.invoices"), []string{"src/invoices.py"}, testoutput.NotImplemented},
		{"a blank is no own name", missing(" "), nil, testoutput.EnvIssue},
		{"own and not own", missing("coupon", "stripe"), nil, testoutput.EnvIssue},
		{"all own", missing("coupon", "service"), nil, testoutput.NotImplemented},
		{"thirty own and then another", missing(append(numbered("coupon_%d", 1, 30), "stripe")...), nil, testoutput.EnvIssue},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := testoutput.Classify(testoutput.Input{Text: test.text, Own: own, Changed: test.changed})
			if got.Type != test.typ || got.Rule != "E4" {
				t.Errorf("%s by %s, want %s by E4", got.Type, got.Rule, test.typ)
			}
			if other := strings.Contains(test.text, "'stripe'"); other && !slices.Equal(got.Names, []string{"stripe"}) {
				t.Errorf("names %q, want the one that is not the project's own", got.Names)
			}
		})
	}
}

// TestNetworkWordsInALog checks the exception of E5: if some tests passed and
// some failed, network words are log text.
func TestNetworkWordsInALog(t *testing.T) {
	const refused = "level=warn msg=\"connection refused\"\n"
	for _, passed := range []string{"3 passed", "  4 passing (10ms)", "--- PASS: TestA (0.00s)", "    --- PASS: TestA/b", "ok  \tshop/order\t0.1s", "ok", "# pass 3", "12 PASSED"} {
		for _, test := range []struct{ name, text, want string }{
			{"both", refused + passed + "\n1 failed\n", "L"},
			{"passed alone", refused + passed + "\n", "E5"},
			{"failed alone", refused + "1 failed\n", "E5"},
		} {
			if got := testoutput.Classify(testoutput.Input{Text: test.text}); got.Rule != test.want {
				t.Errorf("%s with %q: rule %s, want %s", test.name, passed, got.Rule, test.want)
			}
		}
	}
	for _, none := range []string{"0 passed", "okay", "x ok", "# pass 0", "passed"} {
		if got := testoutput.Classify(testoutput.Input{Text: refused + none + "\n1 failed\n"}); got.Rule != "E5" {
			t.Errorf("%q counts as passed: rule %s, want E5", none, got.Rule)
		}
	}
}

func TestContractNearASignature(t *testing.T) {
	const file, signature = "see contracts/coupon.md", "apply() got an unexpected keyword argument 'day'"
	gap := func(n int) string { return strings.Repeat("\n", n) }
	tests := []struct {
		name, text string
		keys       []string // nil: not D
	}{
		{"six lines after", file + gap(6) + signature, []string{file, signature}},
		{"seven lines after", file + gap(7) + signature, nil},
		{"six lines before", signature + gap(6) + file, []string{signature, file}},
		{"seven lines before", signature + gap(7) + file, nil},
		{"in the line", file + ": " + signature, []string{file + ": " + signature}},
		{"the file alone", file, nil},
		{"the signature alone", signature, nil},
		{"another file is too far", file + " 1" + gap(9) + file + " 2" + gap(2) + signature + gap(9) + signature + "x", []string{file + " 2", signature}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := testoutput.Classify(testoutput.Input{Text: test.text + "\n"})
			if is := got.Rule == "D"; is != (test.keys != nil) {
				t.Fatalf("rule %s, want D: %v", got.Rule, test.keys != nil)
			}
			if diff := cmp.Diff(test.keys, got.KeyLines); test.keys != nil && diff != "" {
				t.Errorf("key lines (-want +got):\n%s", diff)
			}
		})
	}
}

// TestContractsFilesAndSignatures has every alternative of D1 and of D2.
func TestContractsFilesAndSignatures(t *testing.T) {
	for _, file := range []string{
		"contracts/coupon.md", "contract/coupon.md", " at contracts/a.ts:3", `"contracts/a"`, "'contracts/a'", "(contracts/a)", "/w/contracts/a",
		"contract.md", "contract_test.go:3", "contract-v2.json", "coupon.contract.ts", "coupon_contract.py", "coupon-contract.yaml", "CONTRACTS/A",
	} {
		for _, signature := range []string{
			"too many arguments in call to f", "x takes 2 positional arguments but 3 were given",
		} {
			if got := testoutput.Classify(testoutput.Input{Text: file + "\n" + signature}); got.Rule != "D" {
				t.Errorf("%q with %q: rule %s, want D", file, signature, got.Rule)
			}
		}
	}
	for _, signature := range []string{
		"(wrong type for method Apply)", "not enough arguments in call to f", "too many arguments in call to f", "f() takes 2 positional arguments but 3 were given",
		"f() takes from 1 to 2 positional arguments but 3 were given", "f() takes 1 positional argument but 2 were given",
		"f() got an unexpected keyword argument 'day'", "f() missing 1 required positional argument: 'day'", "f() missing 2 required keyword-only arguments",
		"TS2345: x", "TS2416: x", "TS2554: x", "TS2555: x", "[E0050] x", "[E0053] x", "[E0061] x", "cannot be applied to given types",
		"the order Does Not Match the contract", "does not match contract", "does not satisfy the contract", "does not conform to the contract",
	} {
		if got := testoutput.Classify(testoutput.Input{Text: "contracts/a.md\n" + signature}); got.Rule != "D" {
			t.Errorf("%q: rule %s, want D", signature, got.Rule)
		}
	}
	for _, text := range []string{"mycontracts/a", "subcontract.md", "contractor/a", "contracts", "coupon.contracts"} {
		if got := testoutput.Classify(testoutput.Input{Text: text + "\ntoo many arguments in call to f"}); got.Rule == "D" {
			t.Errorf("%q counts as a contract's file", text)
		}
	}
	for _, text := range []string{"takes 2 arguments but 3 were given", "TS23450", "E00500", "does not match the pattern"} {
		if got := testoutput.Classify(testoutput.Input{Text: "contracts/a.md\n" + text}); got.Rule == "D" {
			t.Errorf("%q counts as a wrong signature", text)
		}
	}
}

// TestEveryRuleSurvivesAnyBytes puts invalid UTF-8 and escape sequences around.
func TestEveryRuleSurvivesAnyBytes(t *testing.T) {
	for _, d := range deciders {
		exit := d.exit
		in := testoutput.Input{
			Text: "\xff\xfe\x00\x1b[\n\x1b[1;31m" + d.text + "\x1b[0m\r\n\x1b]8;;file:///x\x07\xc3\x1b]8;;\x1b\\\n\x1b]never ended", Exit: &exit, TimedOut: d.timedOut,
		}
		got := testoutput.Classify(in)
		if got.Rule != d.rule {
			t.Errorf("rule %s, want %s", got.Rule, d.rule)
		}
		checkFinding(t, in, got)
	}
}
