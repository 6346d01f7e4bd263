package testoutput

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"placet/internal/lazyregexp"
)

// ownScript is rule E0: a script of the project's own does not exist yet.
func (s search) ownScript() (decision, bool) {
	return s.naming("E0", NotImplemented, ruleE0, captured)
}

// runner is rule E2: the program that runs the checks is missing.
func (s search) runner() (decision, bool) {
	return s.naming("E2", EnvIssue, ruleE2, command)
}

// machine is rule E3.
func (s search) machine() (decision, bool) {
	return s.naming("E3", EnvIssue, ruleE3, lack)
}

// module is rule E4: a module is missing. If all missing modules are the
// project's own, they are still to be written; otherwise the others are named.
func (s search) module() (decision, bool) {
	d, ok := s.naming("E4", EnvIssue, ruleE4, captured)
	if !ok {
		return d, false
	}
	own, all := s.ownParts(), true
	others := s.named(ruleE4, func(text string, loc []int) string {
		name := captured(text, loc)
		if isOwn(name, own) || s.isOwnHeader(loc) || s.isOwnPackage(name, loc) {
			return ""
		}
		all = false
		return name
	})
	if all {
		d.typ = NotImplemented
	} else {
		d.names = others
	}
	return d, true
}

// isOwnHeader reports whether a missing header is included in quotation marks: it is then sought
// beside the file that includes it.
func (s search) isOwnHeader(loc []int) bool {
	if !strings.HasPrefix(matched(s.text, loc), "fatal error:") {
		return false
	}
	next := lineEnd(s.text, min(len(s.text), lineEnd(s.text, loc[1]-1)+1))
	return strings.Contains(s.text[loc[1]:next], `#include "`)
}

// isOwnPackage reports whether a missing Go package, sought in the standard library because its
// path has no dot, is in the module of the tested package.
func (s search) isOwnPackage(name string, loc []int) bool {
	module, _, deep := strings.Cut(name, "/")
	return deep && strings.HasPrefix(matched(s.text, loc), "package ") && strings.Contains(s.text, "FAIL\t"+module+"/")
}

// network is rule E5.
func (s search) network() (decision, bool) {
	d, ok := s.naming("E5", EnvIssue, ruleE5, service)
	return d, ok && s.isCause(ruleE5)
}

// lacks returns a rule about the environment that applies if its expression is the cause.
func lacks(name string, r *rule) func(search) (decision, bool) {
	return func(s search) (decision, bool) {
		d, ok := s.naming(name, EnvIssue, r, lacking)
		return d, ok && s.isCause(r)
	}
}

// lacking returns what a match names, or otherwise the match itself.
func lacking(text string, loc []int) string {
	return cmp.Or(captured(text, loc), matched(text, loc))
}

// isCause reports whether what a rule matches is why tests failed, and not text of a log. It is if
// no test failed. Where the output gives reasons, one of them has to match, and all if other tests
// passed. Without reasons, the words are those of a log if other tests passed.
func (s search) isCause(r *rule) bool {
	if !s.has(ruleL) {
		return true
	}
	passes := s.has(ruleP)
	switch reasons, same := s.reasons(r); {
	case reasons == 0:
		return !passes
	case passes:
		return same == reasons
	default:
		return same > 0
	}
}

// reasons returns how many reasons for failures the output gives, and how many of them a rule
// matches. After a colon at the line's end, the message is on the next line.
func (s search) reasons(r *rule) (reasons, same int) {
	for loc := range s.matches(ruleR) {
		to := lineEnd(s.text, loc[1]-1)
		if strings.HasSuffix(strings.TrimSpace(s.text[loc[0]:to]), ":") {
			to = lineEnd(s.text, min(len(s.text), to+1))
		}
		reasons++
		if r.re().MatchString(s.text[lineStart(s.text, loc[0]):to]) {
			same++
		}
	}
	return reasons, same
}

// naming returns the decision of a rule that applies if its expression matches,
// with the names in the matches.
func (s search) naming(name string, typ Type, r *rule, what func(text string, loc []int) string) (decision, bool) {
	d := decision{typ: typ, rule: name, lines: s.ends(s.matches(r))}
	if len(d.lines) == 0 {
		return d, false
	}
	d.names = s.named(r, what)
	return d, true
}

func (s search) named(r *rule, what func(string, []int) string) []string {
	names := unique{max: maxNames}
	for loc := range s.matches(r) {
		names.add(short(strings.Join(strings.Fields(what(s.text, loc)), " ")))
		if names.full() {
			break
		}
	}
	return names.list
}

// commands returns the commands that E2 finds, for a decision of another rule.
func (s search) commands() []string { return s.named(ruleE2, command) }

// matched returns the match itself.
func matched(text string, loc []int) string { return text[loc[0]:loc[1]] }

// wantedPackage finds the package in a line of a package manager.
var wantedPackage = lazyregexp.New(`(?i)(?:module providing package|dependencies for project) ['"]?([\w./:@-]+)|no matching package named .(\w[\w-]*)`)

// lack returns the package that is missing according to a match of E3, or
// otherwise the match itself.
func lack(text string, loc []int) string {
	if name := inLine(wantedPackage, text, loc); name != "" {
		return name
	}
	return matched(text, loc)
}

// missing finds the command or the module in a line of a runner.
var missing = lazyregexp.New(`command not found: (\S+)|'([\w.-]+)' is not recognized|no such command: .([\w-]+)|No module named '?([^\s']+)|[ ]['‘"]?([^\s:'’"‘]+)['’"]?: (?:command not found|not found|No such file or directory|Permission denied)`)

// command returns the command that is missing according to a match of E2, "" if
// the match names none.
func command(text string, loc []int) string { return inLine(missing, text, loc) }

// addresses find the other host in a line about the network, the most reliable
// first.
var addresses = []*lazyregexp.Regexp{
	lazyregexp.New(`\blookup ([\w.-]+)|(?:ENOTFOUND|EAI_AGAIN|[Rr]esolve host:?) '?([\w.-]+)|\bhost(?: name)?[ =]["']([\w.-]+)`),
	lazyregexp.New(`(?:\bdial \w+|ECONNREFUSED|already in use) ([\w.:\[\]-]+:\d+)`),
	lazyregexp.New(`\b((?:localhost|\d+\.\d+\.\d+\.\d+):\d+)`),
	lazyregexp.New(`\b(port \d+)|\b(user "?\w+"?)`),
}

// service returns the other host in a match of E5, or otherwise the match
// itself.
func service(text string, loc []int) string {
	for _, address := range addresses {
		if name := inLine(address, text, loc); name != "" {
			return name
		}
	}
	return matched(text, loc)
}

// inLine returns what an expression captures in the line in which a match ends.
func inLine(re *lazyregexp.Regexp, text string, loc []int) string {
	line := short(text[lineStart(text, loc[1]-1):lineEnd(text, loc[1]-1)])
	if m := re.FindStringSubmatchIndex(line); m != nil {
		return captured(line, m)
	}
	return ""
}

// ownParts returns the parts of the project's own words.
func (s search) ownParts() map[string]bool {
	parts := map[string]bool{}
	for _, text := range slices.Concat(s.in.Own, s.in.Changed) {
		for _, part := range partsOf(text) {
			parts[part] = true
		}
	}
	return parts
}

// partsOf splits a text at all characters except letters and digits. It drops
// parts of fewer than four characters because they say too little.
func partsOf(text string) []string {
	parts := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return slices.DeleteFunc(parts, func(part string) bool { return utf8.RuneCountInString(part) < 4 })
}

// isOwn reports whether a module's name is one of the project's own.
func isOwn(name string, own map[string]bool) bool {
	return strings.Contains(name, "/internal/") || slices.ContainsFunc(partsOf(name), func(part string) bool { return own[part] })
}
