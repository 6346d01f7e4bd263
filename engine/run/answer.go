package run

import (
	"slices"
	"strings"

	"placet/engine"
	"placet/engine/gate"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// Answer is an answer that counts, to an open request; or what its deadline takes.
type Answer struct {
	gate.Decision
	Request *Request
	// Late says that it was there when its deadline had passed.
	Late bool
	// path names the file that answered as the family's documents do.
	path string
	// receipt is the one that a crash left without the transition that the answer was
	// to make, nil where there was none. It is fact, and stays as it is.
	receipt *gate.Receipt
}

// HasReceipt reports whether the receipt of the answer is durable already.
func (a *Answer) HasReceipt() bool { return a != nil && a.receipt != nil }

// KeysMember is the member of a response.json by which a surface knows an answer again
// that it has given already. A family reads it that lists it in [Question.Members].
const KeysMember = "idempotency_keys"

// Keys are the idempotency keys of an answer.
func (a *Answer) Keys() []string { return KeysOf(a.Extra) }

// KeysOf are the idempotency keys among the further members of an answer or a receipt.
func KeysOf(extra schemas.Object) (keys []string) {
	switch v := extra.Get(KeysMember).(type) {
	case []string:
		return v
	case schemas.Raw:
		if schemas.DecodeValue(v, &keys) != nil {
			return nil
		}
	}
	return keys
}

// Words are what an answer says: its option or text, and all that was selected with it.
func (a *Answer) Words() string {
	words := a.Selected
	if !slices.Contains(words, a.Response) {
		words = slices.Concat([]string{a.Response}, words)
	}
	return strings.Join(words, ", ")
}

// Why is the reason of the transition that an answer causes.
func (a *Answer) Why() string {
	key := "run.reason.answer"
	if a.By.User == "" {
		key += ".unknown"
	}
	return a.Decision.Why(templates.Phrase(a.Lang(), key, "answer", a.Words(), "user", a.By.User, "source", a.By.Source))
}

// Answer is the answer to an open request that counts, nil for none.
func (r *Run[S]) Answer(q *Request) *Answer {
	a, known := r.answers[q.ID]
	if !known {
		a = r.findAnswer(q)
		r.answers[q.ID] = a
	}
	return a
}

func (r *Run[S]) findAnswer(q *Request) *Answer {
	f := r.Folder(q.ID)
	if problem, ok := r.asker.stands(q); !ok {
		if problem != "" {
			r.Notes.Add(f.Dir+"/problem.md", problem)
			if !r.asker.lapses(q) {
				r.hold(q, f)
			}
		}
		return nil
	}
	if a := r.ahead(q); a != nil && !a.Expired() {
		return a
	}
	if problem := r.unissued(q, f); problem != "" {
		r.Bad(f.Doc, problem)
		r.hold(q, f)
		return nil
	}
	if r.AreVoid(f) {
		r.hold(q, f)
		return nil
	}
	d := r.JudgeAnswers(r.evaluation(q))
	if d == nil {
		return nil
	}
	a := &Answer{
		Decision: *d, Request: q, path: r.cause(r.Snap.Rel(d.Path)),
		Late: q.Deadline != "" && !r.Snap.Now.Before(q.Deadline.Time()),
	}
	if problem := r.asker.check(a); problem != "" {
		r.Notes.Add(f.Dir+"/problem.md", problem)
		return nil
	}
	return a
}

// JudgeAnswers returns the answer that counts among the files of a request, nil for none,
// and notes what is wrong with them.
func (r *Run[S]) JudgeAnswers(a gate.Evaluation) *gate.Decision {
	v := gate.Judge(a)
	if v.Wait {
		r.Hold(v.Pending...)
	}
	if v.Problem != "" {
		r.Notes.Add(a.Dir+"/problem.md", v.Problem)
	}
	return v.Answer
}

// LateAnswer is the answer in the folder of a request that is closed, nil for none. It
// moves nothing.
func (r *Run[S]) LateAnswer(q *Request) *gate.Decision { return r.JudgeAnswers(r.evaluation(q)) }

// AreVoid reports whether no answer to a request counts because of its void.json, and says
// so in a note, unless the file is still being written.
func (r *Run[S]) AreVoid(f *gate.Folder) bool {
	note := f.Dir + "/problem.md"
	switch {
	case f.VoidsDoc.Unsettled():
		r.Held = true
	case f.BadVoids:
		r.Notes.Add(note, r.Say("run.void.changed"))
	case f.Voids.Count() >= gate.MostVoids:
		r.Notes.Add(note, r.Say("run.void.most", "most", gate.MostVoids))
	default:
		return false
	}
	return true
}

// unissued says why request.json is not what was issued, "" where it is: then every
// answer is held.
func (r *Run[S]) unissued(q *Request, f *gate.Folder) string {
	r.Undecidable(f.Doc)
	if why := r.altered(q, f); why != nil {
		return r.Say("run.request.altered", "error", why)
	}
	if f.Doc.Absent() && !r.asker.remakes(q) && string(engine.Sum(r.requestJSON(q))) != string(q.Digest) {
		return r.Say("run.request.gone")
	}
	return ""
}

// altered says what was done to request.json, nil where it is as it was issued, or gone.
func (r *Run[S]) altered(q *Request, f *gate.Folder) error {
	why := f.Altered(engine.Digest(q.Digest))
	if why != nil && f.Doc.Present() && r.asker.remakes(q) {
		why = f.Altered(engine.Sum(r.requestJSON(q)))
	}
	return why
}

// hold keeps the deadline of a request from passing over an answer that is held. Where
// nobody has begun to answer there is nothing to hold.
func (r *Run[S]) hold(q *Request, f *gate.Folder) {
	if q.Deadline == "" {
		return
	}
	for _, d := range f.Docs {
		switch {
		case d.Absent():
		case d.Kind == layout.KindResponse, d.Kind == layout.KindForm && (d.Err != nil || gate.Ticked(d.Body)):
			r.Held = true
		}
	}
}

// ahead is what a receipt says that is durable while its transition is not: that is
// fact, whatever the form says now. A receipt that does not count is passed over with a
// note, and an answer that counts replaces it.
func (r *Run[S]) ahead(q *Request) *Answer {
	f := r.Folder(q.ID)
	if f.Receipt == nil {
		return nil
	}
	d, problem, _ := f.Ahead(r.evaluation(q))
	if problem != "" {
		r.Notes.Add(f.Dir+"/problem.md", problem)
	}
	if !d.Counts() {
		return nil
	}
	return &Answer{Decision: d, Request: q, path: d.Path, Late: f.Receipt.Late, receipt: f.Receipt}
}

// IsDecided reports whether the receipt of an open request stands already.
func (r *Run[S]) IsDecided(q *Request) bool { return r.ahead(q) != nil }

// unsureReceipt reports whether the receipt of an open request cannot be read now: it
// may say that the request is answered.
func (r *Run[S]) unsureReceipt() bool {
	for _, q := range r.open() {
		for _, d := range r.Folder(q.ID).Docs {
			if d.Kind == layout.KindReceipt && (d.Unsettled() || d.Err != nil && !d.Absent()) {
				r.Held = true
				return true
			}
		}
	}
	return false
}

// noteClosed says beside answers that they move nothing: answers to what nobody asks,
// and those that came after the request was closed.
func (b *bound[S, V]) noteClosed() {
	if b.f.Shared != nil {
		return
	}
	for _, f := range b.Folders {
		q := b.Request(f.ID)
		switch {
		case q == nil && f.Receipt == nil && !f.BadReceipt:
			if f.Request != nil && gate.After(gate.Receipt{RequestID: f.ID}, gate.Evaluation{Lang: b.Lang, Request: *f.Request, Dir: f.Dir, Docs: f.Docs}) != "" {
				b.Notes.Add(f.Dir+"/problem.md", b.Say("run.answer.stray", "noun", b.noun()))
			}
		case q != nil && q.Status != Open && f.Receipt != nil && gate.Others(*f.Receipt, f.Docs):
			if words := gate.After(b.Receipt(q), b.evaluation(q)); words != "" {
				b.Notes.Add(f.Dir+"/problem.md", words+b.late(q))
			}
		}
	}
}

// late is what the family adds about an answer to a closed request.
func (b *bound[S, V]) late(q *Request) string {
	if b.f.Late == nil {
		return ""
	}
	if words := b.f.Late(b.v, q); words != "" {
		return "\n\n" + words
	}
	return ""
}
