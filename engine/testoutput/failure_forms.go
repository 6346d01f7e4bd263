package testoutput

// These rules find what the code lacks or does wrong, and that nothing ran.
var (
	// ruleT2 is a runner's own limit of time on a test.
	ruleT2 = newRule(`(?im)`,
		says("test-limit", `\b(?:test|hook|suite)s? timed out (?:in|after) \d|\btimeout of \d+ ?ms exceeded|\bexceeded timeout (?:of|value of) \d|\btimeout \(?>[\d.]+s|^\++ Timeout \++$|\btestTimeoutFailure\b|async function did not complete within \d+|was not invoked within the \d+ ?ms timeout|\) timed out after \d+ (?:milli)?seconds?|exceeded execution timeout period|\bexecution timed out after \d|this test was aborted after \d+ second|time limit was exceeded: |the test coroutine is not completing|test killed with quit: ran too long|there was a timeout (?:in|or other error in) the fork|^not ok \d+[^\n#]*# timeout after \d|^not ok \d+ - timeout!|test exceeded Timeout value of \d+|\btimed out while running tests\b`,
			"timed out ", "timeout of ", "exceeded timeout ", "timeout >", "timeout (>", "\n+", "testtimeoutfailure", "async function did not complete within ", "was not invoked within the ", "exceeded execution timeout period",
			"this test was aborted after ", "time limit was exceeded: ", "the test coroutine is not completing", "test killed with quit: ran too long", "there was a timeout ", "# timeout after ", " - timeout!"),
		says("limit-in-list", `\*\*\*Timeout\b|^\s*\d+ - \S+ \(Timeout\)|^\s*TIMEOUT \[ *[\d.]+s\]|\bTIMEOUT +\d[\d.]*s\b|\bTIMEOUT in \d[\d.]*s\b`, "***timeout", "(timeout)", "timeout [", "timeout 0", "timeout  ", "timeout in 0"),
		says("limit-of-a-job", `has exceeded the maximum execution time of \d|^timeout: sending signal `, "has exceeded the maximum execution time of ", "\ntimeout: sending signal "))
	ruleN1 = newRule(`(?i)`,
		says("says-so", `\bnot (?:yet )?implemented\b|\bNotImplementedError\b|\bUnsupportedOperationException\b|\bHTTP/\S+ 501\b`,
			"not implemented", "not yet implemented", "notimplementederror", "unsupportedoperationexception", "http/"))
	// A member of nothing is no missing member: ruleL has it.
	ruleN2 = newRule(`(?m)`,
		says("unknown-name", `\bis not a function\b|\bis not defined\b|has no attribute|cannot import name|\bundefined: \w|has no field or method|\(missing method|cannot find symbol|does not override abstract method|\[(?:attr|name)-defined\]`,
			"is not a function", "is not defined", "has no attribute", "cannot import name", "undefined: ", "has no field or method", "(missing method", "cannot find symbol",
			"does not override abstract method", "[attr-defined]", "[name-defined]"),
		says("unknown-code", `\bTS(?:2304|2305|2307|2339|2420|2515|2739|2741)\b|error\[E0(?:046|407|425|432|433|583|599)\]|error CS(?:0103|0117|0234|0246|0535|1061|5001)\b|error LNK20(?:01|19)\b`, "ts0000", "error[e0000]", "error cs0000", "error lnk0000"),
		says("own-import", `Cannot find (?:module|package) ['"](?:[./~#]|@/|file:)|Failed to (?:resolve import|load url) "?(?:[.~#]|@/)|Can't resolve '(?:[./~#]|@/)|Could not resolve "(?:[./~#]|@/)|Module not found "file:|cannot load such file -- [./]`,
			"cannot find module ", "cannot find package ", "failed to resolve import ", "failed to load url ", "can't resolve '", "could not resolve ", "module not found ", "cannot load such file -- "),
		says("no-rule", `No rule to make target|Missing script:|directory not found$|: lstat [\w./-]+: no such file or directory$|no Go files in `, "no rule to make target", "missing script:", "directory not found", ": lstat ", "no go files in "),
		says("linker-symbol", "undefined reference to [`']|[Uu]ndefined symbols? for architecture|ld\\.lld: error: undefined symbol: |unresolved external symbol", "undefined reference to ", "undefined symbol", "unresolved external symbol"),
		says("c-name", `implicit declaration of function|was not declared in this scope|has no member named|use of undeclared identifier|unknown type name`, "implicit declaration of function", "was not declared in this scope", "has no member named", "use of undeclared identifier", "unknown type name"),
		says("ruby-name", "uninitialized constant [A-Z]|undefined (?:local variable or )?method [`']\\w+[?!=]?'", "uninitialized constant ", "undefined method ", "undefined local variable or method "),
		says("php-name", `Call to undefined (?:method|function)|(?:Class|Interface|Trait) "[\w\\]+" not found`, "call to undefined ", "class ", "interface ", "trait "),
		says("jvm-name", `[Uu]nresolved reference|not found: (?:value|type|object) \w|is not a member of`, "unresolved reference", "not found: ", "is not a member of"),
		says("swift-name", `cannot find (?:type )?'\w+' in scope|has no member '\w+'`, "' in scope", "has no member '"),
		says("beam-name", `\bfunction [\w.!?]+/\d+ (?:is )?undefined|undefined function \w+[!?]?/\d|\(module [\w.]+ is not available\)`, " undefined", "undefined function ", " is not available)"),
		says("other-name", `Variable not in scope:|Unbound (?:value|module|constructor) |Undefined subroutine &|Can't locate object method |attempt to call a nil value|could not find function "|UndefVarError|undeclared identifier|Unable to resolve symbol: |isn't defined for the (?:class|type)|Method not found: '`,
			"variable not in scope:", "unbound ", "undefined subroutine &", "can't locate object method ", "attempt to call a nil value", "could not find function ", "undefvarerror", "undeclared identifier",
			"unable to resolve symbol: ", "isn't defined for the ", "method not found: '"),
		says("fixture", `^E\s+fixture '\w+' not found`, "fixture '")).
		exceptIn(`'NoneType' object has no attribute|partially initialized module|' for nil\b|for nil:NilClass`)
	ruleY = newRule(`(?m)`,
		says("compile-error", `error TS\d+:|error\[E\d{4}\]|error (?:CS|FS|BC)\d{4}:|COMPILATION ERROR|\[(?:build|setup) failed\]|could not compile .\w[\w-]*.|^\S+\.(?:java|kt|scala|c|cc|cpp|h|hpp|swift):\d+(?::\d+)?: (?:fatal )?error:|\.java:\[\d+,\d+\]|^(?:\./)?[\w./\\-]+\.go:\d+:\d+: |^e: (?:file://)?\S+\.kts?:\d+|^\[error\] \S+\.scala:\d+|== Compilation error in file`,
			"error ts0", "error[e0000]", "error cs0000", "error fs0000", "error bc0000", "compilation error", "[build failed]", "[setup failed]", "could not compile ", ".java:0", ".kt:0", ".kts:0", ".scala:0", ".c:0", ".cc:0", ".cpp:0", ".h:0", ".hpp:0", ".swift:0", ".java:[0", ".go:0"),
		says("type-check", `^[\w./\\-]+\.pyi?:\d+(?::\d+)?: error: |^\s*\S+\.pyi?:\d+:\d+ - error: `, ".py:0", ".pyi:0"),
		says("type-error", `^\s*(?:E\s+|# )?(?:\*\* \()?(?:\w+\.)*(?:TypeError|SyntaxError|IndentationError|TabError|CompileError|TokenMissingError)\b`, "typeerror", "syntaxerror", "indentationerror", "taberror", "compileerror", "tokenmissingerror"),
		says("parse-error", `^(?:PHP )?Parse error: |contains invalid JS syntax|Transform failed with \d+ errors?:`, "\nparse error: ", "\nphp parse error: ", "contains invalid js syntax", "transform failed with ")).
		exceptIn(`: error: (?:-\[\w+ \w+\]|Failure in TEST)|Cannot (?:read|set) propert(?:y|ies) .*of (?:undefined|null)|'NoneType' object (?:is not|has no)|(?:undefined|null) is not an object|on null$`)
	ruleL = newRule(`(?m)`,
		says("assertion", `AssertionError|AssertionFailedError|ERR_ASSERTION|^E\s+assert\b|panicked at|assertion .*failed|expected:? ?<.*> but was:? ?<|expected .+ (?:to (?:be|equal|have|throw)|but (?:got|was|received))\b|Failed asserting that|XCTAssert\w* failed|Failure/Error: expect|^E[ \t]+(?:\w+\.)*\w*(?:Error|Exception)\b`,
			"assertionerror", "assertionfailederror", "err_assertion", " assert", "\nassert", "panicked at", "assertion ", "expected:", "expected<", "expected ", "failed asserting that", "xctassert", "failure/error: expect", "\ne "),
		says("mark", `^\s*--- FAIL: |^\s*[●✕×✗] |^\s*FAIL(?:[\s:]|$)|^FAILED(?:[\s:!(]|$)|^not ok \d+|\*\*\*(?:Failed|Exception)|^\[  FAILED  \]|^FAILURES!|^ERRORS!|\*\*\* FAILED \*\*\*|^Failed! +- Failed: |^\(fail\) |^\S.* > .* FAILED$|^Result: FAIL$|^\[ FAIL [1-9]|^# +Failed test|^panic: `,
			"--- fail: ", "● ", "✕ ", "× ", "✗ ", " fail", "\nfail", "\nnot ok 0", "***failed", "***exception", "failed  ]", "\nerrors!", "\n(fail) ", "\npanic: ", " failed test"),
		says("count", `\b[1-9]\d* (?:failed|failing|failures?|tests? failed)\b|\b(?:Fail(?:ed|ures)|Errors): +[1-9]|Vitest caught \d+ unhandled error|\bSome tests failed\.`, "0 failed", "0 failing", "0 failure", "0 test failed", "0 tests failed", "failed: ", "failures: ", "errors: ", "vitest caught ", "some tests failed."),
		says("crash", `[Ss]egmentation (?:fault|violation)|\bSIG(?:SEGV|ABRT|BUS|FPE)\b|\bSEGFAULT\b|\bSegFault\b|\(core dumped\)|terminate called after throwing|double free or corruption|ERROR: AddressSanitizer|stack overflow|StackOverflowError|all goroutines are asleep - deadlock!`,
			"segmentation fault", "segmentation violation", "sigsegv", "sigabrt", "sigbus", "sigfpe", "segfault", "(core dumped)", "terminate called after throwing", "double free or corruption", "error: addresssanitizer", "stack overflow", "stackoverflowerror", "all goroutines are asleep"),
		says("member-of-nothing", `'NoneType' object (?:has no attribute|is not)|Cannot (?:read|set) propert(?:y|ies) .*of (?:undefined|null)|\(?(?:undefined|null) is not an object|' for nil\b|for nil:NilClass|NullPointerException|NullReferenceException|nil pointer dereference|Call to a member function \w+\(\) on null|unexpectedly found nil`,
			"'nonetype' object ", "cannot read propert", "cannot set propert", " is not an object", "undefined is not", "null is not", "' for nil", "for nil:nilclass", "nullpointerexception", "nullreferenceexception", "nil pointer dereference", "call to a member function ", "unexpectedly found nil"),
		says("import-cycle", `partially initialized module|Cannot access '\w+' before initialization`, "partially initialized module", "cannot access '"),
		says("lint", `✖ \d+ problems? \([1-9]|\b[1-9]\d* offenses? detected|^Found [1-9]\d* errors?\.$|Code style issues found`, "✖ 0", "0 offense", "\nfound 0", "code style issues found")).
		exceptIn(`^FAIL(?:ED)?(?:[ \t]*[:=])?[ \t]+0\b|^not ok \d+[^#\n]*# ?(?i:todo|skip)|\b[1-9]\d* failed as expected\b`)
	ruleN3 = newRule(`(?im)`,
		says("no-tests", `\bcollected 0 items\b|\bno tests (?:ran|found|to run|executed|(?:were|are) (?:executed|found))\b|no test files|^\s*0 passing\b|must contain at least one test|no test suite found in file|no examples found\.|there are no tests to run|did not match any (?:directory/file|test files)|no test (?:is available in|matches the given)|no tests found for given includes|no spec files were found|no test modules found|no test cases were found|^Ran 0 tests\b|find any files to test`,
			"collected 0 items", "no tests ", "no test files", "0 passing", "must contain at least one test", "no test suite found in file", "no examples found.", "there are no tests to run", "did not match any ", "no test is available in",
			"no test matches the given", "no spec files were found", "no test modules found", "no test cases were found", "\nran 0 tests", "find any files to test"))
	// ruleN3Zero counts only where no test passed: runners print such lines for a part, too.
	ruleN3Zero = newRule(`(?im)`,
		says("zero-tests", `^1\.\.0\b|^# tests 0$|^running 0 tests$|\bExecuted 0 tests\b|^\s*Tests: +(?:0 total|no tests)|^0 examples, 0 failures$|^Tests: 0,|^Tests +no tests$|\[==========\] Running 0 tests|^0 tests, 0 failures`,
			"\n0..0", "\n# tests 0", "\nrunning 0 tests", "executed 0 tests", "tests:", "\n0 examples, 0 failures", "tests no tests", "tests  ", "running 0 tests", "\n0 tests, 0 failures"))
	ruleN3Empty = newRule(`(?i)`,
		says("empty-suite", `must contain at least one test|no test suite found in file`, "must contain at least one test", "no test suite found in file"))
)
