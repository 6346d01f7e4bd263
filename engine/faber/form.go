package faber

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"time"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/jsonedit"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
)

// presentForm returns the name of the form for the current view. form.md belongs to the view that
// was issued and is never rewritten, so the form for another view has that view in its name.
func (o *request) presentForm() string {
	if shown := cmp.Or(o.formDigest("form.md"), o.digest); o.digest == o.issued && (shown == o.digest || isLeftOver(o)) {
		return "form.md"
	}
	return layout.FormView(o.digest.Hex())
}

// isLeftOver reports whether form.md of a request was left by a transition that was never completed,
// and nobody has ticked it. The form of the request replaces it.
func isLeftOver(o *request) bool {
	d := o.view.Snap.Doc(o.path("form.md"))
	return !o.stands && !o.q.isOpen() && d.Present() && !gate.Ticked(d.Body) && o.formDigest("form.md") != o.digest
}

// formDigest returns the digest in the first line of a form, or "".
func (o *request) formDigest(name string) engine.Digest {
	line, _, _ := strings.Cut(string(o.view.Snap.Doc(o.path(name)).Body), "\n")
	if f := strings.Fields(line); len(f) == 6 && f[1] == "placet" && f[2] == "request" && f[3] == o.folder.ID {
		return engine.Digest(f[4])
	}
	return ""
}

// has reports whether a file exists in the folder of a request, usable or not.
func has(a *gate.Folder, name string) bool {
	return slices.ContainsFunc(a.Docs, func(d engine.Document) bool { return d.Path == a.Dir+"/"+name && !d.Absent() })
}

// formEvery is the minimum time between two new forms while artifacts change.
const formEvery = time.Minute

// formDue reports whether to write the current form now.
func (o *request) formDue() bool {
	switch {
	case o.form == "form.md":
		return !has(o.folder, o.form) || isLeftOver(o)
	case has(o.folder, o.form):
		return false
	}
	var newest time.Time
	for _, d := range o.folder.Docs {
		if d.Kind == layout.KindForm && d.Path != o.path("form.md") && d.Changed.After(newest) {
			newest = d.Changed
		}
	}
	due := newest.Add(formEvery)
	if o.view.Snap.Now.Before(due) {
		o.view.WakeAt(due)
	}
	return !o.view.Snap.Now.Before(due)
}

// files returns request.json, the current form and its text for the issue, as far as they are missing. If no form can be
// made, nothing is asked, and a note beside state.json explains why.
func (o *request) files() []engine.Document {
	var docs []engine.Document
	if !o.stands {
		docs = append(docs, engine.Document{Path: o.path("request.json"), Kind: layout.KindRequest, Body: o.body, Over: o.folder.Doc.Sum})
	}
	if !o.formDue() {
		if has(o.folder, o.form) {
			docs = append(docs, o.commentFile()...)
		}
		return docs
	}
	body, err := o.q.renderForm(o.view.Lang, o.shown(), o.digest)
	if err != nil {
		o.view.run.CannotWrite(err)
		return nil
	}
	return append(append(docs, engine.Document{Path: o.path(o.form), Kind: layout.KindForm, Body: body, Over: o.view.Snap.Doc(o.path(o.form)).Sum}), o.commentFile()...)
}

// asNow returns the request with the current content of its artifacts, which is what its view
// shows.
func (o *request) asNow() gate.Request {
	req := o.req
	if o.past {
		return req
	}
	issued := req.Artifacts
	req.Artifacts = slices.Clone(issued)
	for i, a := range issued {
		if a.Binding {
			req.Artifacts[i].SHA256 = o.view.digestNow(a)
		}
	}
	req.Carry(func(a gate.Artifact) (string, bool) {
		i := slices.IndexFunc(issued, func(was gate.Artifact) bool { return was.Path == a.Path })
		switch was := issued[i]; {
		case was.Text == nil: // it may not be shown later either
			return "", false
		case was.SHA256 == a.SHA256:
			return was.Carried()
		}
		return string(o.view.Snap.Doc(path.Clean(a.Path)).Body), true
	})
	return req
}

// shown returns the request as the form of its view shows it. Forms of a version without texts show
// the artifacts as they were when the request was issued.
func (o *request) shown() gate.Request {
	var req gate.Request
	if q := o.folder.Request; q != nil && string(o.body) == string(o.folder.Doc.Body) {
		req = o.req.ShownAs(*q)
	} else {
		req = o.req.Shown(o.body)
	}
	if slices.ContainsFunc(req.Artifacts, func(a gate.Artifact) bool { return a.Text != nil }) {
		req.Artifacts = o.asNow().Artifacts
	}
	return req
}

// rewritten returns an artifact that was rewritten after its view was shown: after the request, or
// after the form of a later view. It returns nil if none was.
func (o *request) rewritten() *gate.Rewritten {
	if o.past || !o.stands {
		return nil
	}
	since := o.folder.Doc.Changed
	if o.digest != o.issued {
		since = o.view.Snap.Doc(o.path(o.form)).Changed
	}
	return run.Rewritten(o.view.Snap, o.req, since)
}

// voids returns void.json if an artifact has changed and answers to its old content exist: their
// authors may have seen the new one. ok is false if there is nothing to void.
func (o *request) voids() (d engine.Document, ok bool) {
	f := o.folder
	if len(o.moved) == 0 || f.BadVoids || f.Voids.Count() >= gate.MostVoids || o.isDecided() {
		return d, false
	}
	issued, now := o.view.sums(o.req)
	asked := o.evaluation()
	asked.Request, asked.Rewritten = o.req, nil
	asked.View = gate.Digest(o.body, issued, f.Voids.Count())
	if f.Voids.Count() > 0 {
		asked.Present = f.Dir + "/" + layout.FormView(asked.View.Hex())
	} else {
		asked.Present = f.Dir + "/form.md"
	}
	asked.Rendered = o.q.rendered(o.req.Shown(o.body), asked.View)
	answers := gate.Counting(asked)
	if len(answers) == 0 {
		return d, false
	}
	v := gate.Void{At: seconds(o.view.Snap.Now), Artifact: o.moved[0], Answers: answers}
	i := 0
	for _, a := range o.req.Artifacts {
		if a.Binding && a.Path == v.Artifact {
			v.Shown, v.Found = issued[i], run.Text(now[i])
		}
		if a.Binding {
			i++
		}
	}
	return engine.Document{Path: f.Dir + "/" + layout.VoidFile, Kind: layout.KindVoid, Body: run.Must(f.Voids.Add(f.ID, v).Encode()), Over: f.VoidsDoc.Sum}, true
}

// isDecided reports whether the request has a receipt that counts or that this machine wrote. Then
// the answers in its folder have already moved the run.
func (o *request) isDecided() bool {
	return o.folder.Receipt != nil && (o.fact.Counts() || o.folder.ReceiptDoc.IssuedHere())
}

// stale says in one sentence what changed since the request was issued.
func (o *request) stale() string {
	if notice := o.folder.Voids.Notice(o.view.Lang); len(o.moved) == 0 && notice != "" {
		return notice
	}
	if len(o.moved) == 0 {
		return ""
	}
	return o.view.Say("faber.stale", "files", strings.Join(o.moved, ", "))
}

// announce returns the due edits of notification_sent, and the reason.
func (o *request) announce() (edits []jsonedit.Edit, reason string) {
	const base = "/feedback_request/notification_sent"
	n := o.q.Notification
	if !o.q.isOpen() {
		reason = o.view.Say("faber.reason.form")
		edits = append(edits, set(base+"/form", formPath(o.folder.ID)))
	}
	if n == nil {
		n = &Notification{}
		edits = []jsonedit.Edit{set(base, schemas.Object{{Name: "form", Value: formPath(o.folder.ID)}})}
	}
	if posted := o.newestPosted(); posted != nil && (!n.IssueComment || n.CommentURL != posted.CommentURL) {
		edits = append(edits, set(base+"/issue_comment", true), set(base+"/comment_url", orNull(posted.CommentURL)))
		reason = cmp.Or(reason, o.view.Say("faber.reason.comment"))
	}
	if len(edits) > 0 {
		edits = append(edits, o.unposted(n, base)...)
	}
	return edits, reason
}

// unposted returns the edit that says, beside others, why the request is not on the issue.
func (o *request) unposted(n *Notification, base string) []jsonedit.Edit {
	if !o.view.cfg.Issue.Enabled || o.view.foreign() {
		return nil // nobody wants it there
	}
	switch why := o.posting().why(); {
	case why.Key != "":
		return []jsonedit.Edit{set(base+"/reason", why.In(o.view.Lang))}
	case n.Reason != "":
		return []jsonedit.Edit{remove(base + "/reason")}
	}
	return nil
}

// openingEvents returns the events of a request that is opened. One at a gate says so first.
func (o *request) openingEvents() (list []newEvent) {
	if o.q.ownGate && slices.Contains([]string{phaseEntry, stepGate, irreversible}, o.q.gate.Kind) {
		d := o.event("decision_point", o.q.step, "", "", schemas.Object{{Name: "request_id", Value: o.folder.ID}, {Name: "gate", Value: o.q.gate}})
		d.Message = "Decision needed: " + o.q.Prompt
		list = append(list, d)
	}
	e := o.event("feedback_request", o.q.step, "", "", schemas.Object{
		{Name: "request_id", Value: o.folder.ID}, {Name: "type", Value: o.q.Type}, {Name: "options", Value: o.q.options()},
	})
	e.Message = "Awaiting feedback: " + o.q.Prompt
	return append(list, e)
}
