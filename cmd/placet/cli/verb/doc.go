// Package verb holds what every command of the command line is made of: its words and flags, what
// it is called with, whom it refuses, and how its arguments are read and completed.
package verb
