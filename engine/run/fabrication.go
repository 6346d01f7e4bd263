package run

import (
	"slices"

	"placet/engine"
	"placet/engine/gate"
	"placet/layout"
	"placet/templates"
)

// Fabrication is a claim of another program that another document of the run contradicts.
// Both are certain from the documents of a snapshot: a claim that a crash, a merge or a
// sloppy writer may explain is not a fabrication.
type Fabrication struct {
	// Path names the document with the claim, relative to the workspace, and Pointer the
	// place within it.
	Path, Pointer string
	// Says is the claim.
	Says string
	// Request is the request that was bypassed, "" if the claim is about something else.
	Request string
	// Fact contradicts the claim.
	Fact templates.Message
}

// Unanswered returns the fact that a request has no answer.
func Unanswered(request string) templates.Message {
	return templates.NewMessage("run.fabrication.unanswered", "request", request)
}

// fabrications returns findings about claims that nobody adopted.
func fabrications[S, V any](r *Run[S, V]) []engine.Finding {
	return Once(r, "fabrications", func() (list []engine.Finding) {
		all := forgedAnswers(r)
		if r.f.Fabrications != nil {
			all = append(all, r.f.Fabrications(r.v)...)
		}
		for _, f := range all {
			adoption := engine.CommandDigest("fabrication", r.Snap.Key.String(), f.Path, f.Pointer, f.Says, f.Request, f.Fact.String())
			if r.Snap.Facts.Trusted[adoption] {
				continue
			}
			text := r.Say("run.fabrication", "pointer", f.Pointer, "says", templates.Code(OneLine(f.Says)), "fact", f.Fact, "run", r.Snap.Key)
			list = append(list, engine.Finding{
				Severity: "error", Path: f.Path, Text: text, Urgent: true, Code: engine.CodeFabrication, Pointer: f.Pointer, Request: f.Request, Adoption: adoption,
			})
		}
		return list
	})
}

// noteFabrications writes the fabricated claims into the note beside the state document,
// unless a note there already says why the state cannot be used. Lists of runs read an
// ended run only if it has such a note.
func noteFabrications[S, V any](r *Run[S, V]) {
	if r.Problem != "" {
		return
	}
	for _, f := range fabrications(r) {
		r.Notes.Beside(r.Doc.Path, r.Say("run.fabrication.note", "file", r.Snap.Rel(f.Path), "text", f.Text))
	}
}

// forgedAnswers returns the answers that appear only in a state which should be placet's
// alone and which this machine did not write. A placet on another machine would have
// written the receipt before the state, so a request without a receipt was not answered.
func forgedAnswers[S, V any](r *Run[S, V]) (list []Fabrication) {
	if r.f.Shared != nil || !r.Begun || !isForged(r) {
		return nil
	}
	for _, q := range r.Requests() {
		passed := q.Status == gate.Accepted || q.Status == Open && r.f.Final(r.status())
		if passed && r.IsUnanswered(q.ID) {
			list = append(list, Fabrication{r.Doc.Path, "/status", string(r.status()), q.ID, Unanswered(q.ID)})
		}
	}
	return list
}

// maybeAnswered reports whether an answer that only a forged state records may still turn
// up, because the folder of its request has not settled. Until then the run does nothing
// about that answer.
func maybeAnswered[S, V any](r *Run[S, V]) bool {
	if !r.Begun || !isForged(r) {
		return false
	}
	held := slices.ContainsFunc(r.Requests(), func(q *Request) bool {
		f := r.Folder(q.ID)
		return q.Status == gate.Accepted && f.Doc.IssuedHere() && f.Receipt == nil && f.Unsettled()
	})
	r.Held = r.Held || held
	return held
}

// isForged is [Run.IsForged], extended to states without a journal.
func isForged[S, V any](r *Run[S, V]) bool {
	return r.IsForged() || !r.f.hasJournal() && !r.Torn && r.Doc.Issued != nil && !r.Doc.IssuedHere()
}

// IsForged reports whether somebody else wrote a state document that placet alone writes
// and that the journal does not account for. A machine that remembers none of the run's
// states cannot tell.
func (r *Run[S, V]) IsForged() bool {
	return !r.Torn && r.Begun && r.Unaccounted != "" && r.Doc.Issued != nil && !r.Doc.IssuedHere()
}

// IsUnanswered reports whether this machine issued the request and its folder certainly
// holds neither a receipt nor anything that may be an answer.
func (r *Run[S, V]) IsUnanswered(id string) bool {
	f := r.Folder(id)
	if f.Request == nil || !f.Doc.IssuedHere() || f.Receipt != nil || f.BadReceipt || f.Unsettled() {
		return false
	}
	return !slices.ContainsFunc(f.Docs, func(d engine.Document) bool {
		return d.Kind == layout.KindResponse && !d.Absent() || d.Kind == layout.KindForm && (d.Err != nil || gate.Ticked(d.Body))
	})
}
