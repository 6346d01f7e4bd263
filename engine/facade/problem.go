package facade

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

	"placet/schemas"
	"placet/templates"
)

// Problem says why a call is refused: problem details by RFC 9457, with a code that programs
// compare.
type Problem struct {
	Status int
	// Code is one of the few words that the documentation lists, "" for none.
	Code   string
	Detail string
	// said is the detail for people; it has no key if only programs read it.
	said templates.Message
	// Members are further members, by name.
	Members map[string]any
}

func (p *Problem) Error() string { return p.Detail }

// In returns the problem for people, in a language.
func (p *Problem) In(lang string) string {
	if p.said.Key == "" {
		return p.Detail
	}
	return p.said.In(lang)
}

// Deny returns a problem that people may also read: a sentence of words.json with its values.
// Programs get it in English.
func Deny(status int, code string, key templates.Key, pairs ...any) *Problem {
	said := templates.NewMessage(key, pairs...)
	return &Problem{Status: status, Code: code, Detail: said.String(), said: said}
}

// Refuse returns a problem that only programs read.
func Refuse(status int, code, detail string) *Problem {
	return &Problem{Status: status, Code: code, Detail: detail}
}

// reservedMembers are the members that RFC 9457 and placet give to every problem.
var reservedMembers = []string{"type", "title", "status", "detail", "instance", "code"}

// With adds a member. It panics if name is that of a member that every problem has, because
// that member would replace value.
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

// FieldError is one error in a body or a query, in the form that FastAPI's clients expect.
type FieldError struct {
	Loc  []string `json:"loc"` // "body" or "query", then the name
	Msg  string   `json:"msg"`
	Type string   `json:"type"`
}

// PointerError returns an error in a body at the member that a JSON pointer names.
func PointerError(pointer, msg string) FieldError {
	loc := []string{"body"}
	if pointer != "" {
		for part := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
			loc = append(loc, strings.NewReplacer("~1", "/", "~0", "~").Replace(part))
		}
	}
	return FieldError{loc, msg, "value_error"}
}

// BodyError returns the error that the schemas find in a body. It names the line of a syntax
// error, and the member for all other errors.
func BodyError(e *schemas.Error) FieldError {
	said := *e
	if said.Path = ""; said.Pointer != "" {
		said.Line = 0
	}
	return PointerError(e.Pointer, said.Error())
}

// InvalidFor returns the problem of a body that cannot be used, for a reason that people
// read.
func InvalidFor(err error) *Problem {
	p := Invalid(FieldError{[]string{"body"}, templates.In(templates.English, err), "value_error"})
	p.said = templates.NewMessage("say.text", "text", err)
	return p
}

// Invalid returns the problem of a body or a query that cannot be used.
func Invalid(errs ...FieldError) *Problem {
	return Refuse(http.StatusUnprocessableEntity, "invalid", errs[0].Msg).With("errors", errs)
}

// problemOf returns the problem for an error; it describes an error of the machine to the
// caller only in general words.
func problemOf(err error) *Problem {
	var p *Problem
	if errors.As(err, &p) {
		return p
	}
	return Deny(http.StatusServiceUnavailable, "unavailable", "page.no.now")
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
	if err != nil { // a member that has no JSON form is a bug
		text = []byte(`{"type":"about:blank"}`)
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	_, _ = w.Write(append(templates.EscapeJSON(text), '\n'))
}
