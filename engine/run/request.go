package run

import (
	"slices"

	"placet/engine"
	"placet/engine/gate"
	"placet/schemas"
)

// Open is the status of a request that is still open; the other statuses are the results in
// receipts.
const Open = gate.Unanswered

// Request is a question to a person as a state document stores it, with everything that its
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
	// SupersededBy is the id of the request that replaces this one.
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

// Receipt returns the receipt of a closed request.
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
	switch {
	case q.By != nil:
		rc.ProvidedBy = gate.By{User: q.By.User, Source: q.By.Source}
	case q.Status == gate.Expired:
		rc.ProvidedBy.Source = gate.SourceDeadline
	}
	if q.Answer != "" {
		rc.Answer = &gate.Answered{Path: string(q.Answer), SHA256: engine.Digest(q.AnswerDigest).Hex()}
	}
	return rc
}

// Answered records a decision: the answer, its author, and the file that contains it.
func (q *Request) Answered(d gate.Decision) {
	q.Response, q.Selected, q.Comment = Text(d.Response), d.Selected, Text(d.Comment)
	q.By, q.KnownAs = &By{User: d.By.User, Source: d.By.Source}, d.Known
	q.Edits, q.Keys = d.Edits, KeysOf(d.Extra)
	q.Answer, q.AnswerDigest, q.View = Text(d.Path), Text(d.Sum), Text(d.Digest)
}

// Requests returns all requests that the state has opened, in that order.
func (r *Run[S, V]) Requests() []*Request {
	if r.head.Requests == nil {
		return nil
	}
	return *r.head.Requests
}

// Request returns the request with an id, or nil.
func (r *Run[S, V]) Request(id string) *Request { return findRequest(r.Requests(), id) }

func findRequest(all []*Request, id string) *Request {
	return find(all, func(q *Request) bool { return q.ID == id })
}

func find(all []*Request, fits func(*Request) bool) *Request {
	if i := slices.IndexFunc(all, fits); i >= 0 {
		return all[i]
	}
	return nil
}

// Open returns the first open request of a type, or nil.
func (r *Run[S, V]) Open(typ string) *Request {
	return find(r.open(), func(q *Request) bool { return q.Type == typ })
}

// OpenAbout returns the open request of a type about a part of the run, or nil.
func (r *Run[S, V]) OpenAbout(typ, subject string) *Request {
	return find(r.open(), func(q *Request) bool { return q.Type == typ && string(q.Subject) == subject })
}

// open returns the open requests.
func (r *Run[S, V]) open() []*Request {
	var list []*Request
	for _, q := range r.Requests() {
		if q.Status == Open {
			list = append(list, q)
		}
	}
	return list
}

// Asks reports whether the request of a folder is open.
func (r *Run[S, V]) Asks(f *gate.Folder) bool {
	if f.Receipt != nil || f.ReceiptDoc.Path != "" {
		return false
	}
	if r.f.Shared != nil {
		return r.f.Shared.Asks(r.v, f.ID)
	}
	q := r.Request(f.ID)
	return q != nil && q.Status == Open && engine.Digest(q.Digest) == f.Doc.Sum
}

// Folder returns the folder of a request.
func (r *Run[S, V]) Folder(id string) *gate.Folder { return gate.Find(r.Folders, r.Snap.Dir, id) }

// raise adds an open request that no transition opens; see [Family.Raised]. A request that was
// issued before keeps its time, and the approvers from the settings of that time, because no
// state records what it looked like.
func (r *Run[S, V]) raise(q *Request) {
	*r.head.Requests = append(*r.head.Requests, q)
	q.Digest = Text(engine.Sum(r.newIssue(q).body()))
	f, then := r.Folder(q.ID), *q
	if body, ok := f.Reissued(func(at, _ string) []byte {
		then.OpenedAt = Text(at)
		made := r.newIssue(&then).make()
		made.MayAnswer = f.Request.MayAnswer
		return Must(made.Encode())
	}); ok {
		q.OpenedAt, q.Digest = then.OpenedAt, Text(engine.Sum(body))
	}
}
