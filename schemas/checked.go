package schemas

import (
	"crypto/sha256"
	"sync"
)

// mostVerdicts is how many verdicts are remembered. At about 100 bytes each they stay
// below 4 MiB.
const mostVerdicts = 32768

// content names what was checked: the digest of a schema's name and a body.
type content struct {
	schema string
	sum    [sha256.Size]byte
}

// verdicts remembers what became of checked content: nil for good, else the error. When
// it is full it begins anew.
type verdicts struct {
	mu   sync.Mutex
	most int
	of   map[content]*Error
}

func (v *verdicts) get(c content) (verdict *Error, known bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	verdict, known = v.of[c]
	return verdict, known
}

func (v *verdicts) put(c content, verdict *Error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.of == nil || len(v.of) >= v.most {
		v.of = map[content]*Error{}
	}
	v.of[c] = verdict
}

var checked = verdicts{most: mostVerdicts}
