package facade

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

	"placet/schemas"
)

// Problem is why a call is refused: problem details as RFC 9457 has them, with a code that
// programs compare.
type Problem struct {
	Status int
	// Code is a word of a few that the documentation lists, "" for none.
	Code   string
	Detail string
	// Members are further members, by name.
	Members map[string]any
}

func (p *Problem) Error() string { return p.Detail }

// Refuse returns a problem.
func Refuse(status int, code, detail string) *Problem {
	return &Problem{Status: status, Code: code, Detail: detail}
}

// reservedMembers are the members that RFC 9457 and placet give to every problem.
var reservedMembers = []string{"type", "title", "status", "detail", "instance", "code"}

// With adds a member. It panics on the name of a member that every problem has, whose value
// would take its place.
func (p *Problem) With(name string, value any) *Problem {
	if slices.Contains(reservedMembers, name) {
		panic("every problem has a member " + name + " of its own")
	}
	q := *p
	q.Members = maps.Clone(p.Members)
	if q.Members == nil {
		q.Members = map[string]any{}
	}
	q.Members[name] = value
	return &q
}

func unauthorized(detail string) *Problem {
	return Refuse(http.StatusUnauthorized, "unauthorized", detail)
}

// FieldError is one thing that is wrong with a body or a query, as FastAPI's clients expect it.
type FieldError struct {
	Loc  []string `json:"loc"` // "body" or "query", then the name
	Msg  string   `json:"msg"`
	Type string   `json:"type"`
}

// PointerError says what is wrong with a body at the member that a JSON pointer names.
func PointerError(pointer, msg string) FieldError {
	loc := []string{"body"}
	if pointer != "" {
		for part := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
			loc = append(loc, strings.NewReplacer("~1", "/", "~0", "~").Replace(part))
		}
	}
	return FieldError{loc, msg, "value_error"}
}

// BodyError says what the schemas find wrong with a body. What is no JSON is named by its
// line, all else by its member.
func BodyError(e *schemas.Error) FieldError {
	said := *e
	if said.Path = ""; said.Pointer != "" {
		said.Line = 0
	}
	return PointerError(e.Pointer, said.Error())
}

// Invalid is a body or a query that cannot be used.
func Invalid(errs ...FieldError) *Problem {
	return Refuse(http.StatusUnprocessableEntity, "invalid", errs[0].Msg).With("errors", errs)
}

// problemOf is the problem that an error is; one of the machine is told the caller in
// general words alone.
func problemOf(err error) *Problem {
	var p *Problem
	if errors.As(err, &p) {
		return p
	}
	return Refuse(http.StatusServiceUnavailable, "unavailable", "placet cannot do that now; its log says why")
}

// write answers with the problem.
func (p *Problem) write(w http.ResponseWriter) {
	body := map[string]any{}
	maps.Copy(body, p.Members)
	body["type"], body["title"], body["status"], body["detail"] = "about:blank", http.StatusText(p.Status), p.Status, p.Detail
	if p.Code != "" {
		body["code"] = p.Code
	}
	if p.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="placet"`)
	}
	text, err := json.Marshal(body)
	if err != nil { // a member that has no JSON is a mistake of ours
		text = []byte(`{"type":"about:blank"}`)
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	_, _ = w.Write(append(text, '\n'))
}
