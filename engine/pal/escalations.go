package pal

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/graph"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
)

// Types of escalations.
const (
	typeTestFailure = "test_failure"
	typeTimeout     = "timeout"
	typeDependency  = "dependency"
	typeBlocked     = "blocked"
	typeDecision    = "decision"
	typeConflict    = "conflict"
	typeQuality     = "quality"
	typeTokens      = "token_exhausted"
	typeGeneral     = "general"
)

// weight is the effect of an escalation on its port.
type weight int

const (
	informs weight = iota // the port keeps running
	holds                 // the port keeps running, but cannot complete
	stops                 // the port loses its slot
)

// kinds maps each type of escalation to its weight and its default severity.
var kinds = map[string]struct {
	weight   weight
	severity string
}{
	typeTestFailure: {stops, "high"}, typeTimeout: {stops, "high"}, typeDependency: {stops, "high"}, typeBlocked: {stops, "medium"}, typeDecision: {stops, "medium"},
	typeConflict: {holds, "high"}, typeQuality: {holds, "medium"}, typeTokens: {informs, "medium"}, typeGeneral: {informs, "low"},
}

// aliases maps upstream's words to types of escalations.
var aliases = map[string]string{
	"test_fail": typeTestFailure, "token_exceeded": typeTokens, "question": typeDecision, "manual_review": typeDecision,
	"build_fail": typeBlocked, "dependency_loop": typeDependency, "compact_warning": typeGeneral,
}

func isStopping(e *Escalation) bool   { return kinds[e.Type].weight == stops }
func stopsOrHolds(e *Escalation) bool { return kinds[e.Type].weight != informs }
func isAny(*Escalation) bool          { return true }
func (e *Escalation) id(run string) string {
	sum := engine.Sum([]byte(strings.Join([]string{run, e.Subject, e.Type, e.Cause}, "\n")))
	return "esc-" + sum.Hex()[:12]
}

// open returns the ids of the open escalations about a port that a function accepts, sorted.
func (st *State) open(port string, accepts func(*Escalation) bool) (ids []string) {
	for id, e := range st.Escalations {
		if e.Status == Open && string(e.PortID) == port && accepts(e) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

func (p *port) openEscalations(accepts func(*Escalation) bool) []string {
	return p.r.run.State.open(p.id, accepts)
}

// others returns the open escalations of a port except the one that an answer is about.
func (p *port) others(on run.On, accepts func(*Escalation) bool) []string {
	return slices.DeleteFunc(p.openEscalations(accepts), func(id string) bool { return id == on.Answer.Request.ID })
}

// isHeld reports whether a port must not complete by itself.
func (p *port) isHeld() bool {
	return len(p.openEscalations(func(e *Escalation) bool { return kinds[e.Type].weight == holds })) > 0 || conflictOf(p) != nil
}

// mayOpen reports whether an escalation may be opened now: its cause is new, and no escalation of
// its type about its subject is open.
func (r *view) mayOpen(e Escalation) bool {
	if r.run.State.Escalations[e.id(r.run.State.ID)] != nil {
		return false
	}
	for _, other := range r.run.State.Escalations {
		if other.Status == Open && other.Subject == e.Subject && other.Type == e.Type {
			return false
		}
	}
	return true
}

// open opens an escalation in a transition of something else.
func (s *step) open(e Escalation) {
	event, to := "opened", Open
	if e.AutoResolve {
		event, to = "auto_resolved", Resolved
	}
	s.along(ofEscalation, e.id(s.State.ID), "", event, to)
	s.add(e)
}

// add records an escalation and asks a person about it, unless it resolves automatically.
func (s *step) add(e Escalation) {
	id := e.id(s.State.ID)
	e.Status, e.OpenedAt = Open, s.Now
	if e.Severity = cmp.Or(e.Severity, kinds[e.Type].severity); e.Context == nil {
		e.Context = schemas.Object{}
	}
	if e.Digest == "" {
		e.Actions = offered(&e)
	}
	e.Actions = append([]string{}, e.Actions...)
	s.State.Escalations[id] = &e
	e.Dependents = s.dependents(string(e.PortID))
	e.Artifacts = append(s.shownFiles(string(e.PortID)), e.Artifacts...)
	if e.AutoResolve {
		e.Status, e.ResolvedAt, e.ResolvedBy, e.Resolution = Resolved, s.Now, "placet", "auto"
		return
	}
	q := s.Ask(run.Request{ID: id, Type: typeEscalation, Subject: e.PortID})
	e.OpenedAt = q.OpenedAt
}

// dependents returns the ports that depend on one, by level, with their current statuses.
func (s *step) dependents(port string) []Dependent {
	list := []Dependent{}
	if port == "" {
		return list
	}
	nodes := nodesOf(s.State)
	after := graph.Dependents(nodes, port)
	for _, level := range graph.Order(nodes) {
		for _, id := range level {
			if slices.Contains(after, id) {
				list = append(list, Dependent{id, s.port(id).Status})
			}
		}
	}
	return list
}

// shownFiles returns the last submitted documents of a port and its spec, with their current
// digests.
func (s *step) shownFiles(port string) []gate.Artifact {
	list := []gate.Artifact{}
	p := s.State.Ports[port]
	if p == nil {
		return list
	}
	add := func(path string, sum engine.Digest) {
		list = append(list, gate.Artifact{Path: path, SHA256: sum.Hex()})
	}
	if t := s.State.loop(port).last(); t != nil {
		if t.ResultDigest != "" {
			add(s.r.run.Path(layout.PalResultFile(port, t.Try)), engine.Digest(t.ResultDigest))
		}
		if t.FeedbackDigest != "" {
			add(s.r.run.Path(layout.PalFeedbackFile(port, t.Try)), engine.Digest(t.FeedbackDigest))
		}
	}
	if p.Spec != "" {
		add(p.Spec, s.State.Specs[port])
	}
	return list
}

// resolve closes the escalation that an answer is about, in a transition of something else.
func (s *step) resolve(a *run.Answer, event string, to engine.Status) {
	s.along(ofEscalation, a.Request.ID, Open, event, to)
	s.setResolved(a, to)
}

// lift removes the deadline of a port whose timeout was dismissed.
func (s *step) lift(a *run.Answer) {
	if e := s.State.Escalations[a.Request.ID]; e.Type == typeTimeout {
		if p := s.State.Ports[string(e.PortID)]; p != nil {
			p.NoDeadline = true
		}
	}
}

func (s *step) setResolved(a *run.Answer, to engine.Status) {
	e := s.State.Escalations[a.Request.ID]
	e.Status, e.ResolvedAt, e.ResolvedBy, e.Resolution, e.Comment = to, s.Now, text(engine.Person(a.By.User)), text(a.Response), a.Comment
}

// supersede closes the open escalations of a port except one, because the port has moved on.
func (s *step) supersede(port, but, why string) {
	s.supersedeAll(func(e *Escalation) bool { return string(e.PortID) == port && e.id(s.State.ID) != but }, gate.Superseded, why)
}

// supersedeAll closes open escalations and gives their requests a result.
func (s *step) supersedeAll(accepts func(*Escalation) bool, result, why string) {
	for _, id := range slices.Sorted(maps.Keys(s.State.Escalations)) {
		e := s.State.Escalations[id]
		if e.Status != Open || !accepts(e) {
			continue
		}
		s.along(ofEscalation, id, Open, "superseded", Dismissed)
		e.Status, e.ResolvedAt, e.ResolvedBy, e.Resolution = Dismissed, s.Now, "placet", text("superseded: "+why)
		for _, q := range s.Requests() {
			if q.ID == id && q.Status == run.Open {
				s.Close(q, result, why)
			}
		}
	}
}

// opens returns a turn that opens an escalation and moves nothing else. unasked selects one of two
// rows of the table: with or without asking a person.
func opens(r *view, e *Escalation, unasked bool, causes ...engine.Document) *turn {
	if e == nil || !r.mayOpen(*e) {
		return nil
	}
	if e.AutoResolve = kinds[e.Type].weight == informs && slices.Contains(r.conf().AutoResolve, e.Type); e.AutoResolve != unasked {
		return nil
	}
	return &turn{reason: e.Title, causes: causes, subject: e.id(r.run.State.ID), then: func(s *step) { s.add(*e) }}
}

// dueFiled returns the first escalation that a session filed, that may be opened, and that a
// function accepts. It is about a port, or about the run if port is ""; nil for none.
func dueFiled(r *view, port string, accepts func(*Escalation) bool) *filed {
	for i := range r.filed {
		f := &r.filed[i]
		if string(f.esc.PortID) == port && accepts(&f.esc) && r.mayOpen(f.esc) {
			return f
		}
	}
	return nil
}

// stopsAsFiled stops a port because a session filed an escalation that stops it.
func stopsAsFiled(p *port, _ run.On) *turn {
	f := dueFiled(p.r, p.id, isStopping)
	if f == nil || !p.r.isMoving() {
		return nil
	}
	return &turn{reason: f.esc.Title, causes: []engine.Document{f.doc}, actor: f.by, then: func(s *step) {
		s.stop(p.id, "filed")
		s.open(f.esc)
	}}
}

func opensFiled(r *view, on run.On) *turn   { return filedAlone(r, on, false) }
func notesUnasked(r *view, on run.On) *turn { return filedAlone(r, on, true) }

// filedAlone opens a filed escalation without moving a port.
func filedAlone(r *view, on run.On, unasked bool) *turn {
	if !r.isMoving() {
		return nil
	}
	f := dueFiled(r, on.Subject, isAny)
	if f == nil {
		return nil
	}
	t := opens(r, &f.esc, unasked, f.doc)
	if t != nil {
		t.actor = f.by
	}
	return t
}

// opensObserved opens an escalation about something that placet observed in a running port.
func opensObserved(r *view, on run.On) *turn {
	p := r.ports[on.Subject]
	if p == nil || !r.isMoving() || p.Status != Running {
		return nil
	}
	if t := opens(r, conflictOf(p), false); t != nil {
		return t
	}
	return opens(r, exhaustedTokens(p), false)
}

func notesTokens(r *view, on run.On) *turn {
	p := r.ports[on.Subject]
	if p == nil || !r.isMoving() || p.Status != Running {
		return nil
	}
	return opens(r, exhaustedTokens(p), true)
}

// opensDependency asks about a blocked port if one of its dependencies has failed since.
func opensDependency(r *view, on run.On) *turn {
	p := r.ports[on.Subject]
	if p == nil || !r.isMoving() || p.Status != Blocked {
		return nil
	}
	failed := p.failedBefore()
	if len(failed) == 0 {
		return nil
	}
	e := dependencyOf(p, failed)
	return opens(r, &e, false)
}

// escalationAbout returns an escalation of a type about a port.
func escalationAbout(p *port, typ, cause, title string) Escalation {
	e := Escalation{Type: typ, Subject: "port:" + p.id, PortID: text(p.id), Cause: cause, Title: title}
	if by := p.blockers(); len(by) > 0 && typ != typeDependency {
		e.Cut = by[0]
	}
	return e
}

func member(name string, value any) schemas.Member { return schemas.Member{Name: name, Value: value} }

// testFailure returns the escalation of a port that has used up its tries.
func testFailure(p *port, s *step, role string) Escalation {
	l := s.State.loop(p.id)
	e := escalationAbout(p, typeTestFailure, loopID(p.id, l.Round), p.r.say("esc.test_failure", "port", p.id, "n", l.CurrentTry, "max", l.MaxRetries))
	e.SessionID = text(s.State.session(memberPath(p.id, role)))
	e.Context = schemas.Object{member("loop", e.Cause), member("failed_tries", l.CurrentTry), member("max_retries", l.MaxRetries), member("failed_tests", p.failedTests())}
	return e
}

func timeoutOf(p *port) Escalation {
	e := escalationAbout(p, typeTimeout, string(p.Deadline), p.r.say("esc.timeout", "port", p.id, "at", string(p.Deadline), "timeout", p.Limits.Timeout))
	if role := p.loop.role(); role != "" {
		e.SessionID = text(p.r.run.State.session(memberPath(p.id, role)))
	}
	e.Context = schemas.Object{member("started_at", p.StartedAt), member("deadline", p.Deadline), member("awaits", p.awaitedFile())}
	return e
}

func dependencyOf(p *port, failed []string) Escalation {
	e := escalationAbout(p, typeDependency, joinIDs(failed), p.r.say("esc.dependency", "port", p.id, "ports", joined(failed)))
	e.Context = schemas.Object{member("failed", failed)}
	return e
}

func unresolved(p *port, role string, out run.HandIn[Outcome]) Escalation {
	session := memberPath(p.id, role)
	e := Escalation{
		Type: typeBlocked, Severity: "high", Subject: "session:" + session, PortID: text(p.id), SessionID: text(p.r.run.State.session(session)), Cause: p.r.run.Snap.Rel(out.Doc.Path),
		Title: p.r.say("esc.blocked", "port", p.id, "role", role, "outcome", out.Said.Outcome, "file", p.awaitedFile()),
	}
	e.Context = schemas.Object{member("outcome", out.Said.Outcome), member("exit_code", out.Said.ExitCode), member("reason", text(out.Said.Reason)), member("output", out.Said.tail())}
	e.Artifacts = []gate.Artifact{{Path: out.Doc.Path, SHA256: out.Doc.Sum.Hex()}}
	return e
}

// conflictOf returns the escalation of a port whose last result changed the same files as an
// earlier running port's, nil for none. A conflict that a person has decided does not count.
func conflictOf(p *port) *Escalation {
	mine := p.changedFiles()
	if len(mine) == 0 {
		return nil
	}
	for _, other := range p.r.running() {
		if other.id == p.id {
			return nil // the escalation is about the later port of the two
		}
		theirs := other.changedFiles()
		files := slices.DeleteFunc(slices.Clone(mine), func(f string) bool { return !slices.Contains(theirs, f) })
		if len(files) == 0 {
			continue
		}
		loops := []string{loopID(other.id, other.Round), loopID(p.id, p.Round)}
		slices.Sort(loops)
		e := escalationAbout(p, typeConflict, joinIDs(loops), p.r.say("esc.conflict", "port", p.id, "other", other.id, "files", joined(files[:min(len(files), 5)])))
		e.SessionID = text(p.r.run.State.session(memberPath(p.id, roleImpl)))
		e.Context = schemas.Object{member("ports", []string{other.id, p.id}), member("files", files)}
		if p.r.run.State.Escalations[e.id(p.r.run.State.ID)] == nil {
			return &e
		}
	}
	return nil
}

// exhaustedTokens returns the escalation about a worker of a port that has used up its tokens, nil
// if there is none that may be opened. It is about the awaited worker, or about the one that said
// with the result that is being tested how many it has used.
func exhaustedTokens(p *port) *Escalation {
	role := p.loop.role()
	if role == "" || p.Limits.TokenBudget <= 0 {
		return nil
	}
	if e := tokensOver(p, role, p.tokens(role)); e != nil || role == roleImpl {
		return e
	}
	return tokensOver(p, roleImpl, p.loop.last().Tokens)
}

// tokensOver returns the escalation about a worker that has used so many tokens, or nil.
func tokensOver(p *port, role string, used int) *Escalation {
	e := aboutTokens(p, role)
	if used < p.tokenThreshold(role) || !p.r.mayOpen(e) {
		return nil
	}
	used -= p.TokenBase.of(role)
	e.Title = p.r.say("esc.token_exhausted", "port", p.id, "role", role, "used", fmt.Sprint(used), "budget", fmt.Sprint(p.Limits.TokenBudget))
	e.Context = schemas.Object{member("tokens_used", used), member("token_budget", p.Limits.TokenBudget), member("token_percent", p.r.conf().tokenPercent())}
	return &e
}

// aboutTokens returns an escalation about the tokens of a worker in the current round.
func aboutTokens(p *port, role string) Escalation {
	session := memberPath(p.id, role)
	return Escalation{Type: typeTokens, Subject: "session:" + session, PortID: text(p.id), SessionID: text(p.r.run.State.session(session)), Cause: loopID(p.id, p.Round)}
}

func joinIDs(ids []string) string { return strings.Join(ids, ",") }

// isOfDependency reports whether placet opened the escalation because a dependency of the port
// failed.
func (e *Escalation) isOfDependency() bool { return e.Type == typeDependency && e.Digest == "" }

// waive adds the dependencies in a cause to the waived ones, without which a port may run.
func waive(waived []string, cause string) []string {
	for _, id := range strings.Split(cause, ",") {
		if !slices.Contains(waived, id) {
			waived = append(waived, id)
		}
	}
	slices.Sort(waived)
	return waived
}

// cutOffIn returns the ports of a state that are cut off.
func cutOffIn(st *State) map[string]bool {
	failed := map[string]bool{}
	for id, p := range st.Ports {
		failed[id] = p.Status == Failed
	}
	nodes := nodesOf(st)
	for i := range nodes {
		if isFinal(st.Ports[nodes[i].ID].Status) {
			nodes[i].After = nil // nothing blocks an ended port
		}
	}
	return graph.CutOff(nodes, failed, func(id, dependency string) bool { return slices.Contains(st.Ports[id].Waived, dependency) })
}

// openByPort returns the ids of the open escalations that stop or hold ports, by port and sorted.
func (st *State) openByPort() map[string][]string {
	open := map[string][]string{}
	for _, id := range slices.Sorted(maps.Keys(st.Escalations)) {
		if e := st.Escalations[id]; e.Status == Open && stopsOrHolds(e) {
			open[string(e.PortID)] = append(open[string(e.PortID)], id)
		}
	}
	return open
}

// blockedBy returns what blocks a port.
func blockedBy(st *State, id string, open map[string][]string, cutOff map[string]bool) BlockedBy {
	b := BlockedBy{Escalations: append([]string{}, open[id]...), Ports: []string{}}
	p := st.Ports[id]
	if isFinal(p.Status) {
		return b
	}
	b.Ports = append(b.Ports, st.blockers(id, cutOff)...)
	return b
}

// blockers returns the dependencies of a port that failed or are cut off, and are not waived.
func (st *State) blockers(id string, cutOff map[string]bool) (ids []string) {
	p := st.Ports[id]
	for _, dep := range p.DependsOn {
		if d := st.Ports[dep]; d != nil && !slices.Contains(p.Waived, dep) && (d.Status == Failed || cutOff[dep]) {
			ids = append(ids, dep)
		}
	}
	return ids
}
