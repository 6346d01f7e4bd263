package afl

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/graph"
	"placet/schemas"
	"placet/templates"
)

// Types of requests.
const (
	typeApproval      = "specs_approval"
	typeClarification = "clarification"
	typeEscalation    = "escalation"
	typeReview        = "implementation_review"
	typeInterrupted   = "interrupted_run"
)

// Options of requests.
const (
	optApprove    = "approve"
	optChanges    = "request_changes"
	optReject     = "reject"
	optAnswer     = "answer"
	optValidate   = "validate"
	optEscalate   = "escalate"
	optRetryMore  = "retry_more"
	optRedesign   = "redesign"
	optEnvFixed   = "env_fixed"
	optSkip       = "skip"
	optSkipForced = "skip_forced"
	optAbort      = "abort"
	optAccept     = "accept"
	optReopen     = "reopen:"
	optRunAgain   = "run_again"
	optFailed     = "failed"
)

// prefixes are how the ids of requests begin.
var prefixes = map[string]string{
	typeApproval: "approve", typeClarification: "question", typeEscalation: "escalation",
	typeReview: "review", typeInterrupted: "interrupted",
}

// requestID is the id of a request that this move opens.
func (m *move) requestID(typ, cp string) string {
	if cp == "" {
		cp = "-"
	}
	sum := engine.Sum(fmt.Appendf(nil, "afl\n%s\n%d\n%s/%s", m.r.sessionID(), m.st.Revision, typ, cp))
	return prefixes[typ] + "-" + sum.Hex()[:12]
}

// ask opens a request. What it shows must be in the new state by then.
func (m *move) ask(typ, cp string) string {
	id := m.requestID(typ, cp)
	q := &Request{Type: typ, Checkpoint: text(cp), Revision: m.st.Revision, OpenedAt: m.now, Status: open}
	m.st.Requests[id] = q
	after := *m.r
	after.st = m.st
	after.index(m.st)
	body := after.requestJSON(id, q)
	earlier := *q
	if again, ok := m.r.folder(id).Reissued(func(at, _ string) []byte {
		earlier.OpenedAt = text(at)
		return after.requestJSON(id, &earlier)
	}); ok {
		q.OpenedAt, body = earlier.OpenedAt, again
	}
	q.Digest = text(engine.Sum(body))
	return id
}

// supersede closes the open requests of a checkpoint in favour of another.
func (m *move) supersede(cp, by string) {
	for _, id := range slices.Sorted(maps.Keys(m.st.Requests)) {
		if q := m.st.Requests[id]; q.Status == open && string(q.Checkpoint) == cp && id != by {
			m.end(q, superseded, "another request is asked instead")
			q.SupersededBy = text(by)
		}
	}
}

// openRequest is the open request of a type for a checkpoint, nil for none.
func (r *reading) openRequest(typ, cp string) *Request {
	for _, q := range r.st.Requests {
		if q.Status == open && q.Type == typ && string(q.Checkpoint) == cp {
			return q
		}
	}
	return nil
}

// openIDs are the open requests in the order in which they were opened.
func (r *reading) openIDs() []string {
	var ids []string
	for _, id := range slices.Sorted(maps.Keys(r.st.Requests)) {
		if r.st.Requests[id].Status == open {
			ids = append(ids, id)
		}
	}
	slices.SortStableFunc(ids, func(a, b string) int {
		return strings.Compare(string(r.st.Requests[a].OpenedAt), string(r.st.Requests[b].OpenedAt))
	})
	return ids
}

func (r *reading) requestJSON(id string, q *Request) []byte {
	body, err := r.request(id, q).Encode()
	if err != nil {
		panic(err) // texts, numbers and lists of them
	}
	return body
}

// lang is the language of the session's texts.
func (r *reading) lang() string { return r.st.Language }

func (r *reading) words(key string) string { return templates.Text(r.lang(), "afl."+key) }

// request is what a person is asked, as the state has it.
func (r *reading) request(id string, q *Request) gate.Request {
	req := gate.Request{
		SchemaVersion: 1, RequestID: id, Family: "afl", Run: r.sessionID(), Type: q.Type,
		RequestedAt: string(q.OpenedAt), Revision: q.Revision, MayAnswer: r.Snap.Facts.Config.GateFor("afl", q.Type).Approvers,
	}
	var context schemas.Object
	cp := string(q.Checkpoint)
	if cp != "" {
		req.Extra = schemas.Object{{Name: "checkpoint", Value: cp}}
	}
	switch q.Type {
	case typeApproval:
		context = r.askApproval(&req)
	case typeClarification:
		context = r.askClarification(&req, id, cp)
	case typeEscalation:
		context = r.askEscalation(&req, cp)
	case typeReview:
		context = r.askReview(&req)
	case typeInterrupted:
		context = r.askInterrupted(&req, cp)
	}
	req.Context = encoded(context)
	return req.AsIssued(engine.Digest(q.Digest))
}

// offer adds options with their words: what each is, and what [reading.carryOut] does
// of it.
func (r *reading) offer(req *gate.Request, ids ...string) {
	for _, id := range ids {
		req.Options = append(req.Options, gate.Option{ID: id, Description: r.words("option." + id), Effect: r.words("effect." + id)})
	}
}

func (r *reading) askApproval(req *gate.Request) schemas.Object {
	req.Prompt = r.words("ask.specs_approval")
	if len(r.st.Specs.Errors) == 0 {
		r.offer(req, optApprove)
	} else {
		req.Prompt = r.words("ask.specs_approval.blocked")
	}
	r.offer(req, optChanges, optReject)
	req.CommentRequired = []string{optChanges}
	defs, found, room := []any{}, []any{}, shownDesign
	for _, e := range r.specs.entries {
		shown := schemas.Object{
			{Name: "id", Value: templates.Cut(e.def.ID, shownField)}, {Name: "name", Value: templates.Cut(e.def.Name, shownField)},
			{Name: "dependencies", Value: e.def.Dependencies[:min(len(e.def.Dependencies), mostWords)]},
			{Name: "criteria", Value: len(e.def.Criteria)}, {Name: "command", Value: text(templates.Cut(string(e.def.Command), shownField))},
			{Name: "expected", Value: text(templates.Cut(string(e.def.Expected), shownField))},
		}
		if room -= len(encoded(shown)); room < 0 {
			break
		}
		defs = append(defs, shown)
	}
	for _, f := range r.specs.findings[:min(len(r.specs.findings), mostWords)] {
		found = append(found, templates.Cut(f.line(), engine.LongestReason))
	}
	return schemas.Object{
		{Name: "specs_digest", Value: r.st.Specs.Digest}, {Name: "definitions", Value: defs}, {Name: "findings", Value: found},
	}
}

// asked is the question that a request puts.
func (c *Checkpoint) asked(id string) *Question {
	for i := range c.Questions {
		if c.Questions[i].RequestID == id {
			return &c.Questions[i]
		}
	}
	return &Question{}
}

func (r *reading) askClarification(req *gate.Request, id, cp string) schemas.Object {
	c := r.checkpoint(cp)
	asked := c.asked(id)
	req.Prompt = asked.Text
	r.offer(req, optAnswer, optValidate, optEscalate)
	req.CommentRequired = []string{optAnswer}
	return schemas.Object{
		{Name: "checkpoint", Value: cp}, {Name: "iteration", Value: c.Iteration},
		{Name: "question", Value: asked.Number}, {Name: "source", Value: asked.Source},
	}
}

func (r *reading) askEscalation(req *gate.Request, cp string) schemas.Object {
	c := r.checkpoint(cp)
	e := c.Escalation
	req.Prompt = strings.ReplaceAll(r.words("ask.escalation"), "{checkpoint}", cp) + "\n\n" + e.Reason
	r.offer(req, optRetryMore, optRedesign)
	if c.Iteration > 0 {
		r.offer(req, optEnvFixed)
	}
	r.offer(req, optSkip, optSkipForced, optAbort)
	rel := "delegations/" + cp + "/escalation.md"
	req.Artifacts = []gate.Artifact{{Path: r.Path(rel), SHA256: engine.Sum(r.escalationMD(cp)).Hex()}}
	return schemas.Object{
		{Name: "checkpoint", Value: cp}, {Name: "iteration", Value: e.Iteration}, {Name: "route", Value: e.Route},
		{Name: "failure_type", Value: text(e.FailureType)}, {Name: "dependents", Value: orEmpty(r.dependentsOf(cp))},
	}
}

// dependentsOf are the checkpoints that wait for one, directly or not.
func (r *reading) dependentsOf(cp string) []string {
	if r.st.Approved == nil {
		return nil
	}
	return graph.Dependents(nodesOf(r.st.Approved.Definitions), cp)
}

func (r *reading) askReview(req *gate.Request) schemas.Object {
	req.Prompt = r.words("ask.implementation_review")
	r.offer(req, optAccept)
	done, needed := []string{}, map[string]bool{}
	for _, d := range r.defs {
		for _, dep := range d.Dependencies {
			needed[dep] = true
		}
	}
	for _, id := range r.order {
		if c := r.checkpoint(id); c != nil && c.Status == Completed && r.defs[id] != nil {
			done = append(done, id)
			option, effect := optReopen+id, "effect.reopen"
			if needed[id] {
				effect = "effect.reopen.needed"
			}
			req.Options = append(req.Options, gate.Option{
				ID: option, Description: r.words("option.reopen"), Effect: phrase(r.lang(), effect, "checkpoint", id),
			})
			req.Several = append(req.Several, option)
			req.CommentRequired = append(req.CommentRequired, option)
		}
	}
	return schemas.Object{{Name: "round", Value: r.st.Review.Round}, {Name: "completed", Value: done}}
}

func (r *reading) askInterrupted(req *gate.Request, cp string) schemas.Object {
	c := r.checkpoint(cp)
	if c.Status == Validating {
		req.Prompt = strings.ReplaceAll(r.words("ask.interrupted_run.validation"), "{checkpoint}", cp)
		r.offer(req, optRunAgain, optFailed)
		return schemas.Object{{Name: "checkpoint", Value: cp}, {Name: "iteration", Value: c.Iteration}, {Name: "run", Value: runNumber(c)}}
	}
	req.Prompt = strings.ReplaceAll(r.words("ask.interrupted_run.worker"), "{checkpoint}", cp)
	r.offer(req, optRunAgain, optFailed, optValidate)
	number := 0
	if c.Worker != nil {
		number = c.Worker.Number
	}
	return schemas.Object{{Name: "checkpoint", Value: cp}, {Name: "iteration", Value: c.Iteration}, {Name: "start", Value: number}}
}

func runNumber(c *Checkpoint) int {
	if c.Run == nil {
		return 0
	}
	return c.Run.Number
}
