package store

import (
	"strings"
	"sync"

	"placet/engine"
)

// Bounds of the contents that are kept so that they need not be read again.
const (
	keepBody   = 64 << 10
	keepBodies = 12 << 20
	bodyCost   = 400 // what a kept body costs besides its bytes
)

// bodies are contents that were read not long ago, by path.
type bodies struct {
	mu   sync.Mutex
	kept map[string]*content
	cost int
}

// get returns what was read of a file, if it still looks the same and was old
// enough then for a change to show.
func (b *bodies) get(path string, id identity) *content {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c := b.kept[path]; c != nil && !c.racy && identityOf(c.info) == id {
		return c
	}
	return nil
}

// has reports whether anything is kept of a file.
func (b *bodies) has(path string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.kept[path] != nil
}

// put keeps a content, at the cost of some other where there are too many.
func (b *bodies) put(path string, c content) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.remove(path)
	if len(c.body) > keepBody || c.racy {
		return
	}
	for other := range b.kept {
		if b.cost+len(c.body)+bodyCost <= keepBodies {
			break
		}
		b.remove(other)
	}
	b.kept[path] = &c
	b.cost += len(c.body) + bodyCost
}

func (b *bodies) remove(path string) {
	if c := b.kept[path]; c != nil {
		b.cost -= len(c.body) + bodyCost
		delete(b.kept, path)
	}
}

// letGo forgets the contents of documents.
func (b *bodies) letGo(docs []engine.Document) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range docs {
		b.remove(docs[i].Path)
	}
}

// drop forgets all contents below a folder.
func (b *bodies) drop(prefix string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for path := range b.kept {
		if strings.HasPrefix(path, prefix) {
			b.remove(path)
		}
	}
}
