package facade

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
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

// With adds a member.
func (p *Problem) With(name string, value any) *Problem {
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
