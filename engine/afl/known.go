package afl

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"sync"

	"placet/engine"
	"placet/schemas"
)

// A state holds a part for every checkpoint, and a transition changes one of
// them. What was checked, decoded and rendered once is known again by its bytes,
// so that a look costs what is new and not what the session has grown to. It is
// memory of a function: what is not in it is worked out again.

// memory holds the last two generations of what was worked out, by the digest of
// what it was worked out from. What lies in it is never changed.
type memory[T any] struct {
	// limit is from how many bytes a generation may have been worked out.
	limit int

	mu         sync.Mutex
	bytes      int // of the newer
	newer, old map[[sha256.Size]byte]remembered[T]
}

type remembered[T any] struct {
	value T
	bytes int
}

func (m *memory[T]) get(key [sha256.Size]byte) (value T, known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	have, known := m.newer[key]
	if !known {
		if have, known = m.old[key]; known {
			m.keep(key, have)
		}
	}
	return have.value, known
}

// put remembers a value that was worked out from so many bytes.
func (m *memory[T]) put(key [sha256.Size]byte, value T, bytes int) {
	if bytes > m.limit/2 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.keep(key, remembered[T]{value, bytes})
}

// keep must be called with the lock held.
func (m *memory[T]) keep(key [sha256.Size]byte, have remembered[T]) {
	if m.newer == nil || m.bytes+have.bytes > m.limit {
		m.old, m.newer, m.bytes = m.newer, map[[sha256.Size]byte]remembered[T]{}, 0
	}
	m.newer[key], m.bytes = have, m.bytes+have.bytes
}

// The memories. A session of 500 checkpoints fits into a generation.
var (
	knownParts    = memory[*part]{limit: 4 << 20}
	knownApproved = memory[*Approved]{limit: 1 << 20}
	knownSpecs    = memory[specsFile]{limit: 1 << 20}
)

// part is a checkpoint as a state holds it.
type part struct {
	c    Checkpoint
	once [renderings]sync.Once
	sums [renderings]engine.Digest
}

// What is rendered of a checkpoint.
const (
	renderedStatus = iota
	renderedRouting
	renderings
)

// sum is the digest of a rendering, which body makes.
func (p *part) sum(which int, body func() []byte) engine.Digest {
	p.once[which].Do(func() { p.sums[which] = engine.Sum(body()) })
	return p.sums[which]
}

// keyOf is what a part of a session's state is known by.
func keyOf(words ...[]byte) [sha256.Size]byte { return sha256.Sum256(bytes.Join(words, []byte{0})) }

// decodeKnown is [DecodeState] where nothing is wrong with the state: of what is
// known only the syntax is looked at again. ok is false where anything might be
// wrong.
func decodeKnown(path string, body []byte) (st State, parts map[string]*part, ok bool) {
	if schemas.Decode("", path, body, nil) != nil {
		return st, nil, false
	}
	members, err := schemas.Members(body)
	if err != nil {
		return st, nil, false
	}
	checkpoints, err := schemas.Members(members.Raw("checkpoints"))
	if err != nil {
		return st, nil, false
	}
	session, fresh := members.Raw("session_id"), schemas.Object{}
	parts, keys := map[string]*part{}, map[string][sha256.Size]byte{}
	for _, m := range checkpoints {
		keys[m.Name] = keyOf(session, []byte(m.Name), m.Value.(schemas.Raw))
		if parts[m.Name], ok = knownParts.get(keys[m.Name]); !ok {
			fresh = append(fresh, m)
		}
	}
	approvedKey := keyOf(members.Raw("approved"))
	approved, agreed := knownApproved.get(approvedKey)
	reduced := slices.Clone(members)
	for i := range reduced {
		switch {
		case reduced[i].Name == "checkpoints":
			reduced[i].Value = fresh
		case reduced[i].Name == "approved" && agreed:
			reduced[i].Value = nil
		}
	}
	rest, err := schemas.Encode(reduced)
	if err != nil || schemas.Decode("afl/state", path, rest, &st) != nil {
		return State{}, nil, false
	}
	if agreed {
		st.Approved = copied(approved)
	} else if st.Approved != nil {
		knownApproved.put(approvedKey, copied(st.Approved), len(members.Raw("approved")))
	}
	for _, m := range checkpoints {
		p := parts[m.Name]
		if p == nil {
			p = &part{c: *st.Checkpoints[m.Name].clone()}
			knownParts.put(keys[m.Name], p, len(m.Value.(schemas.Raw)))
			parts[m.Name] = p
		}
		st.Checkpoints[m.Name] = p.c.clone()
	}
	st.Extra = members.Without(stateMembers...)
	return st, parts, true
}
