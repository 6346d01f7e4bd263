// Package jsonedit edits one JSON document and leaves every other byte
// unchanged.
//
// A state document may belong to several writers. What placet does not change
// must come out as it went in: the order of keys, unknown keys, 1.0, integers of
// twenty digits, escapes, line ends, the final newline. The document is
// therefore never decoded and encoded as a whole; [Apply] finds the bytes that
// an edit concerns and replaces them. The rules:
//
//   - A changed value is replaced in place. A value that is equal already, apart
//     from layout, keeps its bytes.
//   - A new key goes to the end of its object, a new element to the end of its
//     array. A removed one is removed with its comma.
//   - New text takes the file's own indentation, line ends and spacing after ':'
//     and ','. If an object has its members on separate lines, so has a new
//     value in it; within an object or array on one line, and so in a file of
//     one line, a new value never gets a line break.
//   - A file that shows no indentation gets two spaces.
package jsonedit
