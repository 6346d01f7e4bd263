package view

import (
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/gate"
	"placet/layout"
	"placet/schemas"
)

// ArtifactLine is a file that a request shows.
type ArtifactLine struct {
	Path string `json:"path"`
	// SHA256 is the digest when the request was issued. Now is that of the present file, or
	// SHA256 if only its line ends differ; null if the file does not exist.
	SHA256  schemas.OrNull `json:"sha256"`
	Now     schemas.OrNull `json:"now"`
	Binding bool           `json:"binding"`
	Bytes   int            `json:"bytes"` // of the present file
	// Pointer says that the file is a pointer of Git LFS: its content is not here.
	Pointer bool `json:"lfs_pointer,omitempty"`
	// carried is the text at that time, nil if the request does not carry it.
	carried *string
}

// Changed reports whether the file differs from the one that was shown.
func (l ArtifactLine) Changed() bool { return l.SHA256 != l.Now }

// OpenData is an open request as JSON.
type OpenData struct {
	engine.OpenRequest
	Context   schemas.Raw    `json:"context"`
	Artifacts []ArtifactLine `json:"artifacts"`
	Receipt   *gate.Receipt  `json:"receipt"`
	// Since says what changed since the last round, "" if there was none.
	Since string `json:"-"`
}

// ClosedData is a closed request as JSON.
type ClosedData struct {
	Closed
	Context   schemas.Raw    `json:"context"`
	Artifacts []ArtifactLine `json:"artifacts"`
	Receipt   *gate.Receipt  `json:"receipt"`
	// Since says what changed since the last round, "" if there was none.
	Since string `json:"-"`
}

// OpenDataOf returns all that is known of an open request.
func OpenDataOf(b *workspace.Workspace, t Request) OpenData {
	d := OpenData{OpenRequest: Describe(b, t.OpenRequest)}
	d.Context, d.Artifacts, d.Since = shownIn(b, RequestAt{t.Found, t.Request})
	return d
}

// ClosedDataOf returns all that is known of a closed request.
func ClosedDataOf(b *workspace.Workspace, at RequestAt) ClosedData {
	d := ClosedData{Closed: ClosedOf(b, at)}
	if d.Result != "" {
		d.Receipt = &d.Closed.Receipt
	}
	d.Context, d.Artifacts, d.Since = shownIn(b, at)
	return d
}

// shownIn returns what request.json shows besides its question.
func shownIn(b *workspace.Workspace, at RequestAt) (context schemas.Raw, files []ArtifactLine, since string) {
	d := readRequestFile(b, at, "request.json", layout.KindRequest)
	q, err := gate.ReadRequest(d.Path, d.Body)
	if !d.Present() || err != nil {
		return schemas.Raw("{}"), nil, ""
	}
	for _, a := range q.Artifacts {
		l := ArtifactLine{Path: a.Path, SHA256: schemas.OrNull(a.SHA256), Binding: a.Binding}
		if text, ok := a.Carried(); ok {
			l.carried, l.Pointer = &text, gate.IsPointer(text)
		}
		if now := b.Artifact(a.Path); now.Present() {
			l.Now, l.Bytes = schemas.OrNull(now.Sum.Hex()), len(now.Body)
			l.Pointer = l.Pointer || l.carried == nil && gate.IsPointer(string(now.Body))
			if now.Matches(a.SHA256) {
				l.Now = l.SHA256
			}
		}
		files = append(files, l)
	}
	if q.Context == nil {
		q.Context = schemas.Raw("{}")
	}
	return q.Context, files, q.Since
}
