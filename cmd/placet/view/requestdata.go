package view

import (
	"placet/cmd/placet/workspace"
	"placet/engine"
	"placet/engine/loop"
)

// GateOf returns the gate of an open request.
func GateOf(b *workspace.Workspace, a engine.OpenRequest) engine.Gate {
	return b.Environment(a.Run.Family).Config.GateFor(a.Run.Family, a.Type)
}

// Describe adds to an open request what its family does not know: who may answer it, and the
// answer in place.
func Describe(b *workspace.Workspace, a engine.OpenRequest) engine.OpenRequest {
	gate := GateOf(b, a)
	a.Family = a.Run.Family
	a.Level, a.Approvers, a.GatesWait = gate.Level, gate.Approvers, gate.Waits
	a.Answer = pendingAnswer(b, a)
	return a
}

// pendingAnswer returns the answer in place of an open request, nil without a usable one.
func pendingAnswer(b *workspace.Workspace, a engine.OpenRequest) *engine.PendingAnswer {
	t := RequestOf(b, a, loop.Found{})
	d := b.Settled(a.Response, workspace.ResponseFile(a.Request))
	if !d.Present() {
		return nil
	}
	r, known, ok := AnswerIn(t, d, engine.Gate{})
	if !ok {
		return nil
	}
	said, with := Said(t, r)
	by := r.ProvidedBy
	author := ShownAuthor(t.Spoken, r, known)
	return &engine.PendingAnswer{
		Response: r.Response, User: by.User, Source: by.Source, Claimed: author != by.User,
		Text: b.Env.Text("workspace.answer.pending", "answer", said+with, "who", author, "source", by.Source),
	}
}
