package faber

import (
	"path"
	"sync"

	"placet/engine"
	"placet/schemas"
)

// decoded remembers events that were decoded: the same bytes always give the same
// event, and a run may have ten thousand that every look would decode again.
var decoded events

const (
	// longHistory is how many events a run has at least that are remembered:
	// ten thousand runs with a few each would only fill the memory.
	longHistory = 64
	// mostDecoded bounds what is remembered; then it begins anew.
	mostDecoded = 1 << 15
)

// events are decoded events by the digest of their bytes.
type events struct {
	mu    sync.Mutex
	known map[engine.Digest]*event // nil for what is no event
}

// event decodes one event, without its name and number. It is nil for what is
// none, and must not be changed.
func (m *events) event(d engine.Document) *event {
	m.mu.Lock()
	e, known := m.known[d.Sum]
	m.mu.Unlock()
	if !known {
		e = decodeEvent(d)
		m.keep(d.Sum, e)
	}
	return e
}

func (m *events) keep(sum engine.Digest, e *event) {
	if sum == "" {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil || len(m.known) >= mostDecoded {
		m.known = map[engine.Digest]*event{}
	}
	m.known[sum] = e
}

func decodeEvent(d engine.Document) *event {
	e := event{Sum: d.Sum}
	if schemas.Decode("faber/event", path.Base(d.Path), d.Body, &e) != nil {
		return nil
	}
	if len(e.Raw) > 0 && schemas.DecodeValue(e.Raw, &e.Metadata) != nil {
		e.Metadata = eventMetadata{}
	}
	e.Raw = nil // it would keep the body
	return &e
}
