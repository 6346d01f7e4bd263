package testoutput

import (
	"slices"
	"strconv"
)

// Input is what the classifier reads.
type Input struct {
	// Text is the unchanged output; see [Text]. The classifier applies [Clean]
	// and [Bare] to it.
	Text string
	// TimedOut says that the command was ended because it ran too long.
	TimedOut bool
	// Exit is the exit code, nil if it is unknown.
	Exit *int
	// Own are texts with the project's own words: id, name, description and
	// criteria of the checked work. The changed files always belong to them.
	Own []string
	// Changed are the changed files.
	Changed []string
}

// Finding is what the classifier found.
type Finding struct {
	Type Type
	// Rule is the name of the rule that applied: W, T, E0 to E8, D, T2, N1, N2,
	// Y, L, N3, Z or U.
	Rule string
	// KeyLines are the lines in which the rule and the failing tests were
	// found, in the order of the text, at most 20; if there are none, the last
	// lines. A line over 2000 bytes is cut.
	KeyLines []string
	// FailingTests are the names of tests that failed, at most 10.
	FailingTests []string
	// RelatedFiles are the source files of the key lines, then the changed
	// files, at most 10.
	RelatedFiles []string
	// Names are the commands, modules and services that E0 to E8 found, at
	// most 10.
	Names []string
}

// decision is what a rule found. Each of its lines is given as a byte position
// in the line.
type decision struct {
	typ   Type
	rule  string
	lines []int
	names []string
}

// search is the search for the rule that applies to one output.
type search struct {
	*sheet
	in Input
}

// order is the order in which the rules are tried; the last always applies.
var order = []func(search) (decision, bool){
	search.ownWord, search.timeout, search.ownScript, search.exitCode, search.runner, search.machine, search.module, search.network,
	lacks("E6", ruleE6), lacks("E7", ruleE7), lacks("E8", ruleE8),
	search.contract, search.testLimit,
	plain("N1", NotImplemented, ruleN1), plain("N2", NotImplemented, ruleN2), plain("Y", TypeError, ruleY), search.emptySuite, search.wrong,
	search.nothingRan, search.rest,
}

// Classify returns the type of a failure. Equal inputs give equal findings.
func Classify(in Input) Finding {
	return search{newSheet(Bare(Clean(in.Text))), in}.finding()
}

func (s search) finding() Finding {
	d := s.decide()
	tests, failing := s.failing()
	f := Finding{Type: d.typ, Rule: d.rule, Names: d.names, FailingTests: tests}
	f.KeyLines = s.keyLines(d.lines, failing)
	f.RelatedFiles = related(f.KeyLines, s.in.Changed)
	return f
}

func (s search) decide() decision {
	for _, rule := range order {
		if d, ok := rule(s); ok {
			return d
		}
	}
	return decision{typ: Unknown, rule: "U"}
}

// plain returns a rule that applies if its expression matches.
func plain(name string, typ Type, r *rule) func(search) (decision, bool) {
	return func(s search) (decision, bool) {
		at := s.ends(s.matches(r))
		return decision{typ: typ, rule: name, lines: at}, len(at) > 0
	}
}

// ownWord is rule W: the last word that names a type.
func (s search) ownWord() (decision, bool) {
	d := decision{rule: "W", lines: s.ends(s.matches(ruleW))}
	found := false
	for loc := range s.matches(ruleW) {
		if t, ok := Known(captured(s.text, loc)); ok {
			d.typ, found = t, true
		}
	}
	return d, found
}

// timeout is rule T.
func (s search) timeout() (decision, bool) {
	return decision{typ: Timeout, rule: "T"}, s.in.TimedOut
}

// exitCode is rule E1: the command cannot be run or was not found, or the
// system killed it.
func (s search) exitCode() (decision, bool) {
	d := decision{typ: EnvIssue, rule: "E1"}
	if s.exit(126, 127, 137) {
		d.names = s.commands()
		return d, true
	}
	return d, false
}

func (s search) exit(codes ...int) bool {
	return s.in.Exit != nil && slices.Contains(codes, *s.in.Exit)
}

// contract is rule D: a contract's file and a wrong signature, at most six
// lines apart.
func (s search) contract() (decision, bool) {
	d := decision{typ: DesignMismatch, rule: "D", lines: s.near(ruleD1, ruleD2, 6)}
	return d, len(d.lines) > 0
}

// testLimit is rule T2: a runner ended tests at its own limit of time, and gives no other reason
// for a failure. timeout(1) exits with code 124.
func (s search) testLimit() (decision, bool) {
	d, ok := plain("T2", Timeout, ruleT2)(s)
	if !ok {
		return d, s.exit(124) && !s.has(ruleL)
	}
	reasons, same := s.reasons(ruleT2)
	return d, reasons == same && s.failures() <= s.count(ruleT2)
}

// failures returns the highest number of failing tests that the output states.
func (s search) failures() int {
	highest := 0
	for loc := range s.matches(ruleFailedCount) {
		if n, err := strconv.Atoi(captured(s.text, loc)); err == nil {
			highest = max(highest, n)
		}
	}
	return highest
}

// emptySuite is rule N3 where the runner calls a file without tests a failure, and nothing else
// failed.
func (s search) emptySuite() (decision, bool) {
	d, ok := plain("N3", NotImplemented, ruleN3Empty)(s)
	if !ok {
		return d, false
	}
	reasons, same := s.reasons(ruleN3Empty)
	return d, reasons == same && s.failures() <= s.count(ruleN3Empty)
}

// crashed are the exit codes of a shell for the signals ABRT, BUS, FPE and SEGV.
var crashed = []int{134, 135, 136, 139}

// wrong is rule L.
func (s search) wrong() (decision, bool) {
	d, ok := plain("L", LogicError, ruleL)(s)
	return d, ok || s.exit(crashed...)
}

// nothingRan is rule N3. pytest exits with code 5 if it ran no test.
func (s search) nothingRan() (decision, bool) {
	d, ok := plain("N3", NotImplemented, ruleN3)(s)
	if !ok && !s.has(ruleP) {
		d, ok = plain("N3", NotImplemented, ruleN3Zero)(s)
	}
	return d, ok || s.exit(5)
}

// rest is rules Z and U.
func (s search) rest() (decision, bool) {
	if s.exit(0) {
		return decision{typ: LogicError, rule: "Z"}, true
	}
	return decision{typ: Unknown, rule: "U"}, true
}
