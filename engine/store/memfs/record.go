package memfs

import (
	"maps"
	"sync"
	"time"

	"placet/engine"
	"placet/engine/store/fs"
)

// Record is a store's record in memory: it remembers what was written even if the disk
// loses it.
type Record struct {
	// Surface returns the result of Attributed; nil: nobody. Documents that are written
	// through a store in memory came from no surface.
	Surface func(path string, digest engine.Digest) (who, source string)

	mu   sync.Mutex
	runs map[string]engine.Issued
	// writtenFor holds the documents that were written for somebody, by path.
	writtenFor map[string]engine.Document
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
	return &Record{runs: maps.Clone(r.runs), writtenFor: maps.Clone(r.writtenFor)}
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
	paths.Missing(docs)
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

// WriteFor records for whom documents are about to be written where nothing is.
func (r *Record) WriteFor(docs []engine.Document, isFree func(path string) (bool, error), _ time.Time) (release func(), err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.writtenFor == nil {
		r.writtenFor = map[string]engine.Document{}
	}
	for _, d := range docs {
		free, err := isFree(d.Path)
		if err != nil {
			return func() {}, err
		}
		if d.Sum = engine.Sum(d.Body); free {
			r.writtenFor[d.Path] = d
		}
	}
	return func() {}, nil
}

// Attributed returns for whom a document was written, else the result of Surface.
func (r *Record) Attributed(path string, digest engine.Digest) (who, source string) {
	r.mu.Lock()
	d := r.writtenFor[path]
	r.mu.Unlock()
	if d.Sum != "" && d.Sum == digest {
		return d.Known[0], d.Source
	}
	if r.Surface == nil {
		return "", ""
	}
	return r.Surface(path, digest)
}
