// Package run is the kernel for families. What they do alike exists here once, generic
// over the family's state. The state document is placet's own, with a journal beside it,
// or, where [Family].Shared says so, that of another program, which placet patches.
//
//	read      the state document and the journal that accounts for it      state.go
//	owe       the outputs that the state calls for and that are not there   output.go
//	take in   what others hand in                                           handin.go
//	attempt   what happens outside, recorded before it begins               attempt.go, send.go
//	answer    the open requests: their files, the answer that counts        request.go, answer.go
//	move      the first rule that applies: one transition, one commit       rule.go, change.go
//	tell      why the run stands, what it waits for, what would move it     view.go
//
// A family is data and small functions: the format of its state, its rules, the outputs
// of a state, its questions. Its own type V wraps [Run] and holds what the family reads
// besides. Everything is pure: a [Run] is made of a snapshot and forgotten after the step.
package run
