// Package run is the kernel for families. It implements once what all families do alike, generic
// over the family's state. The state document is placet's own, with a journal beside it, or, if
// [Family.Shared] is set, that of another program, which placet patches.
//
//	read      the state document and the journal that accounts for it      state.go
//	owe       the outputs that the state calls for and that are missing     output.go
//	take in   what others hand in                                           handin.go
//	attempt   what happens outside, recorded before it begins               attempt.go, send.go
//	answer    the open requests: their files, the answer that counts        request.go, answer.go
//	move      the first rule that applies: one transition, one commit       rule.go, change.go
//	explain   why the run does not move, what it waits for, what moves it   view.go
//
// A family is data and small functions: the format of its state, its rules, the outputs of a
// state, its questions. Its own type V wraps [Run] and adds what else the family reads. Everything
// is pure: a [Run] is built from a snapshot and discarded after the step.
package run
