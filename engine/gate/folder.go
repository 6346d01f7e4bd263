package gate

import (
	"path"
	"slices"
	"strings"
	"time"

	"placet/engine"
	"placet/layout"
)

// Folder is the folder of one request as a snapshot shows it.
type Folder struct {
	// ID is the folder's name, Dir its path relative to the workspace.
	ID, Dir string
	Docs    []engine.Document
	// Doc is request.json, absent where there is none, and Request what it
	// says, nil where it cannot be used.
	Doc     engine.Document
	Request *Request
	// Receipt is nil where there is none, or a bad one; ReceiptDoc is its document.
	Receipt    *Receipt
	ReceiptDoc engine.Document
	BadReceipt bool
}

// Folders returns a run's request folders, sorted by id.
func Folders(s engine.Snapshot) []*Folder {
	var all []*Folder
	docs := s.Under(layout.RequestsDir)
	for len(docs) > 0 {
		dir := path.Dir(docs[0].Path)
		n := slices.IndexFunc(docs, func(d engine.Document) bool {
			return !strings.HasPrefix(d.Path, dir) || strings.LastIndexByte(d.Path, '/') != len(dir)
		})
		if n < 0 {
			n = len(docs)
		}
		f := EmptyFolder(s.Dir, path.Base(dir))
		f.read(docs[:n:n])
		all, docs = append(all, f), docs[n:]
	}
	slices.SortStableFunc(all, func(a, b *Folder) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// Find is the folder of a request among a run's; one that is not written yet is empty.
func Find(all []*Folder, runDir, id string) *Folder {
	if i, ok := slices.BinarySearchFunc(all, id, func(f *Folder, id string) int { return strings.Compare(f.ID, id) }); ok {
		return all[i]
	}
	return EmptyFolder(runDir, id)
}

// EmptyFolder is the folder of a request that is not written yet.
func EmptyFolder(runDir, id string) *Folder {
	dir := path.Join(runDir, layout.RequestsDir, id)
	return &Folder{ID: id, Dir: dir, Doc: engine.Document{Path: dir + "/request.json", Err: engine.ErrAbsent}}
}

func (f *Folder) read(docs []engine.Document) {
	f.Docs = docs
	for _, d := range docs {
		switch d.Kind {
		case layout.KindRequest:
			f.Doc = d
			if d.Present() {
				if q, err := engine.Parse(d, ReadRequest); err == nil {
					f.Request = q
				}
			}
		case layout.KindReceipt:
			f.readReceipt(d)
		}
	}
}

func (f *Folder) readReceipt(d engine.Document) {
	if !d.Present() {
		f.BadReceipt = !d.Absent()
		return
	}
	rc, err := engine.Parse(d, ReadReceipt)
	if err != nil {
		f.BadReceipt = true
		return
	}
	f.Receipt, f.ReceiptDoc = rc, d
}

// Reissued is request.json as it would be made with the times of the one that lies
// there, where that gives the same bytes: a request that a crash left before its
// transition became fact keeps its times, since its form may have been answered
// already. Only what this machine wrote does: another's times would be deadlines.
func (f *Folder) Reissued(make func(requestedAt, deadline string) []byte) (body []byte, ok bool) {
	if f.Request == nil || !f.Doc.IssuedHere() {
		return nil, false
	}
	body = make(f.Request.RequestedAt, f.Request.Deadline)
	return body, engine.Sum(body) == f.Doc.Sum
}

// Altered is why request.json is not what was issued, "" where it is, or is gone. What
// this machine recorded must agree with the state.
func (f *Folder) Altered(issued engine.Digest) (why string) {
	switch {
	case f.Doc.Absent():
		return ""
	case f.Doc.Err != nil:
		return f.Doc.Err.Error()
	case f.Doc.Sum == issued && (f.Doc.Issued == nil || slices.Contains(f.Doc.Issued, f.Doc.Sum)):
		return ""
	}
	return "it was changed after it was issued"
}

// Ahead is the decision of a receipt whose transition the state has not made: that is
// fact all the same. ok is false where there is none that counts; problem says why
// one that stands does not. What a receipt closes without an answer decides
// nothing.
func (f *Folder) Ahead(a Asked) (d Decision, problem string, ok bool) {
	rc := f.Receipt
	if rc == nil || rc.Revision <= a.Revision || f.ReceiptDoc.IssuedHere() && rc.Result != Accepted && rc.Result != Expired {
		return Decision{}, "", false
	}
	at, _ := time.Parse(time.RFC3339, rc.DecidedAt)
	d, problem = Verify(Claim{
		Source: FromReceipt, RequestID: rc.RequestID, Answer: rc.Given(), Place: f.ReceiptDoc.Path, At: at, Receipt: rc,
		Issued: f.ReceiptDoc.IssuedHere(),
	}, a)
	return d, problem, d.Counts()
}

// Unsettled reports whether a file of the folder may still be being written.
func (f *Folder) Unsettled() bool {
	return slices.ContainsFunc(f.Docs, engine.Document.Unsettled)
}
