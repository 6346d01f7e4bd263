package facade

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"placet/schemas"
)

// Identity says who calls.
type Identity struct {
	// Known names the caller in the form that gates use: "api:<token>", "owner:<login>",
	// "slack:<user>".
	Known string
	// User is the name alone, Source the surface of the call.
	User, Source string
	Roles        []Role
	// Families are the families that the caller may see; empty: all.
	Families []string
	// Token is the name of the caller's token, "" for none.
	Token string
	// Session is the session of a browser, nil for none.
	Session *Session
}

// May reports whether the caller has a role.
func (i Identity) May(r Role) bool { return r == "" || slices.Contains(i.Roles, r) }

// Sees reports whether the caller may see a family.
func (i Identity) Sees(family string) bool {
	return len(i.Families) == 0 || slices.Contains(i.Families, family)
}

// Call is one call of a route after all checks have passed.
type Call struct {
	*http.Request
	Writer http.ResponseWriter
	Who    Identity
	// Values are the values of the path's wildcards.
	Values map[string]string
	// Raw is the body, unchanged.
	Raw    []byte
	query  url.Values
	params []Param
}

// Text returns a value of the query, or its default.
func (c *Call) Text(name string) string {
	if v := c.query.Get(name); v != "" {
		return v
	}
	for _, p := range c.params {
		if p.Name == name {
			return p.Default
		}
	}
	return ""
}

// Number returns a value of the query as a number.
func (c *Call) Number(name string) int {
	n, _ := strconv.Atoi(c.Text(name))
	return n
}

// All returns all values of a name in the query.
func (c *Call) All(name string) []string { return c.query[name] }

// defaultBody is how large a body may be by default, in bytes.
const defaultBody = 1 << 20

// bodyLimits returns how large the body of a call may be, and how long sending it may
// take. An unidentified caller gets little of both.
func (c *Call) bodyLimits(r Route) (most int64, patience time.Duration) {
	switch {
	case c.Who.Known != "":
		return cmp.Or(r.MaxBody, defaultBody), bodyTime
	case r.Access == Signed:
		return cmp.Or(r.MaxBody, signedBody), anonymousTime
	}
	return anonymousBody, anonymousTime
}

// readBody reads the body, which must have the route's type.
func (c *Call) readBody(r Route) error {
	most, patience := c.bodyLimits(r)
	if c.ContentLength > most {
		return tooLarge(most)
	}
	reads := http.NewResponseController(c.Writer)
	_ = reads.SetReadDeadline(time.Now().Add(patience))
	body, err := io.ReadAll(http.MaxBytesReader(c.Writer, c.Body, most))
	if err == nil { // otherwise the deadline would end the call's context before the answer
		_ = reads.SetReadDeadline(time.Time{})
	}
	if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
		return tooLarge(most)
	}
	if err != nil {
		return Deny(http.StatusBadRequest, "body", "page.no.body")
	}
	if c.Raw = body; c.Method == http.MethodGet || len(body) == 0 && !r.Form {
		return nil
	}
	if r.Access == Signed { // the signature covers the body whatever it is, so it is checked first
		return nil
	}
	want := "application/json"
	if r.Form {
		want = "application/x-www-form-urlencoded"
	}
	return c.CheckType(want)
}

// CheckType refuses a body whose header names another type.
func (c *Call) CheckType(want string) error {
	if kind, _, err := mime.ParseMediaType(c.Header.Get("Content-Type")); err != nil || kind != want {
		return Deny(http.StatusUnsupportedMediaType, "content_type", "page.no.type", "type", want)
	}
	return nil
}

func tooLarge(most int64) error {
	return Deny(http.StatusRequestEntityTooLarge, "too_large", "page.no.size", "most", most)
}

// readQuery checks the query against the route's parameters.
func (c *Call) readQuery(r Route) error {
	query, err := url.ParseQuery(c.URL.RawQuery)
	if err != nil {
		return Invalid(FieldError{[]string{"query"}, "the query cannot be read", "value_error"})
	}
	c.query, c.params = query, r.Query
	var names []string
	for _, p := range r.Query {
		names = append(names, p.Name)
	}
	for name, values := range query {
		i := slices.Index(names, name)
		if i < 0 {
			return Invalid(unknownField("query", name, names))
		}
		if err := r.Query[i].check(values); err != "" {
			return Invalid(FieldError{[]string{"query", name}, err, "value_error"})
		}
	}
	return nil
}

// check says what is wrong with the values of a parameter, "" if nothing is.
func (p Param) check(values []string) string {
	if len(values) > 1 && !p.Several {
		return p.Name + " is given more than once"
	}
	for _, v := range values {
		switch n, err := strconv.Atoi(v); {
		case p.Most > 0 && (err != nil || n < p.Least || n > p.Most):
			return fmt.Sprintf("%s takes a number from %d to %d", p.Name, p.Least, p.Most)
		case p.Words != nil && !slices.Contains(p.Words, v):
			return fmt.Sprintf("%s takes one of %s", p.Name, strings.Join(p.Words, ", "))
		}
	}
	return ""
}

func unknownField(where, name string, names []string) FieldError {
	return FieldError{[]string{where, name}, unknown(name, names), "extra_forbidden"}
}

// UnknownWord returns the error for a parameter of the query whose value is none of some
// words.
func UnknownWord(param, word string, words []string) FieldError {
	return FieldError{[]string{"query", param}, unknown(word, words), "value_error"}
}

// unknown says that a word is none of some, and which of them was probably meant.
func unknown(word string, words []string) string {
	msg := fmt.Sprintf("%q is not known here", word)
	if near := schemas.Nearest(word, words); near != "" {
		msg += fmt.Sprintf("; did you mean %q?", near)
	} else if len(words) > 0 {
		msg += "; there are " + strings.Join(words, ", ")
	}
	return msg
}

// Decode reads the body into a pointer to a struct. An empty body counts as {}. Unless
// loose is set, it refuses members that the struct does not have.
func (c *Call) Decode(into any, loose bool) error {
	body := c.Raw
	if len(body) == 0 {
		body = []byte("{}")
	}
	var members schemas.Object
	err := schemas.Decode("", "body", body, &members)
	if err == nil && !loose {
		if names := membersOf(into); true {
			for _, m := range members {
				if !slices.Contains(names, m.Name) {
					return Invalid(unknownField("body", m.Name, names))
				}
			}
		}
	}
	if err == nil {
		err = schemas.Decode("", "body", body, into)
	}
	if bad := (*schemas.Error)(nil); errors.As(err, &bad) {
		return Invalid(BodyError(bad))
	}
	return err
}

// membersOf returns the JSON names of a struct's members.
func membersOf(pointer any) (names []string) {
	for _, f := range reflect.VisibleFields(reflect.TypeOf(pointer).Elem()) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
}
