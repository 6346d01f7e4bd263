package run

import (
	"path"
	"time"

	"placet/engine"
	"placet/engine/gate"
)

// Text returns the text of a file for a request to carry: the text in its request.json or,
// before that exists, the text that the family is about to write or that the file has. It
// returns no text of a file that git ignores, which may hold what must not come into git.
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

// MayShow reports whether the text of a file may be copied into a document, which is so if
// git does not ignore the file. Until git has answered, it returns false.
func MayShow(r *Input, file string) bool {
	ignored, known := r.Fact(engine.IgnoredNeed + file)
	return known && len(ignored.Body) == 0
}

// issueTime and commitTime are how long after a request is issued the files that it shows may
// have been written: times are kept in seconds, and a file of the run itself may be written
// with the request, by a commit that takes its time. Nobody can have read the request and
// answered so soon.
const (
	issueTime  = time.Second
	commitTime = 10 * time.Second
)

// shownSince returns since when a request shows its present view: the time when it was
// issued, or when the form of a later view was written.
func (i *issue[S, V]) shownSince(view engine.Digest) time.Time {
	if i.dir.Voids.Count() > 0 {
		return i.r.Snap.Doc(i.dir.Dir + "/" + i.dir.FormName(view)).Changed
	}
	return i.OpenedAt.Time()
}

// Rewritten returns a file that an answer is bound to and that was written again after a
// time, or nil.
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
