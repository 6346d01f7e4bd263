package faber

import (
	"fmt"

	"placet/engine"
)

// explain says which rule holds the run, and which file would move it.
func (r *reading) explain(a *engine.Account, o *open) {
	why := func(format string, args ...any) { a.Why = append(a.Why, fmt.Sprintf(format, args...)) }
	move := func(p, content string) { a.Moves = append(a.Moves, engine.Move{Path: p, Content: content}) }
	switch {
	case r.doc.Absent():
		why("there is no state.json: nothing has begun")
		a.Await("state.json (agent)")
	case r.torn:
		why("state.json is still being written: it is looked at again")
		r.Await(a, "state.json")
	case r.eventsGone && !final(r.status):
		why("%s", r.Notes.Text(r.doc.Path+".problem.md"))
		a.Await("events/ (person)")
		move(r.Path("events/"), "the run's events, as they were")
	case r.eventsOpen:
		why("an event in %s cannot be read at this moment; it may be placet's own, so nothing is decided until it can", r.Path("events"))
		a.Await("an event in events/ that can be read (person)")
	case r.stateErr != "":
		why("%s", r.stateErr)
		a.Await("state.json that can be used (agent)")
		move(r.doc.Path, "a state that can be read")
	case final(r.status):
		why("status %s is final: nothing moves this run", r.status)
	case o != nil:
		r.explainRequest(a, o)
	case r.resumes():
		why("answer %s was taken; an agent goes on at %s: %s", r.st.ResumePoint.RequestID, where(r.st.ResumePoint.Phase, r.st.ResumePoint.Step), r.Path("resume.md"))
		a.Await("an event in events/ from %s (agent)", where(r.st.ResumePoint.Phase, r.st.ResumePoint.Step))
		move(r.Path("events/"), "an event such as step_start by the agent that takes it up")
	case r.pointed() && !r.goesOn():
		why("the answer to %s stands in state.json and is not verified: placet wrote no receipt over an answer to it, and [gates] asks for more than a claim: no agent is told to go on", r.st.ResumePoint.RequestID)
		a.Await("state.json that asks again with a new request_id (agent)")
	case r.status == Paused:
		why("status paused: upstream holds the run until it sets another status")
		a.Await("state.json with another status (upstream)")
	case r.status == Failed:
		why("status failed: ask_failed = %q does not ask about it", r.cfg.AskFailed)
		a.Await("state.json with another status (upstream)")
	default:
		why("status %s: an agent works; placet acts when state.json asks for feedback", r.status)
		a.Await("state.json to move on%s (agent)", r.workedAt())
	}
	if !final(r.status) && !r.foreign() && r.status != "" {
		move(r.Path("cancel.json"), `{"by": "<you>", "reason": "<why>"} cancels the run`)
	}
}

// workedAt is where an agent works, in words; "" where the state does not tell.
func (r *reading) workedAt() string {
	if r.st.CurrentPhase == "" {
		return ""
	}
	return " from " + where(r.st.CurrentPhase, r.st.CurrentStep)
}

// explainRequest says what a waiting run waits for, and what was looked for in
// vain.
func (r *reading) explainRequest(a *engine.Account, o *open) {
	why := func(format string, args ...any) { a.Why = append(a.Why, fmt.Sprintf(format, args...)) }
	if o.a.Receipt != nil {
		why("request %s has a receipt already: a new question needs a new request_id", o.a.ID)
		a.Await("state.json with a new request_id (agent)")
		return
	}
	next := r.nextEvent()
	if !r.isOpen(o.q) {
		switch {
		case next == requestOpened:
			why("request %s is not opened yet: the daemon, or placet once, writes its form", o.a.ID)
		case next != "":
			why("request %s is not opened yet: the next pass takes %s first", o.a.ID, next)
		case o.altered != "":
			why("request %s cannot be opened: %s", o.a.ID, o.cannotUse())
			a.Await("request.json as it was issued, or none (person)")
			a.Moves = append(a.Moves, engine.Move{Path: o.a.Dir + "/request.json", Content: "removing it has the request opened"})
		default:
			why("request %s cannot be opened: %s", o.a.ID, r.hindrance(o))
			r.Await(a, "state.json")
		}
		return
	}
	why("request %s (%s) waits for an answer at %s", o.a.ID, o.req.Type, where(o.q.phase, o.q.step))
	if r.claimGrows(o) {
		why("another program may still be recording an answer in feedback_history and events/: no other answer is taken before it has stood still")
	}
	why("looked for: an entry in feedback_history, a feedback_received event, %s, %s", "response.json", o.present)
	if ans := r.evidence(o); ans != nil {
		if _, stands := r.shownEffect(o, ans.Response); stands {
			why("an answer is there (%s by %s): %s", ans.Response, ans.By.Shown(ans.Known), r.whenTaken(o, next))
		}
	}
	if p := r.Notes.Text(o.a.Dir + "/problem.md"); p != "" {
		why("the answer in place does not count: %s", p)
	}
	if len(o.moved) > 0 {
		why("%s: answers must carry the digest of the present view", o.stale())
	}
	if at, ok := o.deadline(); ok {
		why("deadline %s, then: %s", seconds(at), orElse(o.req.Default, "the inbox marks it overdue, nothing moves"))
	}
	for _, opt := range o.req.Options {
		a.Moves = append(a.Moves, engine.Move{
			Path:    o.a.Dir + "/" + o.present,
			Content: "ticking " + opt.ID + " and submit " + orElse(opt.Effect, r.effect(o.q, o.req, opt.ID).words(r.language())),
		})
	}
	if o.req.FreeText() {
		a.Moves = append(a.Moves, engine.Move{Path: o.a.Dir + "/" + o.present, Content: "writing the answer into the comment section and ticking submit goes on"})
	}
}

// nextEvent is the edge that the next pass takes, "" for none. It is what a pass would
// do, on a reading of its own: to say of anything that a pass moves it, one asks the
// pass.
func (r *reading) nextEvent() string {
	n := read(r.Snap)
	n.flow = r.flow
	p, moved := n.route()
	if r.editErr = n.editErr; !moved || n.editErr != nil || len(p.Transitions) == 0 {
		return ""
	}
	return p.Transitions[0].Event
}

// whenTaken says when an answer that is there is taken.
func (r *reading) whenTaken(o *open, next string) string {
	switch {
	case next == cancelAsked:
		return "it is not taken, since cancel.json gives the run up at the next pass"
	case next != "" && next != requestOpened:
		return "it is taken at the next pass"
	}
	return "it waits: " + r.hindrance(o)
}

// hindrance is why no edge is taken though one is due.
func (r *reading) hindrance(o *open) string {
	switch {
	case r.editErr != nil:
		return r.editErr.Error()
	case o.nowhere():
		return noPlace
	}
	return "a file of the run, or one that it shows, may still be being written or cannot be read"
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
