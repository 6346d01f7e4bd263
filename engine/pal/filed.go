package pal

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// Filed is escalation-<n>.json: an escalation as a session files it.
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

// filed is an escalation that a session filed and that no transition has recorded yet.
type filed struct {
	esc Escalation
	doc engine.Document
	by  string // the session, in the form of an actor
}

// Limits of the texts in a filed escalation, in bytes.
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

// readFiled reads the escalations that sessions filed and that no transition has recorded yet.
func readFiled(r *view) {
	taken := map[string]*Escalation{}
	for _, e := range r.run.State.Escalations {
		taken[e.Cause] = e
	}
	for _, d := range r.run.Snap.Under("sessions") {
		if d.Kind != layout.PalFiled {
			continue
		}
		rel := r.run.Snap.Rel(d.Path)
		if e := taken[rel]; e != nil {
			if e.Digest != "" && d.Present() && text(d.Sum) != e.Digest {
				r.run.Bad(d, r.say("note.changed"))
			}
			continue
		}
		session := strings.TrimPrefix(path.Dir(rel), "sessions/")
		if !isSession(r, session) {
			continue
		}
		f, _ := run.Load[Filed](&r.run.Input, d, "pal/filed")
		if f == nil {
			continue
		}
		e, err := escalationOf(r, f, session, rel, d)
		if err != nil {
			r.run.Bad(d, r.say("note.unusable", "file", path.Base(rel), "problem", err))
			continue
		}
		r.filed = append(r.filed, filed{e, d, "session:" + r.run.State.session(session)})
	}
}

// isSession reports whether a path below sessions/ belongs to a session of the run.
func isSession(r *view, session string) bool {
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

// escalationOf converts a filed document into an escalation.
func escalationOf(r *view, f *Filed, session, rel string, d engine.Document) (e Escalation, err error) {
	typ := f.Type
	if alias, ok := aliases[typ]; ok {
		e.ReportedType, typ = text(typ), alias
	}
	title := f.Title
	if templates.Blank(title) {
		title = f.Issue
	}
	if templates.Blank(title) {
		return e, templates.Errorf("pal.filed.title")
	}
	port := f.PortID
	if parts := strings.Split(session, "/"); len(parts) > 1 {
		if port != "" && port != parts[1] {
			return e, templates.Errorf("pal.filed.port", "is", run.QuoteID(port), "port", strconv.Quote(parts[1]))
		}
		port = parts[1]
	}
	if p := r.ports[port]; port != "" && p == nil {
		return e, templates.Errorf("pal.filed.unknown", "port", run.QuoteID(port), "hint", nearest(port, r.order))
	} else if p != nil && isFinal(p.Status) {
		return e, templates.Errorf("pal.filed.final", "port", port, "status", p.Status)
	}
	e.Type, e.Severity, e.Subject, e.PortID, e.SessionID = typ, f.Severity, "session:"+session, text(port), text(r.run.State.session(session))
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
	return e, nil
}

// nearest names the word that somebody may have meant, or all existing words.
func nearest(word string, words []string) templates.Message {
	if near := schemas.Nearest(word, words); near != "" {
		return templates.NewMessage("pal.near", "near", strconv.Quote(near))
	}
	return templates.NewMessage("pal.all", "ports", joined(words[:min(len(words), 20)]))
}

// AgentSession is the session.json of a further session of an agent.
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
func readAgents(r *view) {
	for _, d := range r.run.Snap.Under("sessions/build") {
		if d.Kind != layout.PalSession {
			continue
		}
		session := strings.TrimPrefix(path.Dir(r.run.Snap.Rel(d.Path)), "sessions/")
		if isOwnSession(r, session) {
			continue
		}
		s, _ := run.Load[AgentSession](&r.run.Input, d, "pal/session")
		if s == nil {
			continue
		}
		if err := misfitSession(r, s, session); err != nil {
			r.run.Bad(d, r.say("note.session", "problem", err))
			continue
		}
		r.agents = append(r.agents, agentSession{session, s.Type, run.OneLine(s.Title), d})
	}
}

// isOwnSession reports whether a session is placet's: the build, an operator, or a worker of a
// pair.
func isOwnSession(r *view, session string) bool {
	parts := strings.Split(session, "/")
	return len(parts) < 3 && r.ports[parts[len(parts)-1]] != nil || session == "build" ||
		len(parts) == 3 && (parts[2] == roleImpl || parts[2] == roleTest) && r.ports[parts[1]] != nil
}

// misfitSession returns what is wrong with an agent's session, or nil.
func misfitSession(r *view, s *AgentSession, session string) error {
	parts := strings.Split(session, "/")
	depth := len(parts) - 1
	if r.ports[parts[1]] == nil {
		return templates.Errorf("pal.session.port", "port", run.QuoteID(parts[1]))
	}
	if depth > 2 {
		return templates.Errorf("pal.session.deep")
	}
	if s.Type != "worker" && s.Type != "test" {
		return templates.Errorf("pal.session.type", "is", run.QuoteID(s.Type))
	}
	for _, c := range []struct{ name, is, want string }{
		{"id", s.ID, r.run.State.session(session)}, {"port_id", s.PortID, parts[1]}, {"parent_id", s.ParentID, r.run.State.session(path.Dir(session))},
		{"root_id", s.RootID, r.run.State.session("build")}, {"path", s.Path, session},
	} {
		if c.is != "" && c.is != c.want {
			return unfitMember(c.name, c.is, c.want)
		}
	}
	if s.Depth != nil && *s.Depth != depth {
		return templates.Errorf("pal.member", "member", "depth", "is", *s.Depth, "want", depth)
	}
	return nil
}
