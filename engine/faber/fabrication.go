package faber

import (
	"fmt"
	"slices"
	"strings"

	"placet/engine/gate"
	"placet/engine/run"
	"placet/templates"
)

// fabrications finds claims in upstream's records that the rest of the run contradicts. Upstream
// may write anything into state.json and events/. So a run that merely continues without its answer
// has withdrawn its question, and a missing record proves nothing unless the same writer keeps such
// records elsewhere in the run.
func fabrications(r *view) (list []run.Fabrication) {
	// A state that says completed and asks a person is unusable, but it still makes the claim.
	completedInQuestion := r.state.status == Completed && r.state.Feedback != nil
	if r.foreign() || r.state.unfit != nil && !completedInQuestion || r.run.Torn || r.state.status == "" || r.events.open || r.events.gone {
		return nil
	}
	for _, a := range r.run.Folders {
		if a.Request == nil || !a.Doc.IssuedHere() || a.Unsettled() || a.BadReceipt {
			continue
		}
		for _, find := range []func(*view, *gate.Folder) (run.Fabrication, bool){completedWithout, ranWithout, answeredWithout, approvedWithout} {
			if f, ok := find(r, a); ok {
				f.Request = a.ID
				list = append(list, f)
				break
			}
		}
	}
	return slices.Concat(list, unrecordedEnd(r), unrecordedSteps(r))
}

// isPassedOver reports whether the state no longer asks a request although nobody answered it,
// withdrew it or replaced it.
func isPassedOver(r *view, a *gate.Folder) bool {
	switch {
	case r.asks(a.ID) || forStatus(a) == Failed || r.state.rev < a.Request.Revision:
		return false
	case a.Receipt != nil && !(isOurs(a) && a.Receipt.Result == gate.Cancelled && isUnasked(*a.Receipt)):
		return false
	}
	return r.state.answerTo(a.ID) == nil && r.events.about("feedback_received", a.ID) == nil
}

// isOurs reports whether this machine wrote the receipt, or writes it in this pass.
func isOurs(a *gate.Folder) bool { return a.ReceiptDoc.Path == "" || a.ReceiptDoc.IssuedHere() }

// isUnasked reports whether a receipt says that another program withdrew a request.
func isUnasked(rc gate.Receipt) bool {
	return passedOver.Says(rc.Reason) || templates.NewMessage("faber.reason.withdrawn").Says(rc.Reason)
}

// completedWithout finds a run that was completed while a request was open.
func completedWithout(r *view, a *gate.Folder) (f run.Fabrication, ok bool) {
	if r.state.status != Completed || !isPassedOver(r, a) || a.Receipt != nil && !passedOver.Says(a.Receipt.Reason) {
		return f, false
	}
	return run.Fabrication{Path: r.doc.Path, Pointer: "/status", Says: r.state.Status, Fact: run.Unanswered(a.ID)}, true
}

// ranWithout finds an irreversible step that was completed after the request about it, which nobody
// answered.
func ranWithout(r *view, a *gate.Folder) (f run.Fabrication, ok bool) {
	o, asked := r.past(a), r.events.about("feedback_request", a.ID)
	step := plannedStep{Phase: o.q.phase, ID: o.q.step}
	if asked == nil || !isPassedOver(r, a) || !r.isDestructive(step.Phase, step.ID) || r.state.shape.status(step.Phase, step.ID) != Completed || isAnswered(r, step) {
		return f, false
	}
	done := slices.ContainsFunc(r.events.all, func(e *event) bool {
		return e.Number > asked.Number && e.Type == "step_complete" && !e.ours() && e.of(step)
	})
	return run.Fabrication{Path: r.doc.Path, Pointer: r.state.shape.pointer(step), Says: string(Completed), Fact: run.Unanswered(a.ID)}, done
}

// answeredWithout finds an answer in the history to a request with a list of approvers, if no
// receipt shows that one of them gave it.
func answeredWithout(r *view, a *gate.Folder) (f run.Fabrication, ok bool) {
	i := slices.IndexFunc(r.state.History, func(h HistoryEntry) bool { return h.RequestID == a.ID })
	if i < 0 || len(a.Request.MayAnswer) == 0 || r.asks(a.ID) || r.proven(a.ID) {
		return f, false
	}
	fact := templates.NewMessage("faber.fabrication.unproven", "request", a.ID, "users", strings.Join(a.Request.MayAnswer, ", "))
	return run.Fabrication{Path: r.doc.Path, Pointer: fmt.Sprintf("/feedback_history/%d", i), Says: r.state.History[i].Response, Fact: fact}, true
}

// approvedWithout finds an event that grants a request, although no answer is recorded.
func approvedWithout(r *view, a *gate.Folder) (f run.Fabrication, ok bool) {
	e := r.events.about("approval_granted", a.ID)
	if e == nil || e.ours() || a.Receipt != nil || r.state.answerTo(a.ID) != nil || r.events.about("feedback_received", a.ID) != nil || !isAtRest(r) {
		return f, false
	}
	return run.Fabrication{Path: r.Path("events/" + e.Name), Pointer: "/type", Says: e.Type, Fact: run.Unanswered(a.ID)}, true
}

// isAtRest reports whether upstream has written nothing into the run for a while. If not, the loop
// loads the run again when that may be the case.
func isAtRest(r *view) bool {
	at := lastWrite(r).Add(brokenStill)
	if r.Snap.Now.Before(at) {
		r.WakeAt(at)
		return false
	}
	return true
}

// unrecordedEnd finds a run that only its state calls completed, although its writer recorded the
// start in events/.
func unrecordedEnd(r *view) []run.Fabrication {
	if r.state.status != Completed || !r.events.records("workflow_start") || r.events.records("workflow_complete") || len(r.events.unreadable) > 0 || !isAtRest(r) {
		return nil
	}
	fact := templates.NewMessage("faber.fabrication.event", "event", "workflow_complete")
	return []run.Fabrication{{Path: r.doc.Path, Pointer: "/status", Says: r.state.Status, Fact: fact}}
}

// unrecordedSteps finds steps that only the state calls completed, although events/ records their
// start and the end of other steps of the phase.
func unrecordedSteps(r *view) (list []run.Fabrication) {
	if len(r.events.unreadable) > 0 {
		return nil
	}
	for _, step := range r.state.shape.steps {
		if r.state.shape.status(step.Phase, step.ID) != Completed || !r.events.isRecordedHalf(step) || isAnswered(r, step) || !isAtRest(r) {
			continue
		}
		fact := templates.NewMessage("faber.fabrication.step", "event", "step_complete", "step", where(step.Phase, step.ID))
		list = append(list, run.Fabrication{Path: r.doc.Path, Pointer: r.state.shape.pointer(step), Says: string(Completed), Fact: fact})
	}
	return list
}

// isAnswered reports whether a person was asked at a step and an answer was carried out.
func isAnswered(r *view, step plannedStep) bool {
	return slices.ContainsFunc(r.run.Folders, func(a *gate.Folder) bool {
		if a.Request == nil {
			return a.Receipt != nil || a.BadReceipt
		}
		q := r.past(a).q
		return q.phase == step.Phase && q.step == step.ID && (a.BadReceipt || a.Receipt != nil && a.Receipt.Result != gate.Cancelled)
	})
}
