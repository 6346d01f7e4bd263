package faber

import (
	"cmp"

	"placet/engine/run"
)

// explain says what no rule says of why the run stands, and which file would move it.
func (r *view) explain(w *run.Waiting) {
	o, rp := r.asked(), r.State.ResumePoint
	switch {
	case r.Doc.Absent():
		w.Why("there is no state.json: nothing has begun")
		w.For("state.json (agent)")
	case r.eventsGone && !final(r.State.status):
		w.Why("%s", r.Notes.Text(r.Doc.Path+".problem.md"))
		w.For("events/ (person)")
		w.UnblockAt(r.Path("events/"), "the run's events, as they were")
	case r.eventsOpen:
		w.Why("an event in %s cannot be read at this moment; it may be placet's own, so nothing is decided until it can", r.Path("events"))
		w.For("an event in events/ that can be read (person)")
	case r.State.unfit != "":
		w.Why("%s", r.State.unfit)
		w.For("state.json that can be used (agent)")
		w.UnblockAt(r.Doc.Path, "a state that can be read")
	case final(r.State.status):
		w.Why("status %s is final: nothing moves this run", r.State.status)
		return
	case o != nil && o.a.Receipt != nil:
		w.Why("request %s has a receipt already: a new question needs a new request_id", o.a.ID)
		w.For("state.json with a new request_id (agent)")
	case o != nil && !o.q.isOpen():
		r.explainUnopened(w, o)
	case o != nil:
		r.explainRequest(w, o)
	case r.resumes():
		w.Why("answer %s was taken; an agent goes on at %s: %s", rp.RequestID, where(rp.Phase, rp.Step), r.Path("resume.md"))
		w.For("an event in events/ from %s (agent)", where(rp.Phase, rp.Step))
		w.UnblockAt(r.Path("events/"), "an event such as step_start by the agent that takes it up")
	case r.pointed() && !r.goesOn():
		w.Why("the answer to %s stands in state.json and is not verified: placet wrote no receipt over an answer to it, and [gates] asks for more than a claim: no agent is told to go on", rp.RequestID)
		w.For("state.json that asks again with a new request_id (agent)")
	case r.State.status == Paused:
		w.Why("status paused: upstream holds the run until it sets another status")
		w.For("state.json with another status (upstream)")
	case r.State.status == Failed:
		w.Why("status failed: ask_failed = %q does not ask about it", r.cfg.AskFailed)
		w.For("state.json with another status (upstream)")
	default:
		from := ""
		if r.State.CurrentPhase != "" {
			from = " from " + where(r.State.CurrentPhase, r.State.CurrentStep)
		}
		w.Why("status %s: an agent works; placet acts when state.json asks for feedback", r.State.status)
		w.For("state.json to move on%s (agent)", from)
	}
	if !final(r.State.status) && !r.foreign() && r.State.status != "" {
		w.UnblockAt(r.Path("cancel.json"), `{"by": "<you>", "reason": "<why>"} cancels the run`)
	}
}

// explainUnopened says why a request is not opened yet.
func (r *view) explainUnopened(w *run.Waiting, o *open) {
	switch {
	case w.Next == requestOpened:
		w.Why("request %s is not opened yet: the daemon, or placet once, writes its form", o.a.ID)
	case w.Next != "":
		w.Why("request %s is not opened yet: the next pass takes %s first", o.a.ID, w.Next)
	case o.altered != "":
		w.Why("request %s cannot be opened: %s", o.a.ID, o.cannotUse())
		w.For("request.json as it was issued, or none (person)")
		w.UnblockAt(o.a.Dir+"/request.json", "removing it has the request opened")
	default:
		w.Why("request %s cannot be opened: %s", o.a.ID, r.hindrance(o))
		w.Written("state.json")
	}
}

// explainRequest says what a waiting run waits for, and what was looked for in vain.
func (r *view) explainRequest(w *run.Waiting, o *open) {
	form := o.a.Dir + "/" + o.present
	w.Why("request %s (%s) waits for an answer at %s", o.a.ID, o.req.Type, where(o.q.phase, o.q.step))
	if r.claimGrows(o) {
		w.Why("another program may still be recording an answer in feedback_history and events/: no other answer is taken before it has stood still")
	}
	w.Why("looked for: an entry in feedback_history, a feedback_received event, %s, %s", "response.json", o.present)
	if ans := r.evidence(o); ans != nil {
		if _, stands := r.shownEffect(o, ans.Response); stands {
			w.Why("an answer is there (%s by %s): %s", ans.Response, ans.By.Shown(ans.Known), r.whenTaken(o, w.Next))
		}
	}
	if p := r.Notes.Text(o.a.Dir + "/problem.md"); p != "" {
		w.Why("the answer in place does not count: %s", p)
	}
	if len(o.moved) > 0 {
		w.Why("%s: answers must carry the digest of the present view", o.stale())
	}
	if at := moment(o.req.Deadline); !at.IsZero() {
		w.Why("deadline %s, then: %s", seconds(at), cmp.Or(o.req.Default, "the inbox marks it overdue, nothing moves"))
	}
	for _, opt := range o.req.Options {
		w.UnblockAt(form, "ticking "+opt.ID+" and submit "+cmp.Or(opt.Effect, r.effect(o.q, o.req, opt.ID).phrase(r.language())))
	}
	if o.req.FreeText() {
		w.UnblockAt(form, "writing the answer into the comment section and ticking submit goes on")
	}
}

// whenTaken says when an answer that is there is taken.
func (r *view) whenTaken(o *open, next string) string {
	switch {
	case next == cancelAsked:
		return "it is not taken, since cancel.json gives the run up at the next pass"
	case next != "" && next != requestOpened:
		return "it is taken at the next pass"
	}
	return "it waits: " + r.hindrance(o)
}

// hindrance is why no edge is taken though one is due.
func (r *view) hindrance(o *open) string {
	switch {
	case r.Unwritable != nil:
		return r.Unwritable.Error()
	case o.nowhere():
		return noPlace
	}
	return "a file of the run, or one that it shows, may still be being written or cannot be read"
}
