// Package memfs is a file system in memory that crashes and fails at the calls
// that a test chooses: it replaces the machine's own in tests of what must
// survive.
//
// It keeps, of every file, the visible and the durable content, and, of every folder, the
// visible names, the durable names, and the changes in between. A crash keeps what is
// durable and, depending on a seed, some of the rest: whole, in part, or as blank bytes of
// the right length. One change of a folder (a rename, an exchange) is kept whole or not at
// all.
package memfs
