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
	seed maphash.Seed
	seen map[uint64]bool
}

// add notes that a run was seen, and reports whether it had been before.
func (s *states) add(state string) (known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := maphash.String(s.seed, state)
	begun, known := s.seen[key]
	s.seen[key] = begun
	return known
}

// begin notes that a run's state document was seen.
func (s *states) begin(state string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen[maphash.String(s.seed, state)] = true
}

// get reports whether a run was seen, and whether its state document was.
func (s *states) get(state string) (begun, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	begun, known = s.seen[maphash.String(s.seed, state)]
	return begun, known
}
