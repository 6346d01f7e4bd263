package statedir

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"placet/engine"
)

const (
	// referenceKeyName is the file with the key of the references, and keyDigits how many
	// hex digits it has.
	referenceKeyName = "reference.key"
	keyDigits        = 2 * sha256.Size
	// referenceDigits is how many hex digits a reference has.
	referenceDigits = 12
)

// References are the short words by which people name what they were shown. Anybody who
// writes two contents can make their digests begin alike, so a reference is not a part of
// the digest: it is the beginning of a code over the digest, with a key in the state
// folder. The zero value has no key, and names a content by its whole digest.
type References struct{ key []byte }

// References returns the references of the workspace, and makes their key if there is none
// yet. Under a new key, earlier references name nothing any more.
func (d *Dir) References() (References, error) {
	key, err := d.Read(referenceKeyName, keyDigits+1)
	if errors.Is(err, fs.ErrNotExist) {
		if err = d.makeReferenceKey(); err == nil {
			key, err = d.Read(referenceKeyName, keyDigits+1)
		}
	}
	key = bytes.TrimSuffix(key, []byte("\n"))
	if err == nil && len(key) != keyDigits {
		err = fs.ErrInvalid
	}
	if err != nil {
		return References{}, err
	}
	return References{key}, nil
}

// makeReferenceKey makes the key. If several processes make it at once, the first key
// stays.
func (d *Dir) makeReferenceKey() error {
	random := make([]byte, keyDigits)
	_, _ = rand.Read(random) // it never fails
	temp := "." + hex.EncodeToString(random[sha256.Size:]) + ".new"
	defer d.root.Remove(temp)
	err := d.link(temp, referenceKeyName, []byte(hex.EncodeToString(random[:sha256.Size])))
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return d.SyncNames()
}

// Of returns the reference of a content. use says for what and for whom the content is
// named: the same content has different references for different uses.
func (r References) Of(digest engine.Digest, use ...string) string {
	if len(r.key) == 0 || digest == "" {
		return digest.Hex()
	}
	code := hmac.New(sha256.New, r.key)
	fmt.Fprintf(code, "%q", append(use, string(digest)))
	return hex.EncodeToString(code.Sum(nil))[:referenceDigits]
}

// IsOf reports whether a word names a content: it must be the reference or the whole
// digest. The beginning of either names nothing.
func (r References) IsOf(word string, digest engine.Digest, use ...string) bool {
	word = plainWord(word)
	return digest != "" && (word == digest.Hex() || word == r.Of(digest, use...))
}

// IsReference reports whether a word can name a content: it has the length and the digits
// of a reference or a digest.
func IsReference(word string) bool {
	word = plainWord(word)
	return (len(word) == referenceDigits || len(word) == 2*sha256.Size) && strings.Trim(word, "0123456789abcdef") == ""
}

func plainWord(word string) string { return strings.TrimPrefix(strings.ToLower(word), "sha256:") }
