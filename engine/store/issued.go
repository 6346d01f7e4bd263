package store

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"sync"

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

// isRecorded reports whether what placet writes under a kind of file is remembered:
// what others might put in its place and a decision depends on.
func isRecorded(f layout.File) bool {
	switch f.Kind {
	case layout.KindRequest, layout.KindForm, layout.KindReceipt, layout.KindVoid:
		return true
	case layout.KindStateFile:
		return f.Writer == layout.Placet
	}
	return false
}

// issue begins to record what commits are about to write, beside the first round. The
// function that it returns waits for that: a commit whose documents cannot be recorded
// ends before they get their names.
func (s *committer) issue(commits []*commit) (recorded func()) {
	if s.settler.record == nil {
		return func() {}
	}
	docs, errs := make([][]engine.Document, len(commits)), make([]error, len(commits))
	for i, j := range commits {
		docs[i] = j.recorded() // now: the first round changes its documents where the disk refuses them
	}
	var recording sync.WaitGroup
	recording.Go(func() {
		eachIndex(s.disk.Parallel, len(commits), func(i int) {
			if len(docs[i]) > 0 {
				errs[i] = s.settler.record.Issue(commits[i].run.Dir, docs[i])
			}
		})
	})
	return func() {
		recording.Wait()
		for i, j := range commits {
			j.err = cmp.Or(j.err, errs[i])
		}
	}
}

// confirm records that the state document and the requests of a commit have their names:
// what stood there before is older from now on. Nothing is undone where that cannot be
// recorded: the record knows as much as before.
func (s *committer) confirm(j *commit) {
	if s.settler.record == nil || j.err != nil {
		return
	}
	docs := slices.DeleteFunc(j.recorded(), func(d engine.Document) bool { return d.Kind != engine.KindState && d.Kind != layout.KindRequest })
	if len(docs) == 0 {
		return
	}
	if err := s.settler.record.Confirm(j.run.Dir, docs); err != nil {
		s.disk.Once("confirm", err.Error())
	}
}

// recorded are the documents of a commit that are remembered.
func (j *commit) recorded() []engine.Document {
	var docs []engine.Document
	for _, p := range j.writes {
		if rel, inside := strings.CutPrefix(p.doc.Path, j.run.Dir+"/"); inside && j.fam != nil && !p.journal {
			if f, known := j.fam.File(j.run, rel); known && isRecorded(f) {
				docs = append(docs, p.doc)
			}
		}
	}
	return docs
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
