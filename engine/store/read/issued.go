package read

import (
	"path"
	"slices"

	"placet/engine"
	"placet/engine/store/fs"
	"placet/layout"
)

// Record remembers, outside the workspace, what this machine wrote: a document
// that is not in it was written by somebody else. Its methods may be called at the
// same time.
type Record interface {
	// IssuedSince returns, by path, the digests of what was written in a run, the newest
	// last, and describes where that stands. If it still looks as before, which an earlier
	// call has returned, same is true, and nothing is returned besides; the zero Info is
	// returned where that cannot be told.
	IssuedSince(runDir string, before fs.Info) (issued engine.Issued, now fs.Info, same bool)
	// Issue records, durably, what is about to be written in a run.
	Issue(runDir string, docs []engine.Document) error
	// Confirm records that documents which were issued last have their names.
	Confirm(runDir string, docs []engine.Document) error
	// Attributed returns for whom a surface of placet has written a content, and which; ""
	// where none has.
	Attributed(path string, digest engine.Digest) (who, source string)
}

// markIssued notes in documents of a run what this machine wrote under their paths. A
// void.json that it wrote and that is gone stands among them as absent: its answers would
// count again.
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
