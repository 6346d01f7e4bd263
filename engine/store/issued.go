package store

import (
	"cmp"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"

	"placet/engine"
	"placet/layout"
	"placet/templates"
)

// isRecorded reports whether the record remembers what placet writes under a kind of
// file: files that others might replace and that a decision depends on.
func isRecorded(f layout.File) bool {
	switch f.Kind {
	case layout.KindRequest, layout.KindForm, layout.KindReceipt, layout.KindVoid, layout.KindAnswerEdit, layout.FaberText, layout.FaberReply, layout.FaberConsumed:
		return true
	case layout.KindStateFile:
		return f.Writer == layout.Placet
	}
	return false
}

// issue begins to record what commits are about to write, in parallel with the first
// round. The function that it returns waits for the record: a commit whose documents
// cannot be recorded ends before they get their names.
func (s *committer) issue(commits []*commit) (recorded func()) {
	if s.record == nil {
		return func() {}
	}
	docs, errs := make([][]engine.Document, len(commits)), make([]error, len(commits))
	for i, j := range commits {
		docs[i] = j.recorded() // copied now: the first round changes its documents if the disk refuses them
	}
	var recording sync.WaitGroup
	recording.Go(func() {
		eachIndex(s.disk.Parallel, len(commits), func(i int) {
			if len(docs[i]) > 0 {
				errs[i] = s.record.Issue(commits[i].run.Dir, docs[i])
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

// attribute records for whom a plan writes answers into other runs, before they can be read
// there. It records nothing for a name that is taken, because the attribution of the present
// file would end.
func (s *committer) attribute(j *commit) (release func()) {
	var docs []engine.Document
	for _, p := range j.writes {
		if p.doc.Source != "" {
			docs = append(docs, p.doc)
		}
	}
	if s.record == nil || len(docs) == 0 {
		return func() {}
	}
	release, j.err = s.record.WriteFor(docs, s.isFree, s.disk.Now())
	return release
}

// isFree reports whether a name can be created.
func (s *committer) isFree(name string) (bool, error) {
	_, err := s.disk.FS.Stat(name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return true, nil
	case err != nil:
		return false, templates.Errorf("store.write", "file", name, "error", err)
	}
	return false, nil
}

// confirm records that the state document and the requests of a commit have their names,
// so that the contents before them count as older from now on. An error undoes nothing:
// the record then knows as much as before.
func (s *committer) confirm(j *commit) {
	if s.record == nil || j.err != nil {
		return
	}
	docs := slices.DeleteFunc(j.recorded(), func(d engine.Document) bool { return d.Kind != engine.KindState && d.Kind != layout.KindRequest })
	if len(docs) == 0 {
		return
	}
	if err := s.record.Confirm(j.run.Dir, docs); err != nil {
		s.disk.Once("confirm", err.Error())
	}
}

// recorded returns the documents of a commit that the record remembers.
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
