// Package verb has the parts that all commands of the command line share: their words and flags,
// their calls, the callers that they refuse, and how their arguments are read and completed.
package verb
