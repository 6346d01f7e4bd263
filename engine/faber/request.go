package faber

import (
	"slices"
	"time"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
)

// request is a request in its folder: the one that the state asks, or a past one.
type request struct {
	view    *view
	q       *question
	folder  *gate.Folder
	req     gate.Request
	body    []byte        // request.json as it is, or as it should be written
	stands  bool          // request.json exists and belongs to this request
	altered string        // why request.json is no longer trusted
	claimed bool          // only request.json itself says what its artifacts held
	issued  engine.Digest // of the view when the request was issued
	digest  engine.Digest // of the current view
	form    string        // the name of the form that belongs to the view
	moved   []string      // the artifacts that have changed since
	// fact is the decision of a receipt ahead of the state; it may not count.
	fact gate.Decision
	// past is true for a request that was decided earlier.
	past bool
}

// asked returns the request that the state asks, or nil.
func (r *view) asked() *request {
	return run.Once(r.run, "asked", func() *request {
		if q := r.question(); q != nil {
			return q.open()
		}
		return nil
	})
}

// open reads the folder of the request that the state asks.
func (q *question) open() *request {
	o := &request{view: q.view, q: q, folder: q.view.run.Folder(q.RequestID)}
	o.adopt()
	issued, now := q.view.sums(o.req)
	o.issued, o.digest = gate.Digest(o.body, issued, 0), gate.Digest(o.body, now, o.folder.Voids.Count())
	for i, a := range o.req.Artifacts {
		if issued[i] != now[i] {
			o.moved = append(o.moved, a.Path)
		}
	}
	o.form = o.presentForm()
	o.readReceipt()
	return o
}

// past returns a past request, judged by the content of its folder. It shows what it showed when it
// was issued.
func (r *view) past(a *gate.Folder) *request {
	q := &question{view: r}
	o := &request{view: r, q: q, folder: a, req: *a.Request, body: a.Doc.Body, stands: true, form: "form.md", past: true}
	q.Context, q.shown = a.Request.Context, readContext(a.Request.Context)
	var rp ResumePoint
	if schemas.DecodeValue(o.req.Extra.Raw("resume_point"), &rp) == nil {
		q.phase, q.step = rp.Phase, rp.Step
	}
	issued, _ := r.sums(o.req)
	o.issued = gate.Digest(o.body, issued, 0)
	o.digest = o.issued
	return o
}

// readReceipt reads the receipt of the asked request if it is ahead of the state. A receipt that
// does not count gets a note and is ignored; an answer that counts replaces it.
func (o *request) readReceipt() {
	d, problem, ok := o.folder.Ahead(o.evaluation())
	if ok {
		o.fact = d
	} else if problem != "" {
		o.refuse(problem)
		o.folder.Receipt, o.folder.BadReceipt = nil, true
	}
}

// adopt decides whether the existing request.json belongs to this request, must be written, or was
// altered after it was issued.
func (o *request) adopt() {
	fresh := o.q.build()
	same := o.folder.Request != nil && sameQuestion(*o.folder.Request, fresh)
	fresh.Revision = o.openingRevision(fresh, same)
	o.req = fresh
	switch d := o.folder.Doc; {
	case d.Absent():
	case d.Unsettled():
		o.stands, o.view.Held = true, true
	case o.folder.Request == nil:
		o.stands, o.altered = true, o.view.Say("faber.altered.unreadable")
	case same:
		o.stands, o.req, o.body = true, *o.folder.Request, d.Body
		// The state decides what the answer must contain, not the file.
		o.req.CommentRequired, o.req.MayAnswer = fresh.CommentRequired, fresh.MayAnswer
		if !d.IssuedHere() {
			// The state also decides what silence does if the file's author is unknown.
			o.req.Deadline, o.req.Default = fresh.Deadline, fresh.Default
		}
		if !o.vouched() {
			o.altered = o.view.Say("faber.altered.changed")
		}
	case o.folder.Request.Revision > o.view.state.rev && o.folder.Receipt == nil && !o.q.isOpen():
		// A commit that was never completed left this file, and the new one replaces it.
	default:
		o.stands, o.altered = true, o.view.Say("faber.altered.differs")
	}
	if o.body == nil {
		o.body = run.Must(fresh.Encode())
	}
}

// openingRevision returns the revision of the transition that opens or opened the request. fresh is
// the request as it would be issued now, and same says whether request.json asks the same.
func (o *request) openingRevision(fresh gate.Request, same bool) int {
	if o.q.forStatus == Failed {
		return o.view.state.rev
	}
	if same && o.folder.Request.Revision <= o.view.state.rev+1 {
		return o.folder.Request.Revision
	}
	if !o.q.isOpen() {
		return o.view.state.rev + 1
	}
	return o.formRevision(fresh)
}

// formRevision returns the revision of a lost request.json: the one that matches the first line of
// form.md.
func (o *request) formRevision(req gate.Request) int {
	shown := o.formDigest("form.md")
	for rev := o.view.state.rev; rev > 0 && rev > o.view.state.rev-8; rev-- {
		req.Revision = rev
		if issued, _ := o.view.sums(req); gate.Digest(run.Must(req.Encode()), issued, 0) == shown {
			return rev
		}
	}
	return max(o.view.state.rev, 1)
}

// sameQuestion reports whether two requests ask the same. Digests of artifacts, descriptions and
// deadlines do not matter.
func sameQuestion(a, b gate.Request) bool {
	return a.RequestID == b.RequestID && a.Run == b.Run && a.Type == b.Type && a.Prompt == b.Prompt && schemas.Equal(a.Context, b.Context) &&
		slices.EqualFunc(a.Options, b.Options, func(a, b gate.Option) bool { return a.ID == b.ID }) &&
		slices.EqualFunc(a.Artifacts, b.Artifacts, func(a, b gate.Artifact) bool { return a.Path == b.Path && a.Binding == b.Binding })
}

// vouched reports whether request.json is unchanged since it was issued. The record decides if this
// machine issued it. Otherwise it must equal the version in HEAD, if git was asked
// ([view.committedNeed]), or the request as it would be issued now; in the latter case the original
// content of the artifacts is unknown.
func (o *request) vouched() bool {
	d := o.folder.Doc
	if !unrecorded(d) {
		o.claimed = slices.ContainsFunc(d.Issued, func(sum engine.Digest) bool { return sum != d.Sum })
		return slices.Contains(d.Issued, d.Sum)
	}
	if blob := string(o.view.Snap.Doc(committed(d)).Body); blob != "" {
		return blob == engine.BlobID(d.Body, len(blob))
	}
	o.claimed = true
	return o.q.wouldIssue(o.folder)
}

// wouldIssue reports whether request.json equals the request as it would be issued now, with the
// revision, approvers and artifact digests of the existing file.
func (q *question) wouldIssue(a *gate.Folder) bool {
	if a.Request == nil {
		return false
	}
	as := *q
	if q.undated {
		as.RequestedAt = a.Request.RequestedAt
	}
	fresh := as.build()
	fresh.Revision, fresh.Artifacts, fresh.MayAnswer = a.Request.Revision, a.Request.Artifacts, a.Request.MayAnswer
	_, body := fresh.AsIssued(a.Doc.Sum)
	return string(body) == string(a.Doc.Body)
}

// unrecorded reports whether a request.json exists of which this machine has no record.
func unrecorded(d engine.Document) bool { return d.Present() && d.Issued == nil }

// committed returns the need for the version of a document in HEAD.
func committed(d engine.Document) string { return "git:blob/" + d.Path }

// committedNeed returns the need for HEAD's request.json if only that can vouch for the file: the
// file differs from the request as it would be issued now, or an answer may refer to the artifacts
// at the time of issue. Otherwise it returns "".
func (r *view) committedNeed() string {
	q := r.question()
	if q == nil {
		return ""
	}
	a := r.run.Folder(q.RequestID)
	if !unrecorded(a.Doc) || a.Receipt != nil {
		return ""
	}
	if !q.wouldIssue(a) || len(a.Request.Artifacts) > 0 && has(a, "response.json") {
		return committed(a.Doc)
	}
	return ""
}

// isOpen reports whether, according to the state, the request's form was written.
func (q *question) isOpen() bool {
	return q.forStatus == Failed || q.Notification != nil && q.Notification.Form == formPath(q.RequestID)
}

// formPath returns the path of a request's form that state.json holds, relative to the run's
// folder.
func formPath(id string) string { return layout.RequestsDir + "/" + id + "/form.md" }

// evaluation returns a request with everything that affects its answer.
func (o *request) evaluation() gate.Evaluation {
	issued, altered := o.issued, o.altered
	if o.claimed && len(o.req.Artifacts) > 0 {
		issued = ""
	}
	if !o.stands {
		altered = o.view.Say("faber.altered.absent")
	}
	g := o.view.Snap.Facts.Config.GateFor("faber", o.req.Type)
	if o.past {
		g.Since = time.Time{}
	}
	return gate.Evaluation{
		Lang: o.view.Lang, Request: o.asNow(), Dir: o.folder.Dir, Docs: o.folder.Docs, View: o.digest, Issued: issued,
		Present: o.path(o.form), Rendered: o.q.rendered(o.shown(), o.digest), Stale: o.stale(), Rewritten: o.rewritten(),
		Gate: g, Now: o.view.Snap.Now, Asked: gate.IssuedAt(moment(o.req.RequestedAt), o.folder.Doc), Fact: o.view.Fact, PartialWriteGrace: run.PartialWriteGrace,
		Revision: o.view.state.rev, Altered: altered, Irreversible: o.q.gate.Kind == irreversible || o.view.isDestructive(o.q.phase, o.q.step),
	}
}

// path returns the path of a file in the folder of the request.
func (o *request) path(name string) string { return o.folder.Dir + "/" + name }

// isLate reports whether an answer given at a time came after the deadline.
func (o *request) isLate(at time.Time) bool {
	deadline := moment(o.req.Deadline)
	return !deadline.IsZero() && !at.Before(deadline)
}

// refuse writes a note in the request's folder that explains why an answer does not count.
func (o *request) refuse(text string) { o.view.Notes.Add(o.path("problem.md"), text) }

// cannotUse says why request.json does not count, and what to do about it.
func (o *request) cannotUse() string {
	return o.view.Say("faber.note.request", "why", o.altered)
}

// noteAltered writes a note beside request.json that it does not count.
func (o *request) noteAltered() {
	o.view.Notes.Beside(o.path("request.json"), o.cannotUse())
}
