package gate

import (
	"path"
	"slices"
	"strings"

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
	// Receipt is nil where there is none, or a bad one.
	Receipt    *Receipt
	BadReceipt bool
}

// Folders returns a run's request folders, sorted by id.
func Folders(s engine.Snapshot) []*Folder {
	var all []*Folder
	for _, d := range s.Under(layout.RequestsDir) {
		dir := path.Dir(d.Path)
		if len(all) == 0 || all[len(all)-1].Dir != dir {
			all = append(all, EmptyFolder(s.Dir, path.Base(dir)))
		}
		all[len(all)-1].add(d)
	}
	slices.SortStableFunc(all, func(a, b *Folder) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// EmptyFolder is the folder of a request that is not written yet.
func EmptyFolder(runDir, id string) *Folder {
	dir := path.Join(runDir, layout.RequestsDir, id)
	return &Folder{ID: id, Dir: dir, Doc: engine.Document{Path: dir + "/request.json", Err: engine.ErrAbsent}}
}

func (f *Folder) add(d engine.Document) {
	f.Docs = append(f.Docs, d)
	switch d.Kind {
	case layout.KindRequest:
		f.Doc = d
		if d.Present() {
			if q, err := ReadRequest(d.Path, d.Body); err == nil {
				f.Request = &q
			}
		}
	case layout.KindReceipt:
		if !d.Present() {
			f.BadReceipt = !d.Absent()
			return
		}
		rc, err := ReadReceipt(d.Path, d.Body)
		if err != nil {
			f.BadReceipt = true
			return
		}
		f.Receipt = &rc
	}
}

// Unsettled reports whether a file of the folder may still be being written.
func (f *Folder) Unsettled() bool {
	return slices.ContainsFunc(f.Docs, engine.Document.Unsettled)
}
