package gate

import (
	"strings"

	"placet/engine"
)

// missing stands for the digest of a file that is not there.
const missing = "missing"

// Digest returns the digest of what a reviewer is shown: SHA-256 of
// request.json's bytes and, per binding artifact in the request's order, one
// line with its hex digest as it is now, or "missing" where binding has "".
func Digest(request []byte, binding []string) engine.Digest {
	var lines strings.Builder
	for _, sum := range binding {
		if sum == "" {
			sum = missing
		}
		lines.WriteString(sum + "\n")
	}
	shown := append(append([]byte(nil), request...), lines.String()...)
	return engine.Sum(shown)
}
