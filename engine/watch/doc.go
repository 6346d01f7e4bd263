// Package watch says where to look: in which folders something changed.
//
// A file event is only a hint. The package keeps no events, only the set of
// those who asked for a folder in which something happened, so that any number
// of events between two calls of [Watcher.Next] costs the same.
// Lost, doubled and reordered events must change nothing for the caller, who
// reads the files themselves.
//
// The rules:
//
//   - Folders are followed for owners (the keys of runs). Something happening in
//     a folder makes its owners dirty.
//   - Structure folders are those in which runs may appear or vanish. A name
//     that appears or vanishes there asks for a rescan.
//   - Watch first, then look. [Watcher.Follow], [Watcher.Guard] and
//     [Watcher.Structure] return when the watches exist; the caller must list or
//     read the folder after that, never before. Then whatever is made in a new
//     folder is either in the listing or raises an event.
//   - Every folder on the way from the workspace to a folder that somebody asked
//     for is covered too: either it or its parent is watched. When one of them is
//     removed, renamed or made, the watches at and below it are dropped and
//     added again by path, their owners are dirty, and structure asks for a
//     rescan. In this way the watcher waits for a folder that does not exist.
//   - A queue overflow or an error means look everywhere: all watches are
//     renewed, all owners are dirty, a rescan is requested.
//   - A folder whose watch is refused, or a root in which a test file raises no
//     event within a second, is blind. This is logged once; the caller scans what
//     is below the folder; the watch is tried again later.
//   - A budget limits how many folders are watched. They are watched in the order in
//     which they are asked for, those above before those below, and a quarter of the
//     budget is reserved for runs that have begun. The other folders are blind.
//   - Owners that can do without file events are kept while there are watches to spare
//     ([Watcher.Keep]). They give way to all others, the oldest first, and are never blind.
//   - Temporary, backup and lock files wake nobody.
package watch
