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

// References are the short words by which people name what they were shown. Whoever writes
// two contents can have their digests begin alike, so a reference is no part of the digest:
// it is the beginning of a code over the digest, by a key that the state folder keeps. The
// zero value has no key, and names a content by its whole digest.
type References struct{ key []byte }

// References returns those of the workspace, and makes their key where there is none yet.
// With another key, earlier references name nothing any more.
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

// makeReferenceKey makes the key. Of several who make it at once, that of the first stays.
func (d *Dir) makeReferenceKey() error {
	random := make([]byte, keyDigits)
	_, _ = rand.Read(random) // which never fails
	temp := "." + hex.EncodeToString(random[sha256.Size:]) + ".new"
	defer d.root.Remove(temp)
	err := d.link(temp, referenceKeyName, []byte(hex.EncodeToString(random[:sha256.Size])))
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return d.SyncNames()
}

// Of returns the reference of a content. use says for what it is named, and whose it is:
// the same content has another reference elsewhere.
func (r References) Of(digest engine.Digest, use ...string) string {
	if len(r.key) == 0 || digest == "" {
		return digest.Hex()
	}
	code := hmac.New(sha256.New, r.key)
	fmt.Fprintf(code, "%q", append(use, string(digest)))
	return hex.EncodeToString(code.Sum(nil))[:referenceDigits]
}

// IsOf reports whether a word names a content: it is its reference or its whole digest. The
// beginning of either names nothing.
func (r References) IsOf(word string, digest engine.Digest, use ...string) bool {
	word = plainWord(word)
	return digest != "" && (word == digest.Hex() || word == r.Of(digest, use...))
}

// IsReference reports whether a word can name a content: it is as long as a reference or a
// digest.
func IsReference(word string) bool {
	word = plainWord(word)
	return (len(word) == referenceDigits || len(word) == 2*sha256.Size) && strings.Trim(word, "0123456789abcdef") == ""
}

func plainWord(word string) string { return strings.TrimPrefix(strings.ToLower(word), "sha256:") }
