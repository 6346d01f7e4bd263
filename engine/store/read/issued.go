package read

import (
	"path"
	"slices"
	"time"

	"placet/engine"
	"placet/engine/store/fs"
	"placet/layout"
)

// Record remembers, outside the workspace, what this machine wrote: somebody else wrote a
// document that is not in it. Its methods are safe for concurrent use.
type Record interface {
	// IssuedSince returns, by path, the digests of what was written in a run, the newest
	// last, and describes the file that holds them. If that file still looks like before,
	// which an earlier call has returned, same is true and nothing else is returned. now
	// is the zero Info if the file cannot be described.
	IssuedSince(runDir string, before fs.Info) (issued engine.Issued, now fs.Info, same bool)
	// Issue records, durably, what is about to be written in a run.
	Issue(runDir string, docs []engine.Document) error
	// Confirm records that documents which were issued last have their names.
	Confirm(runDir string, docs []engine.Document) error
	// Attributed returns the person for whom a surface of placet has written a content,
	// and the surface; "" if none has.
	Attributed(path string, digest engine.Digest) (who, source string)
	// WriteFor records, durably, for whom documents are about to be written, as their
	// Known and Source say, except at paths that are not free. Until release is called,
	// nobody else in this process records or writes anything at their paths; release is
	// never nil.
	WriteFor(docs []engine.Document, isFree func(path string) (bool, error), at time.Time) (release func(), err error)
}

// markIssued adds to documents of a run what this machine wrote under their paths. It also
// adds a void.json that this machine wrote and that is gone, as absent, because its
// answers would otherwise count again.
func (v *visit) markIssued(docs []engine.Document) []engine.Document {
	if v.s.settler.record == nil {
		return docs
	}
	issued, now, same := v.s.settler.record.IssuedSince(v.run.Dir, v.tree.IssuedAt)
	if !same {
		v.tree.Issued, v.tree.IssuedAt = issued, now
	}
	for name, digests := range v.tree.Issued {
		i, ok := find(docs, name)
		if !ok && path.Base(name) == layout.VoidFile {
			docs = slices.Insert(docs, i, engine.Document{Path: name, Kind: layout.KindVoid, Err: engine.ErrAbsent})
			ok = true
		}
		if ok {
			docs[i].Issued = slices.Clip(digests)
		}
	}
	return docs
}
