package gate

import (
	"placet/engine"
	"placet/schemas"
)

// By says who gave an answer and on which surface.
type By struct {
	User   string `json:"user"`
	Source string `json:"source"`
}

// Sources of answers. A family may have others.
const (
	SourceForm     = "form"
	SourceFile     = "file"
	SourceDeadline = "deadline" // placet's own word: no response.json may claim it
)

// Response is an answer from a tool, a script or a service: response.json.
type Response struct {
	RequestID string `json:"request_id"`
	// Response is an option's word, or the answer where it is free text; ""
	// where the request's default stands for none.
	Response string `json:"response"`
	// Selected are the ids of the items that were picked, and of further
	// options where several may be chosen together.
	Selected   []string `json:"selected,omitempty"`
	Comment    string   `json:"comment,omitempty"`
	ProvidedBy By       `json:"provided_by"`
	// Digest is that of what was shown, "" for the request as issued.
	Digest    engine.Digest `json:"digest,omitempty"`
	Signature string        `json:"signature,omitempty"`
	// Extra are further members, kept in their order.
	Extra schemas.Object `json:"-"`
}

// Encode returns the answer as response.json. What is empty and may be missing
// is left out.
func (r Response) Encode() ([]byte, error) {
	return schemas.Encode(append(schemas.Struct(r), r.Extra...))
}

// ReadResponse reads a response.json. Whether it answers a request is for
// [Judge] to say. The error is a *schemas.Error.
func ReadResponse(path string, body []byte) (Response, error) {
	return readResponse("kernel/response", path, body)
}

// ReadOptional reads a response.json that may leave its response out: one to a
// request that an answer without option answers ([Asked.Default]). The error is
// a *schemas.Error.
func ReadOptional(path string, body []byte) (Response, error) {
	return readResponse("kernel/response-optional", path, body)
}

func readResponse(schema, path string, body []byte) (Response, error) {
	var r Response
	extra, err := decode(schema, path, body, &r)
	if err != nil {
		return Response{}, err
	}
	r.Extra = extra
	return r, nil
}
