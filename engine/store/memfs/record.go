package memfs

import (
	"maps"
	"slices"
	"sync"

	"placet/engine"
)

// Record is a store's record in memory: it remembers what was written whatever
// becomes of the disk.
type Record struct {
	mu   sync.Mutex
	runs map[string]map[string][]engine.Digest
}

// Issued returns the digests of what was written in a run, by path.
func (r *Record) Issued(run string) map[string][]engine.Digest {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.runs[run])
}

// Clone returns a record of its own that remembers the same.
func (r *Record) Clone() *Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	return &Record{runs: maps.Clone(r.runs)}
}

// Issue records what is about to be written in a run.
func (r *Record) Issue(run string, docs []engine.Document) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.runs == nil {
		r.runs = map[string]map[string][]engine.Digest{}
	}
	paths := maps.Clone(r.runs[run])
	if paths == nil {
		paths = map[string][]engine.Digest{}
	}
	for _, d := range docs {
		if sum := engine.Sum(d.Body); !slices.Contains(paths[d.Path], sum) {
			paths[d.Path] = append(slices.Clip(paths[d.Path]), sum)
		}
	}
	r.runs[run] = paths
	return nil
}

// Attributed returns nobody: what is written through a store in memory came from no surface.
func (r *Record) Attributed(string, engine.Digest) string { return "" }
