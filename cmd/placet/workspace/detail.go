package workspace

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"placet/cmd/placet/console"
	"placet/engine"
	"placet/engine/gate"
	"placet/engine/loop"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// ArtifactLine is a file that a request shows.
type ArtifactLine struct {
	Path string `json:"path"`
	// SHA256 is the digest when the request was issued, Now that of the file as it is, or
	// SHA256 where only its line ends are others; null where there is no such file.
	SHA256  schemas.OrNull `json:"sha256"`
	Now     schemas.OrNull `json:"now"`
	Binding bool           `json:"binding"`
	Bytes   int            `json:"bytes"` // as it is now
	// carried is the text of then, nil where the request does not carry it.
	carried *string
}

// Changed reports whether the file is another than the one that was shown.
func (l ArtifactLine) Changed() bool { return l.SHA256 != l.Now }

// OpenData is an open request as JSON.
type OpenData struct {
	engine.OpenRequest
	Context   schemas.Raw    `json:"context"`
	Artifacts []ArtifactLine `json:"artifacts"`
	Receipt   *gate.Receipt  `json:"receipt"`
}

// ClosedData is a closed request as JSON.
type ClosedData struct {
	ClosedLine
	Context   schemas.Raw    `json:"context"`
	Artifacts []ArtifactLine `json:"artifacts"`
	Receipt   *gate.Receipt  `json:"receipt"`
}

// OpenDataOf is all that is known of an open request.
func OpenDataOf(b *Workspace, f loop.Found, a engine.OpenRequest) OpenData {
	d := OpenData{OpenRequest: Describe(b, a)}
	d.Context, d.Artifacts = shownIn(b, f, a.Request)
	return d
}

// ClosedDataOf is all that is known of a closed request.
func ClosedDataOf(b *Workspace, at RequestAt) ClosedData {
	d := ClosedData{ClosedLine: ClosedLineOf(b, at)}
	d.Context, d.Artifacts = shownIn(b, at.Found, at.ID)
	if c, ok := ClosedRequest(b, at.Found, at.ID); ok {
		d.Receipt = &c.Receipt
	}
	return d
}

// shownIn is what request.json shows besides its question.
func shownIn(b *Workspace, f loop.Found, request string) (context schemas.Raw, files []ArtifactLine) {
	d := readRequestFile(b, f, request, "request.json", layout.KindRequest)
	q, err := gate.ReadRequest(d.Path, d.Body)
	if !d.Present() || err != nil {
		return schemas.Raw("{}"), nil
	}
	for _, a := range q.Artifacts {
		l := ArtifactLine{Path: a.Path, SHA256: schemas.OrNull(a.SHA256), Binding: a.Binding}
		l.carries(a)
		if now := b.Artifact(a.Path); now.Present() {
			l.Now, l.Bytes = schemas.OrNull(now.Sum.Hex()), len(now.Body)
			if now.Matches(a.SHA256) {
				l.Now = l.SHA256
			}
		}
		files = append(files, l)
	}
	if q.Context == nil {
		q.Context = schemas.Raw("{}")
	}
	return q.Context, files
}

// Artifact reads a file that a request shows. No link is followed.
func (b *Workspace) Artifact(path string) engine.Document {
	return b.Settled(path, layout.File{Kind: "artifact", Writer: layout.Anyone, Limit: layout.LimitState})
}

// ExactRequest is the request of an id, open or closed, which may stand after "<run>:". An
// id that several runs use is ambiguous.
func ExactRequest(b *Workspace, name string) (RequestAt, error) {
	run, id, both := strings.Cut(name, ":")
	if !both {
		run, id = "", name
	}
	if both && layout.IsRequestID(id) {
		for _, f := range b.Loop.Asking(id) {
			if f.Key().String() == run && HasRequest(b, f, id) {
				return RequestAt{f, id}, nil
			}
		}
	}
	found := b.Runs()
	if both {
		found = slices.DeleteFunc(found, func(f loop.Found) bool { return f.Key().String() != run })
	}
	if !layout.IsRequestID(id) {
		found = nil
	}
	var fit []RequestAt
	for _, f := range found {
		if HasRequest(b, f, id) {
			fit = append(fit, RequestAt{f, id})
		}
	}
	switch len(fit) {
	case 1:
		return fit[0], nil
	case 0:
		return RequestAt{}, console.Usage("workspace.request.none", "name", strconv.Quote(console.OneLine(name)))
	}
	p := fits(name, templates.NewMessage("count.requests", "n", len(fit)))
	for _, at := range fit {
		p.Fits = append(p.Fits, at.Found.Key().String()+":"+at.ID)
	}
	return RequestAt{}, p
}

// OpenRequestAt is a request as it is asked now; open is false where it is not any more.
func OpenRequestAt(b *Workspace, at RequestAt) (t Request, open bool) {
	v := ViewOf(b, at.Found)
	for _, a := range v.Open {
		if a.Request == at.ID {
			return requestOf(b, Describe(b, a), at.Found), true
		}
	}
	return Request{}, false
}

// ClosedRequests are the requests of some runs that have their receipt, the newest first.
func ClosedRequests(b *Workspace, found []loop.Found) []ClosedLine {
	list := []ClosedLine{}
	for _, f := range found {
		for _, id := range requestFolders(b, f) {
			if d := readRequestFile(b, f, id, "receipt.json", layout.KindReceipt); d.Present() {
				list = append(list, ClosedLineOf(b, RequestAt{f, id}))
			}
		}
	}
	slices.SortFunc(list, func(x, y ClosedLine) int {
		return cmp.Or(cmp.Compare(y.DecidedAt, x.DecidedAt), cmp.Compare(x.Run, y.Run), cmp.Compare(x.RequestID, y.RequestID))
	})
	return list
}
