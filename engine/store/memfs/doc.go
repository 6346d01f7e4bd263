// Package memfs is a file system in memory that crashes and fails where a test
// tells it to: the twin of the machine's for everything that must survive.
//
// Of every file it keeps what is visible and what is durable, and of every
// folder the names that are visible, those that are durable and the changes in
// between. A crash keeps what is durable and, by a seed, some of the rest:
// whole, in part, or as blank bytes of the right length. One change of a folder
// (a rename, an exchange) is kept whole or not at all.
package memfs
