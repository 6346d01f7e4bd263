package gate

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"placet/engine"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// Voids is the content of void.json: the answers to a request that never count. They were
// given while a binding artifact differed from the one in the request, and stay void even if
// it is restored: nobody knows which of the two versions their author saw.
type Voids struct {
	SchemaVersion int    `json:"schema_version"`
	RequestID     string `json:"request_id"`
	Voids         []Void `json:"voids"`
}

// Void records that answers were found, at one time, beside an artifact that had changed.
type Void struct {
	N        int    `json:"n"`
	At       string `json:"at"` // RFC 3339
	Artifact string `json:"artifact"`
	// Shown is the digest of the artifact in the request, Found that of the version found,
	// "" for none; 64 hex digits each.
	Shown   string         `json:"shown"`
	Found   schemas.OrNull `json:"found"`
	Answers []VoidAnswer   `json:"answers"`
}

// VoidAnswer is one of the answers found.
type VoidAnswer struct {
	Path     string `json:"path"` // relative to the request's folder
	SHA256   string `json:"sha256"`
	Response string `json:"response"`
	By       string `json:"by"`
}

// MostVoids is how often the answers to a request may be void before it is asked again.
const MostVoids = 9

// ReadVoids reads a void.json. The error is a *schemas.Error.
func ReadVoids(path string, body []byte) (v Voids, err error) {
	return v, schemas.Decode("kernel/void", path, body, &v)
}

// Encode returns the document.
func (v Voids) Encode() ([]byte, error) { return schemas.Encode(schemas.Struct(v)) }

// Count returns how often answers were void.
func (v *Voids) Count() int {
	if v == nil {
		return 0
	}
	return len(v.Voids)
}

// Add returns the voids with one more.
func (v *Voids) Add(request string, next Void) Voids {
	all := Voids{SchemaVersion: version, RequestID: request}
	if v != nil {
		all.Voids = slices.Clone(v.Voids)
	}
	next.N = len(all.Voids) + 1
	all.Voids = append(all.Voids, next)
	return all
}

// Notice returns a text for the reviewer on why the last answers do not count, "" if none is
// void.
func (v *Voids) Notice(lang string) string {
	if v.Count() == 0 {
		return ""
	}
	last := v.Voids[len(v.Voids)-1]
	said := ""
	for _, a := range last.Answers {
		said = templates.Phrase(lang, "gate.void.answer", "before", said, "by", templates.Inline(a.By), "response", templates.Inline(strconv.Quote(a.Response)))
	}
	return templates.Phrase(lang, "gate.void.notice", "answers", said, "at", last.At, "file", code(last.Artifact))
}

// readVoids reads void.json. One that this machine wrote must be unchanged.
func (f *Folder) readVoids(d engine.Document) {
	f.VoidsDoc = d
	v, err := engine.Parse(d, ReadVoids)
	switch {
	case d.Err != nil && !d.Absent(), d.Absent() && len(d.Issued) > 0, d.Present() && d.Issued != nil && !d.IssuedHere():
		f.BadVoids = true
	case d.Absent():
	case err != nil || v.RequestID != f.ID || slices.ContainsFunc(v.Voids, func(e Void) bool { return e.N < 1 || e.N > len(v.Voids) }):
		f.BadVoids = true
	default:
		f.Voids = v
	}
}

// FormName returns the name of the form of a view: form.md for the first view, before any
// void.
func (f *Folder) FormName(view engine.Digest) string {
	if f.Voids.Count() == 0 {
		return "form.md"
	}
	return "form-" + view.Hex()[:8] + ".md"
}

// Counting returns the files of a request's folder whose answers count as the request is
// now, even if they differ. A file that may be half written does not affect the others.
func Counting(a Evaluation) (answers []VoidAnswer) {
	for _, d := range a.answerFiles() {
		if r := a.read(d); r.answer != nil {
			given := r.answer.Given()
			answers = append(answers, VoidAnswer{
				Path: path.Base(d.Path), SHA256: d.Sum.Hex(), Response: templates.Cut(given.Response, 200), By: given.By.Shown(a.Lang, given.Known),
			})
		}
	}
	return answers
}

// holds reports whether a file content is already void.
func (v *Voids) holds(sum string) bool {
	return v != nil && slices.ContainsFunc(v.Voids, func(one Void) bool {
		return slices.ContainsFunc(one.Answers, func(a VoidAnswer) bool { return a.SHA256 == sum })
	})
}

// Sent returns the files of the folder that somebody has sent as answers, whatever they say,
// and that are not void already.
func (f *Folder) Sent() (answers []VoidAnswer) {
	for _, d := range f.Docs {
		if f.Voids.holds(d.Sum.Hex()) {
			continue
		}
		v := VoidAnswer{Path: path.Base(d.Path), SHA256: d.Sum.Hex()}
		switch r, err := ReadResponse(v.Path, d.Body); {
		case d.Present() && d.Kind == layout.KindResponse && err == nil:
			v.Response, v.By = templates.Cut(r.Response, 200), r.ProvidedBy.User
		case d.Present() && d.Kind == layout.KindForm && filledIn(d):
			v.Response, v.By = firstTicked(normal(answerPart(d.Body))), owner(d.Known)
		default:
			continue
		}
		answers = append(answers, v)
	}
	return answers
}

// firstTicked returns the first ticked item in the answer part of a form.
func firstTicked(part string) string {
	for line := range strings.Lines(part) {
		if m := boxLine.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil && m[2] != " " {
			return templates.Cut(templates.Plain(m[3]), 200)
		}
	}
	return ""
}
