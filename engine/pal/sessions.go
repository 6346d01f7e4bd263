package pal

import (
	"path"

	"placet/engine"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
)

// session types.
const (
	typeBuild    = "build"
	typeOperator = "operator"
	typeWorker   = "worker"
	typeTest     = "test"
)

// ownSession is one of the sessions that placet keeps.
type ownSession struct{ path, id, typ, role string }

// sessionsOf are the sessions of a port: its operator and its pair.
func (s *step) sessionsOf(port string) []ownSession { return s.State.sessionsOf(port) }

func (st *State) sessionsOf(port string) []ownSession {
	list := []ownSession{{path: portPath(port), typ: typeOperator}, {path: memberPath(port, roleImpl), typ: typeWorker, role: roleImpl}, {path: memberPath(port, roleTest), typ: typeTest, role: roleTest}}
	for i := range list {
		list[i].id = st.session(list[i].path)
	}
	return list
}

// markSessions keeps where the sessions stand: a function of the run and its ports.
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
	st := &r.State
	if s := st.Sessions["build"]; s != nil {
		w.Always(layout.PalSessionFile("build", "session.json"), sessionFile(st, "build", s, st.Title, "", schemas.Object{}))
	}
	for _, id := range r.order {
		p := st.Ports[id]
		if p.FirstStartedAt == "" {
			continue
		}
		for _, one := range st.sessionsOf(id) {
			more := schemas.Object{member("agent_id", text(p.Agent))}
			if one.role != "" {
				more = append(more, member("token_budget", p.Limits.TokenBudget), member("substatus", substatus(st, id, one.role)))
			}
			if s := st.Sessions[one.path]; s != nil {
				w.Always(layout.PalSessionFile(one.path, "session.json"), sessionFile(st, one.path, s, p.Title, id, more))
			}
		}
		w.Always(layout.PalChannelFile(id), channelFile(st, id, p))
	}
}

// sessionFile is session.json of a session.
func sessionFile(st *State, at string, s *Session, title, port string, more schemas.Object) []byte {
	parent, depth := text(""), 0
	for dir := at; dir != "build"; dir = path.Dir(dir) {
		depth++
	}
	if at != "build" {
		parent = text(st.session(path.Dir(at)))
	}
	o := schemas.Object{
		member("id", st.session(at)), member("type", s.Type), member("title", title), member("port_id", text(port)), member("parent_id", parent),
		member("root_id", st.session("build")), member("depth", depth), member("path", at),
	}
	o = append(o, more...)
	return run.Must(schemas.Encode(append(o, member("status", s.Status), member("started_at", s.StartedAt), member("ended_at", s.EndedAt))))
}

// substatus says what a worker of a port is at, "" for nothing.
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

// channelFile is channel.json of a port's pair.
func channelFile(st *State, port string, p *Port) []byte {
	status := "active"
	if isFinal(p.Status) {
		status = "closed"
	}
	return run.Must(schemas.Encode(schemas.Object{
		member("id", port), member("session_a", st.session(memberPath(port, roleImpl))), member("session_b", st.session(memberPath(port, roleTest))),
		member("port_id", port), member("orchestration_id", st.ID), member("status", status), member("created_at", p.FirstStartedAt), member("closed_at", p.CompletedAt),
	}))
}
