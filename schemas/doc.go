// Package schemas reads and writes placet's documents: strict JSON and YAML,
// checked against the JSON Schemas that are embedded here.
//
// Everything that a person, an agent or another program wrote passes through
// [Decode] or [DecodeYAML] before anything is decided on it. The rules:
//
//   - One document is one JSON object in valid UTF-8, from the first byte to
//     the last. No byte order mark, no second document, no comment.
//   - No object may hold a name twice, nor two names that differ only in case:
//     {"response":"reject","RESPONSE":"approve"} must never be read as approve.
//   - Names match exactly. Unknown names are allowed, but a misspelt name in a
//     document that is written for placet is an error.
//   - Numbers keep their text: 1.0 stays 1.0, twenty digits stay twenty digits.
//     A number that no finite float64 comes near (1e400) is refused.
//   - Nesting ends at 64 levels. Size limits are the caller's.
//   - A schema never leads to a file or to the network.
//
// The bytes that were checked are the bytes that are decoded; nothing is read
// twice. A document that placet wrote on this machine, as its digest shows, is
// not checked again (see [Own]).
package schemas
