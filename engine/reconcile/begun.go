package reconcile

import (
	"crypto/sha256"
	"sync"

	"placet/engine"
)

// begun remembers which actions this process has begun, for as long as it runs:
// a run may vanish and come back with its folder, and its action must not begin
// a second time. Half a digest per action is all it keeps.
type begun struct {
	mu  sync.Mutex
	ids map[[16]byte]bool
}

func fingerprint(id string) [16]byte {
	sum := sha256.Sum256([]byte(id))
	return [16]byte(sum[:16])
}

// first reports whether an action was not begun before, and notes that it is.
func (b *begun) first(id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ids == nil {
		b.ids = map[[16]byte]bool{}
	}
	key := fingerprint(id)
	if b.ids[key] {
		return false
	}
	b.ids[key] = true
	return true
}

// all reports whether every action was begun already.
func (b *begun) all(actions []engine.Action) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, a := range actions {
		if !b.ids[fingerprint(a.ID)] {
			return false
		}
	}
	return true
}
