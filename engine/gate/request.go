package gate

import (
	"slices"

	"placet/engine"
	"placet/schemas"
)

// Artifact is a file that a reviewer is asked to look at.
type Artifact struct {
	// Path is relative to the workspace.
	Path string `json:"path"`
	// SHA256 is its digest when the request was issued, 64 hex digits; ""
	// where the file is missing.
	SHA256 string `json:"sha256"`
	// Binding says that an answer is stale once the file has changed.
	Binding bool `json:"binding"`
}

// Request is what is asked: request.json.
type Request struct {
	// SchemaVersion is the version of the format; 0 is written as 1.
	SchemaVersion int    `json:"schema_version"`
	RequestID     string `json:"request_id"`
	Family        string `json:"family"`
	Run           string `json:"run"`
	Type          string `json:"type"`
	Prompt        string `json:"prompt"`
	// Options are the words that answer. Where there are none the answer is
	// free text.
	Options []Option `json:"options"`
	// CommentRequired are the ids of the options that ask for a comment.
	CommentRequired []string `json:"comment_required"`
	// Several are the ids of the options of which any number may be chosen
	// together. Every other option stands alone.
	Several []string `json:"several,omitempty"`
	// Items are things of which an answer may pick any number.
	Items []Item `json:"items"`
	// Context is a JSON object as it was found; nil is written as {}.
	Context   schemas.Raw `json:"context"`
	Artifacts []Artifact  `json:"artifacts"`
	// RequestedAt and Deadline are moments, RFC 3339; "" is no deadline.
	RequestedAt string `json:"requested_at"`
	Deadline    string `json:"deadline"`
	// Default is the option or word that the deadline takes, "" for none.
	Default string `json:"default"`
	// MayAnswer lists who may answer; empty means anyone.
	MayAnswer []string `json:"may_answer"`
	// Revision is that of the transition that asks.
	Revision int `json:"revision"`
	// Block is the request's own text in its form, nil for a general form. It is
	// not written; the prompt may be its [Block.Prompt].
	Block *Block `json:"-"`
	// Extra are the family's members, written after the kernel's.
	Extra schemas.Object `json:"-"`
}

// FreeText reports whether the answer is text instead of an option: the
// comment of a form, or the response of a response.json.
func (r Request) FreeText() bool { return len(r.Options) == 0 }

// version is that of the documents that this package writes.
const version = 1

// Encode returns the request as request.json.
func (r Request) Encode() ([]byte, error) {
	r.SchemaVersion = max(r.SchemaVersion, version)
	if r.Context.Null() {
		r.Context = schemas.Raw("{}")
	}
	return schemas.Encode(append(schemas.Struct(r).NullWhereEmpty("deadline", "default"), r.Extra...))
}

// AsIssued returns the request without the effects of its options where that is what
// was issued, by its digest: a version of placet did that showed none.
func (r Request) AsIssued(issued engine.Digest) Request {
	if issued == "" || r.hasSum(issued) {
		return r
	}
	plain := r
	plain.Options = slices.Clone(r.Options)
	for i := range plain.Options {
		plain.Options[i].Effect = ""
	}
	if plain.hasSum(issued) {
		return plain
	}
	return r
}

func (r Request) hasSum(sum engine.Digest) bool {
	body, err := r.Encode()
	return err == nil && engine.Sum(body) == sum
}

// MarshalJSON writes the artifact, with null for the digest of a missing file.
func (a Artifact) MarshalJSON() ([]byte, error) {
	return schemas.Struct(a).NullWhereEmpty("sha256").MarshalJSON()
}

// Shown is the request as its request.json says it, with what is not written there as
// it is now: what a form shows, whatever the state or the settings say by now.
func (r Request) Shown(body []byte) Request {
	shown, err := ReadRequest("request.json", body)
	if err != nil {
		return r
	}
	shown.Block = r.Block
	for i, o := range shown.Options {
		if i < len(r.Options) && r.Options[i].ID == o.ID {
			shown.Options[i].Words = r.Options[i].Words
		}
	}
	return shown
}

// ReadRequest reads a request.json. Members that are not the kernel's are kept
// in Extra, in their order; what is not written, [Option.Words] and
// [Request.Block], is for the family to add. The error is a *schemas.Error.
func ReadRequest(path string, body []byte) (Request, error) {
	var r Request
	extra, err := decode("kernel/request", path, body, &r)
	if err != nil {
		return Request{}, err
	}
	r.Extra = extra
	return r, nil
}
