package engine

import (
	"bytes"

	"placet/schemas"
)

// CommandDigest returns the digest under which trust in a command is recorded. It
// is the digest of one JSON array: a fixed word for the purpose of the command,
// and then its parts, usually the words of the argument vector. The array keeps
// the parts apart, whatever characters they hold, so two commands that differ have
// two digests. Parts that JSON cannot hold, for instance a text that is not UTF-8,
// have the empty digest, which nobody trusts.
func CommandDigest[T any](purpose string, parts ...T) Digest {
	array := make([]any, 0, 1+len(parts))
	array = append(array, purpose)
	for _, part := range parts {
		array = append(array, part)
	}
	body, err := schemas.Line(array)
	if err != nil {
		return ""
	}
	return Sum(bytes.TrimSuffix(body, []byte("\n")))
}
