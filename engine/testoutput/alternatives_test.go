package testoutput_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"placet/engine/testoutput"
)

// alternatives has a line, as tools print it, for every alternative of each
// rule's expression. Alone between lines of a log it decides.
var alternatives = map[string][]string{
	"W": {
		"AFL_FAILURE_TYPE: LOGIC_ERROR",
		"AFL_FAILURE_TYPE:LOGIC_ERROR",
		"AFL_FAILURE_TYPE:\t LOGIC_ERROR \t",
	},
	"E0": {
		"bash: line 1: ./scripts/testoutput.sh: No such file or directory",
		"/bin/sh: 1: ./scripts/testoutput.sh: not found",
		"dash: 1: ../check: not found",
		"/usr/bin/zsh: line 3: tools/testoutput.sh: No such file or directory",
		"ksh: line 1: tools/check: not found",
	},
	"E2": {
		"bash: line 1: pytest: command not found",
		"sh: 1: jest: not found",
		"dash: 1: jest: not found",
		"zsh: command not found: pytest",
		"ksh: pytest: not found",
		"/usr/bin/env: ‘node’: No such file or directory",
		"env: node: No such file or directory",
		"make: pytest: No such file or directory",
		"npm: line 2: node: not found",
		"npx: line 2: node: not found",
		"yarn: line 2: node: command not found",
		"pnpm: line 2: node: Permission denied",
		"bash: line 1: ./testoutput.sh: Permission denied",
		"/usr/bin/python3: No module named pytest",
	},
	"E3": {
		"write /tmp/a.out: No space left on device",
		"fork: Cannot allocate memory",
		"open /dev/null: too many open files",
		"Cannot connect to the Docker daemon at unix:///var/run/docker.sock.",
		"npm ERR! code ENOTFOUND",
		"npm error code ECONNREFUSED",
		"npm error code EACCES",
		"npm error code EAI_AGAIN",
		"npm error code ETIMEDOUT",
		"[ERROR] Failed to execute goal on project coupon: Could not resolve dependencies for project com.shop:coupon:jar:1.0",
		"error: no matching package named `serde` found",
		"error: linker `cc` not found",
		"a.go:4:2: missing go.sum entry for module providing package github.com/google/uuid",
	},
	"E4": {
		"E   ModuleNotFoundError: No module named 'stripe'",
		"Error: Cannot find module 'big.js'",
		"Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'stripe' imported from /w/a.mjs",
		"a.go:4:2: no required module provides package github.com/google/uuid; to add it:",
		"a.go:4:2: cannot find module providing package github.com/google/uuid: import lookup disabled",
		`a.go:4:2: cannot find package "github.com/google/uuid" in any of:`,
		"error[E0463]: can't find crate for `serde`",
		"[ERROR] A.java:[3,22] package org.joda.money does not exist",
	},
	"E5": {
		"Error: connect ECONNREFUSED 127.0.0.1:5432",
		"Error: getaddrinfo ENOTFOUND db.local",
		"Error: getaddrinfo EAI_AGAIN db.local",
		"Error: listen EADDRINUSE :::3000",
		"dial tcp 127.0.0.1:5432: connect: connection refused",
		"curl: (6) Could not resolve host: db.local",
		"could not translate host name \"db\" to address: Temporary failure in name resolution",
		"dial tcp: lookup db.local on 127.0.0.11:53: no such host",
		"dial tcp 10.0.0.1:80: connect: network is unreachable",
		"OSError: [Errno 98] Address already in use",
		"ssl.SSLCertVerificationError: [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed",
		`FATAL: password authentication failed for user "shop"`,
	},
	"N1": {
		"panic: not implemented",
		"Error: not yet implemented",
		"Not Implemented",
		"E       NotImplementedError",
		"java.lang.UnsupportedOperationException: refund",
		"< HTTP/1.1 501 Refund",
	},
	"N2": {
		"apply is not a function",
		"ReferenceError: apply is not defined",
		"AttributeError: module 'coupon' has no attribute 'apply'",
		"ImportError: cannot import name 'apply' from 'coupon'",
		"coupon_test.go:10:12: undefined: Apply",
		"a.go:1:2: o.Refund undefined (type *Order has no field or method Refund)",
		"*Order does not implement refunder (missing method Refund)",
		"[ERROR] A.java:[9,3] cannot find symbol",
		"Order is not abstract and does not override abstract method refund() in Refunder",
		"Cannot find module './coupon' from 'test/coupon.test.js'",
		"Cannot find module '/w/coupon.js'",
		`Error: Failed to resolve import "./coupon" from "test/coupon.test.js"`,
		"Error: Failed to load url ../coupon (resolved id: ../coupon)",
		"a.ts(1,2): error TS2304: Cannot find name 'apply'.",
		"a.ts(1,2): error TS2305: Module has no exported member 'apply'.",
		"a.ts(1,2): error TS2307: Cannot find it.",
		"a.ts(1,2): error TS2339: Property 'apply' does not exist.",
		"a.ts(1,2): error TS2420: Class 'Order' incorrectly implements interface.",
		"a.ts(1,2): error TS2515: Non-abstract class 'Order'.",
		"a.ts(1,2): error TS2739: Type '{}' is missing properties.",
		"a.ts(1,2): error TS2741: Property 'day' is missing.",
		"error[E0046]: not all trait items",
		"error[E0407]: method is not a member",
		"error[E0425]: cannot find function",
		"error[E0432]: unresolved import",
		"error[E0433]: cannot find type",
		"error[E0599]: no method named `refund` found",
		`coupon.py:3: error: "Order" lacks it  [attr-defined]`,
		`coupon.py:3: error: Name "apply"  [name-defined]`,
		"make: *** No rule to make target 'check'.  Stop.",
		`npm error Missing script: "test"`,
	},
	"Y": {
		"src/a.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'.",
		"error[E0308]: mismatched types",
		"coupon/coupon.go:17:12: invalid operation: mismatched types",
		"./coupon.go:17:12: syntax error: unexpected name",
		"FAILS [build failed]",
		"x [setup failed]",
		`coupon.py:3: error: Incompatible return value type  [return-value]`,
		`coupon.pyi:3:14: error: Incompatible return value type`,
		"TypeError: unsupported operand type(s) for //: 'str' and 'int'",
		"E   SyntaxError: expected ':'",
		"    IndentationError: unexpected indent",
		"E       builtins.TabError: inconsistent use of tabs",
		"[INFO] COMPILATION ERROR :",
		"Coupon.java:9: error: ';' expected",
		"Coupon.kt:9:3: error: expecting a top level declaration",
		"coupon.c:9:3: fatal error: coupon.inc: it is absent",
		"coupon.cc:9:3: error: expected ';'",
		"coupon.cpp:9:3: error: expected ';'",
		"coupon.h:9:3: error: expected ';'",
		"coupon.hpp:9:3: error: expected ';'",
		"[ERROR] /w/src/Coupon.java:[3,29] ';' expected",
	},
	"L": {
		"E       AssertionError: assert 950 == 900",
		"org.opentest4j.AssertionFailedError: totals differ",
		"  code: 'ERR_ASSERTION',",
		"E       assert 950 == 900",
		"--- FAIL: TestTenPercent (0.00s)",
		"    --- FAIL: TestTenPercent/once (0.00s)",
		"  ● coupons › takes ten percent",
		"   ✕ takes ten percent (3 ms)",
		"   × takes ten percent 3ms",
		"   ✗ takes ten percent",
		"FAIL\tshop/coupon\t0.003s",
		"FAILED (errors=1)",
		"not ok 1 - takes ten percent",
		"thread 'ten_percent' panicked at src/lib.rs:9:5:",
		"assertion `left == right` failed",
		"java.lang.Error: expected:<900> but was:<950>",
		"java.lang.Error: expected: <900> but was: <950>",
		"2 failed, 11 passed",
		"  2 failing",
		"Tests run: 3, 1 failure",
		"10 failures",
		"expected 950 to be 900",
		"expected 950 to equal 900",
		"expected [ 950 ] to have length 2",
		"expected [Function] to throw an error",
		"expected 900 but got 950",
		"expected 900 but was 950",
		"expected 900 but received 950",
	},
	"N3": {
		"collected 0 items",
		"==== no tests ran in 0.00s ====",
		"No tests found, exiting with code 1",
		"ok  \tshop/coupon\t0.002s [no tests to run]",
		"No tests were executed!",
		"?   \tshop/coupon\t[no test files]",
		"  0 passing (1ms)",
		"Your test suite must contain at least one test.",
	},
}

var typeOf = map[string]testoutput.Type{
	"W": testoutput.LogicError, "T": testoutput.Timeout, "E0": testoutput.NotImplemented, "E1": testoutput.EnvIssue, "E2": testoutput.EnvIssue, "E3": testoutput.EnvIssue, "E4": testoutput.EnvIssue,
	"E5": testoutput.EnvIssue, "D": testoutput.DesignMismatch, "N1": testoutput.NotImplemented, "N2": testoutput.NotImplemented, "Y": testoutput.TypeError, "L": testoutput.LogicError,
	"N3": testoutput.NotImplemented, "Z": testoutput.LogicError, "U": testoutput.Unknown,
}

func TestEveryAlternativeDecides(t *testing.T) {
	for rule, lines := range alternatives {
		for _, line := range lines {
			t.Run(rule+" "+line, func(t *testing.T) {
				exit := 1
				in := testoutput.Input{Text: "$ check\nsome words of a log\n" + line + "\nthe last words", Exit: &exit, Own: []string{"coupon-service"}}
				got := testoutput.Classify(in)
				if got.Rule != rule || got.Type != typeOf[rule] {
					t.Fatalf("%s by %s, want %s by %s", got.Type, got.Rule, typeOf[rule], rule)
				}
				if diff := cmp.Diff([]string{line}, got.KeyLines); diff != "" {
					t.Errorf("key lines (-want +got):\n%s", diff)
				}
				checkFinding(t, in, got)
			})
		}
	}
}

// TestRulesDoNotTakeWhatIsNear has lines that resemble those of a rule.
func TestRulesDoNotTakeWhatIsNear(t *testing.T) {
	for _, line := range []string{
		"# AFL_FAILURE_TYPE: ENV_ISSUE", "AFL_FAILURE_TYPE: env_issue", "AFL_FAILURE_TYPE: SOMETHING", "AFL_FAILURE_TYPE: ENV_ISSUE now",
		"push: line 1: ./scripts/x: not found", "404 not found", "remake: x: No such file or directory", "No module named pytest here",
		"npm error code E404", "linker not found", "Cannot find module", "package does not exist", "xECONNREFUSEDx",
		"implemented, not as asked", "HTTP/1.1 200 501", "is not functional", "undefined:", "TS23040",
		"error TS: what", "coupon.go:17: see there", "MyTypeErrors: 3", "coupon.py:3: note: see there", "a.java:9: warning: old",
		"0 failed", "0 failures", "see --- FAIL: TestA", "not ok", "the test FAILED", "expected 900 to become 950", "expected: 900, but was: 950",
		"collected 10 items", "10 passing", "no tests yet",
	} {
		t.Run(line, func(t *testing.T) {
			exit := 1
			got := testoutput.Classify(testoutput.Input{Text: line, Exit: &exit})
			if got.Rule != "U" || got.Type != testoutput.Unknown {
				t.Errorf("%s by %s, want UNKNOWN by U", got.Type, got.Rule)
			}
		})
	}
}

// TestFailingTests has a line for every alternative of F.
func TestFailingTests(t *testing.T) {
	tests := []struct{ line, want string }{
		{"FAILED tests/test_coupon.py::test_refused - assert 1 == 2", "tests/test_coupon.py::test_refused"},
		{"ERROR tests/test_coupon.py::test_refused", "tests/test_coupon.py::test_refused"},
		{"--- FAIL: TestRefused (0.00s)", "TestRefused"},
		{"    --- FAIL: TestRefused/twice (0.00s)", "TestRefused/twice"},
		{"  ● coupons › refuses the second", "coupons › refuses the second"},
		{" FAIL  test/coupon.test.ts > coupons > refuses the second", "test/coupon.test.ts > coupons > refuses the second"},
		{"---- tests::refuses_the_second stdout ----", "tests::refuses_the_second"},
		{"not ok 3 - refuses the second", "refuses the second"},
		{"not ok 3 refuses the second", "refuses the second"},
		{"  1) refuses the second", "refuses the second"},
		{"[ERROR]   CouponTest.refusesTheSecond:12 expected:<1> but was:<2>", "CouponTest.refusesTheSecond"},
	}
	for _, test := range tests {
		t.Run(test.line, func(t *testing.T) {
			got := testoutput.Classify(testoutput.Input{Text: "noise\n" + test.line + "\r\nnoise"})
			if diff := cmp.Diff([]string{test.want}, got.FailingTests); diff != "" {
				t.Errorf("failing tests (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{test.line}, got.KeyLines); diff != "" {
				t.Errorf("key lines (-want +got):\n%s", diff)
			}
		})
	}
	for _, line := range []string{"FAILED to start", "ERROR in a.py", "x--- FAIL: TestA", "FAIL\tshop/coupon", "1) at the line's start", "[INFO]   CouponTest.refuses:12"} {
		if got := testoutput.Classify(testoutput.Input{Text: line}); len(got.FailingTests) > 0 {
			t.Errorf("%q names failing tests %q", line, got.FailingTests)
		}
	}
}
