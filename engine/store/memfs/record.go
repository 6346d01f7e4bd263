package memfs

import (
	"maps"
	"sync"

	"placet/engine"
	"placet/engine/store/fs"
)

// Record is a store's record in memory: it remembers what was written even if the disk
// loses it.
type Record struct {
	// Surface returns the result of Attributed; nil: nobody. Documents that are written
	// through a store in memory came from no surface.
	Surface func(path string, digest engine.Digest) (who, source string)

	mu      sync.Mutex
	runs    map[string]engine.Issued
	credits map[string]engine.Document // by path: what was written on somebody's behalf
}

// Issued returns the digests of what was written in a run, by path.
func (r *Record) Issued(run string) engine.Issued {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.runs[run])
}

// IssuedSince is Issued, whatever the caller read before.
func (r *Record) IssuedSince(run string, _ fs.Info) (issued engine.Issued, now fs.Info, same bool) {
	return r.Issued(run), now, false
}

// Clone returns an independent record with the same content.
func (r *Record) Clone() *Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	return &Record{runs: maps.Clone(r.runs), credits: maps.Clone(r.credits)}
}

// Issue records what is about to be written in a run.
func (r *Record) Issue(run string, docs []engine.Document) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.runs == nil {
		r.runs = map[string]engine.Issued{}
	}
	paths := maps.Clone(r.runs[run])
	if paths == nil {
		paths = engine.Issued{}
	}
	var own []engine.Document
	for _, d := range docs {
		if d.Source == "" {
			own = append(own, d)
			continue
		}
		if r.credits == nil {
			r.credits = map[string]engine.Document{}
		}
		d.Sum = engine.Sum(d.Body)
		r.credits[d.Path] = d
	}
	paths.Missing(own)
	r.runs[run] = paths
	return nil
}

// Confirm records that documents which were issued last have their names.
func (r *Record) Confirm(run string, docs []engine.Document) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	paths := maps.Clone(r.runs[run])
	for _, d := range docs {
		paths.Confirm(d.Path, engine.Sum(d.Body))
	}
	r.runs[run] = paths
	return nil
}

// Attributed returns on whose behalf a content was written, else the result of Surface.
func (r *Record) Attributed(path string, digest engine.Digest) (who, source string) {
	r.mu.Lock()
	d, ok := r.credits[path]
	r.mu.Unlock()
	if ok && d.Sum == digest {
		return d.Known[0], d.Source
	}
	if r.Surface == nil {
		return "", ""
	}
	return r.Surface(path, digest)
}
