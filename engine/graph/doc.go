// Package graph orders nodes by their dependencies: AFL's checkpoints, PAL's
// ports. It knows names alone, and is pure.
//
// The rules:
//
//   - An ID identifies a node. If several nodes have one ID, the first counts
//     and the others are ignored: the family judges whether an ID may occur
//     twice.
//   - A dependency is unknown if no node has its ID. [Unknown] returns it; the
//     other functions ignore it.
//   - Results are in the order in which the nodes were given, so that equal
//     documents give equal texts.
//   - Every function takes time and memory in proportion to nodes and
//     dependencies, however long a chain is.
package graph
