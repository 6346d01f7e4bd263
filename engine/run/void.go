package run

import (
	"time"

	"placet/engine"
	"placet/engine/gate"
	"placet/layout"
	"placet/schemas"
	"placet/templates"
)

// voidAfter is how long a changed artifact must stay unchanged before the answers beside it are
// void, because an editor may still be saving.
const voidAfter = 2 * time.Second

// voids plans void.json if answers that would count are beside a changed artifact: their author may
// have seen the changed version, so they never count, even if the artifact is restored.
func (i *issue[S, V]) voids(w *Outputs) (planned bool) {
	r, f := i.r, i.dir
	if w.Fresh || f.BadVoids || f.Voids.Count() >= gate.MostVoids || i.ahead() != nil {
		return false
	}
	if _, stands := i.stands(); stands {
		return false
	}
	changes := changedArtifacts(r.Snap, i.request())
	if len(changes) == 0 {
		return false
	}
	a := changes[0]
	if still := a.Since.Add(voidAfter); a.Now != "" && r.Snap.Now.Before(still) && !a.Since.After(r.Snap.Now) {
		r.WakeAt(still)
		return false
	}
	answers := i.voidable()
	if len(answers) == 0 {
		return false
	}
	next := f.Voids.Add(i.ID, gate.Void{
		At: r.Snap.Now.UTC().Format(time.RFC3339), Artifact: a.Path, Shown: a.Shown, Found: schemas.OrNull(a.Now), Answers: answers,
	})
	w.Put(i.file(layout.VoidFile), Must(next.Encode()))
	return true
}

// voidable returns the answers to a request that a changed artifact makes void: those that would
// count by request.json as it was issued, whatever the file says now. If the issued request is no
// longer known, it returns all answers that were sent.
func (i *issue[S, V]) voidable() []gate.VoidAnswer {
	body := i.dir.Doc.Body
	if string(i.dir.Doc.Sum) != string(i.Digest) {
		if body = i.body(); !i.wasIssued(body) {
			return i.dir.Sent()
		}
	}
	asked := i.evaluationOf(body)
	asked.Rewritten = nil
	return gate.Counting(asked)
}

// changedArtifacts returns the binding artifacts of a request that have changed since it was
// issued, as far as that can be determined now.
func changedArtifacts(s engine.Snapshot, req gate.Request) (list []engine.ChangedArtifact) {
	for _, a := range req.Artifacts {
		if now := s.Doc(a.Path); a.Binding && !now.Unsettled() && !IsUnreadable(now) && !now.Matches(a.SHA256) {
			list = append(list, engine.ChangedArtifact{Path: a.Path, Shown: a.SHA256, Now: now.Sum.Hex(), Since: now.Changed})
		}
	}
	return list
}

// Noticed adds to the texts of a form why the last answers do not count.
func Noticed(t gate.Texts, v *gate.Voids) gate.Texts {
	if notice := v.Notice(t.Lang); notice != "" {
		t.Lines = append([]string{templates.Quote(notice), ""}, t.Lines...)
	}
	return t
}
