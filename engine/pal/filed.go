package pal

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// Filed is escalation-<n>.json: what a session files.
type Filed struct {
	Type        string         `json:"type"`
	Title       string         `json:"title"`
	Issue       string         `json:"issue"`
	Severity    string         `json:"severity"`
	Description string         `json:"description"`
	Context     schemas.Object `json:"context"`
	Actions     []string       `json:"suggested_actions"`
	Suggestion  schemas.Raw    `json:"suggestion"`
	PortID      string         `json:"port_id"`
}

// filed is an escalation that a session has filed and nobody has taken.
type filed struct {
	esc Escalation
	doc engine.Document
	by  string // the session, as an actor
}

// How much of what was filed is kept.
const (
	longestTitle       = 500
	longestDescription = 8 << 10
	longestContext     = 16 << 10
)

// agentSession is a further session of an agent.
type agentSession struct {
	path, typ, title string
	doc              engine.Document
}

// readFiled reads what the sessions have filed and nobody has taken.
func (r *view) readFiled() {
	taken := map[string]*Escalation{}
	for _, e := range r.State.Escalations {
		taken[e.Cause] = e
	}
	for _, d := range r.Snap.Under("sessions") {
		if d.Kind != layout.PalFiled {
			continue
		}
		rel := r.Snap.Rel(d.Path)
		if e := taken[rel]; e != nil {
			if e.Digest != "" && d.Present() && text(d.Sum) != e.Digest {
				r.Bad(d, "not counted: it was changed after it was taken in")
			}
			continue
		}
		session := strings.TrimPrefix(path.Dir(rel), "sessions/")
		if !r.isSession(session) {
			continue
		}
		f, _ := run.Load[Filed](&r.Input, d, "pal/filed")
		if f == nil {
			continue
		}
		e, problem := r.escalationOf(f, session, rel, d)
		if problem != "" {
			r.Bad(d, "cannot use "+path.Base(rel)+": "+problem)
			continue
		}
		r.filed = append(r.filed, filed{e, d, "session:" + r.State.session(session)})
	}
}

// isSession reports whether a path below sessions/ is that of a session of the run.
func (r *view) isSession(session string) bool {
	parts := strings.Split(session, "/")
	switch {
	case session == "build":
		return true
	case len(parts) < 2 || r.ports[parts[1]] == nil || r.ports[parts[1]].Starts == 0:
		return false
	case len(parts) == 2 || parts[2] == roleImpl || parts[2] == roleTest:
		return true
	}
	return slices.ContainsFunc(r.agents, func(a agentSession) bool { return a.path == session })
}

// escalationOf is what was filed as an escalation.
func (r *view) escalationOf(f *Filed, session, rel string, d engine.Document) (e Escalation, problem string) {
	typ := f.Type
	if alias, ok := aliases[typ]; ok {
		e.ReportedType, typ = text(typ), alias
	}
	title := f.Title
	if templates.Blank(title) {
		title = f.Issue
	}
	if templates.Blank(title) {
		return e, "/title: says nothing: what is wrong?"
	}
	port := f.PortID
	if parts := strings.Split(session, "/"); len(parts) > 1 {
		if port != "" && port != parts[1] {
			return e, fmt.Sprintf("/port_id: is %q, the session is of port %q", templates.Cut(port, 80), parts[1])
		}
		port = parts[1]
	}
	if p := r.ports[port]; port != "" && p == nil {
		return e, fmt.Sprintf("/port_id: there is no port %q%s", templates.Cut(port, 80), nearest(port, r.order))
	} else if p != nil && isFinal(p.Status) {
		return e, fmt.Sprintf("port %s is %s", port, p.Status)
	}
	e.Type, e.Severity, e.Subject, e.PortID, e.SessionID = typ, f.Severity, "session:"+session, text(port), text(r.State.session(session))
	e.Cause, e.Digest = rel, text(d.Sum)
	e.Title, e.Description = templates.Cut(run.OneLine(title), longestTitle), templates.Cut(f.Description, longestDescription)
	if body, err := schemas.Line(f.Context); err == nil && len(body) <= longestContext {
		e.Context = f.Context
	}
	e.Actions = f.Actions
	if word, ok := f.Suggestion.Text(); ok && word != "" && len(e.Actions) == 0 {
		e.Actions = []string{word}
	}
	e.Artifacts = []gate.Artifact{{Path: d.Path, SHA256: d.Sum.Hex()}}
	if p := r.ports[port]; p != nil {
		if by := p.blockers(); len(by) > 0 {
			e.Cut = by[0]
		}
	}
	return e, ""
}

// nearest names the word that somebody may have meant, or all that there are.
func nearest(word string, words []string) string {
	if near := schemas.Nearest(word, words); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return "; there are " + joined(words[:min(len(words), 20)])
}

// AgentSession is session.json of a further session of an agent.
type AgentSession struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Title    string `json:"title"`
	PortID   string `json:"port_id"`
	ParentID string `json:"parent_id"`
	RootID   string `json:"root_id"`
	Depth    *int   `json:"depth"`
	Path     string `json:"path"`
}

// readAgents reads the further sessions of agents.
func (r *view) readAgents() {
	for _, d := range r.Snap.Under("sessions/build") {
		if d.Kind != layout.PalSession {
			continue
		}
		session := strings.TrimPrefix(path.Dir(r.Snap.Rel(d.Path)), "sessions/")
		if r.isOwn(session) {
			continue
		}
		s, _ := run.Load[AgentSession](&r.Input, d, "pal/session")
		if s == nil {
			continue
		}
		if problem := r.misfit(s, session); problem != "" {
			r.Bad(d, "cannot use session.json: "+problem+"; the folder is ignored")
			continue
		}
		r.agents = append(r.agents, agentSession{session, s.Type, run.OneLine(s.Title), d})
	}
}

// isOwn reports whether a session is placet's: the build, an operator, a worker of a pair.
func (r *view) isOwn(session string) bool {
	parts := strings.Split(session, "/")
	return len(parts) < 3 && r.ports[parts[len(parts)-1]] != nil || session == "build" ||
		len(parts) == 3 && (parts[2] == roleImpl || parts[2] == roleTest) && r.ports[parts[1]] != nil
}

// misfit says what is wrong with an agent's session, "" for nothing.
func (r *view) misfit(s *AgentSession, session string) string {
	parts := strings.Split(session, "/")
	depth := len(parts) - 1
	if r.ports[parts[1]] == nil {
		return fmt.Sprintf("there is no port %q", templates.Cut(parts[1], 80))
	}
	if depth > 2 {
		return "nothing stands below a worker or a test session"
	}
	if s.Type != "worker" && s.Type != "test" {
		return fmt.Sprintf("/type: is %q, below an operator stand worker and test", templates.Cut(s.Type, 80))
	}
	for _, c := range []struct{ name, is, want string }{
		{"id", s.ID, r.State.session(session)}, {"port_id", s.PortID, parts[1]}, {"parent_id", s.ParentID, r.State.session(path.Dir(session))},
		{"root_id", s.RootID, r.State.session("build")}, {"path", s.Path, session},
	} {
		if c.is != "" && c.is != c.want {
			return fmt.Sprintf("/%s: is %q, expected %q", c.name, templates.Cut(c.is, 80), c.want)
		}
	}
	if s.Depth != nil && *s.Depth != depth {
		return fmt.Sprintf("/depth: is %d, expected %d", *s.Depth, depth)
	}
	return ""
}
