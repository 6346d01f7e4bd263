package store

import (
	"crypto/sha256"
	"encoding/hex"
	"hash/maphash"
	"sync"

	"placet/engine"
	"placet/engine/store/fs"
)

// content is what one reading of a file gave.
type content struct {
	info fs.Info
	sum  [sha256.Size]byte
	body []byte // nil where only the hash was wanted
}

// digest is the digest of the content.
func (c content) digest() engine.Digest {
	return engine.Digest("sha256:" + hex.EncodeToString(c.sum[:]))
}

// states holds every run ever seen, by the hash of its state document's path, and
// whether that document was there.
type states struct {
	mu   sync.Mutex
	seen map[uint64]bool
}

var stateSeed = maphash.MakeSeed()

// get reports whether a run was seen, and whether its state document was.
func (s *states) get(state string) (begun, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	begun, known = s.seen[maphash.String(stateSeed, state)]
	return begun, known
}

// begin notes that a run's state document was seen.
func (s *states) begin(state string) { s.note(state, true) }

// note notes that a run was seen, and reports whether it had been before.
func (s *states) note(state string, begun bool) (known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := maphash.String(stateSeed, state)
	was, known := s.seen[key]
	s.seen[key] = was || begun
	return known
}
