package faber

import (
	"fmt"
	"slices"
	"strings"

	"placet/engine/gate"
	"placet/engine/run"
	"placet/templates"
)

// fabrications are what upstream's records claim and the rest of the run contradicts.
// Upstream writes state.json and events/ as it likes. So a run that only goes on without
// its answer has withdrawn its question, and what one writer leaves out proves nothing: it
// takes a record that the same writer keeps elsewhere.
func (r *view) fabrications() (list []run.Fabrication) {
	if r.foreign() || r.State.unfit != nil && !r.completedInQuestion() || r.Torn || r.State.status == "" || r.eventsOpen || r.eventsGone {
		return nil
	}
	for _, a := range r.Folders {
		if a.Request == nil || !a.Doc.IssuedHere() || a.Unsettled() || a.BadReceipt {
			continue
		}
		for _, find := range []func(*gate.Folder) (run.Fabrication, bool){r.completedWithout, r.ranWithout, r.answeredWithout, r.approvedWithout} {
			if f, ok := find(a); ok {
				f.Request = a.ID
				list = append(list, f)
				break
			}
		}
	}
	return slices.Concat(list, r.unrecordedEnd(), r.unrecordedSteps())
}

// completedInQuestion reports whether the state says in one breath that the run is
// completed and that it asks a person. It cannot be used, and yet it says so.
func (r *view) completedInQuestion() bool {
	return r.State.status == Completed && r.State.Feedback != nil
}

// isPassedOver reports whether the state asks a request no longer, and nobody answered
// it, withdrew it or asked another one instead.
func (r *closings) isPassedOver(a *gate.Folder) bool {
	switch {
	case r.asks(a.ID) || forStatus(a) == Failed || r.State.rev < a.Request.Revision:
		return false
	case a.Receipt != nil && !(a.ReceiptDoc.IssuedHere() && a.Receipt.Result == gate.Cancelled && isUnasked(*a.Receipt)):
		return false
	}
	return r.State.answerTo(a.ID) == nil && !r.hasEvent("feedback_received", a.ID)
}

// isUnasked reports whether a receipt says that another program took a request back.
func isUnasked(rc gate.Receipt) bool {
	return passedOver.Says(rc.Reason) || templates.NewMessage("faber.reason.withdrawn").Says(rc.Reason)
}

// hasEvent reports whether an event of a type names a request.
func (r *eventLog) hasEvent(typ, request string) bool { return r.eventAbout(typ, request) != nil }

// eventAbout is the first event of a type that names a request, nil for none.
func (r *eventLog) eventAbout(typ, request string) *event {
	for _, e := range r.marked {
		if e.Type == typ && e.Metadata.RequestID == request {
			return e
		}
	}
	return nil
}

// completedWithout finds a run that was completed while it asked.
func (r *closings) completedWithout(a *gate.Folder) (f run.Fabrication, ok bool) {
	if r.State.status != Completed || !r.isPassedOver(a) || a.Receipt != nil && !passedOver.Says(a.Receipt.Reason) {
		return f, false
	}
	return run.Fabrication{Path: r.Doc.Path, Pointer: "/status", Says: r.State.Status, Fact: run.Unanswered(a.ID)}, true
}

// ranWithout finds a step that cannot be taken back and that was completed after the
// request about it, whose answer nobody gave.
func (r *closings) ranWithout(a *gate.Folder) (f run.Fabrication, ok bool) {
	o, asked := r.past(a), r.eventAbout("feedback_request", a.ID)
	step := plannedStep{Phase: o.q.phase, ID: o.q.step}
	if asked == nil || !r.isPassedOver(a) || !r.destructive(step.Phase, step.ID) || r.State.shape.status(step.Phase, step.ID) != Completed || r.isAnswered(step) {
		return f, false
	}
	done := slices.ContainsFunc(r.events, func(e *event) bool {
		return e.Number > asked.Number && e.Type == "step_complete" && !e.ours() && e.of(step)
	})
	return run.Fabrication{Path: r.Doc.Path, Pointer: r.State.shape.pointer(step), Says: string(Completed), Fact: run.Unanswered(a.ID)}, done
}

// answeredWithout finds an answer in the history to a request that only some might answer,
// where no receipt shows that one of them did.
func (r *handover) answeredWithout(a *gate.Folder) (f run.Fabrication, ok bool) {
	i := slices.IndexFunc(r.State.History, func(h HistoryEntry) bool { return h.RequestID == a.ID })
	if i < 0 || len(a.Request.MayAnswer) == 0 || r.asks(a.ID) || r.proven(a.ID) {
		return f, false
	}
	fact := templates.NewMessage("faber.fabrication.unproven", "request", a.ID, "users", strings.Join(a.Request.MayAnswer, ", "))
	return run.Fabrication{Path: r.Doc.Path, Pointer: fmt.Sprintf("/feedback_history/%d", i), Says: r.State.History[i].Response, Fact: fact}, true
}

// approvedWithout finds an event that says that a request was granted, though nobody says
// what the answer was.
func (r *closings) approvedWithout(a *gate.Folder) (f run.Fabrication, ok bool) {
	e := r.eventAbout("approval_granted", a.ID)
	if e == nil || e.ours() || a.Receipt != nil || r.State.answerTo(a.ID) != nil || r.hasEvent("feedback_received", a.ID) || !r.isAtRest() {
		return f, false
	}
	return run.Fabrication{Path: r.Path("events/" + e.Name), Pointer: "/type", Says: e.Type, Fact: run.Unanswered(a.ID)}, true
}

// isAtRest reports whether upstream has written nothing into the run for a while. If not,
// the run is looked at again when that may be so.
func (r *eventLog) isAtRest() bool {
	at := r.lastWrite().Add(brokenStill)
	if r.Snap.Now.Before(at) {
		r.WakeAt(at)
		return false
	}
	return true
}

// unrecordedEnd finds a run that is completed by its state alone, though who began it
// recorded that in events/.
func (r *closings) unrecordedEnd() []run.Fabrication {
	if r.State.status != Completed || !r.records("workflow_start") || r.records("workflow_complete") || len(r.notEvents) > 0 || !r.isAtRest() {
		return nil
	}
	fact := templates.NewMessage("faber.fabrication.event", "event", "workflow_complete")
	return []run.Fabrication{{Path: r.Doc.Path, Pointer: "/status", Says: r.State.Status, Fact: fact}}
}

// records reports whether another program wrote an event of a type.
func (r *eventLog) records(typ string) bool {
	return slices.ContainsFunc(r.events, func(e *event) bool { return e.Type == typ && !e.ours() })
}

// unrecordedSteps finds steps that are completed by the state alone, though events/ holds
// their start and the end of other steps of the phase.
func (r *closings) unrecordedSteps() (list []run.Fabrication) {
	if len(r.notEvents) > 0 {
		return nil
	}
	for _, step := range r.State.shape.steps {
		if r.State.shape.status(step.Phase, step.ID) != Completed || !r.isRecordedHalf(step) || r.isAnswered(step) || !r.isAtRest() {
			continue
		}
		fact := templates.NewMessage("faber.fabrication.step", "event", "step_complete", "step", where(step.Phase, step.ID))
		list = append(list, run.Fabrication{Path: r.Doc.Path, Pointer: r.State.shape.pointer(step), Says: string(Completed), Fact: fact})
	}
	return list
}

// isRecordedHalf reports whether events/ holds that a step began, and no more of it, while
// it holds the end of another step of the same phase.
func (r *eventLog) isRecordedHalf(step plannedStep) bool {
	began, others := false, false
	for _, e := range r.events {
		switch {
		case e.of(step) && e.Type == "step_start":
			began = true
		case e.of(step):
			return false
		case e.Type == "step_complete" && e.Phase == step.Phase && !e.ours():
			others = true
		}
	}
	return began && others
}

// of reports whether the event is about a step.
func (e event) of(step plannedStep) bool {
	return e.Step == step.ID && (e.Phase == "" || e.Phase == step.Phase)
}

// isAnswered reports whether a person was asked at a step and any answer was taken.
func (r *closings) isAnswered(step plannedStep) bool {
	return slices.ContainsFunc(r.Folders, func(a *gate.Folder) bool {
		if a.Request == nil {
			return a.Receipt != nil || a.BadReceipt
		}
		q := r.past(a).q
		return q.phase == step.Phase && q.step == step.ID && (a.BadReceipt || a.Receipt != nil && a.Receipt.Result != gate.Cancelled)
	})
}
