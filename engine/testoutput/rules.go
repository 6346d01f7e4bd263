package testoutput

import "regexp"

// rule is an expression that is searched for anywhere in a text, with hints
// that make the search fast.
type rule struct {
	re *regexp.Regexp
	// stems are pieces of text, in the form that [fold] writes. Every match
	// contains at least one of them.
	stems []string
	// quoted says that a match may extend to the next ' across any text.
	// Otherwise a match extends to the next line only across white space.
	quoted bool
}

func newRule(expr string, stems ...string) *rule {
	return &rule{re: regexp.MustCompile(expr), stems: stems}
}

func (r *rule) withQuotes() *rule {
	r.quoted = true
	return r
}

// These are the rules for the type of a failure, with their names on the format
// page.
var (
	ruleW = newRule(`(?m)^AFL_FAILURE_TYPE:[ \t]*([A-Z_]+)[ \t]*$`,
		"\nafl_failure_type:")
	ruleE0 = newRule(`(?m)^(?:\S*/)?(?:ba|da|z|k)?sh:[^\n]*: ((?:\.{1,2}/|[\w-]+/)[^\s:]*): (?:No such file or directory|not found)$`,
		"sh:")
	// The page's last alternative also matches Python's traceback with the name
	// in quotes, so that E4 never saw a module of the project's own; here the
	// name has no quote.
	ruleE2 = newRule(`(?m)^(?:\S*/)?(?:(?:ba|da|z|k)?sh|env|make|npm|npx|yarn|pnpm):[^\n]*(?:not found|No such file or directory|Permission denied)|^\S+: No module named [^'\s]\S*$`,
		"sh:", "env:", "make:", "npm:", "npx:", "yarn:", ": no module named ")
	ruleE3 = newRule(`(?i)no space left on device|cannot allocate memory|too many open files|cannot connect to the docker daemon|npm (?:err!|error) code E(?:NOTFOUND|CONNREFUSED|ACCES|AI_AGAIN|TIMEDOUT)|could not resolve dependencies for project|no matching package named|linker .\w+. not found|missing go\.sum entry`,
		"no space left on device", "cannot allocate memory", "too many open files", "cannot connect to the docker daemon", "npm err! code e", "npm error code e",
		"could not resolve dependencies for project", "no matching package named", "linker ", "missing go.sum entry")
	ruleE4 = newRule(`ModuleNotFoundError: No module named '([^']+)'|Cannot find (?:module|package) '([^'./][^']*)'|(?:no required module provides package|cannot find module providing package|cannot find package) "?([^\s";:]+)|can't find crate for .(\w+).|package ([\w.]+) does not exist`,
		"modulenotfounderror: no module named '", "cannot find module '", "cannot find package ", "no required module provides package ",
		"cannot find module providing package ", "can't find crate for ", " does not exist").withQuotes()
	ruleE5 = newRule(`(?i)\bECONNREFUSED\b|\bENOTFOUND\b|\bEAI_AGAIN\b|\bEADDRINUSE\b|connection refused|could not resolve host|temporary failure in name resolution|no such host|network is unreachable|address already in use|certificate verify failed|password authentication failed`,
		"econnrefused", "enotfound", "eai_again", "eaddrinuse", "connection refused", "could not resolve host", "temporary failure in name resolution",
		"no such host", "network is unreachable", "address already in use", "certificate verify failed", "password authentication failed")
	ruleD1 = newRule(`(?i)(?:^|[\s"'(/])(?:contracts?/|contract[._-]|[\w-]+[._-]contract\.)`,
		"contract/", "contracts/", "contract.", "contract_", "contract-")
	ruleD2 = newRule(`wrong type for method|(?:not enough|too many) arguments in call|takes (?:from )?\d+ .*positional arguments? but|got an unexpected keyword argument|missing \d+ required (?:positional|keyword-only) argument|\bTS2(?:345|416|554|555)\b|\bE0(?:050|053|061)\b|cannot be applied to given types|(?i)does not (?:match|satisfy|conform to) (?:the )?contract`,
		"wrong type for method", " arguments in call", "positional argument", "got an unexpected keyword argument", " required keyword-only argument",
		"ts0000", "e0000", "cannot be applied to given types", "does not match ", "does not satisfy ", "does not conform to ")
	ruleN1 = newRule(`(?i)\bnot (?:yet )?implemented\b|\bNotImplementedError\b|\bUnsupportedOperationException\b|\bHTTP/\S+ 501\b`,
		"not implemented", "not yet implemented", "notimplementederror", "unsupportedoperationexception", "http/")
	ruleN2 = newRule(`\bis not a function\b|\bis not defined\b|has no attribute|cannot import name|\bundefined: \w|has no field or method|\(missing method|cannot find symbol|does not override abstract method|Cannot find module '[./]|Failed to (?:resolve import|load url) "?\.|\bTS(?:2304|2305|2307|2339|2420|2515|2739|2741)\b|error\[E0(?:046|407|425|432|433|599)\]|\[(?:attr|name)-defined\]|No rule to make target|Missing script:`,
		"is not a function", "is not defined", "has no attribute", "cannot import name", "undefined: ", "has no field or method", "(missing method", "cannot find symbol",
		"does not override abstract method", "cannot find module '", "failed to resolve import ", "failed to load url ", "ts0000", "error[e0000]",
		"[attr-defined]", "[name-defined]", "no rule to make target", "missing script:")
	ruleY = newRule(`(?m)error TS\d+:|error\[E\d{4}\]|^(?:\./)?[\w./\\-]+\.go:\d+:\d+: |\[(?:build|setup) failed\]|^[\w./\\-]+\.pyi?:\d+(?::\d+)?: error: |^\s*(?:E\s+)?(?:\w+\.)*(?:TypeError|SyntaxError|IndentationError|TabError)\b|COMPILATION ERROR|^\S+\.(?:java|kt|c|cc|cpp|h|hpp):\d+(?::\d+)?: (?:fatal )?error:|\.java:\[\d+,\d+\]`,
		"error ts0", "error[e0000]", ".go:0", "[build failed]", "[setup failed]", ".py:0", ".pyi:0", "typeerror", "syntaxerror", "indentationerror", "taberror",
		"compilation error", ".java:0", ".kt:0", ".c:0", ".cc:0", ".cpp:0", ".h:0", ".hpp:0", ".java:[0")
	ruleL = newRule(`(?m)AssertionError|AssertionFailedError|ERR_ASSERTION|^E\s+assert\b|^\s*--- FAIL: |^\s*[●✕×✗] |^\s*FAIL\b|^FAILED\b|^not ok \d+|panicked at|assertion .*failed|expected:? ?<.*> but was:? ?<|\b[1-9]\d* (?:failed|failing|failures?)\b|expected .+ (?:to (?:be|equal|have|throw)|but (?:got|was|received))\b`,
		"assertionerror", "assertionfailederror", "err_assertion", " assert", "\nassert", "● ", "✕ ", "× ", "✗ ", " fail", "\nfail",
		"\nnot ok 0", "panicked at", "assertion ", "expected:", "expected<", "expected ")
	ruleN3 = newRule(`(?im)\bcollected 0 items\b|\bno tests (?:ran|found|to run|were executed)\b|no test files|^\s*0 passing\b|must contain at least one test`,
		"collected 0 items", "no tests ", "no test files", "0 passing", "must contain at least one test")
	ruleP = newRule(`(?im)\b[1-9]\d* (?:passed|passing)\b|^\s*--- PASS: |^ok\s|^# pass [1-9]`,
		"0 passed", "0 passing", "--- pass: ", "\nok ", "\nok\n", "\n# pass 0")
	ruleF = newRule(`(?m)^(?:FAILED|ERROR) (\S+::\S+)|^\s*--- FAIL: (\S+)|^\s*● (.+)$|^\s*FAIL\s+(\S+ > .+)$|^---- (.+) stdout ----$|^not ok \d+ -? ?(.+)$|^\s+\d+\) (.+)$|^\[ERROR\]\s+([\w$.]+\.[\w$]+):\d+`,
		"\nfailed ", "\nerror ", "--- fail: ", "● ", " > ", " stdout ----", "\nnot ok 0", "0) ", "\n[error]")
)

// ruleNear and ruleAny match the markers of a failure: near the expected text,
// and anywhere.
var (
	ruleNear = newRule(`(?i)\b[1-9]\d* (?:failed|failing|failures?|errors?)\b|\b(?:failures|errors|failed): ?[1-9]|(?:failures|errors)=[1-9]`,
		"0 fail", "0 error", "failures:", "errors:", "failed:", "failures=", "errors=")
	ruleAny = newRule(`(?m)^\s*--- FAIL: |^FAIL(?:ED)?\b|^not ok \d+|test result: FAILED|^# fail [1-9]`,
		"--- fail: ", "\nfail", "\nnot ok 0", "test result: failed", "\n# fail 0")
)
