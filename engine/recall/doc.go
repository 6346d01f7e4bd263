// Package recall keeps what looking at runs has shown, so that a later placet
// need not read again what has not changed since.
//
// The files are the record; these are two files of the state folder that can vanish
// at any moment, one for the runs that can move and one for those that have ended. The
// rules:
//
//   - An entry is used only while stat says of every file that the look depended
//     on what it said then: device, inode, size, mtime and ctime to the
//     nanosecond. A copied workspace has other inodes, a restored one other
//     ctimes.
//   - A look at files so young that a change in the same tick of the file
//     system's clock would not show is not kept (git calls them racy), nor is one
//     that found something unsettled, or asked git.
//   - An entry of another program, of other settings, of a moment that lies ahead,
//     or of one that time has passed over (a deadline) is not used.
//   - A file that does not read as a whole is no file. One that cannot be written
//     is done without.
//   - Nothing is decided by it but that nothing is to be done, and where to look
//     first.
package recall
