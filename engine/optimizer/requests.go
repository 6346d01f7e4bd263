package optimizer

import (
	"fmt"
	"strings"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/reader"
	"placet/schemas"
)

// Types of requests.
const (
	typeHITL    = "hitl"
	typeCap     = "reentry_cap"
	typeUnknown = "attempt_unknown"
)

// Options of requests.
const (
	optAppropriate = "appropriate"
	optRaise       = "raise"
	optLower       = "lower"
	optContinue    = "continue"
	optStop        = "stop"
	optRetry       = "retry"
	optDemote      = "demote"
)

// levelHint says what an answer about the level needs.
const levelHint = "tick a level, a suggestion, or write a comment"

// byDeadline is the default that the deadline takes.
const byDeadline = "timeout_fallback"

// askUnknown adds the request about an attempt whose end nobody knows: no
// transition opens it, the attempt's own documents do. The next transition closes
// it and keeps it in the state.
func (r *reading) askUnknown() {
	if r.st.Status != Running {
		return
	}
	t := r.unknownAttempt()
	if t == nil {
		return
	}
	what := subject(t.attempt.Level, t.n)
	q := &Request{
		ID: requestPrefix(typeUnknown) + id(r.Snap.Key.ID, r.st.Revision, typeUnknown+":"+what), Type: typeUnknown, Revision: r.st.Revision,
		OpenedAt: t.outcome.EndedAt, Status: open, Subject: text(what),
	}
	if r.st.request(q.ID) != nil {
		return
	}
	// Where the level has its data, whoever wrote them, there is nothing to ask about.
	if !r.Snap.In("retrieved.jsonl").Absent() && r.folder(q.ID).Doc.Absent() {
		return
	}
	r.st.Requests = append(r.st.Requests, q)
	q.Digest = text(engine.Sum(r.requestJSON(q)))
	r.asIssued(q)
}

// asIssued takes a request for what was issued where it differs from what would be
// now in when it was, and in who may answer by the settings of then: no state keeps
// what it looked like.
func (r *reading) asIssued(q *Request) {
	f, then := r.folder(q.ID), *q
	if body, ok := f.Reissued(func(at, _ string) []byte {
		then.OpenedAt = text(at)
		made := r.request(&then)
		made.MayAnswer = f.Request.MayAnswer
		return must(made.Encode())
	}); ok {
		q.OpenedAt, q.Digest = then.OpenedAt, text(engine.Sum(body))
	}
}

// hitl is the request that asks a person about the report, nil before it is asked.
func (r *reading) hitl() *Request {
	if r.st.RequestID == "" {
		return nil
	}
	return r.st.request(string(r.st.RequestID))
}

func (r *reading) words(key string, pairs ...string) string { return phrase(r.st.Lang, key, pairs...) }

func (r *reading) requestJSON(q *Request) []byte {
	body, err := r.request(q).Encode()
	if err != nil {
		panic(err) // texts, numbers and lists of them
	}
	return body
}

// request is what a person is asked, as the state has it.
func (r *reading) request(q *Request) gate.Request {
	req := gate.Request{
		SchemaVersion: 1, RequestID: q.ID, Family: "optimizer", Run: r.Snap.Key.ID, Type: q.Type, RequestedAt: string(q.OpenedAt),
		Deadline: string(q.Deadline), Revision: q.Revision, MayAnswer: r.Snap.Facts.Config.GateFor("optimizer", q.Type).Approvers,
	}
	var context schemas.Object
	switch q.Type {
	case typeHITL:
		context = r.askHITL(&req)
	case typeCap:
		req.Prompt = r.words("ask.reentry_cap", "workflow", r.st.WorkflowName, "n", fmt.Sprint(r.st.TimeoutReentries))
		r.offer(&req, optContinue, optStop)
		context = schemas.Object{{Name: "timeout_reentries", Value: r.st.TimeoutReentries}, {Name: "last_run_id", Value: r.st.trig.LastRunID}}
	case typeUnknown:
		context = r.askAttempt(&req, string(q.Subject))
	}
	body, err := schemas.Encode(context)
	if err != nil {
		panic(err) // texts, numbers and lists of them
	}
	req.Context = body
	return req.AsIssued(engine.Digest(q.Digest))
}

// offer adds options with their words: what each is, and what [reading.carryOut] does
// of it.
func (r *reading) offer(req *gate.Request, ids ...string) {
	for _, id := range ids {
		req.Options = append(req.Options, gate.Option{ID: id, Description: r.words("option." + id), Effect: r.words("effect." + id)})
	}
}

// askHITL is the question about the report: the level, the suggestions, a comment.
func (r *reading) askHITL(req *gate.Request) schemas.Object {
	st := r.st
	req.Options = st.levelOptions()
	req.Items = offered(st)
	b := blockOf(st)
	req.Block, req.Prompt = &b, block(st)
	req.Artifacts = []gate.Artifact{{Path: st.Report.Path, SHA256: st.Report.SHA256, Binding: true}}
	if req.Deadline != "" {
		req.Default = byDeadline
	}
	context := schemas.Object{
		{Name: "escalation_needed", Value: st.Decision.EscalationNeeded}, {Name: "recommended_level", Value: st.Decision.RecommendedLevel},
		{Name: "signal_level", Value: st.Decision.SignalLevel}, {Name: "goal_level", Value: st.Decision.GoalLevel},
		{Name: "demotions", Value: st.Demotions},
	}
	f := Findings{}
	if r.found != nil {
		f = *r.found
	}
	return append(context, schemas.Object{
		{Name: "open_issues", Value: f.OpenIssues}, {Name: "late_answer", Value: f.LateAnswer}, {Name: "warnings", Value: f.Warnings},
	}...)
}

// askAttempt is the question about an attempt whose end nobody knows: which command it
// was, as one line, and when it began. Both are its own document's words.
func (r *reading) askAttempt(req *gate.Request, attempt string) schemas.Object {
	a := r.attemptNamed(attempt)
	command := text(oneLine(strings.Join(a.Argv, " "), shownName))
	req.Prompt = r.words("ask.attempt_unknown", "attempt", attempt, "command", string(command), "started", string(a.StartedAt))
	r.offer(req, optRetry, optDemote)
	return schemas.Object{
		{Name: "attempt", Value: attempt}, {Name: "level", Value: r.st.Level.Current},
		{Name: "command", Value: command}, {Name: "started_at", Value: a.StartedAt},
	}
}

// form is a request for a person. It shows of the context what says something:
// request.json has every member.
func (r *reading) form(req gate.Request, q *Request, view engine.Digest) ([]byte, error) {
	req.Context = notEmpty(req.Context)
	return gate.Form(req, view, gate.Texts{Lang: r.st.Lang, Title: r.words("title." + q.Type)})
}

// notEmpty is a JSON object without the members that are null or empty.
func notEmpty(context schemas.Raw) schemas.Raw {
	members, err := schemas.Members(context)
	if err != nil {
		return context
	}
	kept := schemas.Object{}
	for _, m := range members {
		switch value := members.Raw(m.Name); {
		case value.Null(), string(value) == "[]", string(value) == "{}", string(value) == `""`:
		default:
			kept = append(kept, m)
		}
	}
	return encoded(kept)
}

// view is the digest of what a request shows.
func (r *reading) view(req gate.Request, body []byte) engine.Digest {
	var binding []string
	for _, a := range req.Artifacts {
		binding = append(binding, a.SHA256)
	}
	return gate.Digest(body, binding)
}

// judging is a request with all that bears on its answer.
func (r *reading) judging(q *Request, f *gate.Folder) gate.Asked {
	body := f.Doc.Body
	if !f.Doc.Present() {
		body = r.requestJSON(q)
	}
	req := r.request(q)
	shown := r.view(req, body)
	a := gate.Asked{
		Request: req, Dir: f.Dir, Docs: f.Docs, View: shown, Issued: shown, Present: f.Dir + "/form.md",
		Rendered: gate.Rendered(func() ([]byte, error) { return r.form(req.Shown(body), q, shown) }),
		Gate:     r.Snap.Facts.Config.GateFor("optimizer", q.Type), Now: r.Snap.Now, Torn: reader.Torn,
		Revision: r.st.Revision, Altered: f.Altered(engine.Digest(q.Digest)),
	}
	if q.Type == typeHITL {
		a.Default, a.Hint = optAppropriate, levelHint
	}
	return a
}

// receipt is what became of a request.
func (q *Request) receipt() gate.Receipt {
	rc := gate.Receipt{
		SchemaVersion: 1, RequestID: q.ID, Result: q.Status, Response: string(q.Response), Selected: q.Selected, Comment: string(q.Comment),
		Late: q.Late, ProvidedBy: gate.By{User: "placet", Source: gate.SourceFile}, KnownAs: q.KnownAs, Digest: engine.Digest(q.View),
		ReceivedAt: string(q.ReceivedAt), DecidedAt: string(q.ClosedAt), Reason: string(q.Reason), Revision: q.ClosedRevision,
	}
	switch q.Status {
	case gate.Accepted:
		rc.ProvidedBy = gate.By{User: q.By.User, Source: q.By.Source}
		rc.Answer = &gate.Answered{Path: string(q.Answer), SHA256: engine.Digest(q.AnswerDigest).Hex()}
	case gate.Expired:
		rc.ProvidedBy.Source = gate.SourceDeadline
	}
	return rc
}
