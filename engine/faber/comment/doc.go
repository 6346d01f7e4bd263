// Package comment reads what somebody writes on the issue of a FABER run: the command in it
// (`@faber resume`, `status`, `cancel`), and the answer that its text gives to a question. It knows no
// files and no runs.
//
//   - markdown.go tells plain text from code, quotes and comments of HTML, which do not speak for their
//     author;
//   - command.go finds the command;
//   - answer.go finds the answer: the option alone, the option with a comment, or sentences that name one
//     option and have no doubt in them.
package comment
