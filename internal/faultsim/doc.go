// Command faultsim is the fault laboratory: it runs short scenarios on a file
// system in memory, with the real store and the real loop, and breaks them at every
// file call that placet makes.
//
//	go run ./internal/faultsim -for 5m -seed 1
//	go run ./internal/faultsim -replay 'desk/plain/2 kill@17 cut@9#5'
//
// The kinds of trouble:
//
//   - crash: placet is killed before a call, or in the middle of a write; or the
//     power fails there, and a seed chooses what stays of what was not durable.
//   - pair: the recovery of every crash crashes at every call of its own.
//   - lie: an fsync of a file, a folder or everything fails and loses what it was
//     to write; when it is repeated it reports success. Then a crash at every call.
//   - error: a call returns an error, once or several times in a row, alone and
//     followed by a crash at some calls.
//   - other: somebody else writes at a call, alone and followed by a crash.
//   - order: the same workspace is settled in other orders, by more workers, with
//     restarts in between.
//   - mixed: any of these, three of them, by chance.
//
// After each schedule the laboratory judges the result: the tree is the one without
// trouble, times aside; what was reported as decided, or existed when placet was
// idle, existed after the power cut and has the same bytes for ever; the times of
// one revision agree; no temporary file is left; nothing was begun twice.
//
// The laboratory is quick because it runs nothing twice: at each call it forks the disk,
// and runs the recovery from there. One execution gives the schedules of all its crashes.
package main
