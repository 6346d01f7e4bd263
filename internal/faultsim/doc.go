// Command torture is the fault laboratory: it tells short stories of runs on a file
// system in memory, by the real store and the real loop, and breaks them at every
// file call that placet makes.
//
//	go run ./internal/faultsim -for 5m -seed 1
//	go run ./internal/faultsim -replay 'desk/plain/2 kill@17 cut@9#5'
//
// What is told:
//
//   - crash: placet is killed before a call, or in the middle of a write; the power
//     fails there, and of what was not durable a seed says what stays.
//   - pair: the recovery of every crash crashes at every call of its own.
//   - lie: an fsync fails, of a file, a folder or everything, and has lost what it
//     was to write; when it is repeated it says that all is well. Then a crash at
//     every call.
//   - error: a call returns an error, once or several times in a row, alone and
//     followed by a crash at some calls.
//   - other: somebody else writes at a call, alone and followed by a crash.
//   - order: the same workspace is settled in other orders, by more workers, with
//     restarts in between.
//   - mixed: any of these, three of them, by chance.
//
// How it is judged, after each schedule: the tree is the one that it is without
// trouble, times aside; what was told as decided, or stood when placet had come to
// rest, was there after the power cut and has the same bytes for ever; the times
// of one revision agree; no temporary file is left; nothing was begun twice.
//
// It is quick because nothing is told twice: at each call the disk is forked, and
// the recovery is told from there. One telling gives the schedules of all its
// crashes.
package main
