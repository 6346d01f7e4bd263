package run

import (
	"slices"

	"placet/engine"
	"placet/engine/gate"
	"placet/schemas"
	"placet/templates"
)

// Open is the status of a request that is still asked; the others are the results of
// its receipt.
const Open = gate.Unanswered

// Request is a question to a person as a state document keeps it, with all that its
// receipt says.
type Request struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Revision int    `json:"revision"` // of the transition that opened it
	OpenedAt Text   `json:"opened_at"`
	Digest   Text   `json:"digest"` // of request.json as issued
	Status   string `json:"status"` // Open, or the receipt's result
	// Subject is the part of the run that the request is about, "" for the run.
	Subject        Text     `json:"subject"`
	Deadline       Text     `json:"deadline"`
	Response       Text     `json:"response"`
	Selected       []string `json:"selected"`
	Comment        Text     `json:"comment"`
	By             *By      `json:"by"`
	KnownAs        []string `json:"known_as"`
	Answer         Text     `json:"answer"` // path of the file that answered
	AnswerDigest   Text     `json:"answer_digest"`
	View           Text     `json:"view"` // digest of what was shown
	Late           bool     `json:"late"`
	ReceivedAt     Text     `json:"received_at"`
	ClosedAt       Text     `json:"closed_at"`
	ClosedRevision int      `json:"closed_revision"`
	Reason         Text     `json:"reason"`
	// SupersededBy is the request that is asked instead.
	SupersededBy Text `json:"superseded_by,omitzero"`
	// Edits are the texts that the answer changed.
	Edits []gate.Edit `json:"edits,omitzero"`
	// Keys are the idempotency keys that came with the answer.
	Keys []string `json:"idempotency_keys,omitzero"`
	// Extra are further members of the receipt.
	Extra schemas.Object `json:"-"`
}

// By says who answered, as the receipt does.
type By struct {
	User   string `json:"user"`
	Source string `json:"source"`
}

// Receipt is what became of a closed request.
func (q *Request) Receipt() gate.Receipt {
	rc := gate.Receipt{
		SchemaVersion: 1, RequestID: q.ID, Result: q.Status, Response: string(q.Response), Selected: q.Selected, Comment: string(q.Comment), Edits: q.Edits,
		Late: q.Late, ProvidedBy: gate.By{User: "placet", Source: gate.SourceFile}, KnownAs: q.KnownAs, Digest: engine.Digest(q.View),
		ReceivedAt: string(q.ReceivedAt), DecidedAt: string(q.ClosedAt), Reason: string(q.Reason), Revision: q.ClosedRevision,
		SupersededBy: string(q.SupersededBy), Extra: q.Extra,
	}
	if len(q.Keys) > 0 {
		rc.Extra = append(slices.Clip(rc.Extra), schemas.Member{Name: KeysMember, Value: q.Keys})
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

// Requests are all that the state asks and has asked, in the order in which it did.
func (r *Run[S]) Requests() []*Request {
	if r.head.Requests == nil {
		return nil
	}
	return *r.head.Requests
}

// Request is the one of an id, nil where the state has none.
func (r *Run[S]) Request(id string) *Request { return findRequest(r.Requests(), id) }

func findRequest(all []*Request, id string) *Request {
	return find(all, func(q *Request) bool { return q.ID == id })
}

func find(all []*Request, fits func(*Request) bool) *Request {
	if i := slices.IndexFunc(all, fits); i >= 0 {
		return all[i]
	}
	return nil
}

// Open is the first open request of a type, nil for none.
func (r *Run[S]) Open(typ string) *Request {
	return find(r.open(), func(q *Request) bool { return q.Type == typ })
}

// OpenAbout is the open request of a type about a part of the run, nil for none.
func (r *Run[S]) OpenAbout(typ, subject string) *Request {
	return find(r.open(), func(q *Request) bool { return q.Type == typ && string(q.Subject) == subject })
}

// open are the open requests.
func (r *Run[S]) open() []*Request {
	var list []*Request
	for _, q := range r.Requests() {
		if q.Status == Open {
			list = append(list, q)
		}
	}
	return list
}

// Folder is the folder of a request.
func (r *Run[S]) Folder(id string) *gate.Folder { return gate.Find(r.Folders, r.Snap.Dir, id) }

// raise adds an open request that no transition opens; see [Family.Raised]. One that was
// issued before keeps when that was, and who could answer by the settings of then: no
// state says what it looked like.
func (r *Run[S]) raise(q *Request) {
	*r.head.Requests = append(*r.head.Requests, q)
	q.Digest = Text(engine.Sum(r.requestJSON(q)))
	f, then := r.Folder(q.ID), *q
	if body, ok := f.Reissued(func(at, _ string) []byte {
		then.OpenedAt = Text(at)
		made := r.asker.request(&then)
		made.MayAnswer = f.Request.MayAnswer
		return Must(made.Encode())
	}); ok {
		q.OpenedAt, q.Digest = then.OpenedAt, Text(engine.Sum(body))
	}
}

// Receipt is what became of a closed request. A state that does not keep what the person
// was shown says it by the request as it was issued.
func (r *Run[S]) Receipt(q *Request) gate.Receipt {
	rc := q.Receipt()
	if rc.Result == gate.Accepted && rc.Digest == "" {
		rc.Digest = view(r.asker.request(q), r.requestJSON(q), r.Folder(q.ID).Voids)
	}
	return rc
}

func (r *Run[S]) requestJSON(q *Request) []byte { return Must(r.asker.request(q).Encode()) }

// request implements asker.
func (b *bound[S, V]) request(q *Request) gate.Request {
	req := gate.Request{
		SchemaVersion: 1, RequestID: q.ID, Family: b.f.Name, Run: b.Snap.Key.ID, Type: q.Type, RequestedAt: string(q.OpenedAt),
		Deadline: string(q.Deadline), Revision: q.Revision, MayAnswer: b.gate(q).Approvers,
	}
	req.Context = Must(schemas.Encode(b.f.Questions[q.Type].Fill(b.v, q, &req)))
	req.Carry(func(a gate.Artifact) (string, bool) { return b.Text(q.ID, a) })
	return req.AsIssued(engine.Digest(q.Digest))
}

// gate implements asker.
func (b *bound[S, V]) gate(q *Request) engine.Gate {
	g := b.Snap.Facts.Config.GateFor(b.name, q.Type)
	if narrow := b.f.Questions[q.Type].MayAnswer; narrow != nil {
		g.Approvers = gate.Narrow(g.Approvers, narrow(b.v, q))
	}
	return g
}

// lapses implements asker.
func (b *bound[S, V]) lapses(q *Request) bool { return b.f.Questions[q.Type].Lapses }

// form implements asker.
func (b *bound[S, V]) form(req gate.Request, q *Request, view engine.Digest) ([]byte, error) {
	question := b.f.Questions[q.Type]
	if question.Brief {
		req.Context = withoutEmpty(req.Context)
	}
	return gate.Form(req, view, Noticed(question.Title(b.v, q), b.Folder(q.ID).Voids))
}

// withoutEmpty is a JSON object without the members that are null or empty.
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

// remakes implements asker.
func (b *bound[S, V]) remakes(q *Request) bool {
	remakes := b.f.Questions[q.Type].Remakes
	return remakes != nil && remakes(b.v, q)
}

// check implements asker.
func (b *bound[S, V]) check(a *Answer) string {
	if check := b.f.Questions[a.Request.Type].Check; check != nil {
		return check(b.v, a)
	}
	return ""
}

// stands implements asker.
func (b *bound[S, V]) stands(q *Request) (problem string, ok bool) {
	if stands := b.f.Questions[q.Type].Stands; stands != nil {
		return stands(b.v, q)
	}
	return "", true
}

// complete implements asker.
func (b *bound[S, V]) complete(a *gate.Evaluation, q *Request) {
	question := b.f.Questions[q.Type]
	a.Default, a.Members, a.Lapses = question.Default, question.Members, question.Lapses
	if question.Hint != "" {
		a.Hint = b.Say(question.Hint)
	}
}

// view is the digest of what a request shows: its own bytes, and the artifacts that
// bind.
func view(req gate.Request, body []byte, voids *gate.Voids) engine.Digest {
	var binding []string
	for _, a := range req.Artifacts {
		if a.Binding {
			binding = append(binding, a.SHA256)
		}
	}
	return gate.Digest(body, binding, voids.Count())
}

// evaluation is a request with all that bears on its answer.
func (r *Run[S]) evaluation(q *Request) gate.Evaluation {
	if d := r.Folder(q.ID).Doc; d.Present() {
		return r.evaluationOf(q, d.Body)
	}
	return r.evaluationOf(q, r.requestJSON(q))
}

// evaluationOf is [Run.evaluation] by another request.json.
func (r *Run[S]) evaluationOf(q *Request, body []byte) gate.Evaluation {
	f, req := r.Folder(q.ID), r.asker.request(q)
	shown := view(req, body, f.Voids)
	a := gate.Evaluation{
		Lang: r.Lang, Request: req, Dir: f.Dir, Docs: f.Docs, View: shown, Issued: view(req, body, nil), Present: f.Dir + "/" + f.FormName(shown),
		Stale:     f.Voids.Notice(r.Lang),
		Rendered:  gate.Rendered(func() ([]byte, error) { return r.asker.form(req.Shown(body), q, shown) }),
		Rewritten: r.Rewritten(req, r.shownSince(q, f, shown)),
		Gate:      r.asker.gate(q), Now: r.Snap.Now, Asked: gate.IssuedAt(q.OpenedAt.Time(), f.Doc), Fact: r.Fact, PartialWriteGrace: PartialWriteGrace, Revision: r.revision(), Altered: templates.In(r.Lang, r.altered(q, f)),
	}
	r.asker.complete(&a, q)
	return a
}
