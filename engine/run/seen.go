package run

import (
	"path"
	"time"

	"placet/engine"
	"placet/engine/gate"
)

// Text is what a request carries of a file: what its request.json has, before there is one
// what the family is about to write or what stands in the file. A file that git ignores may
// hold what must not come into git.
func (r *Run[S, V]) Text(id string, a gate.Artifact) (text string, ok bool) {
	f := r.Folder(id)
	if f.Request != nil {
		for _, issued := range f.Request.Artifacts {
			if issued.Path == a.Path && issued.SHA256 == a.SHA256 {
				return issued.Carried()
			}
		}
		return "", false
	}
	if d := r.Snap.Doc(path.Clean(a.Path)); a.Text == nil && d.Present() && d.Sum.Hex() == a.SHA256 {
		body := string(d.Body)
		a.Text = &body
	}
	if text, ok = a.Carried(); !ok {
		return "", false
	}
	return text, MayShow(&r.Input, a.Path)
}

// MayShow reports whether the text of a file may be copied into a document: git does not
// ignore it. Until that is known it may not be.
func MayShow(r *Input, file string) bool {
	ignored, known := r.Fact(engine.IgnoredNeed + file)
	return known && len(ignored.Body) == 0
}

// How long after the moment at which a request is issued the files that it shows may have
// been written: moments are kept in seconds, and a file of the run itself may be written with
// the request, by a commit that takes its time. Nobody has read it and answered by then.
const (
	issueTime  = time.Second
	commitTime = 10 * time.Second
)

// shownSince is when a request came to show what it shows: when it was issued, or when the
// form of a later view was.
func (i *issue[S, V]) shownSince(view engine.Digest) time.Time {
	if i.dir.Voids.Count() > 0 {
		return i.r.Snap.Doc(i.dir.Dir + "/" + i.dir.FormName(view)).Changed
	}
	return i.OpenedAt.Time()
}

// Rewritten is a file that an answer is bound to and that was written again since a moment,
// nil for none.
func Rewritten(s engine.Snapshot, req gate.Request, since time.Time) *gate.Rewritten {
	for _, a := range req.Binding() {
		d, within := s.Doc(path.Clean(a.Path)), issueTime
		if d.Kind != "" {
			within = commitTime
		}
		if d.Present() && d.Changed.After(since.Add(within)) {
			return &gate.Rewritten{Path: a.Path, At: d.Changed}
		}
	}
	return nil
}
