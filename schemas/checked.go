package schemas

import (
	"crypto/sha256"
	"sync"
)

// generation is how many verdicts the newer half of the memory holds. At about
// 100 bytes each, both halves stay below 4 MiB.
const generation = 16384

// content names what was checked: the digest of a schema's name and a body.
type content struct {
	schema string
	sum    [sha256.Size]byte
}

// verdicts remembers what became of checked content: nil for good, else the
// error. It holds the last two generations; what is asked for again moves to
// the newer one, so what is in use is never forgotten.
type verdicts struct {
	mu         sync.Mutex
	size       int
	newer, old map[content]*Error
}

func (v *verdicts) get(c content) (verdict *Error, known bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if verdict, known = v.newer[c]; known {
		return verdict, true
	}
	if verdict, known = v.old[c]; known {
		v.keep(c, verdict)
	}
	return verdict, known
}

func (v *verdicts) put(c content, verdict *Error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.keep(c, verdict)
}

// keep must be called with the lock held.
func (v *verdicts) keep(c content, verdict *Error) {
	if v.newer == nil || len(v.newer) >= v.size {
		v.old, v.newer = v.newer, map[content]*Error{}
	}
	v.newer[c] = verdict
}

var checked = verdicts{size: generation}
