package engine

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"fmt"
	"strings"
)

// CommitterNeed is the prefix of the need for who committed an answer file, a fact from local
// git.
const CommitterNeed = "git:answer/"

// NeedCommitter returns the need for who committed a file with its present content. The fact
// holds the author's mail address, "?" if that is unknown, and nothing if the content did not
// come through git. The need names the content by the ids that git may give it,
// "<id>[+<id>…]/<path>", so that the fact is about exactly the bytes that were read.
func NeedCommitter(d Document) string {
	var ids []string
	for _, body := range [][]byte{d.Body, bytes.ReplaceAll(d.Body, []byte("\r\n"), []byte("\n"))} {
		if len(ids) == 0 || len(body) != len(d.Body) {
			ids = append(ids, BlobID(body, 2*sha1.Size), BlobID(body, 2*sha256.Size))
		}
	}
	return CommitterNeed + strings.Join(ids, "+") + "/" + d.Path
}

// IgnoredNeed is the prefix of the need for whether git ignores a file, because the file may hold
// something that must not come into git. The fact is not empty if git ignores the file, or if
// that is unknown.
const IgnoredNeed = "git:ignored/"

// BlobID returns git's object id of a content, with so many hex digits.
func BlobID(body []byte, digits int) string {
	blob := append(fmt.Appendf(nil, "blob %d\x00", len(body)), body...)
	if digits == 2*sha256.Size {
		return Sum(blob).Hex()
	}
	return fmt.Sprintf("%x", sha1.Sum(blob))
}
