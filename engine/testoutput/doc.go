// Package testoutput interprets the output of a check: whether the check passes,
// and why it does not. It is pure: outputs come in as text, words go out. The
// rules began as those of the format page of afl, sections 4.4 and 4.7. The table in
// docs/families/afl.md has every form that they know, and a test compares the two.
//
// # Passed
//
// [Match] searches each output separately for the expected text, at token
// boundaries, and looks for markers of a failure near it. [Passed] combines that
// with the exit code. Letters and digits are those of Unicode: the expected text
// "성공" does not match "미성공". For a script that writes words together without
// blanks, the expected text must therefore be a whole word, or a line.
//
// # Failure type
//
// [Classify] tries rules in a fixed order; the first that applies decides:
//
//	W   the output names a type itself      T   timed out
//	E0  the project's own script is absent  E1  exit code 126, 127 or 137
//	E2  the runner   E3  the machine        E4  a module   E5  the network
//	E6  libraries and tools  E7  versions   E8  killed, memory, permissions
//	D   contract and implementation         T2  a runner's own limit of time
//	N1  says "not implemented"              N2  an unknown symbol
//	Y   compile and type errors             L   an assertion, a crash
//	N3  nothing ran                         Z   exit code 0
//	U   none of these
//
// A rule knows forms: the ways in which tools say the same thing. What lacks in the
// environment decides before what is wrong with the code, but E5 to E8 only where
// the output does not show that their words are those of a log ([search.isCause]).
//
// An output may have megabytes, and searching it for each of the expressions takes
// seconds. A rule therefore has stems, pieces of text of which every match of its
// expression contains one. Only the lines with a stem, and the lines that a match
// there may extend to, are searched. That never changes the result.
package testoutput
