// Package jsonedit edits one JSON document and leaves every other byte as it is.
//
// A state document may belong to several writers. What placet does not change
// must come out as it went in: the order of keys, unknown keys, 1.0, integers
// of twenty digits, escapes, line ends, the final newline. The document is
// therefore never decoded and encoded as a whole; [Apply] finds the bytes that
// an edit concerns and puts others in their place. The rules:
//
//   - A changed value is replaced where it stands. A value that is equal
//     already, layout aside, keeps its bytes.
//   - A new key goes to the end of its object, a new element to the end of its
//     array. A removed one goes with its comma.
//   - New text takes the file's own indentation, line ends and spacing after
//     ':' and ','. Where the members of an object stand in lines, so do those
//     of a new value; within an object or array that stands in one line, and
//     so in a file of one line, there is never a line break.
//   - A file that shows no indentation gets two spaces.
package jsonedit
