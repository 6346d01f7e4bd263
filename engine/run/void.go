package run

import (
	"time"

	"placet/engine"
	"placet/engine/gate"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// voidAfter is how long a changed artifact must have stood before the answers beside it
// are void: an editor may still be saving.
const voidAfter = 2 * time.Second

// voids plans void.json where answers that would count stand beside a changed artifact:
// their author may have seen that one, so they never count, whatever is restored.
func (r *Run[S]) voids(w *Outputs, q *Request) (planned bool) {
	f := r.Folder(q.ID)
	if w.Fresh || f.BadVoids || f.Voids.Count() >= gate.MostVoids || r.IsDecided(q) {
		return false
	}
	if _, stands := r.asker.stands(q); stands {
		return false
	}
	changes := r.changes(r.asker.request(q))
	if len(changes) == 0 {
		return false
	}
	a := changes[0]
	if still := a.Since.Add(voidAfter); a.Now != "" && r.Snap.Now.Before(still) && !a.Since.After(r.Snap.Now) {
		r.WakeAt(still)
		return false
	}
	answers := r.voidable(q)
	if len(answers) == 0 {
		return false
	}
	next := f.Voids.Add(q.ID, gate.Void{
		At: r.Snap.Now.UTC().Format(time.RFC3339), Artifact: a.Path, Shown: a.Shown, Found: schemas.OrNull(a.Now), Answers: answers,
	})
	w.Put(layout.RequestsDir+"/"+q.ID+"/"+layout.VoidFile, Must(next.Encode()))
	return true
}

// voidable are the answers to a request that a changed artifact makes void: those that would
// count by request.json as it was issued, whatever stands in its place. Where nobody knows
// any more what that was, they are all that were sent.
func (r *Run[S]) voidable(q *Request) []gate.VoidAnswer {
	f := r.Folder(q.ID)
	body := f.Doc.Body
	if string(f.Doc.Sum) != string(q.Digest) {
		if body = r.requestJSON(q); string(engine.Sum(body)) != string(q.Digest) && !r.asker.remakes(q) {
			return f.Sent()
		}
	}
	asked := r.evaluationOf(q, body)
	asked.Rewritten = nil
	return gate.Counting(asked)
}

// changes are the binding artifacts of a request that are not what was asked about, as far
// as that can be told now.
func (r *Run[S]) changes(req gate.Request) (list []engine.ChangedArtifact) {
	for _, a := range req.Artifacts {
		if now := r.Snap.Doc(a.Path); a.Binding && !now.Unsettled() && !IsUnreadable(now) && !now.Matches(a.SHA256) {
			list = append(list, engine.ChangedArtifact{Path: a.Path, Shown: a.SHA256, Now: now.Sum.Hex(), Since: now.Changed})
		}
	}
	return list
}

// Noticed adds to the words of a form why the last answers do not count.
func Noticed(t gate.Texts, v *gate.Voids) gate.Texts {
	if notice := v.Notice(t.Lang); notice != "" {
		t.Lines = append([]string{templates.Quote(notice), ""}, t.Lines...)
	}
	return t
}
