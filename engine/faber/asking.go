package faber

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"time"

	"placet/engine"
	"placet/engine/gate"
	"placet/engine/run"
	"placet/layout"
	"placet/schemas"
)

// openRequest is the request that the state asks, as its folder shows it.
type openRequest struct {
	q       question
	a       *gate.Folder
	req     gate.Request
	body    []byte        // request.json as it stands, or as it is to be written
	stands  bool          // request.json stands and is this request's
	altered string        // why request.json cannot be trusted any more
	claimed bool          // nobody but request.json itself says what its artifacts held
	issued  engine.Digest // of what was shown when it was issued
	view    engine.Digest // of what is shown now
	present string        // name of the form that belongs to the view
	moved   []string      // artifacts that changed since
	// fact is what a receipt ahead of the state decided; it may not count.
	fact gate.Decision
	// past is true of a request that was decided before.
	past bool
}

// requests are the folders of what is asked.
type requests struct{ *questions }

// asked is the request that the state asks, nil where it asks none.
func (r *requests) asked() *openRequest {
	return run.Once(r.Run, "asked", func() *openRequest {
		if q, ok := r.question(); ok {
			return r.readFolder(q)
		}
		return nil
	})
}

func (r *requests) readFolder(q question) *openRequest {
	o := &openRequest{q: q, a: r.Folder(q.RequestID)}
	r.adopt(o)
	issued, now := r.sums(o.req)
	o.issued, o.view = gate.Digest(o.body, issued, 0), gate.Digest(o.body, now, o.a.Voids.Count())
	for i, a := range o.req.Artifacts {
		if issued[i] != now[i] {
			o.moved = append(o.moved, a.Path)
		}
	}
	o.present = r.presentForm(o)
	r.readReceipt(o)
	return o
}

// past is a request of the past, to be judged by what stands in its folder. It shows what
// it showed when it was issued.
func (r *requests) past(a *gate.Folder) *openRequest {
	o := &openRequest{a: a, req: *a.Request, body: a.Doc.Body, stands: true, present: "form.md", past: true}
	o.q.Context, o.q.shown = a.Request.Context, readContext(a.Request.Context)
	var rp ResumePoint
	if schemas.DecodeValue(o.req.Extra.Raw("resume_point"), &rp) == nil {
		o.q.phase, o.q.step = rp.Phase, rp.Step
	}
	issued, _ := r.sums(o.req)
	o.issued = gate.Digest(o.body, issued, 0)
	o.view = o.issued
	return o
}

// readReceipt takes the receipt of the asked request for fact where it is one ahead
// of the state. One that does not count is passed over with a note, and an answer
// that counts replaces it.
func (r *requests) readReceipt(o *openRequest) {
	d, problem, ok := o.a.Ahead(r.judging(o))
	if ok {
		o.fact = d
	} else if problem != "" {
		r.refuse(o, problem)
		o.a.Receipt, o.a.BadReceipt = nil, true
	}
}

// adopt decides whether request.json as it stands is this request's, must be
// made, or was altered after it was issued.
func (r *requests) adopt(o *openRequest) {
	fresh := r.build(o.q)
	same := o.a.Request != nil && sameQuestion(*o.a.Request, fresh)
	fresh.Revision = r.openingRevision(o, fresh, same)
	o.req = fresh
	switch d := o.a.Doc; {
	case d.Absent():
	case d.Unsettled():
		o.stands, r.Held = true, true
	case o.a.Request == nil:
		o.stands, o.altered = true, r.Say("faber.altered.unreadable")
	case same:
		o.stands, o.req, o.body = true, *o.a.Request, d.Body
		// What the answer must hold is the state's to say, not the file's.
		o.req.CommentRequired, o.req.MayAnswer = fresh.CommentRequired, fresh.MayAnswer
		if !d.IssuedHere() {
			// Nor is what silence does, where nobody knows who wrote the file.
			o.req.Deadline, o.req.Default = fresh.Deadline, fresh.Default
		}
		if !r.vouched(o) {
			o.altered = r.Say("faber.altered.changed")
		}
	case o.a.Request.Revision > r.State.rev && o.a.Receipt == nil && !o.q.isOpen():
		// Left over by a commit that never became fact: replaced by the new one.
	default:
		o.stands, o.altered = true, r.Say("faber.altered.differs")
	}
	if o.body == nil {
		o.body = run.Must(fresh.Encode())
	}
}

// openingRevision is the revision that the request belongs to: that of the
// transition that opens it, now or before. fresh is what would be asked now, and
// same says that request.json asks the same.
func (r *requests) openingRevision(o *openRequest, fresh gate.Request, same bool) int {
	if o.q.forStatus == Failed {
		return r.State.rev
	}
	if same && o.a.Request.Revision <= r.State.rev+1 {
		return o.a.Request.Revision
	}
	if !o.q.isOpen() {
		return r.State.rev + 1
	}
	return r.formRevision(o, fresh)
}

// formRevision finds the revision that a lost request.json had: the one with
// which form.md's first line fits.
func (r *requests) formRevision(o *openRequest, req gate.Request) int {
	shown := r.formDigest(o.a, "form.md")
	for rev := r.State.rev; rev > 0 && rev > r.State.rev-8; rev-- {
		req.Revision = rev
		if issued, _ := r.sums(req); gate.Digest(run.Must(req.Encode()), issued, 0) == shown {
			return rev
		}
	}
	return max(r.State.rev, 1)
}

// formDigest is the digest in the first line of a form, "" where it has none.
func (r *requests) formDigest(a *gate.Folder, name string) engine.Digest {
	line, _, _ := strings.Cut(string(r.Snap.Doc(a.Dir+"/"+name).Body), "\n")
	if f := strings.Fields(line); len(f) == 6 && f[1] == "placet" && f[2] == "request" && f[3] == a.ID {
		return engine.Digest(f[4])
	}
	return ""
}

// sameQuestion reports whether two requests ask the same. Digests of
// artifacts, descriptions and deadlines are not the question.
func sameQuestion(a, b gate.Request) bool {
	return a.RequestID == b.RequestID && a.Run == b.Run && a.Type == b.Type && a.Prompt == b.Prompt && schemas.Equal(a.Context, b.Context) &&
		slices.EqualFunc(a.Options, b.Options, func(a, b gate.Option) bool { return a.ID == b.ID }) &&
		slices.EqualFunc(a.Artifacts, b.Artifacts, func(a, b gate.Artifact) bool { return a.Path == b.Path && a.Binding == b.Binding })
}

// vouched reports whether request.json is as it was issued. Where this machine issued
// it, the record decides. Elsewhere it is what HEAD has, as far as that was asked
// ([requests.committedNeed]), or just what would be issued now, and nobody knows what
// the artifacts held when it was issued.
func (r *requests) vouched(o *openRequest) bool {
	d := o.a.Doc
	if !unrecorded(d) {
		o.claimed = slices.ContainsFunc(d.Issued, func(sum engine.Digest) bool { return sum != d.Sum })
		return slices.Contains(d.Issued, d.Sum)
	}
	if blob := string(r.Snap.Doc(committed(d)).Body); blob != "" {
		return blob == engine.BlobID(d.Body, len(blob))
	}
	o.claimed = true
	return r.wouldIssue(o.a, o.q)
}

// wouldIssue reports whether request.json is what would be issued now, with the
// revision, the approvers and the digests of artifacts of the one that stands.
func (r *requests) wouldIssue(a *gate.Folder, q question) bool {
	if a.Request == nil {
		return false
	}
	if q.undated {
		q.RequestedAt = a.Request.RequestedAt
	}
	fresh := r.build(q)
	fresh.Revision, fresh.Artifacts, fresh.MayAnswer = a.Request.Revision, a.Request.Artifacts, a.Request.MayAnswer
	return string(run.Must(fresh.AsIssued(a.Doc.Sum).Encode())) == string(a.Doc.Body)
}

// unrecorded reports whether a request.json stands and this machine remembers none.
func unrecorded(d engine.Document) bool { return d.Present() && d.Issued == nil }

// committed asks git for what HEAD has in the place of a document.
func committed(d engine.Document) string { return "git:blob/" + d.Path }

// committedNeed is what git is asked where only HEAD can vouch for request.json: it
// is not what would be issued now, or an answer may mean the artifacts as they were
// when it was issued. Else it is "".
func (r *requests) committedNeed() string {
	q, ok := r.question()
	a := r.Folder(q.RequestID)
	if !ok || !unrecorded(a.Doc) || a.Receipt != nil {
		return ""
	}
	if !r.wouldIssue(a, q) || len(a.Request.Artifacts) > 0 && has(a, "response.json") {
		return committed(a.Doc)
	}
	return ""
}

// isOpen reports whether the state says that the request's form was written.
func (q question) isOpen() bool {
	return q.forStatus == Failed || q.Notification != nil && q.Notification.Form == formPath(q.RequestID)
}

// formPath is where state.json says that a request's form lies, in the run's
// folder.
func formPath(id string) string { return layout.RequestsDir + "/" + id + "/form.md" }

// presentForm is the name of the form for the present view. form.md belongs to
// the view that was issued; it is never rewritten, so where somebody holds one
// of another view there, a form with the view in its name stands beside it.
func (r *requests) presentForm(o *openRequest) string {
	if shown := cmp.Or(r.formDigest(o.a, "form.md"), o.view); o.view == o.issued && shown == o.view {
		return "form.md"
	}
	return layout.FormView(o.view.Hex())
}

// has reports whether a file of the request's folder is there, usable or not.
func has(a *gate.Folder, name string) bool {
	return slices.ContainsFunc(a.Docs, func(d engine.Document) bool { return d.Path == a.Dir+"/"+name && !d.Absent() })
}

// formEvery is how often a new form is issued at most while artifacts change.
const formEvery = time.Minute

// formDue reports whether the present form is to be written now.
func (r *requests) formDue(o *openRequest) bool {
	if has(o.a, o.present) || o.present == "form.md" {
		return !has(o.a, o.present)
	}
	var newest time.Time
	for _, d := range o.a.Docs {
		if d.Kind == layout.KindForm && d.Path != o.a.Dir+"/form.md" && d.Changed.After(newest) {
			newest = d.Changed
		}
	}
	due := newest.Add(formEvery)
	if r.Snap.Now.Before(due) {
		r.WakeAt(due)
	}
	return !r.Snap.Now.Before(due)
}

// requestFiles are request.json and the present form, where they are owed. Without a
// form nothing is asked: why there can be none is said beside state.json.
func (r *requests) requestFiles(o *openRequest) []engine.Document {
	var docs []engine.Document
	if !o.stands {
		docs = append(docs, engine.Document{Path: o.a.Dir + "/request.json", Kind: layout.KindRequest, Body: o.body, Over: o.a.Doc.Sum})
	}
	if !r.formDue(o) {
		return docs
	}
	body, err := r.renderForm(r.Lang, r.shown(o), o.q, o.view)
	if err != nil {
		r.CannotWrite(err)
		return nil
	}
	return append(docs, engine.Document{Path: o.a.Dir + "/" + o.present, Kind: layout.KindForm, Body: body})
}

// present is the request with its artifacts as they are now, which is what its view shows.
func (r *requests) present(o *openRequest) gate.Request {
	req := o.req
	if o.past {
		return req
	}
	issued := req.Artifacts
	req.Artifacts = slices.Clone(issued)
	for i, a := range issued {
		if a.Binding {
			req.Artifacts[i].SHA256 = r.digestNow(a)
		}
	}
	req.Carry(func(a gate.Artifact) (string, bool) {
		i := slices.IndexFunc(issued, func(was gate.Artifact) bool { return was.Path == a.Path })
		switch was := issued[i]; {
		case was.Text == nil: // nor may it be shown later
			return "", false
		case was.SHA256 == a.SHA256:
			return was.Carried()
		}
		return string(r.Snap.Doc(path.Clean(a.Path)).Body), true
	})
	return req
}

// shown is the request as the form of its view shows it. Forms of a version that carried no
// texts show the artifacts as they were when the request was issued.
func (r *requests) shown(o *openRequest) gate.Request {
	var req gate.Request
	if q := o.a.Request; q != nil && string(o.body) == string(o.a.Doc.Body) {
		req = o.req.ShownAs(*q)
	} else {
		req = o.req.Shown(o.body)
	}
	if slices.ContainsFunc(req.Artifacts, func(a gate.Artifact) bool { return a.Text != nil }) {
		req.Artifacts = r.present(o).Artifacts
	}
	return req
}

// rewritten is an artifact that was written again since what the view shows was written, nil
// for none: since the request was, or the form of a later view.
func (r *requests) rewritten(o *openRequest) *gate.Rewritten {
	if o.past || !o.stands {
		return nil
	}
	since := o.a.Doc.Changed
	if o.view != o.issued {
		since = r.Snap.Doc(o.a.Dir + "/" + o.present).Changed
	}
	return r.Rewritten(o.req, since)
}

// voids is void.json where answers to what was asked about stand beside another artifact:
// their author may have seen that one. ok is false where there are none.
func (r *answers) voids(o *openRequest) (d engine.Document, ok bool) {
	f := o.a
	if len(o.moved) == 0 || f.BadVoids || f.Voids.Count() >= gate.MostVoids || o.isDecided() {
		return d, false
	}
	issued, now := r.sums(o.req)
	asked := r.judging(o)
	asked.Request, asked.Rewritten = o.req, nil
	asked.View = gate.Digest(o.body, issued, f.Voids.Count())
	if f.Voids.Count() > 0 {
		asked.Present = f.Dir + "/" + layout.FormView(asked.View.Hex())
	} else {
		asked.Present = f.Dir + "/form.md"
	}
	asked.Rendered = r.rendered(o.req.Shown(o.body), o.q, asked.View)
	answers := gate.Counting(asked)
	if len(answers) == 0 {
		return d, false
	}
	v := gate.Void{At: seconds(r.Snap.Now), Artifact: o.moved[0], Answers: answers}
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

// isDecided reports whether a receipt of the request stands that counts, or that this
// machine wrote: the answers beside it moved the run.
func (o *openRequest) isDecided() bool {
	return o.a.Receipt != nil && (o.fact.Counts() || o.a.ReceiptDoc.IssuedHere())
}

// stale says in one sentence what changed since the request was issued.
func (r *requests) stale(o *openRequest) string {
	if notice := o.a.Voids.Notice(r.Lang); len(o.moved) == 0 && notice != "" {
		return notice
	}
	if len(o.moved) == 0 {
		return ""
	}
	return r.Say("faber.stale", "files", strings.Join(o.moved, ", "))
}
