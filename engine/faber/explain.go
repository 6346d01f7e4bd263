package faber

import (
	"cmp"
	"strconv"

	"placet/engine"
	"placet/engine/run"
	"placet/templates"
)

// explain adds what no rule can say about why the run waits, and which file would move it.
func explain(r *view, w *run.Waiting) {
	o, rp := r.asked(), r.state.ResumePoint
	requireReplies(r, w)
	switch {
	case r.doc.Absent():
		w.Why("faber.why.absent")
		w.For("faber.wait.state")
	case r.events.gone && !final(r.state.status):
		w.Why("say.text", "text", r.Notes.Text(r.doc.Path+".problem.md"))
		w.For("faber.wait.events")
		w.UnblockAt(r.Path("events/"), r.Say("faber.unblock.events"))
	case r.events.open:
		w.Why("faber.why.event", "dir", r.Path("events"))
		w.For("faber.wait.event.readable")
	case r.state.unfit != nil:
		w.Why("say.text", "text", r.state.unfit)
		w.For("run.wait.usable", "file", "state.json", "who", r.Say("run.who.agent"))
		w.UnblockAt(r.doc.Path, r.Say("faber.unblock.state"))
	case final(r.state.status):
		w.Why("faber.why.final", "status", r.state.status)
		return
	case o != nil && o.folder.Receipt != nil:
		w.Why("faber.why.receipt", "request", o.folder.ID)
		w.For("faber.wait.renewed")
	case o != nil && !o.q.isOpen():
		explainUnopened(w, o)
	case o != nil:
		explainRequest(w, o)
	case r.resumes():
		w.Why("faber.why.taken", "request", rp.RequestID, "step", where(rp.Phase, rp.Step), "file", r.Path("resume.md"))
		w.For("faber.wait.event", "step", where(rp.Phase, rp.Step))
		w.UnblockAt(r.Path("events/"), r.Say("faber.unblock.event"))
		if must := resumeRequired(r); must != nil {
			w.Require(*must)
		}
	case r.state.pointed() && !r.goesOn():
		w.Why("faber.why.unverified", "request", rp.RequestID)
		w.For("faber.wait.again")
	case r.state.status == Paused:
		w.Why("faber.why.paused")
		w.For("faber.wait.status")
	case r.state.status == Failed && r.cfg.AskFailed == askAll && !r.foreign():
		w.Why("faber.why.failed.long", "at", r.state.UpdatedAt)
		w.For("faber.wait.status")
	case r.state.status == Failed:
		w.Why("faber.why.failed", "setting", strconv.Quote(r.cfg.AskFailed))
		w.For("faber.wait.status")
	default:
		w.Why("faber.why.works", "status", r.state.status)
		if r.state.CurrentPhase == "" {
			w.For("faber.wait.moves")
		} else {
			w.For("faber.wait.moves.from", "step", where(r.state.CurrentPhase, r.state.CurrentStep))
		}
	}
	if !final(r.state.status) && !r.foreign() && r.state.status != "" {
		w.UnblockAt(r.Path("cancel.json"), r.Say("faber.unblock.cancel"))
	}
}

// explainUnopened says why a request is not opened yet.
func explainUnopened(w *run.Waiting, o *request) {
	r := o.view
	switch {
	case w.Next == requestOpened:
		w.Why("faber.why.unopened", "request", o.folder.ID)
	case w.Next != "":
		w.Why("faber.why.unopened.next", "request", o.folder.ID, "event", w.Next)
	case o.altered != "":
		w.Why("faber.why.unopenable", "request", o.folder.ID, "why", o.cannotUse())
		w.For("faber.wait.request")
		w.UnblockAt(o.path("request.json"), r.Say("faber.unblock.request"))
	default:
		w.Why("faber.why.unopenable", "request", o.folder.ID, "why", o.hindrance())
		w.Written("state.json")
	}
}

// explainRequest says what a waiting run waits for, and which files placet searched for an answer.
func explainRequest(w *run.Waiting, o *request) {
	r := o.view
	defer explainPosting(w, o)
	form := o.path(o.form)
	w.Why("faber.why.waits", "request", o.folder.ID, "type", o.req.Type, "step", where(o.q.phase, o.q.step))
	if o.claimGrows() {
		w.Why("faber.why.claim")
	}
	w.Why("faber.why.looked", "file", "response.json", "form", o.form)
	if ans := o.evidence(); ans != nil {
		if _, stands := o.shownEffect(ans.Response); stands {
			w.Why("faber.why.there", "response", ans.Response, "user", ans.By.Shown(r.Lang, ans.Known), "when", o.whenTaken(w.Next))
		}
	}
	if p := r.Notes.Text(o.path("problem.md")); p != "" {
		w.Why("run.why.held", "note", p)
	}
	if len(o.moved) > 0 {
		w.Why("faber.why.stale", "stale", o.stale())
	}
	if at := moment(o.req.Deadline); !at.IsZero() && o.req.Default == "" {
		w.Why("faber.why.deadline", "at", run.Seconds(at))
	} else if !at.IsZero() {
		w.Why("faber.why.deadline.option", "at", run.Seconds(at), "option", o.req.Default)
	}
	for _, opt := range o.req.Options {
		w.UnblockAt(form, r.Say("faber.unblock.option", "option", opt.ID, "effect", cmp.Or(opt.Effect, o.q.effect(o.req, opt.ID).message().In(r.Lang))))
	}
	if o.req.FreeText() {
		w.UnblockAt(form, r.Say("faber.unblock.words"))
	}
}

// whenTaken says when an existing answer will be carried out.
func (o *request) whenTaken(next string) string {
	switch {
	case next == cancelAsked:
		return o.view.Say("faber.when.never")
	case next != "" && next != requestOpened:
		return o.view.Say("faber.when.next")
	}
	return o.view.Say("faber.when.waits", "why", o.hindrance())
}

// hindrance returns why no edge is taken although one is due.
func (o *request) hindrance() string {
	switch {
	case o.view.run.Unwritable != nil:
		return templates.In(o.view.Lang, o.view.run.Unwritable)
	case o.nowhere():
		return o.view.Say(noPlace)
	}
	return o.view.Say("faber.when.busy")
}

// explainPosting says why the request is not on the issue, and what a person must do about it.
func explainPosting(w *run.Waiting, o *request) {
	p := o.posting()
	if why := p.why(); why.Key != "" {
		w.Why("say.text", "text", why)
	}
	p.require(w)
}

// requireReplies says what a person must do about replies that were not posted.
func requireReplies(r *view, w *run.Waiting) {
	for _, reply := range replyPostings(r) {
		reply.require(w)
	}
	if known := run.Peek[Issue](r.Snap.In("issue.json"), "faber/issue"); known != nil && known.Error == "auth" && known.FetchedBy == "placet" && r.isAnnounced() {
		w.Require(engine.RequiredAction{ID: "gh-login", Text: r.Say("faber.required.login")})
	}
}
