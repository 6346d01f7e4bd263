// Package graph orders things by what they depend on: AFL's checkpoints, PAL's
// ports. It knows names alone, and is pure.
//
// The rules:
//
//   - A node is known by its ID. Of several nodes with one ID the first
//     counts, the others are passed over: whether an ID may stand twice is the
//     family's to judge.
//   - A dependency that no node has for its ID is unknown. [Unknown] names it;
//     nothing else minds it.
//   - Answers come in the order in which the nodes were given, so that equal
//     documents give equal texts.
//   - All takes time and memory in proportion to nodes and dependencies,
//     however long a chain is.
package graph
