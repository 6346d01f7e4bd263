package facade

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Access says who may call a route.
type Access int

// The kinds of access.
const (
	// Anybody may call: the route says nothing about the workspace.
	Anybody Access = iota
	// TokenOrSession requires a bearer token or the session of a browser.
	TokenOrSession
	// TokenOnly requires a bearer token: what a browser sends by itself is not enough.
	TokenOnly
	// SessionOnly is for pages: a caller without a session is sent to the login.
	SessionOnly
	// Signed is for callers that prove their identity by the body itself.
	Signed
)

// Route is one row of the table: what is called, by whom, and what it does.
type Route struct {
	Method string
	// Path consists of segments: "{name}" matches one segment of any content,
	// "{name...}" all that follow.
	Path    string
	Summary string
	Access  Access
	// Role is the role that the caller needs.
	Role Role
	// Family is the family that the caller must be allowed to see, "" if the handler
	// checks that.
	Family string
	Query  []Param
	// Body is a pointer to a zero value of the request's body, nil for none. Data is a
	// value of the response's type. Both also describe the route.
	Body, Data any
	// Form takes application/x-www-form-urlencoded in place of JSON.
	Form bool
	// Loose ignores unknown members of the body, as the seed's endpoints do.
	Loose bool
	// Bare answers without the envelope.
	Bare bool
	// Raw makes the handler write its answer itself.
	Raw bool
	// Page says that a person looks at the answer, not a program. A SessionOnly route
	// is always a page.
	Page bool
	// MaxBody is how many bytes the body may have; 0 means 1 MiB.
	MaxBody int64
	// Handle answers the call. Status zero means 200.
	Handle func(c *Call) (status int, data any, err error)
}

// isPage reports whether a browser shows the answer.
func (r Route) isPage() bool { return r.Page || r.Access == SessionOnly }

// Param is a name in the query of a route.
type Param struct {
	Name, Summary string
	// Words lists all allowed values; nil: any.
	Words []string
	// Least and Most are the bounds of a number, both 0 for a text.
	Least, Most int
	Default     string
	// Several says that the parameter may be given more than once.
	Several bool
}

// segments returns the parts of a path between slashes.
func segments(path string) []string { return strings.Split(strings.TrimPrefix(path, "/"), "/") }

// match returns the values of the wildcards, if a path matches the route. Each segment
// is unescaped by itself, so a slash that is written %2F stays in it. A segment that
// cannot be unescaped matches nothing.
func (r Route) match(escaped string) (map[string]string, bool) {
	pattern, given := segments(r.Path), segments(escaped)
	values := map[string]string{}
	for i, p := range pattern {
		name, wild := strings.CutPrefix(p, "{")
		name = strings.TrimSuffix(name, "}")
		rest, all := strings.CutSuffix(name, "...")
		switch {
		case wild && all && len(given) > i:
			value, err := url.PathUnescape(strings.Join(given[i:], "/"))
			values[rest] = value
			return values, err == nil && value != ""
		case len(given) <= i:
			return nil, false
		case wild:
			value, err := url.PathUnescape(given[i])
			if err != nil || value == "" {
				return nil, false
			}
			values[name] = value
		case p != given[i]:
			return nil, false
		}
	}
	return values, len(given) == len(pattern)
}

// find returns the route of a call. The error is a 404, or a 405 that names the
// allowed methods.
func find(routes []Route, r *http.Request) (Route, map[string]string, error) {
	var methods []string
	for _, one := range routes {
		values, ok := one.match(r.URL.EscapedPath())
		switch {
		case !ok:
		case one.Method == r.Method:
			return one, values, nil
		case !slices.Contains(methods, one.Method):
			methods = append(methods, one.Method)
		}
	}
	if len(methods) == 0 {
		return Route{}, nil, Deny(http.StatusNotFound, "not_found", "page.no.path")
	}
	slices.Sort(methods)
	p := Deny(http.StatusMethodNotAllowed, "method", "page.no.method", "methods", strings.Join(methods, ", "))
	return Route{}, nil, p.With("allow", methods)
}
