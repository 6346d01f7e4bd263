// Package watch says where to look: in which folders something changed.
//
// A file event is a hint and nothing more. The package keeps no events, only
// the set of those who asked for a folder in which something happened, so that
// any number of events between two calls of [Watcher.Next] costs the same.
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
//     [Watcher.Structure] return when the watches stand; the caller must list or
//     read the folder after that, never before. Then whatever is made in a new
//     folder is either in the listing or makes an event.
//   - Every folder on the way from the workspace to a folder that somebody asked
//     for is seen too: either it or its parent is watched. When one of them is
//     removed, renamed or made, the watches at and below it are dropped and
//     added again by path, their owners are dirty, and structure asks for a
//     rescan. A folder that does not exist is waited for in this way.
//   - A queue overflow or an error means look everywhere: all watches are made
//     anew, all owners are dirty, a rescan is asked for.
//   - A folder whose watch is refused, or a root in which a file made for the
//     purpose raises no event within a second, is blind. It is said once; the
//     caller scans what lies below it; the watch is tried again later.
//   - No more folders are watched than a budget allows, in the order in which they
//     are asked for: those above before those below, and so that runs that have begun
//     are left a quarter of it, whatever else lies there. The rest is blind.
//   - What can do without file events is kept while there are watches to spare
//     ([Watcher.Keep]). It gives way to all others, the oldest first, and is never blind.
//   - Temporary, backup and lock files wake nobody.
package watch
