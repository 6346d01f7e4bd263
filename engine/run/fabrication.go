package run

import (
	"slices"

	"placet/engine"
	"placet/engine/gate"
	"placet/layout"
	"placet/templates"
)

// Fabrication is a claim of another program that another document of the run
// contradicts. Both are certain from the documents of a snapshot: what may be explained
// by a crash, a merge or a sloppy writer is none.
type Fabrication struct {
	// Path names the document with the claim, relative to the workspace, and Pointer the
	// place in it.
	Path, Pointer string
	// Says is what stands there.
	Says string
	// Request is the request that was passed over, "" where the claim is about another
	// thing.
	Request string
	// Fact is what contradicts the claim.
	Fact templates.Message
}

// Unanswered is the fact that a request has no answer.
func Unanswered(request string) templates.Message {
	return templates.NewMessage("run.fabrication.unanswered", "request", request)
}

// fabrications are the findings about claims that nobody adopted.
func (b *bound[S, V]) fabrications() []engine.Finding {
	return Once(b.Run, "fabrications", func() (list []engine.Finding) {
		all := b.forgedAnswers()
		if b.f.Fabrications != nil {
			all = append(all, b.f.Fabrications(b.v)...)
		}
		for _, f := range all {
			adoption := engine.CommandDigest("fabrication", b.Snap.Key.String(), f.Path, f.Pointer, f.Says, f.Request, f.Fact.String())
			if b.Snap.Facts.Trusted[adoption] {
				continue
			}
			text := b.Say("run.fabrication", "pointer", f.Pointer, "says", templates.Code(OneLine(f.Says)), "fact", f.Fact, "run", b.Snap.Key)
			list = append(list, engine.Finding{
				Severity: "error", Path: f.Path, Text: text, Urgent: true, Code: engine.CodeFabrication, Pointer: f.Pointer, Request: f.Request, Adoption: adoption,
			})
		}
		return list
	})
}

// noteFabrications says beside the state document what other programs claim, unless a
// note there already says why the state cannot be used. Lists of runs look at a run that
// has ended only where such a note stands.
func (b *bound[S, V]) noteFabrications() {
	if b.Problem != "" {
		return
	}
	for _, f := range b.fabrications() {
		b.Notes.Beside(b.Doc.Path, b.Say("run.fabrication.note", "file", b.Snap.Rel(f.Path), "text", f.Text))
	}
}

// forgedAnswers are the answers that only a state knows which placet alone writes and
// this machine did not write. A placet on another machine would have written the receipt
// before the state, so a request without one was not answered.
func (b *bound[S, V]) forgedAnswers() (list []Fabrication) {
	if b.f.Shared != nil || !b.Begun || !b.isForged() {
		return nil
	}
	for _, q := range b.Requests() {
		passed := q.Status == gate.Accepted || q.Status == Open && b.f.Final(b.status())
		if passed && b.IsUnanswered(q.ID) {
			list = append(list, Fabrication{b.Doc.Path, "/status", string(b.status()), q.ID, Unanswered(q.ID)})
		}
	}
	return list
}

// maybeAnswered reports whether an answer that only a forged state knows may still be
// found: the folder of its request has not settled. Nothing follows from it until then.
func (b *bound[S, V]) maybeAnswered() bool {
	if !b.Begun || !b.isForged() {
		return false
	}
	held := slices.ContainsFunc(b.Requests(), func(q *Request) bool {
		f := b.Folder(q.ID)
		return q.Status == gate.Accepted && f.Doc.IssuedHere() && f.Receipt == nil && f.Unsettled()
	})
	b.Held = b.Held || held
	return held
}

// isForged is [Run.IsForged], also of a state without a journal.
func (b *bound[S, V]) isForged() bool {
	return b.IsForged() || !b.f.hasJournal() && !b.Torn && b.Doc.Issued != nil && !b.Doc.IssuedHere()
}

// IsForged reports whether somebody else wrote a state document that placet alone writes
// and a journal accounts for. A machine that remembers none of its states cannot tell.
func (r *Run[S]) IsForged() bool {
	return !r.Torn && r.Begun && r.Unaccounted != "" && r.Doc.Issued != nil && !r.Doc.IssuedHere()
}

// IsUnanswered reports whether this machine asked a request, and its folder certainly
// holds neither a receipt nor anything that may be an answer.
func (r *Run[S]) IsUnanswered(id string) bool {
	f := r.Folder(id)
	if f.Request == nil || !f.Doc.IssuedHere() || f.Receipt != nil || f.BadReceipt || f.Unsettled() {
		return false
	}
	return !slices.ContainsFunc(f.Docs, func(d engine.Document) bool {
		return d.Kind == layout.KindResponse && !d.Absent() || d.Kind == layout.KindForm && (d.Err != nil || gate.Ticked(d.Body))
	})
}
