package store

import (
	"crypto/sha256"
	"encoding/hex"

	"placet/engine"
)

// identity is what a look sees of a file without reading it. Two looks that
// agree in it, once its times are past, saw the same content.
type identity struct {
	device, inode     uint64
	size              int64
	modified, changed int64 // nanoseconds
}

func identityOf(i Info) identity {
	return identity{i.Device, i.Inode, i.Size, i.Modified.UnixNano(), i.Changed.UnixNano()}
}

// content is what one reading of a file gave.
type content struct {
	info Info
	sum  [sha256.Size]byte
	body []byte // nil where only the hash was wanted
	// racy: so young when it was read that a change in the same tick of the
	// file system's clock would not show in its times.
	racy bool
	// name is the digest in words, where it was asked for before.
	name engine.Digest
}

// digest is the digest of the content.
func (c content) digest() engine.Digest {
	if c.name != "" {
		return c.name
	}
	return engine.Digest("sha256:" + hex.EncodeToString(c.sum[:]))
}
