package reconcile

import (
	"crypto/sha256"
	"sync"
)

// asked remembers which actions this process has asked for something, to begin
// or to end, for as long as it runs: a run may vanish and come back with its
// folder, and its action must not begin a second time. Half a digest per action
// is all it keeps.
type asked struct {
	mu  sync.Mutex
	ids map[[16]byte]bool
}

func fingerprint(id string) [16]byte {
	sum := sha256.Sum256([]byte(id))
	return [16]byte(sum[:16])
}

// first reports whether an action was not asked before, and notes that it is.
func (a *asked) first(id string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ids == nil {
		a.ids = map[[16]byte]bool{}
	}
	key := fingerprint(id)
	if a.ids[key] {
		return false
	}
	a.ids[key] = true
	return true
}

// was reports whether an action was asked already.
func (a *asked) was(id string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.ids[fingerprint(id)]
}
