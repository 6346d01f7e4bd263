package run

import (
	"slices"
	"strings"

	"placet/engine/gate"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// Answer is an answer that counts, to an open request; or the effect of its deadline.
type Answer struct {
	gate.Decision
	Request *Request
	// Late is true if the answer was read after the deadline.
	Late bool
	// path names the file that answered in the way the family's documents write paths.
	path string
	// receipt is a receipt that a crash left without the transition that the answer was to
	// make, or nil. It is a fact and is not changed.
	receipt *gate.Receipt
}

// HasReceipt reports whether the receipt of the answer is already durable.
func (a *Answer) HasReceipt() bool { return a != nil && a.receipt != nil }

// KeysMember is the member of a response.json by which a surface recognises an answer that
// it has already given. A family reads it if [Question.Members] lists it.
const KeysMember = "idempotency_keys"

// Keys returns the idempotency keys of an answer.
func (a *Answer) Keys() []string { return KeysOf(a.Extra) }

// KeysOf returns the idempotency keys among the further members of an answer or a receipt.
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

// Words returns what an answer says: its option or text, and everything selected with it.
func (a *Answer) Words() string {
	words := a.Selected
	if !slices.Contains(words, a.Response) {
		words = slices.Concat([]string{a.Response}, words)
	}
	return strings.Join(words, ", ")
}

// Why returns the reason of the transition that an answer causes.
func (a *Answer) Why() string {
	key := "run.reason.answer"
	if a.By.User == "" {
		key += ".unknown"
	}
	return a.Decision.Why(templates.Phrase(a.Lang(), key, "answer", a.Words(), "user", a.By.User, "source", a.By.Source))
}

// Answer returns the answer to an open request that counts, or nil.
func (r *Run[S, V]) Answer(q *Request) *Answer { return r.issue(q).answer() }

func (i *issue[S, V]) findAnswer() *Answer {
	r, f := i.r, i.dir
	if problem, ok := i.stands(); !ok {
		if problem != "" {
			r.Notes.Add(f.Dir+"/problem.md", problem)
			if !i.question.Lapses {
				i.hold()
			}
		}
		return nil
	}
	if a := i.ahead(); a != nil && !a.Expired() {
		return a
	}
	if problem := i.unissued(); problem != "" {
		r.Bad(f.Doc, problem)
		i.hold()
		return nil
	}
	if AreVoid(&r.Input, f) {
		i.hold()
		return nil
	}
	d := JudgeAnswers(&r.Input, i.evaluation())
	if d == nil {
		return nil
	}
	a := &Answer{
		Decision: *d, Request: i.Request, path: r.f.Folder + r.Snap.Rel(d.Path),
		Late: i.Deadline != "" && !r.Snap.Now.Before(i.Deadline.Time()),
	}
	if i.question.Check != nil {
		if problem := i.question.Check(r.v, a); problem != "" {
			r.Notes.Add(f.Dir+"/problem.md", problem)
			return nil
		}
	}
	return a
}

// JudgeAnswers returns the answer that counts among the files of a request, or nil, and
// notes what is wrong with the files.
func JudgeAnswers(r *Input, a gate.Evaluation) *gate.Decision {
	v := gate.Judge(a)
	if v.Wait {
		r.Hold(v.Pending...)
	}
	if v.Problem != "" {
		r.Notes.Add(a.Dir+"/problem.md", v.Problem)
	}
	return v.Answer
}

// LateAnswer returns the answer in the folder of a closed request, or nil. It moves
// nothing.
func (r *Run[S, V]) LateAnswer(q *Request) *gate.Decision {
	return JudgeAnswers(&r.Input, r.issue(q).evaluation())
}

// AreVoid reports whether no answer to a request counts because of its void.json. It says
// so in a note, unless the file is still being written.
func AreVoid(r *Input, f *gate.Folder) bool {
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

// hold keeps the deadline of a request from overriding an answer that is held. It does
// nothing if nobody has begun to answer.
func (i *issue[S, V]) hold() {
	if i.Deadline == "" {
		return
	}
	for _, d := range i.dir.Docs {
		switch {
		case d.Absent():
		case d.Kind == layout.KindResponse, d.Kind == layout.KindForm && (d.Err != nil || gate.Ticked(d.Body)):
			i.r.Held = true
		}
	}
}

// readAhead reads a receipt that is durable while its transition is not: what it says is a
// fact, whatever the form says now. It skips a receipt that does not count, with a note,
// and an answer that counts replaces that receipt.
func (i *issue[S, V]) readAhead() *Answer {
	f := i.dir
	if f.Receipt == nil {
		return nil
	}
	d, problem, _ := f.Ahead(i.evaluation())
	if problem != "" {
		i.r.Notes.Add(f.Dir+"/problem.md", problem)
	}
	if !d.Counts() {
		return nil
	}
	return &Answer{Decision: d, Request: i.Request, path: d.Path, Late: f.Receipt.Late, receipt: f.Receipt}
}

// IsDecided reports whether an open request already has a receipt.
func (r *Run[S, V]) IsDecided(q *Request) bool { return r.issue(q).ahead() != nil }

// expiry returns the deadline of an open request as an answer if a rule may act on it now:
// nobody has answered, and no answer may be on its way. Otherwise it returns nil.
func (i *issue[S, V]) expiry() *Answer {
	r := i.r
	if i.Deadline == "" || !r.Due(i.Deadline) || i.answer() != nil || r.Held {
		return nil
	}
	asked := i.evaluation()
	c := gate.Claim{Source: gate.FromDeadline, RequestID: i.ID, Place: i.dir.Doc.Path, At: r.Snap.Now}
	c.Response, c.Digest = asked.Request.Default, asked.View
	d, problem := gate.Verify(c, asked)
	if problem != "" {
		r.Notes.Add(i.dir.Dir+"/problem.md", problem)
		return nil
	}
	return &Answer{Decision: d, Request: i.Request}
}

// unsureReceipt reports whether the receipt of an open request cannot be read now. It may
// say that the request is answered.
func unsureReceipt[S, V any](r *Run[S, V]) bool {
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

// noteClosed notes that some answers have no effect: those to requests that nobody asks,
// and those given after the request was closed.
func noteClosed[S, V any](r *Run[S, V]) {
	if r.f.Shared != nil {
		return
	}
	for _, f := range r.Folders {
		q := r.Request(f.ID)
		switch {
		case q == nil && f.Receipt == nil && !f.BadReceipt:
			if f.Request != nil && gate.After(gate.Receipt{RequestID: f.ID}, gate.Evaluation{Lang: r.Lang, Request: *f.Request, Dir: f.Dir, Docs: f.Docs}) != "" {
				r.Notes.Add(f.Dir+"/problem.md", r.Say("run.answer.stray", "noun", r.f.noun(r.Lang)))
			}
		case q != nil && q.Status != Open && f.Receipt != nil && gate.Others(*f.Receipt, f.Docs):
			i := r.issue(q)
			if words := gate.After(i.receipt(), i.evaluation()); words != "" {
				r.Notes.Add(f.Dir+"/problem.md", words+i.late())
			}
		}
	}
}

// late returns what the family adds to the note about an answer to a closed request.
func (i *issue[S, V]) late() string {
	if i.r.f.Late == nil {
		return ""
	}
	if words := i.r.f.Late(i.r.v, i.Request); words != "" {
		return "\n\n" + words
	}
	return ""
}
