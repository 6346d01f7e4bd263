package testoutput

import "slices"

// Type is the type of a failure.
type Type string

// The failure types.
const (
	NotImplemented Type = "NOT_IMPLEMENTED"
	LogicError     Type = "LOGIC_ERROR"
	TypeError      Type = "TYPE_ERROR"
	DesignMismatch Type = "DESIGN_MISMATCH"
	EnvIssue       Type = "ENV_ISSUE"
	Timeout        Type = "TIMEOUT"
	Unknown        Type = "UNKNOWN"
)

var types = []Type{NotImplemented, LogicError, TypeError, DesignMismatch, EnvIssue, Timeout, Unknown}

// Known returns the failure type that a word names, and whether it names one.
func Known(word string) (Type, bool) {
	if slices.Contains(types, Type(word)) {
		return Type(word), true
	}
	return "", false
}
