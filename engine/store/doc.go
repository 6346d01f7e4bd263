// Package store reads the documents of runs and makes plans durable.
//
// It is the only part of placet that touches the workspace's files, and it
// does so through one interface, [fs.FS], which the tests replace by an in-memory
// twin that crashes and fails where it is told to.
//
// The rules it lives by:
//
//   - A document is a regular file under its exact name. Links are never
//     followed, neither out of the workspace nor inside it; nothing blocks.
//   - What is decided on are the bytes that were read once, hashed and
//     returned; a file that may still be being written is [engine.ErrUnsettled]
//     and never read as absent.
//   - A commit is two rounds of fsync, whatever the number of plans: all new
//     contents side by side, then, after the renames, all touched folders.
//   - The state document comes last and by compare-and-swap: the content that
//     it displaces is read, and put back if it is not what the plan was made
//     over. Nobody's words are lost.
//   - An fsync that failed says nothing when it is repeated. The temporary
//     file is thrown away and written anew.
package store
