package pal

import (
	"strings"

	"placet/engine"
	"placet/engine/run"
	"placet/schemas"
)

// upstreams maps events to upstream's names if these differ by more than the colon.
var upstreams = map[string]string{"escalation.new": "escalation:created"}

func upstreamOf(typ string) string {
	if name, ok := upstreams[typ]; ok {
		return name
	}
	return strings.ReplaceAll(typ, ".", ":")
}

// event adds a line to the journal, with the envelope of section 3.9 of the format page.
func (s *step) event(typ, session, port string, data ...schemas.Member) {
	s.State.EventSeq++
	line := schemas.Object{
		member("seq", s.State.EventSeq), member("type", typ), member("upstream", upstreamOf(typ)), member("timestamp", s.Now),
	}
	if session != "" {
		line = append(line, member("session_id", session))
	}
	if port != "" {
		line = append(line, member("port_id", port))
	}
	s.Event(append(line, member("data", schemas.Object(data))))
}

// journal writes the events of the commit: the event of the rule first, then those of everything
// that moved along.
func (s *step) journal() {
	for _, m := range s.moved {
		switch m.of {
		case ofRun:
			s.runEvents(m)
		case ofPort:
			s.portEvents(m)
		case ofLoop:
			s.loopEvents(m)
		case ofEscalation:
			s.escalationEvents(m)
		}
	}
	if s.State.EventSeq == s.before() { // every revision has a line
		s.event("orchestration.update", "", "", s.progress()...)
	}
}

func (s *step) before() int { return s.r.run.State.EventSeq }

// progress returns the members of an update of the run.
func (s *step) progress() []schemas.Member {
	var current text
	for _, id := range s.State.order() {
		if s.port(id).Status == Running {
			current = text(id)
			break
		}
	}
	return []schemas.Member{member("id", s.State.ID), member("status", s.State.Status), member("progress", s.State.Percent), member("current_port", current)}
}

func (s *step) runEvents(m happened) {
	st, build := s.State, s.State.session("build")
	switch m.event {
	case "started":
		s.event("orchestration.start", "", "", member("id", st.ID), member("title", st.Title), member("port_count", len(st.Ports)))
		s.event("session.start", build, "", member("id", build), member("title", st.Title), member("type", "build"))
	case "paused", "resumed":
		s.event("orchestration.update", "", "", s.progress()...)
	case "finished", "finished_with_failures", "cancelled":
		s.event("orchestration.complete", "", "", member("id", st.ID), member("status", st.Status))
		s.event("session.end", build, "", member("id", build), member("status", st.Status))
	}
}

func (s *step) portEvents(m happened) {
	id, st := m.subject, s.State
	p := s.port(id)
	operator := st.session(portPath(id))
	switch m.event {
	case "started":
		s.event("port.start", operator, id, member("id", id), member("title", p.Title))
		if p.Starts > 1 {
			return
		}
		for _, one := range s.State.sessionsOf(id) {
			s.event("session.start", one.id, id, member("id", one.id), member("title", p.Title), member("type", one.typ))
		}
		for _, role := range []string{roleImpl, roleTest} {
			worker := st.session(memberPath(id, role))
			s.event("worker.spawn", worker, id, member("worker_id", worker), member("port_id", id), member("type", role))
		}
	case "tests_passed", "accepted", "skipped", "taken_over", "aborted", "run_cancelled":
		s.endEvents(id, p)
	default:
		if p.Status == Blocked {
			s.event("port.blocked", operator, id, member("id", id), member("reason", p.Reason), member("escalation_ids", p.BlockedBy.Escalations))
			return
		}
		if m.event != "admitted" && m.event != "declared" {
			s.event("port.update", operator, id, member("port_id", id), member("status", p.Status))
		}
	}
}

// endEvents writes the events of a port that has ended.
func (s *step) endEvents(id string, p *Port) {
	operator, length := s.State.session(portPath(id)), 0
	if p.FirstStartedAt != "" {
		length = int(s.Now.Time().Sub(p.FirstStartedAt.Time()).Seconds())
	}
	s.event("port.end", operator, id, member("id", id), member("status", p.Status), member("duration_secs", length))
	s.event("orchestration.update", "", "", s.progress()...)
	if p.Starts == 0 {
		return
	}
	for _, role := range []string{roleImpl, roleTest} {
		worker := s.State.session(memberPath(id, role))
		s.event("worker.complete", worker, id, member("worker_id", worker), member("port_id", id), member("success", p.Status == Complete), member("result", p.Reason))
	}
	for _, one := range s.State.sessionsOf(id) {
		s.event("session.end", one.id, id, member("id", one.id), member("status", p.Status))
	}
}

// loopEvents writes the events of an accepted feedback.
func (s *step) loopEvents(m happened) {
	l := s.State.Loops[m.subject]
	t := l.last()
	if t == nil || t.FeedbackDigest == "" || m.event != "tests_failed" && m.event != "tests_passed" && (m.event != "retries_exhausted" || t.Cause != causeTests) {
		return
	}
	p := s.r.ports[l.PortID]
	path := p.awaitedFile()
	s.event("test_feedback", l.TestSession, l.PortID, member("session_id", l.TestSession), member("port_id", l.PortID), member("loop_id", m.subject), member("try", t.Try),
		member("path", path), member("digest", t.FeedbackDigest), member("success", t.Success))
	data := []schemas.Member{member("session_id", l.TestSession), member("port_id", l.PortID), member("success", t.Success)}
	fb := p.handIns().feedback.Said
	passed, failed, suggestions := 0, 0, []string{}
	if fb != nil {
		failed, suggestions = fb.Failed(), append(suggestions, fb.Suggestions...)
	}
	if t.Passed != nil {
		passed = *t.Passed
	}
	s.event("worker.feedback", l.TestSession, l.PortID, append(data, member("tests_passed", passed), member("tests_failed", failed),
		member("failed_tests", p.failedTests()), member("suggestions", suggestions), member("retry_count", l.CurrentTry))...)
}

func (s *step) escalationEvents(m happened) {
	e := s.State.Escalations[m.subject]
	session, port := string(e.SessionID), string(e.PortID)
	if m.event == "opened" || m.event == "auto_resolved" {
		s.event("escalation.new", session, port, member("id", m.subject), member("type", e.Type), member("severity", e.Severity), member("issue", e.Title),
			member("suggestion", text(strings.Join(e.Actions, "; "))))
	}
	if m.event != "opened" {
		s.event("escalation.resolved", session, port, member("escalation_id", m.subject), member("session_id", e.SessionID), member("port_id", e.PortID),
			member("resolution", e.Resolution), member("resolved_by", e.ResolvedBy))
	}
}

// entry converts a line of the journal for people.
func entry(line []byte) (e engine.Entry, ok bool) {
	var l struct {
		Seq       int            `json:"seq"`
		Type      string         `json:"type"`
		Timestamp text           `json:"timestamp"`
		Session   string         `json:"session_id"`
		Port      string         `json:"port_id"`
		Data      schemas.Object `json:"data"`
	}
	if schemas.Decode("", "events.jsonl", line, &l) != nil || l.Type == "" {
		return e, false
	}
	var words []string
	for _, m := range l.Data {
		switch m.Name {
		case "id", "port_id", "session_id", "worker_id", "title", "digest", "escalation_id":
			continue
		}
		value := l.Data.Raw(m.Name)
		said, isText := value.Text()
		if !isText && !value.Null() {
			said = string(value)
		}
		if said != "" {
			words = append(words, m.Name+" "+said)
		}
	}
	return engine.Entry{At: l.Timestamp.Time(), Number: l.Seq, Event: l.Type, Where: l.Port, Who: l.Session, Message: run.OneLine(strings.Join(words, ", "))}, true
}
