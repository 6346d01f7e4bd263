package gate

import (
	"strings"

	"placet/engine"
	"placet/schemas"
)

// Results of a request.
const (
	Accepted   = "accepted"
	Expired    = "expired"
	Superseded = "superseded"
	Cancelled  = "cancelled"
)

// Answered names the file that a decision was made over.
type Answered struct {
	// Path is written as the family writes paths.
	Path string `json:"path"`
	// SHA256 is the digest of the file: 64 hex digits, with or without
	// "sha256:" before them.
	SHA256 string `json:"sha256"`
}

// Receipt records what became of a request: receipt.json.
type Receipt struct {
	// SchemaVersion is the version of the format; 0 is written as 1.
	SchemaVersion int    `json:"schema_version"`
	RequestID     string `json:"request_id"`
	// Result is Accepted, Expired, Superseded or Cancelled.
	Result string `json:"result"`
	// Response is the option as the request spells it or the free text; the
	// default where the deadline decided; else "". Response and Selected are
	// those of the [Answer].
	Response string   `json:"response"`
	Selected []string `json:"selected"`
	Comment  string   `json:"comment"`
	// Late says that the answer came when its deadline had passed.
	Late       bool `json:"late"`
	ProvidedBy By   `json:"provided_by"`
	// KnownAs says who answered and how that is known: "owner:alice", …
	KnownAs []string `json:"known_as"`
	// Answer is nil where no file answered.
	Answer *Answered `json:"answer"`
	// Digest is that of what was shown.
	Digest engine.Digest `json:"digest"`
	// ReceivedAt is when the answer was first recorded, DecidedAt when placet
	// took it; RFC 3339, in seconds.
	ReceivedAt string `json:"received_at"`
	DecidedAt  string `json:"decided_at"`
	Reason     string `json:"reason"`
	// SupersededBy is the id of the request that stands in this one's place,
	// "" where none does.
	SupersededBy string `json:"superseded_by,omitempty"`
	// Revision is that of the transition that the receipt belongs to.
	Revision int `json:"revision"`
	// Extra are the family's members, written last.
	Extra schemas.Object `json:"-"`
}

// Given is the answer that a receipt records. Its Path is written as the family
// writes paths.
func (r Receipt) Given() Answer {
	a := Answer{
		Response: r.Response, Selected: r.Selected, Comment: r.Comment, By: r.ProvidedBy, Known: r.KnownAs, Digest: r.Digest, Extra: r.Extra,
	}
	if r.Answer != nil {
		a.Path, a.Sum = r.Answer.Path, engine.Digest("sha256:"+strings.TrimPrefix(r.Answer.SHA256, "sha256:"))
	}
	return a
}

// Encode returns the receipt as receipt.json.
func (r Receipt) Encode() ([]byte, error) {
	r.SchemaVersion = max(r.SchemaVersion, version)
	return schemas.Encode(append(schemas.Struct(r), r.Extra...))
}

// ReadReceipt reads a receipt.json. The error is a *schemas.Error.
func ReadReceipt(path string, body []byte) (Receipt, error) {
	var r Receipt
	extra, err := decode("kernel/receipt", path, body, &r)
	if err != nil {
		return Receipt{}, err
	}
	r.Extra = extra
	return r, nil
}
