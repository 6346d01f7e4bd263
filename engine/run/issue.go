package run

import (
	"sync"

	"placet/engine"
	"placet/engine/gate"
	"placet/schemas"
	"placet/templates"
)

// issue is a request of a run's state with its folder. It computes what was issued for the
// request, and what follows from that, only once, although rules, outputs and views use it.
type issue[S, V any] struct {
	*Request
	r        *Run[S, V]
	question Question[V]
	dir      *gate.Folder

	// issued returns the request as it was issued, with its request.json.
	issued func() (gate.Request, []byte)
	// evaluation returns the request with everything that affects its answer.
	evaluation func() gate.Evaluation
	// ahead returns the answer in a receipt that is durable while its transition is not;
	// see [issue.readAhead].
	ahead func() *Answer
	// answer returns the answer that counts, or nil.
	answer func() *Answer
}

// issue returns the issue of a request of the state.
func (r *Run[S, V]) issue(q *Request) *issue[S, V] {
	if r.issues[q] == nil {
		r.issues[q] = r.newIssue(q)
	}
	return r.issues[q]
}

func (r *Run[S, V]) newIssue(q *Request) *issue[S, V] {
	i := &issue[S, V]{Request: q, r: r, question: r.f.Questions[q.Type], dir: r.Folder(q.ID)}
	i.issued = sync.OnceValues(func() (gate.Request, []byte) { return i.make().AsIssued(engine.Digest(q.Digest)) })
	i.evaluation = sync.OnceValue(func() gate.Evaluation {
		if d := i.dir.Doc; d.Present() {
			return i.evaluationOf(d.Body)
		}
		return i.evaluationOf(i.body())
	})
	i.ahead = sync.OnceValue(i.readAhead)
	i.answer = sync.OnceValue(i.findAnswer)
	return i
}

// wasMade sets the request.json that the transition that asks has already made.
func (i *issue[S, V]) wasMade(body []byte) {
	i.issued = sync.OnceValues(func() (gate.Request, []byte) { return i.make(), body })
}

// make makes the request from the present state.
func (i *issue[S, V]) make() gate.Request {
	q, r := i.Request, i.r
	req := gate.Request{
		SchemaVersion: 1, RequestID: q.ID, Family: r.f.Family(), Run: r.Snap.Key.ID, Type: q.Type, RequestedAt: string(q.OpenedAt),
		Deadline: string(q.Deadline), Revision: q.Revision, MayAnswer: i.gate().Approvers,
	}
	req.Context = Must(schemas.Encode(i.question.Fill(r.v, q, &req)))
	req.Carry(func(a gate.Artifact) (string, bool) { return r.Text(q.ID, a) })
	return req
}

func (i *issue[S, V]) request() gate.Request {
	req, _ := i.issued()
	return req
}

// body returns request.json as it was issued.
func (i *issue[S, V]) body() []byte {
	req, body := i.issued()
	if body == nil {
		return Must(req.Encode()) // panics with the reason why it cannot be encoded
	}
	return body
}

// gate returns the requirements for an answer.
func (i *issue[S, V]) gate() engine.Gate {
	g := i.r.Snap.Facts.Config.GateFor(i.r.f.Family(), i.Type)
	if narrow := i.question.MayAnswer; narrow != nil {
		g.Approvers = gate.Narrow(g.Approvers, narrow(i.r.v, i.Request))
	}
	return g
}

// form renders the form of a view from a request.json.
func (i *issue[S, V]) form(body []byte, view engine.Digest) ([]byte, error) {
	req := i.request().Shown(body)
	if i.question.Brief {
		req.Context = withoutEmpty(req.Context)
	}
	return gate.Form(req, view, Noticed(i.question.Title(i.r.v, i.Request), i.dir.Voids))
}

// withoutEmpty returns a JSON object without its null and empty members.
func withoutEmpty(context schemas.Raw) schemas.Raw {
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
	return Must(schemas.Encode(kept))
}

// remakes reports whether request.json may be made again although it differs from what was
// issued.
func (i *issue[S, V]) remakes() bool {
	return i.question.Remakes != nil && i.question.Remakes(i.r.v, i.Request)
}

// stands reports whether the subject of the request is unchanged; if not, problem says why.
func (i *issue[S, V]) stands() (problem string, ok bool) {
	if i.question.Stands == nil {
		return "", true
	}
	return i.question.Stands(i.r.v, i.Request)
}

// wasIssued reports whether a request.json is the issued one, or may replace it.
func (i *issue[S, V]) wasIssued(body []byte) bool {
	sum := engine.Sum(body)
	return string(sum) == string(i.Digest) || i.remakes() && sum == engine.Sum(i.body())
}

// altered returns how request.json was changed, or nil if it is as issued, or gone.
func (i *issue[S, V]) altered() error {
	why := i.dir.Altered(engine.Digest(i.Digest))
	if why != nil && i.dir.Doc.Present() && i.remakes() {
		why = i.dir.Altered(engine.Sum(i.body()))
	}
	return why
}

// unissued returns why request.json is not what was issued, or "". While there is such a
// reason, every answer is held.
func (i *issue[S, V]) unissued() string {
	i.r.Undecidable(i.dir.Doc)
	if why := i.altered(); why != nil {
		return i.r.Say("run.request.altered", "error", why)
	}
	if i.dir.Doc.Absent() && !i.wasIssued(i.body()) {
		return i.r.Say("run.request.gone")
	}
	return ""
}

// evaluationOf returns the request with everything that affects its answer, based on a
// request.json.
func (i *issue[S, V]) evaluationOf(body []byte) gate.Evaluation {
	r, f, req := i.r, i.dir, i.request()
	shown := req.View(body, f.Voids)
	a := gate.Evaluation{
		Lang: r.Lang, Request: req, Dir: f.Dir, Docs: f.Docs, View: shown, Issued: req.View(body, nil), Present: f.Dir + "/" + f.FormName(shown),
		Stale:     f.Voids.Notice(r.Lang),
		Rendered:  gate.Rendered(func() ([]byte, error) { return i.form(body, shown) }),
		Rewritten: Rewritten(r.Snap, req, i.shownSince(shown)),
		Gate:      i.gate(), Now: r.Snap.Now, Asked: gate.IssuedAt(i.OpenedAt.Time(), f.Doc), Fact: r.Fact, PartialWriteGrace: PartialWriteGrace,
		Revision: r.revision(), Altered: templates.In(r.Lang, i.altered()),
		Default: i.question.Default, Members: i.question.Members, Lapses: i.question.Lapses,
		AtCommandLine: i.question.AtCommandLine, Foreign: f.Doc.Present() && !f.Doc.IssuedHere(),
	}
	if i.question.Hint != "" {
		a.Hint = r.Say(i.question.Hint)
	}
	a.AtDeadline = r.AtDeadline(req)
	return a
}

// AtDeadline says in a few words what happens if nobody has answered a request by its
// deadline.
func (r *Run[S, V]) AtDeadline(req gate.Request) string {
	q := r.f.Questions[req.Type]
	if q.AtDeadline != "" {
		return r.Say(q.AtDeadline)
	}
	return req.AtDeadline(r.Lang, q.Lapses)
}

// receipt returns the result of the request. If the state does not keep the digest of what
// the person was shown, the digest comes from the request as it was issued.
func (i *issue[S, V]) receipt() gate.Receipt {
	rc := i.Request.Receipt()
	if rc.Result == gate.Accepted && rc.Digest == "" {
		if there := i.dir.Request; there != nil && string(i.dir.Doc.Sum) == string(i.Digest) {
			rc.Digest = there.View(i.dir.Doc.Body, i.dir.Voids)
		} else {
			rc.Digest = i.request().View(i.body(), i.dir.Voids)
		}
	}
	return rc
}

// Receipt returns the result of a closed request.
func (r *Run[S, V]) Receipt(q *Request) gate.Receipt { return r.issue(q).receipt() }
