// Package testoutput says what the output of a check means: whether it passes, and
// why it does not. It is pure: outputs come in as text, words go out. The rules
// are those of the format page of afl, sections 4.4 and 4.7; its expressions
// stand in this package letter for letter, and where a real output slips past
// one of them the page is changed first.
//
// # Passed
//
// [Match] seeks the expected text in each output alone, at token boundaries,
// and looks for markers of a failure beside it. [Passed] puts that together
// with the exit code. Letters and digits are those of Unicode: what is expected
// as "성공" does not stand in "미성공". A script that writes words together
// without blanks therefore wants a whole word, or a line, as its expectation.
//
// # Failure type
//
// [Classify] tries rules in a fixed order; the first that applies decides:
//
//	W   the output names a type itself      T   timed out
//	E0  the project's own script is absent  E1  exit code 126, 127 or 137
//	E2  the runner   E3  the machine        E4  a module   E5  the network
//	D   contract and implementation         N1  says "not implemented"
//	N2  an unknown symbol                   Y   compile and type errors
//	L   an assertion                        N3  nothing ran
//	Z   exit code 0                         U   nothing of all this
//
// An output may have megabytes, and searching it for each of the expressions
// takes seconds. So the lines are found first that hold a stem, a piece of text
// without which an expression cannot match, and only what such lines belong to
// is searched. That never changes what is found.
package testoutput
