package pal

import (
	"bytes"
	"errors"
	"path"

	"placet/engine"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
)

// Types of sessions.
const (
	typeBuild    = "build"
	typeOperator = "operator"
	typeWorker   = "worker"
	typeTest     = "test"
)

// ownSession is one of placet's sessions.
type ownSession struct{ path, id, typ, role string }

// sessionsOf returns the sessions of a port: its operator and its pair.
func (st *State) sessionsOf(port string) []ownSession {
	list := []ownSession{{path: portPath(port), typ: typeOperator}, {path: memberPath(port, roleImpl), typ: typeWorker, role: roleImpl}, {path: memberPath(port, roleTest), typ: typeTest, role: roleTest}}
	for i := range list {
		list[i].id = st.session(list[i].path)
	}
	return list
}

// markSessions updates the sessions in the state. They are a function of the run and its ports.
func (s *step) markSessions() {
	st := s.State
	if st.StartedAt == "" {
		return
	}
	mark := func(path, typ string, of engine.Status, started, ended text) {
		one := &Session{Type: typ, Status: Running, StartedAt: started}
		if isFinal(of) {
			one.Status, one.EndedAt = of, ended
		}
		st.Sessions[path] = one
	}
	mark("build", typeBuild, st.Status, st.StartedAt, st.CompletedAt)
	for id, p := range st.Ports {
		if p.FirstStartedAt == "" {
			continue
		}
		for _, one := range st.sessionsOf(id) {
			mark(one.path, one.typ, p.Status, p.FirstStartedAt, p.CompletedAt)
		}
	}
}

// sessionFiles plans the documents of the sessions and channels.
func sessionFiles(r *view, w *run.Outputs) {
	st := &r.run.State
	if s := st.Sessions["build"]; s != nil {
		keepFile(r, w, sessionDocument{st.session("build"), s.Type, st.Title, "", "", st.session("build"), 0, "build", "", "", 0, "", s.Status, s.StartedAt, s.EndedAt})
	}
	for _, id := range r.order {
		p := st.Ports[id]
		if p.FirstStartedAt == "" {
			continue
		}
		for i, one := range st.sessionsOf(id) {
			s := st.Sessions[one.path]
			if s == nil {
				continue
			}
			d := sessionDocument{
				one.id, s.Type, p.Title, text(id), text(st.session(portPath(id))), st.session("build"), 2, one.path, text(p.Agent), one.role, 0, "", s.Status, s.StartedAt, s.EndedAt,
			}
			if i == 0 {
				d.Parent, d.Depth = text(st.session("build")), 1
			} else {
				d.Budget, d.Substatus = p.Limits.TokenBudget, substatus(st, id, one.role)
			}
			keepFile(r, w, d)
		}
		channel := channelDocument{id, st.session(memberPath(id, roleImpl)), st.session(memberPath(id, roleTest)), id, st.ID, "active", p.FirstStartedAt, p.CompletedAt}
		if isFinal(p.Status) {
			channel.Status = "closed"
		}
		keepFile(r, w, channel)
	}
}

// kept is a document of placet's that follows the state. Its content is compared before it is
// encoded, because encoding it in each pass would take most of the pass.
type kept interface {
	file() string
	encode() []byte
	// isIn reports whether a document has this content in placet's format.
	isIn(engine.Document) bool
}

// keepFile plans a document unless the file already has its content.
func keepFile(r *view, w *run.Outputs, k kept) {
	if d := r.run.Snap.In(k.file()); !d.Present() || !k.isIn(d) {
		w.Always(k.file(), k.encode())
	}
}

// errChanged says that a document is not in placet's format. Nobody sees it.
var errChanged = errors.New("changed")

// says reports whether a document holds a value in placet's format.
func says[T interface {
	comparable
	kept
}](d engine.Document, want T, decode func(name string, body []byte) (T, error)) bool {
	have, err := engine.Parse(d, func(name string, body []byte) (T, error) {
		v, err := decode(name, body)
		if err == nil && !bytes.Equal(v.encode(), body) {
			err = errChanged
		}
		return v, err
	})
	return err == nil && *have == want
}

// sessionDocument is the session.json of one of placet's sessions.
type sessionDocument struct {
	ID        string        `json:"id"`
	Type      string        `json:"type"`
	Title     string        `json:"title"`
	Port      text          `json:"port_id"`
	Parent    text          `json:"parent_id"`
	Root      string        `json:"root_id"`
	Depth     int           `json:"depth"`
	Path      string        `json:"path"`
	Agent     text          `json:"agent_id"`
	Role      string        `json:"-"` // of a worker's session
	Budget    int           `json:"token_budget"`
	Substatus text          `json:"substatus"`
	Status    engine.Status `json:"status"`
	StartedAt text          `json:"started_at"`
	EndedAt   text          `json:"ended_at"`
}

func (s sessionDocument) file() string { return layout.PalSessionFile(s.Path, "session.json") }

func (s sessionDocument) isIn(d engine.Document) bool {
	return says(d, s, func(name string, body []byte) (s sessionDocument, err error) {
		err = schemas.Decode("", name, body, &s)
		if role := path.Base(s.Path); s.Depth == 2 {
			s.Role = role
		}
		return s, err
	})
}

func (s sessionDocument) encode() []byte {
	o := schemas.Object{
		member("id", s.ID), member("type", s.Type), member("title", s.Title), member("port_id", s.Port), member("parent_id", s.Parent),
		member("root_id", s.Root), member("depth", s.Depth), member("path", s.Path),
	}
	if s.Depth > 0 {
		o = append(o, member("agent_id", s.Agent))
	}
	if s.Role != "" {
		o = append(o, member("token_budget", s.Budget), member("substatus", s.Substatus))
	}
	return run.Encoded(append(o, member("status", s.Status), member("started_at", s.StartedAt), member("ended_at", s.EndedAt)))
}

// channelDocument is the channel.json of a port's pair.
type channelDocument struct {
	ID            string `json:"id"`
	SessionA      string `json:"session_a"`
	SessionB      string `json:"session_b"`
	Port          string `json:"port_id"`
	Orchestration string `json:"orchestration_id"`
	Status        string `json:"status"`
	CreatedAt     text   `json:"created_at"`
	ClosedAt      text   `json:"closed_at"`
}

func (c channelDocument) file() string { return layout.PalChannelFile(c.Port) }

func (c channelDocument) isIn(d engine.Document) bool {
	return says(d, c, func(name string, body []byte) (c channelDocument, err error) {
		err = schemas.Decode("", name, body, &c)
		return c, err
	})
}

func (c channelDocument) encode() []byte { return run.Encoded(schemas.Struct(c)) }

// substatus returns what a worker of a port is doing, or "".
func substatus(st *State, port, role string) text {
	p, l := st.Ports[port], st.loop(port)
	switch {
	case p.Status != Running || l.role() != role:
		return ""
	case role == roleTest:
		return "testing"
	case p.LastTry == l.FirstTry:
		return "coding"
	}
	return "fixing"
}
