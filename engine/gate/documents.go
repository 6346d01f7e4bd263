package gate

import (
	"slices"
	"strconv"
	"strings"

	"placet/engine"
	"placet/schemas"
)

// Artifact is a file that a reviewer is asked to look at.
type Artifact struct {
	// Path is relative to the workspace.
	Path string `json:"path"`
	// SHA256 is its digest when the request was issued, 64 hex digits; "" if the file is
	// missing.
	SHA256 string `json:"sha256"`
	// Binding says that an answer becomes stale when the file changes.
	Binding bool `json:"binding"`
	// Text is the content of the file, nil if the request does not carry it; see
	// [Request.Carry].
	Text *string `json:"text,omitempty"`
	// Editable says that an answer may change the text.
	Editable bool `json:"editable,omitempty"`
}

// Request is the content of a request.json: a question to a person.
type Request struct {
	// SchemaVersion is the version of the format; 0 is written as 1.
	SchemaVersion int    `json:"schema_version"`
	RequestID     string `json:"request_id"`
	Family        string `json:"family"`
	Run           string `json:"run"`
	Type          string `json:"type"`
	Prompt        string `json:"prompt"`
	// Options are the words that answer. If there are none, the answer is free text.
	Options []Option `json:"options"`
	// CommentRequired are the ids of the options that require a comment.
	CommentRequired []string `json:"comment_required"`
	// Several are the ids of the options of which any number may be chosen together. Every
	// other option must be chosen alone.
	Several []string `json:"several,omitempty"`
	// Items are things of which an answer may pick any number, or at most ItemsMax if that is
	// not 0. If ItemsWith is not empty, items may be picked only together with one of these
	// options.
	Items     []Item   `json:"items"`
	ItemsMax  int      `json:"items_max,omitempty"`
	ItemsWith []string `json:"items_with,omitempty"`
	// Context is a JSON object, unchanged; nil is written as {}.
	Context   schemas.Raw `json:"context"`
	Artifacts []Artifact  `json:"artifacts"`
	// Since says what happened to an earlier request about the same work, and what changed in
	// its files since; "" if there was none.
	Since string `json:"since,omitempty"`
	// RequestedAt and Deadline are times, RFC 3339; "" is no deadline.
	RequestedAt string `json:"requested_at"`
	Deadline    string `json:"deadline"`
	// Default is the option or word that counts after the deadline, "" for none.
	Default string `json:"default"`
	// MayAnswer lists who may answer; empty means anyone.
	MayAnswer []string `json:"may_answer"`
	// Revision is the revision of the transition that asks.
	Revision int `json:"revision"`
	// Block is the request's own text in its form, nil for a general form. It is not written;
	// the prompt may be its [Block.Prompt].
	Block *Block `json:"-"`
	// Extra are the family's members, written after the kernel's.
	Extra schemas.Object `json:"-"`
}

// FreeText reports whether the answer is text instead of an option: the
// comment of a form, or the response of a response.json.
func (r Request) FreeText() bool { return len(r.Options) == 0 }

// version is the version of the documents that this package writes.
const version = 1

// Encode returns the request as request.json.
func (r Request) Encode() ([]byte, error) {
	r.SchemaVersion = max(r.SchemaVersion, version)
	if r.Context.Null() {
		r.Context = schemas.Raw("{}")
	}
	return schemas.Encode(append(schemas.Struct(r).NullWhereEmpty("deadline", "default"), r.Extra...))
}

// AsIssued returns the request with its request.json, nil if it cannot be encoded. Earlier
// versions of placet issued requests without the texts of the files, or also without the
// effects of the options: if the digest shows that such a request was issued, AsIssued
// returns that one.
func (r Request) AsIssued(issued engine.Digest) (Request, []byte) {
	body, _ := r.Encode()
	if issued == "" || engine.Sum(body) == issued {
		return r, body
	}
	plain := r
	plain.Carry(func(Artifact) (string, bool) { return "", false })
	if b, _ := plain.Encode(); engine.Sum(b) == issued {
		return plain, b
	}
	plain.Options = slices.Clone(r.Options)
	for i := range plain.Options {
		plain.Options[i].Effect = ""
	}
	if b, _ := plain.Encode(); engine.Sum(b) == issued {
		return plain, b
	}
	return r, body
}

// MarshalJSON writes the artifact, with null for the digest of a missing file.
func (a Artifact) MarshalJSON() ([]byte, error) {
	return schemas.Struct(a).NullWhereEmpty("sha256").MarshalJSON()
}

// Shown returns the request as its request.json says it, completed with the present values of
// what is not written there. This is what a form shows, whatever the state or the settings
// have become.
func (r Request) Shown(body []byte) Request {
	shown, err := ReadRequest("request.json", body)
	if err != nil {
		return r
	}
	return r.ShownAs(shown)
}

// ShownAs is [Request.Shown] for a request.json that has been read before.
func (r Request) ShownAs(shown Request) Request {
	shown.Options, shown.Block = slices.Clone(shown.Options), r.Block
	for i, o := range shown.Options {
		if i < len(r.Options) && r.Options[i].ID == o.ID {
			shown.Options[i].Words = r.Options[i].Words
		}
	}
	return shown
}

// ReadRequest reads a request.json. It keeps members that are not the kernel's in Extra, in
// their order; the family adds what is not written, [Option.Words] and [Request.Block]. The
// error is a *schemas.Error.
func ReadRequest(path string, body []byte) (Request, error) {
	return readRequest("kernel/request", path, body)
}

func readRequest(schema, path string, body []byte) (r Request, err error) {
	r.Extra, err = decode(schema, path, body, &r)
	return r, err
}

// By says who gave an answer and on which surface.
type By struct {
	User   string `json:"user"`
	Source string `json:"source"`
}

// The sources of answers. A family may have others.
const (
	SourceForm     = "form"
	SourceFile     = "file"
	SourceDeadline = "deadline" // placet itself: no response.json may claim it
)

// These sources only families use. A response.json names them truly if this machine recorded that it
// wrote the response for somebody who answered there.
const (
	SourceIssueComment = "issue_comment"
	SourceCoordination = "parallel_coordination"
)

// SourceLink is the surface of a press of a button in a message.
const SourceLink = "link"

var ofFamilies = []string{SourceIssueComment, SourceCoordination}

// Response is an answer from a tool, a script or a service: response.json.
type Response struct {
	RequestID string `json:"request_id"`
	// Response is an option's word, or the answer if it is free text; "" if the request's
	// default applies.
	Response string `json:"response"`
	// Selected are the ids of the items that were picked, and of further options if several
	// may be chosen together.
	Selected   []string `json:"selected,omitempty"`
	Comment    string   `json:"comment,omitempty"`
	ProvidedBy By       `json:"provided_by"`
	// Digest is the digest of what was shown, "" for the request as issued.
	Digest engine.Digest `json:"digest,omitempty"`
	// Artifacts are the files that the answer is bound to, in the version that its author
	// saw; nil if the answer does not say.
	Artifacts []engine.SeenArtifact `json:"artifacts,omitempty"`
	// Edits are the texts that the author changed.
	Edits     []Edit `json:"edits,omitempty"`
	Signature string `json:"signature,omitempty"`
	// Extra are further members, kept in their order.
	Extra schemas.Object `json:"-"`
}

// Encode returns the answer as response.json. It omits optional members that are empty.
func (r Response) Encode() ([]byte, error) {
	return schemas.Encode(append(schemas.Struct(r), r.Extra...))
}

// ReadResponse reads a response.json. [Judge] decides whether it answers a request. The error
// is a *schemas.Error.
func ReadResponse(path string, body []byte) (Response, error) {
	return readResponse("kernel/response", path, body)
}

// ReadOptional reads a response.json that may omit its response, because the request has a
// default for an answer without an option ([Evaluation.Default]). The error is a
// *schemas.Error.
func ReadOptional(path string, body []byte) (Response, error) {
	return readResponse("kernel/response-optional", path, body)
}

func readResponse(schema, path string, body []byte) (r Response, err error) {
	r.Extra, err = decode(schema, path, body, &r)
	return r, err
}

// The results of a request.
const (
	Accepted   = "accepted"
	Expired    = "expired"
	Superseded = "superseded"
	Cancelled  = "cancelled"
)

// Answered names the file that a decision was made from.
type Answered struct {
	// Path is in the notation of the family.
	Path string `json:"path"`
	// SHA256 is the digest of the file: 64 hex digits, with or without
	// "sha256:" before them.
	SHA256 string `json:"sha256"`
}

// Receipt is the content of a receipt.json: the result of a request.
type Receipt struct {
	// SchemaVersion is the version of the format; 0 is written as 1.
	SchemaVersion int    `json:"schema_version"`
	RequestID     string `json:"request_id"`
	// Result is Accepted, Expired, Superseded or Cancelled.
	Result string `json:"result"`
	// Response is the option as the request spells it, or the free text; the default if the
	// deadline decided; otherwise "". Response and Selected are those of the [Answer].
	Response string   `json:"response"`
	Selected []string `json:"selected"`
	Comment  string   `json:"comment"`
	// Edits are the texts that the reviewer changed.
	Edits []Edit `json:"edits,omitempty"`
	// Late says that the answer came after its deadline.
	Late       bool `json:"late"`
	ProvidedBy By   `json:"provided_by"`
	// KnownAs says who answered and how that is known: "owner:alice", …
	KnownAs []string `json:"known_as"`
	// Answer is nil if no file answered.
	Answer *Answered `json:"answer"`
	// Digest is the digest of what was shown.
	Digest engine.Digest `json:"digest"`
	// ReceivedAt is when the answer was first recorded, DecidedAt when placet accepted it;
	// RFC 3339, in seconds.
	ReceivedAt string `json:"received_at"`
	DecidedAt  string `json:"decided_at"`
	Reason     string `json:"reason"`
	// SupersededBy is the id of the request that replaced this one, "" if none did.
	SupersededBy string `json:"superseded_by,omitempty"`
	// Revision is the revision of the transition that the receipt belongs to.
	Revision int `json:"revision"`
	// Extra are the family's members, written last.
	Extra schemas.Object `json:"-"`
}

// Given returns the answer in a receipt. Its Path is in the notation of the family.
func (r Receipt) Given() Answer {
	a := Answer{
		Response: r.Response, Selected: r.Selected, Comment: r.Comment, Edits: r.Edits, By: r.ProvidedBy, Known: r.KnownAs, Digest: r.Digest, Extra: r.Extra,
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
	return readReceipt("kernel/receipt", path, body)
}

func readReceipt(schema, path string, body []byte) (r Receipt, err error) {
	r.Extra, err = decode(schema, path, body, &r)
	return r, err
}

// decode reads a document by a schema into a struct and returns the members for which the
// struct has no field.
func decode(schema, path string, body []byte, into any) (schemas.Object, error) {
	if err := schemas.Decode(schema, path, body, into); err != nil {
		return nil, err
	}
	return schemas.Rest(body, into)
}

// View returns the digest of what a request with that request.json shows.
func (r Request) View(body []byte, voids *Voids) engine.Digest {
	var binding []string
	for _, a := range r.Binding() {
		binding = append(binding, a.SHA256)
	}
	return Digest(body, binding, voids.Count())
}

// missing replaces the digest of an absent file.
const missing = "missing"

// Digest returns the digest of what a reviewer is shown: SHA-256 of request.json's bytes and,
// for each binding artifact in the request's order, one line with its present hex digest, or
// "missing" if the entry in binding is "". Once answers were void, a further line says how
// often, so that none of them answers what is shown since.
func Digest(request []byte, binding []string, voids int) engine.Digest {
	var lines strings.Builder
	for _, sum := range binding {
		if sum == "" {
			sum = missing
		}
		lines.WriteString(sum + "\n")
	}
	if voids > 0 {
		lines.WriteString("void " + strconv.Itoa(voids) + "\n")
	}
	shown := append(append([]byte(nil), request...), lines.String()...)
	return engine.Sum(shown)
}
